// The evidence of each model: the sentence that may be said, the numbers behind it, the axis, and what it depends on.

const number = (value, digits = 2) => (value === null || value === undefined ? "–" : value.toFixed(digits).replace("-", "−"));
function pText(p) {
  if (p === null || p === undefined) return "–";
  if (p >= 0.001) return p >= 0.1 ? p.toFixed(2) : String(Number(p.toPrecision(2)));
  const [mantissa, power] = p.toExponential(1).split("e");
  return `${mantissa} × 10${[...String(Number(power))].map((c) => (c === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[c])).join("")}`;
}
const ends = (low, high) => (low === null || low === undefined || high === null || high === undefined ? "" : `${number(low)} to ${number(high)}`);
const fact = (name, value, small) => make("div", {}, make("dt", {}, name), make("dd", {}, value, small ? make("small", {}, small) : null));

function howP(one) {
  if (one.final === false && one.p_method === "bounds") return "certified within 1 %; counting …";
  if (one.certified && one.p_low === one.p_high) return "exact: all relabellings counted";
  return one.certified ? "certified bounds" : `by ${one.p_method}`;
}

function facts(one) {
  const scaled = one.needed !== undefined && one.effect_size !== null;
  return make("dl", { class: "facts" },
    fact(scaled ? "Effect size d" : one.metric, number(one.value, scaled ? 2 : 3), ends(one.ci_low, one.ci_high) ? `95 % CI ${ends(one.ci_low, one.ci_high)}` : one.reasons.fixed || one.why_no_p),
    fact("p, fixed attribute words", one.why_no_p ? "none" : pText(one.p_value), one.why_no_p ? one.not_tested || one.why_no_p : howP(one)),
    !one.why_no_p && one.p_pieces > one.p_value ? fact("p at equal numbers of pieces", pText(one.p_pieces), "The tokenizer splits the words of one set more; the sentence uses the larger p.") : null,
    scaled ? fact("p, random attribute words", pText(one.p_random), ends(one.ci_random_low, one.ci_random_high) ? `d ${number(one.effect_size_random)}, 95 % CI ${ends(one.ci_random_low, one.ci_random_high)}` : one.reasons.random || "") : null,
    scaled ? fact("Words for 80 % power", one.needed ? `${one.needed} a side` : "–", one.minimum_detectable ? `${one.units_x} and ${one.units_y} words detect d ≥ ${number(one.minimum_detectable)}` : "") : null);
}

function oneAnswer(one) {
  const several = answers.length > 1;
  const article = make("article", { class: "one", "data-model": one.model }, several || about.models.length > 1 ? make("h2", {}, about.models[one.model].label) : null);
  article.append(...(one.error ? [make("p", { class: "says wrong" }, one.error)] : [make("p", { class: "says" }, one.sentence), facts(one)]));
  const drawn = strip(one, Object.fromEntries(ROLES.map((role) => [role, nameOf(role)])), toggle);
  if (drawn) article.append(drawn);
  article.append(...dependence(one));
  if (one.warnings?.length) article.append(make("ul", { class: "flags", "aria-label": "Warnings" }, one.warnings.map((warning) => make("li", { "data-kind": warning.kind }, warning.text))));
  return article;
}

// What changes without words: those that are left out, or the one that carries the result.
function dependence(one) {
  const full = whole.answers[one.model];
  if (state.out.length && full && !full.error && !one.error) {
    const gone = state.out.map(([, word]) => `“${word}”`).join(", ");
    return [make("p", { class: "change" }, `Without ${gone}: d ${number(full.value)} → `, make("b", {}, number(one.value)), `, p ${pText(full.p_value)} → `, make("b", {}, pText(one.p_value)), ". ", button("Put back", () => { state.out = []; update(); }))];
  }
  if (!one.decisive) return [];
  const [role, word, d, p] = one.decisive;
  return [make("p", { class: "change" }, "The result depends most on ", make("b", { class: "carrier" }, `“${word}”`), ` (${nameOf(role)}). Without it, d is ${number(d)}${p === null ? "" : ` and p ${pText(p)}`}. `, button("Leave it out", () => toggle({ role, word, kind: "in" })))];
}

function button(text, run) {
  const made = make("button", { type: "button" }, text);
  made.addEventListener("click", run);
  return made;
}

function toggle(point) {
  if (point.kind === "put") state.place = state.place.filter((word) => word !== point.word);
  else if (point.kind === "out") state.out = state.out.filter(([, word]) => word !== point.word);
  else state.out = [...(STORED ? [] : state.out), [point.role, point.word]];
  update();
}

// Two to four models: the same numbers under each other, before what each says.
function comparison() {
  if (answers.length < 2) return [];
  const rows = answers.filter((one) => !one.error);
  const reach = Math.max(2, ...rows.flatMap((one) => [one.ci_low, one.ci_high].filter(Number.isFinite).map(Math.abs)));
  const drawn = rows.some((one) => Number.isFinite(one.ci_low));
  const cells = (one) => [number(one.value), drawn ? interval(one.value, one.ci_low, one.ci_high, reach) : "", ends(one.ci_low, one.ci_high), pText(one.p_value), pText(one.p_random), Object.values(one.unknown || {}).flat().length || "none"];
  const head = ["Model", state.metric.includes("/") ? "d" : state.metric, drawn ? `−${number(reach, 1)} to ${number(reach, 1)}` : "", "95 % CI", "p", "p, random attribute words", "Unknown words"];
  return [make("div", { class: "scroll" }, make("table", { class: "plain", id: "comparison" }, make("caption", {}, "The same words in each model"), make("thead", {}, make("tr", {}, head.map((text) => make("th", { scope: "col" }, text)))), make("tbody", {}, answers.map((one) => make("tr", {}, make("th", { scope: "row" }, about.models[one.model].label), one.error ? make("td", { colspan: 6 }, one.error) : cells(one).map((cell) => make("td", {}, cell)))))))];
}

function interval(value, low, high, reach) {
  const at = (some) => 70 + (60 * Math.max(-reach, Math.min(reach, some))) / reach;
  const svg = draw("svg", { viewBox: "0 0 140 14", width: 140, height: 14, class: `bar ${value < 0 ? "c-neg" : "c-pos"}`, "aria-hidden": "true" }, draw("line", { class: "zero", x1: 70, x2: 70, y1: 0, y2: 14 }));
  if (Number.isFinite(low) && Number.isFinite(high)) svg.append(draw("line", { class: "iv", x1: at(low), x2: at(high), y1: 7, y2: 7 }));
  if (Number.isFinite(value)) svg.append(draw("circle", { cx: at(value), cy: 7, r: 4, fill: "currentColor" }));
  return svg;
}

let spoken = 0;
function show() {
  const place = byId("answers");
  const focused = document.activeElement?.dataset?.word;
  place.classList.toggle("several", answers.length > 1);
  byId("compared").replaceChildren(...comparison());
  place.replaceChildren(...answers.map(oneAnswer));
  if (focused) [...place.querySelectorAll("[data-word]")].find((word) => word.dataset.word === focused)?.focus();
  ROLES.forEach(mark);
  showPlaced();
  stops();
  clearTimeout(spoken);
  spoken = setTimeout(() => { byId("spoken").textContent = answers.map((one) => `${answers.length > 1 ? `${about.models[one.model].label}: ` : ""}${one.error || one.sentence}`).join(" "); }, 900);
}
