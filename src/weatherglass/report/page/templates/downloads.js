// The files that the buttons save: tables of the numbers in the page, and its texts and chart. Nothing is fetched.

const COLUMNS = ["run", "model", "options", "test", "topic", "name", "words", "metric", "d", "ciLow", "ciHigh", "p", "pAdjusted", "mark", "alternative", "permute", "pElements", "dElements", "dAttr", "ciAttrLow", "ciAttrHigh", "pAttr", "pLow", "pHigh", "method", "targets", "attributes", "oov"];
const HEADS = { d: "value", ciLow: "ci_low", ciHigh: "ci_high", p: "p_value", pAdjusted: "p_adjusted", pElements: "p_elements", dElements: "effect_size_elements", dAttr: "effect_size_random", ciAttrLow: "ci_random_low", ciAttrHigh: "ci_random_high", pAttr: "p_random", pLow: "p_low", pHigh: "p_high", method: "p_method" };

function resultRow(r) {
  const subject = subjects[r.subject];
  const test = tests[r.test];
  return {
    ...r, ...procedure(r), run: subject.run.label, model: subject.model, options: subject.options, test: test.name, topic: test.topic, name: test.title, words: test.words,
    metric: data.metrics[r.metric], mark: markOf(r).words, method: data.methods[r.method], targets: plus(r.targets), attributes: plus(r.attributes),
  };
}

function resultsTable(separator) {
  return separated([COLUMNS.map((name) => HEADS[name] || name), ...results.map((r) => { const row = resultRow(r); return COLUMNS.map((name) => row[name]); })], separator);
}

const texts = () => block("texts");
const SAVED = {
  csv: ["results.csv", async () => resultsTable(",")],
  tsv: ["results.tsv", async () => resultsTable("\t")],
  svg: ["topics.svg", async () => (await texts()).figure],
  png: ["topics.png", async () => picture((await texts()).figure)],
  latex: ["results.tex", async () => (await texts()).latex],
  bibtex: ["references.bib", async () => (await texts()).bibtex],
  methods: ["methods.txt", async () => (await texts()).methods],
  "model-card": ["model-card.md", async () => (await texts())["model-card"]],
};

async function save(what) {
  const [name, content] = SAVED[what];
  saveAs(name, await content());
  byId("saved").textContent = `${name} was saved.`;
}

function startDownloads() {
  byId("download").addEventListener("click", (event) => {
    const button = event.target.closest("[data-save]");
    if (button) save(button.dataset.save).catch((error) => { byId("saved").textContent = `This could not be saved: ${error.message}`; });
  });
}
