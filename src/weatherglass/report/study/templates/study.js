// The table of words, with search, filters and sorting.

const FIRST = 40;
const MARKS = ["robust", "limited", "inconclusive"];
const WORDS = ["differs from 0", "differs from 0 with these seeds only", "inconclusive"];
const HEADS = [["word", "Word"], ["", "List"], ["", ""], ["score", "Score"], ["", "95 % over seeds and pairs"], ["p", "p"], ["q", "q"], ["icc", "Test–retest"], ["rank", "Rank"]];

const fixed = (value, digits) => (value === null ? "–" : value.toFixed(digits).replace(/^-(?=[0.]*$)/, "").replace("-", "−"));
const probability = (p) => (p === null ? "–" : p >= 0.0995 ? p.toFixed(2) : p >= 0.001 ? p.toPrecision(2) : p.toExponential(1).replace("-", "−"));

function interval(row, scale) {
  const tone = row.score < 0 ? "c-neg" : "c-pos";
  const svg = draw("svg", { width: "100%", height: 16, "aria-hidden": "true" }, draw("line", { class: "zero", x1: scale(0), x2: scale(0), y1: 0, y2: 16 }));
  const own = draw("g", { class: row.verdict ? "c-faint" : tone });
  if (row.low !== null) own.append(draw("line", { class: `iv ${row.verdict ? "dash" : "thin"}`, x1: scale(row.low), x2: scale(row.high), y1: 8, y2: 8 }));
  own.append(draw("svg", { x: scale(row.score), y: 8 }, draw("use", { href: `#g-${MARKS[row.verdict]}`, x: -4.5, y: -4.5, width: 9, height: 9 })));
  svg.append(own);
  return svg;
}

async function startWords() {
  const data = await unpack(byId("block-words"));
  const form = byId("find-words");
  const place = byId("words-table");
  if (!data.conditions.length) { form.hidden = true; place.replaceChildren(make("p", { class: "soft" }, "No word has a score.")); return; }
  const options = (name, values, first) => form.elements[name].replaceChildren(...(first ? [make("option", { value: "" }, first)] : []), ...[...new Set(values)].map((value) => make("option", { value }, value)));
  options("condition", data.conditions.map((one) => one.name));
  options("rule", data.conditions.map((one) => one.rule));
  form.elements.list.replaceChildren(make("option", { value: "" }, "all words"), ...data.lists.map((name, n) => make("option", { value: n }, name)));
  let sorting = { by: null, down: false };
  let all = false;
  const rowsOf = new Map();

  const rows = (condition) => {
    if (!rowsOf.has(condition)) rowsOf.set(condition, condition.rows.map(([word, lists, verdict, score, low, high, p, q, icc, iccLow, iccHigh, rank]) => ({ word, lists, verdict, score, low, high, p, q, icc, iccLow, iccHigh, rank })));
    return rowsOf.get(condition);
  };

  function line(row, condition, scale, digits) {
    return make("tr", { class: row.verdict === 0 ? "told-row" : null }, make("th", { scope: "row", dir: "auto" }, draw("svg", { class: `g ${row.verdict === 2 ? "c-faint" : row.score < 0 ? "c-neg" : "c-pos"}`, role: "img", "aria-label": WORDS[row.verdict] }, draw("use", { href: `#g-${MARKS[row.verdict]}` })), row.word),
      make("td", { class: "soft" }, row.lists.map((n) => data.lists[n]).join(", ")), make("td", { class: "plot" }, interval(row, scale)), make("td", { class: "num" }, make("b", {}, fixed(row.score, digits))),
      make("td", { class: "num" }, row.low === null ? "–" : `${fixed(row.low, digits)} … ${fixed(row.high, digits)}`), make("td", { class: "num" }, probability(row.p)), make("td", { class: "num" }, probability(row.q)),
      make("td", { class: "num" }, fixed(row.icc, 2), row.iccLow === null ? null : make("small", {}, ` [${fixed(row.iccLow, 2)}, ${fixed(row.iccHigh, 2)}]`)), make("td", { class: "num" }, String(row.rank), make("small", {}, ` of ${condition.of}`)));
  }

  function update() {
    const { find, list, condition: name, rule, told } = form.elements;
    const condition = data.conditions.find((one) => one.name === name.value && one.rule === rule.value) || data.conditions.find((one) => one.name === name.value);
    const wanted = find.value.trim().toLowerCase();
    const whole = rows(condition);
    const kept = whole.filter((row) => (!wanted || row.word.toLowerCase().includes(wanted)) && (list.value === "" || row.lists.includes(Number(list.value))) && (!told.checked || row.verdict === 0));
    const order = sorting.by ? (a, b) => ((a[sorting.by] > b[sorting.by]) - (a[sorting.by] < b[sorting.by])) * (sorting.down ? -1 : 1) : (a, b) => a.verdict - b.verdict || (a.q ?? 2) - (b.q ?? 2);
    kept.sort(order);
    const ends = whole.slice(0, 4000).flatMap((row) => [row.low ?? row.score, row.high ?? row.score]).filter(Number.isFinite).sort((a, b) => a - b);
    const low = Math.min(0, ends[Math.floor(ends.length * 0.02)] ?? -1);
    const high = Math.max(0, ends[Math.floor(ends.length * 0.98)] ?? 1);
    const digits = Math.max(2, 2 - Math.floor(Math.log10(high - low || 1)));
    const scale = (score) => `${Math.max(0, Math.min(100, (100 * (score - low)) / (high - low || 1))).toFixed(1)}%`;
    const head = make("tr", {}, HEADS.map(([by, text], n) => make("th", { scope: "col", class: n > 2 ? "num" : null, "aria-sort": by ? (sorting.by === by ? (sorting.down ? "descending" : "ascending") : "none") : null }, by ? make("button", { type: "button", "data-by": by }, text) : n === 2 ? make("span", { class: "hidden" }, "Interval") : text)));
    place.replaceChildren(make("table", { class: "wordlist" }, make("caption", { class: "hidden" }, "Words with scores"), make("thead", {}, head), make("tbody", {}, kept.slice(0, all ? 5000 : FIRST).map((row) => line(row, condition, scale, digits)))));
    byId("words-shown").textContent = `${kept.length} of ${whole.length} words`;
    byId("more-words").hidden = all || kept.length <= FIRST;
    byId("more-words").textContent = `Show ${Math.min(kept.length, 5000)} words`;
    stops();
  }
  form.addEventListener("input", update);
  form.addEventListener("submit", (event) => event.preventDefault());
  byId("more-words").addEventListener("click", () => { all = true; update(); });
  place.addEventListener("click", (event) => {
    const by = event.target.closest("[data-by]")?.dataset.by;
    if (!by) return;
    sorting = sorting.by === by ? (sorting.down ? { by, down: false } : { by: null, down: false }) : { by, down: true };
    update();
    place.querySelector(`[data-by="${by}"]`).focus();
  });
  update();
}

await startWords();
