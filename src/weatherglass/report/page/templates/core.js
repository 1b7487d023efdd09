// The data of the page, and functions that the other scripts use.

const data = JSON.parse(document.getElementById("data").textContent);

// Records are rows of values, with the names of their fields once.
function named({ fields, rows }) {
  return rows.map((row) => {
    const record = {};
    fields.forEach((field, place) => { record[field] = row[place]; });
    return record;
  });
}

// Results and details are blocks of compressed JSON, which are unpacked at first use.

const unpacked = new Map();

function block(name) {
  if (!unpacked.has(name)) unpacked.set(name, unpack(byId(`block-${name}`)));
  return unpacked.get(name);
}

const subjects = named(data.subjects).map((subject) => ({ ...subject, run: data.runs[subject.run] }));
const tests = named(data.tests);
const results = named(await block("results"));
const procedures = named(data.procedures);
results.forEach((result, number) => { result.number = number; });
const cellKey = (test, subject, metric) => (metric * tests.length + test) * subjects.length + subject;
const cells = new Map(results.map((r) => [cellKey(r.test, r.subject, r.metric), r]));
const resultAt = (test, subject, metric) => cells.get(cellKey(test, subject, metric));

function breakable(name) {
  return name.split(/(?<=[_/?&:])/).flatMap((part, place) => (place ? [make("wbr"), part] : [part]));
}

// A long name is cut at its beginning, since its end distinguishes it from others.
const shorten = (text, length) => {
  const letters = Array.from(text);
  return letters.length > length ? `…${letters.slice(letters.length - length + 1).join("")}` : text;
};

// Numbers have true minus signs, two significant digits and raised powers of ten.

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
const marks = data.marks;
const markOf = (r) => marks[r.mark];
const poolable = (r) => data.poolable[r.metric];
const quantity = (r) => (poolable(r) ? "d" : data.metrics[r.metric]);
const whyNoP = (r) => (data.methods[r.method].startsWith("none: ") ? data.methods[r.method].slice("none: ".length) : "");
const capital = (text) => text.replace(/^“?./u, (first) => first.toUpperCase());

const verdict = (r) => (whyNoP(r) ? `no p: ${whyNoP(r)}` : markOf(r).words);
const relation = (r) => (data.methods[r.method] === "bounds" ? "≤" : "=");
const procedure = (r) => procedures[r.procedure];
const sided = (r) => (procedure(r).alternative === "two-sided" ? "two-sided" : `one-sided (${procedure(r).alternative})`);
const present = (value) => value !== null && value !== undefined;

function direction(r) {
  if (r.d === null) return poolable(r) ? "All scores are equal, so d is not defined." : "The value is not defined.";
  if (r.lean === null) return poolable(r) ? "This metric is unsigned: d shows how far apart the sets are, not in which direction." : `This metric is unsigned; without bias it is ${r.unbiased}.`;
  const ends = [r.ciLow, r.ciHigh];
  if (ends.includes(null) || (ends[0] <= r.unbiased && r.unbiased <= ends[1])) return "No clear direction.";
  if (r.says) return r.says;
  if (tests[r.test].categories.length !== 4) return `${["Below", "At", "Above"][r.lean + 1]} ${r.unbiased}, the value without bias.`;
  const [x, y, a, b] = tests[r.test].categories;
  const [first, second] = r.lean < 0 ? [b, a] : [a, b];
  return r.lean === 0 ? "Neither set leans either way." : capital(`${x} lean to ${first}, ${y} to ${second}`);
}

// Colour shows the size and sign of d: none below 0.2, then four steps. Outline and mark show the certainty.
function shade(r) {
  if (!poolable(r) || r.d === null) return "z";
  const step = [0.2, 0.5, 0.8, 1.2].filter((least) => Math.abs(r.d) >= least - 1e-9).length;
  if (!step) return "z";
  return `${r.lean === null ? "u" : r.lean < 0 ? "n" : "p"}${step}`;
}

const glyph = (name, attributes) => draw("svg", { class: "g", "aria-hidden": "true", ...attributes }, draw("use", { href: `#g-${name}` }));

function chip(r, label) {
  const { symbol, outline } = markOf(r);
  return make("a", {
    class: `chip ${shade(r)} ${outline}`, href: `#r${r.number}`, "data-r": r.number,
    "aria-label": `${label}: ${quantity(r)} ${effect(r.d)}, ${whyNoP(r) ? "" : `p ${pText(r.p)}, ${sided(r)}, `}${verdict(r)}`,
  }, symbol && glyph(symbol), make("span", { class: "d" }, effect(r.d)));
}

const noCell = (reason) => make("span", { class: "chip absent", title: reason || null }, reason ? "failed" : absent);

// Drawings are fluid: x in per cent of the cell, y in pixels, so that dots stay round at any width.
const REACH = 2;
const at = (d) => `${(50 + (50 * Math.max(-REACH, Math.min(REACH, d))) / REACH).toFixed(2)}%`;
const tone = (r) => (r.mark > 2 ? "c-faint" : r.lean < 0 ? "c-neg" : r.lean === null ? "c-ink" : "c-pos");
const dot = (name, d, y, size) => draw("svg", { x: at(d), y }, draw("use", { href: `#g-${name}`, x: -size / 2, y: -size / 2, width: size, height: size }));

// One result: the upper line with fixed attribute words, the lower with random attribute words.
function resultLines(r, height = 26) {
  const svg = draw("svg", { class: "lines on-grid", width: "100%", height, "aria-hidden": "true" });
  if (!poolable(r) || r.d === null) return svg;
  const kept = r.mark < 2;
  const middle = height * 0.38;
  const own = draw("g", { class: tone(r) });
  if (present(r.ciLow) && present(r.ciHigh)) own.append(draw("line", { class: `iv ${kept ? "" : r.mark > 3 ? "dash" : "thin"}`, x1: at(r.ciLow), x2: at(r.ciHigh), y1: middle, y2: middle }));
  if (present(r.ciAttrLow) && present(r.ciAttrHigh)) own.append(draw("line", { class: "pred", x1: at(r.ciAttrLow), x2: at(r.ciAttrHigh), y1: height * 0.72, y2: height * 0.72 }));
  own.append(dot(markOf(r).dot, r.d, middle, 10));
  svg.append(own);
  return svg;
}

const axisOfD = () => draw("svg", { class: "axis", width: "100%", height: 15, "aria-hidden": "true" }, [-2, -1, 0, 1, 2].map((d) => draw("text", { x: at(d), y: 11, "text-anchor": "middle" }, effect(d, 0))));

async function details(r) {
  const [shared, own] = await Promise.all([block("shared"), block(r.subject * data.metrics.length + r.metric)]);
  const found = own && own[r.number];
  if (!found) return null;
  const list = (name) => {
    const { fields, lists } = shared.lists[name];
    return found[name] === undefined ? [] : named({ fields, rows: lists[found[name]] });
  };
  const texts = named(shared.texts);
  const score = (steps) => (steps === null ? null : steps * found.step);
  const elements = list("elements").map(({ role, element }, n) => ({ role, ...texts[element], score: score(found.scores[n]) }));
  return {
    ...found,
    elements,
    words: wordScores(elements),
    leftOut: list("left_out").map((omitted, n) => ({
      ...omitted, d: found.without[n] === null ? null : r.d + found.without[n] / 1000, p: found.p_without[n],
    })),
    null: (found.null || []).reduce((all, step) => [...all, (all.length ? all[all.length - 1] : 0) + step], []).map((d) => d / 100),
  };
}

// The score of a word is the mean of its sentences'; of one that is not defined there is none.
function wordScores(elements) {
  const words = new Map();
  for (const { role, word, score } of elements) {
    const key = JSON.stringify([role, word]);
    if (!words.has(key)) words.set(key, { role, word, elements: 0, total: 0 });
    const found = words.get(key);
    found.elements += 1;
    found.total = score === null || found.total === null ? null : found.total + score;
  }
  return [...words.values()].map(({ total, ...word }) => ({ ...word, score: total === null ? null : total / word.elements }));
}
