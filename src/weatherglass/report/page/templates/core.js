// The data of the page, and the few tools that everything else is made with.

const data = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);

// Records come as rows of values, with the names of their fields once.
function named({ fields, rows }) {
  return rows.map((row) => {
    const record = {};
    fields.forEach((field, place) => { record[field] = row[place]; });
    return record;
  });
}

const subjects = named(data.subjects).map((subject) => ({ ...subject, run: data.runs[subject.run] }));
const tests = named(data.tests);
const results = named(data.results);
const procedures = named(data.procedures);
results.forEach((result, number) => { result.number = number; });
const cellKey = (test, subject, metric) => (metric * tests.length + test) * subjects.length + subject;
const cells = new Map(results.map((r) => [cellKey(r.test, r.subject, r.metric), r]));
const resultAt = (test, subject, metric) => cells.get(cellKey(test, subject, metric));

// Elements. Text always goes in as text, never as markup.

function make(name, attributes, ...children) {
  return fill(document.createElement(name), attributes, children);
}

function draw(name, attributes, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value !== undefined && value !== null && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

function breakable(name) {
  return name.split(/(?<=[_/?&:])/).flatMap((part, place) => (place ? [make("wbr"), part] : [part]));
}

const shorten = (text, length) => {
  const letters = Array.from(text);
  return letters.length > length ? `${letters.slice(0, length - 1).join("")}…` : text;
};

// Numbers: true minus signs, two digits that count, powers of ten raised.

const absent = "–";

function effect(d, digits = 2) {
  if (d === null || d === undefined) return absent;
  const text = d.toFixed(digits);
  return (Number(text) === 0 ? text.replace("-", "") : text).replace("-", "−");
}

const raise = (text) => Array.from(text, (c) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[c] ?? (c === "-" ? "⁻" : "")).join("");

function pText(p, digits = 2) {
  if (p === null || p === undefined) return absent;
  if (p >= 0.0995) return p.toFixed(digits);
  if (p >= 0.00095) return String(Number(p.toPrecision(digits)));
  if (p <= 0) return "0";
  const [mantissa, exponent] = p.toExponential(digits - 1).split("e");
  return `${mantissa} × 10${raise(exponent)}`;
}

const interval = (low, high) => (low === null || low === undefined || high === null ? "" : `[${effect(low)}, ${effect(high)}]`);
const stars = (r) => "*".repeat(r.mark);
const kind = (r) => `k${r.mark} ${r.lean < 0 ? "negative" : "positive"}`;
const verdicts = ["not significant", "significant", "significant after correction"];
const verdict = (r) => (whyNoP(r) ? `no p: ${whyNoP(r)}` : r.pAdjusted === null ? "not judged" : verdicts[r.mark]);
const isEffectSize = (r) => data.isEffectSize[r.metric];
const quantity = (r) => (isEffectSize(r) ? "d" : data.metrics[r.metric]);
const whyNoP = (r) => (data.methods[r.method].startsWith("none: ") ? data.methods[r.method].slice("none: ".length) : "");
const relation = (r) => (data.methods[r.method] === "bounds" ? "≤" : "=");

function direction(r) {
  if (r.d === null) return isEffectSize(r) ? "All scores are equal: there is no effect to speak of." : "The value is not defined.";
  if (r.lean === null) return isEffectSize(r) ? "This metric is unsigned: d says how far the sets stand apart, not which way." : `This metric is unsigned; without bias it is ${r.unbiased}.`;
  if (r.says) return r.says;
  if (tests[r.test].categories.length !== 4) return `${["Below", "At", "Above"][r.lean + 1]} ${r.unbiased}, the value without bias.`;
  const [x, y, a, b] = tests[r.test].categories;
  const [first, second] = r.lean < 0 ? [b, a] : [a, b];
  return r.lean === 0 ? "Neither set leans either way." : `${x} lean to ${first}, ${y} to ${second}`;
}

function cellLink(r, label) {
  return setCell(make("a", {}, make("span", { class: "d" }), make("span", { class: "mark" })), r, label);
}

function setCell(link, r, label) {
  link.className = `cell ${kind(r)}`;
  link.setAttribute("href", `#r${r.number}`);
  link.dataset.r = r.number;
  link.setAttribute("aria-label", `${label}: ${quantity(r)} ${effect(r.d)}, ${whyNoP(r) ? "" : `p ${pText(r.p)}, `}${verdict(r)}`);
  link.firstChild.textContent = effect(r.d);
  link.lastChild.textContent = stars(r);
  return link;
}

const noCell = () => make("span", { class: "cell absent" }, absent);

// Details: blocks of compressed JSON, unpacked when they are first asked for.

const unpacked = new Map();

function block(name) {
  if (!unpacked.has(name)) unpacked.set(name, unpack(byId(`block-${name}`)));
  return unpacked.get(name);
}

async function unpack(element) {
  if (!element) return null;
  const bytes = Uint8Array.from(atob(element.textContent), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

async function details(r) {
  const [shared, own] = await Promise.all([block("shared"), block(r.subject * data.metrics.length + r.metric)]);
  const found = own && own[r.number];
  if (!found) return null;
  const list = (name) => {
    const { fields, lists } = shared.lists[name];
    return found[name] === undefined ? [] : named({ fields, rows: lists[found[name]] });
  };
  const texts = named(shared.texts);
  const score = (steps) => steps * found.step;
  return {
    ...found,
    elements: list("elements").map(({ role, element }, n) => ({ role, ...texts[element], score: score(found.scores[n]) })),
    words: list("words").map((word, n) => ({ ...word, score: score(found.word_scores[n]) })),
    leftOut: list("left_out").map((omitted, n) => ({
      ...omitted, d: found.without[n] === null ? null : found.without[n] / 1000, p: found.p_without[n],
    })),
    null: (found.null || []).reduce((all, step) => [...all, (all.length ? all[all.length - 1] : 0) + step], []).map((d) => d / 1000),
  };
}
