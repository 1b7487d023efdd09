// State, questions to the server, and the answer. Every number comes from the server; nothing is computed here.

const about = JSON.parse(byId("about").textContent);
const ROLES = ["X", "Y", "A", "B"];
const client = Array.from(window.crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16)).join("");
let state = { ...JSON.parse(byId("start").textContent), out: [] };
let before = [];
let sequence = 0;
let asked = null;
let answers = [];
let whole = {};

const number = (value, digits = 2) => (value === null || value === undefined ? "–" : value.toFixed(digits).replace("-", "−"));
function pText(p) {
  if (p === null || p === undefined) return "–";
  if (p >= 0.001) return p >= 0.1 ? p.toFixed(2) : String(Number(p.toPrecision(2)));
  const [mantissa, power] = p.toExponential(1).split("e");
  return `${mantissa} × 10${[...String(Number(power))].map((c) => (c === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[c])).join("")}`;
}
const isOut = (word) => (state.out.find((one) => one[1] === word) || [""])[0];
const copyOf = (value) => JSON.parse(JSON.stringify(value));

async function ask(name, content, signal) {
  const response = await fetch(`api/${name}`, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(content), signal });
  if (response.status === 409) return null;
  const found = await response.json().catch(() => ({ error: `the server answered ${response.status}` }));
  return response.ok ? found : { error: found.error || `the server answered ${response.status}` };
}

// The words without those that are left out; these are placed on the axis instead.
function question() {
  const sets = Object.fromEntries(ROLES.map((role) => [role, { name: state.sets[role].name || role, words: state.sets[role].words.filter((word) => !state.out.some(([of, out]) => of === role && out === word)) }]));
  const place = [...new Set([...state.place, ...state.out.filter(([role]) => "XY".includes(role)).map(([, word]) => word)])];
  return { sets, place, metric: state.metric, models: state.models };
}

async function update(remember = true) {
  if (remember) keep();
  sequence += 1;
  const own = sequence;
  if (asked) asked.abort();
  asked = new AbortController();
  const slow = setTimeout(() => { byId("answers").classList.add("waiting"); byId("status").textContent = "computing …"; }, 250);
  try {
    const found = await ask("state", { ...question(), client, sequence }, asked.signal);
    if (own !== sequence || found === null) return;
    if (found.error) { byId("status").textContent = found.error; return; }
    answers = found.answers;
    if (!state.out.length) whole = Object.fromEntries(answers.map((one) => [one.model, one]));
    byId("status").textContent = `${number(answers.reduce((sum, one) => sum + one.milliseconds, 0), 0)} ms`;
    byId("answers").dataset.sequence = own;
    show();
  } catch (error) {
    if (error.name !== "AbortError") byId("status").textContent = "The server does not answer. Has it been stopped?";
  } finally {
    clearTimeout(slow);
    if (own === sequence) byId("answers").classList.remove("waiting");
  }
}

let last = JSON.stringify(state);
function keep() {
  const now = JSON.stringify(state);
  if (now === last) return;
  before.push(last);
  before = before.slice(-200);
  last = now;
  byId("undo").disabled = false;
  history.replaceState(null, "", `#${encodeURIComponent(now)}`);
}

function undo() {
  if (!before.length) return;
  state = JSON.parse(before.pop());
  last = JSON.stringify(state);
  byId("undo").disabled = !before.length;
  history.replaceState(null, "", `#${encodeURIComponent(last)}`);
  fillBoxes();
  update(false);
}

function toggle(point) {
  if (point.kind === "put") state.place = state.place.filter((word) => word !== point.word);
  else if (point.kind === "out") state.out = state.out.filter(([, word]) => word !== point.word);
  else state.out = [...state.out, [point.role, point.word]];
  update();
}

const fact = (name, value, small) => make("div", {}, make("dt", {}, name), make("dd", {}, value, small ? make("small", {}, small) : null));
const ends = (low, high) => (low === null || low === undefined || high === null || high === undefined ? "" : `${number(low)} to ${number(high)}`);

function oneAnswer(one) {
  const names = Object.fromEntries(ROLES.map((role) => [role, state.sets[role].name || role]));
  const several = answers.length > 1;
  const box = make("article", { class: "one", "data-model": one.model }, several || about.models.length > 1 ? make("h2", {}, about.models[one.model].label) : null);
  if (one.error) box.append(make("p", { class: "says wrong" }, one.error));
  else {
    const tested = !one.why_no_p;
    box.append(make("p", { class: "says" }, one.sentence), make("dl", { class: "facts" },
      fact("Effect size d", number(one.value), ends(one.ci_low, one.ci_high) ? `95 % CI ${ends(one.ci_low, one.ci_high)}` : one.reasons.fixed || one.why_no_p),
      fact("p for these attribute words", tested ? pText(one.p_value) : "none", tested ? (one.certified && one.p_low === one.p_high ? "exact: all relabellings counted" : `by ${one.p_method}`) : one.not_tested || one.why_no_p),
      tested && one.p_pieces > one.p_value ? fact("p at equal numbers of pieces", pText(one.p_pieces), "the tokenizer splits the words of one set more; the sentence takes the larger p") : "",
      fact("p for other attribute words", pText(one.p_random), ends(one.ci_random_low, one.ci_random_high) ? `d ${number(one.effect_size_random)}, 95 % CI ${ends(one.ci_random_low, one.ci_random_high)}` : one.reasons.random || ""),
      fact("Words for 80 % power", one.needed ? `${one.needed} a side` : "–", one.minimum_detectable ? `${one.units_x} and ${one.units_y} words detect d ≥ ${number(one.minimum_detectable)}` : "")));
  }
  const drawn = strip(one, names, toggle);
  if (drawn) box.append(drawn);
  const full = whole[one.model];
  if (state.out.length && full && !full.error && !one.error) {
    box.append(make("p", { class: "change" }, `Without ${state.out.map(([, word]) => `“${word}”`).join(", ")}: d ${number(full.value)} → `, make("b", {}, number(one.value)), `, p ${pText(full.p_value)} → `, make("b", {}, pText(one.p_value)), ". ", backButton()));
  } else if (one.decisive) {
    const [role, word, d, p] = one.decisive;
    const button = make("button", { type: "button", class: "carrier" }, `Leave out “${word}”`);
    button.addEventListener("click", () => toggle({ role, word, kind: "in" }));
    box.append(make("p", { class: "change" }, "The result depends most on ", make("b", {}, `“${word}”`), ` (${names[role]}): without it d = ${number(d)}${p === null ? "" : `, p = ${pText(p)}`}. `, button));
  }
  if (one.warnings?.length) box.append(make("ul", { class: "flags", "aria-label": "Warnings" }, one.warnings.map((warning) => make("li", {}, warning.text))));
  return box;
}

function backButton() {
  const button = make("button", { type: "button" }, "Take them back");
  button.addEventListener("click", () => { state.out = []; update(); });
  return button;
}

function show() {
  const place = byId("answers");
  const focused = document.activeElement?.dataset?.word;
  place.classList.toggle("several", answers.length > 1);
  place.replaceChildren(...answers.map(oneAnswer));
  if (focused) [...place.querySelectorAll("[data-word]")].find((word) => word.dataset.word === focused)?.focus();
  for (const role of ROLES) {
    const lost = [...new Set(answers.flatMap((one) => one.unknown[role] || []))];
    byId(`lost-${role}`).replaceChildren(...(lost.length ? ["Not in the model: ", ...lost.flatMap((word, n) => [n ? ", " : "", make("s", {}, word)])] : []));
  }
  showPlaced();
}

function showPlaced() {
  const rows = state.place.flatMap((word) => answers.map((one) => ({ one, word, found: (one.placed || []).find((each) => each.word === word) })));
  if (!rows.length) { byId("placed").replaceChildren(); byId("near").replaceChildren(); return; }
  const [a, b] = ["A", "B"].map((role) => state.sets[role].name || role);
  const head = ["Word", ...(answers.length > 1 ? ["Model"] : []), "Effect size", "95 % CI", "p", "Leans to", ""];
  const clear = (found) => found.ci_low > 0 || found.ci_high < 0;
  const lean = (found) => (Number.isFinite(found.value) && Number.isFinite(found.ci_low) && clear(found) ? (found.value > 0 ? a : b) : "no clear direction");
  const table = make("table", { class: "plain" }, make("thead", {}, make("tr", {}, head.map((text) => make("th", { scope: "col" }, text)))), make("tbody", {}, rows.map(({ one, word, found }) => {
    const near = make("button", { type: "button" }, "Neighbours");
    near.addEventListener("click", () => neighbours(word, one.model));
    const cells = found && !found.error ? [number(found.value), ends(found.ci_low, found.ci_high), pText(found.p_value), lean(found)] : [found ? found.error : "not in the model", "", "", ""];
    return make("tr", { "data-placed": word }, make("th", { scope: "row", dir: "auto" }, word), answers.length > 1 ? make("td", {}, about.models[one.model].label) : null, cells.map((text) => make("td", {}, text)), make("td", {}, near));
  })));
  byId("placed").replaceChildren(make("div", { class: "scroll" }, table));
}

async function neighbours(word, model) {
  const found = await ask("neighbours", { word, model });
  const said = found.error ? found.error : found.nearest.length ? `Nearest to “${word}” among ${found.searched}: ${found.nearest.map(([near, cosine]) => `${near} ${number(cosine)}`).join(", ")}.` : `No neighbours of “${word}”: ${found.searched}.`;
  byId("near").replaceChildren(make("p", { class: "change" }, said));
}
