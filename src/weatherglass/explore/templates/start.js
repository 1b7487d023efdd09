// The boxes, suggestions, choices, copies and downloads; then the first question.

const listed = (text) => [...new Set(text.split(/[\n,;\t]+/).map((word) => word.trim()).filter(Boolean))].slice(0, 200);

function fillBoxes() {
  for (const role of ROLES) {
    byId(`words-${role}`).value = state.sets[role].words.join(", ");
    byId(`name-${role}`).value = state.sets[role].name;
    byId(`count-${role}`).textContent = counted(role);
  }
  byId("metric").value = state.metric;
  document.querySelectorAll("#models input").forEach((box) => { box.checked = state.models.includes(Number(box.value)); });
}
const counted = (role) => `${state.sets[role].words.length} word${state.sets[role].words.length === 1 ? "" : "s"}`;

let hinted = null;
async function hint(text, place, insert) {
  if (hinted) hinted.abort();
  hinted = new AbortController();
  if (text.length < 2) { place.replaceChildren(); return; }
  const found = await ask("suggest", { prefix: text, model: state.models[0] }, hinted.signal).catch(() => null);
  if (!found || !found.words) return;
  place.replaceChildren(...found.words.filter((word) => word !== text).slice(0, 6).map((word) => {
    const button = make("button", { type: "button" }, word);
    button.addEventListener("click", () => { place.replaceChildren(); insert(word); });
    return button;
  }));
}

function wordAt(area) {
  const start = Math.max(...[",", "\n", ";", "\t"].map((mark) => area.value.lastIndexOf(mark, area.selectionStart - 1))) + 1;
  return { start, text: area.value.slice(start, area.selectionStart).trim() };
}

function box(role) {
  const what = { X: "first target set", Y: "second target set", A: "first attribute set", B: "second attribute set" }[role];
  const name = make("input", { id: `name-${role}`, maxlength: 80, "aria-label": `Name of ${role}, the ${what}` });
  const area = make("textarea", { id: `words-${role}`, spellcheck: "false", autocapitalize: "off", "aria-label": `Words of ${role}, the ${what}, with commas between them`, "aria-describedby": `lost-${role}` });
  const hints = make("div", { class: "hints" });
  const read = () => {
    state.sets[role] = { ...state.sets[role], words: listed(area.value) };
    state.out = state.out.filter(([of, word]) => of !== role || state.sets[role].words.includes(word));
    byId(`count-${role}`).textContent = counted(role);
    byId("test").value = "";
    update();
  };
  area.addEventListener("input", () => {
    read();
    hint(wordAt(area).text, hints, (word) => { area.setRangeText(`${wordAt(area).start ? " " : ""}${word}`, wordAt(area).start, area.selectionStart, "end"); area.focus(); read(); });
  });
  name.addEventListener("input", () => { state.sets[role].name = name.value.trim(); update(); });
  return make("fieldset", { class: `box ${role.toLowerCase()}` }, make("legend", { class: "hidden" }, `${role}: ${what}`), make("div", { class: "head" }, make("b", {}, role), name, make("span", { class: "count", id: `count-${role}` })), area, hints, make("p", { class: "lost", id: `lost-${role}` }));
}

async function load(name) {
  const found = await ask("test", { name });
  if (found.error) { byId("status").textContent = found.error; return; }
  state = { ...state, sets: found.sets, out: [] };
  fillBoxes();
  update();
}

// A file of four lists: JSON with X, Y, A and B, or four lines (or the four lists of a test file) with words.
async function readFile(file) {
  if (file.size > 200000) { byId("status").textContent = "The file is larger than 200 kB."; return; }
  const text = await file.text();
  const sets = {};
  for (const role of ROLES) {
    const named = new RegExp(`^\\s*"?${role}"?\\s*[=:](?:\\s*\\{[^}]*?words\\s*=)?\\s*\\[([^\\]]*)\\]`, "m").exec(text) || new RegExp(`\\[${role}\\][^[]*?words\\s*=\\s*\\[([^\\]]*)\\]`).exec(text);
    if (named) sets[role] = listed(named[1].replace(/["']/g, ""));
  }
  const lines = text.split(/\r?\n/).filter((line) => line.trim());
  if (Object.keys(sets).length < 4 && lines.length === 4) lines.forEach((line, n) => { sets[ROLES[n]] = listed(line.replace(/^\s*[XYAB]\s*:/, "")); });
  if (ROLES.some((role) => !sets[role])) { byId("status").textContent = `${file.name}: four lists of words are needed, one per line in the order X, Y, A, B; a test file opens with weatherglass explore -t FILE.`; return; }
  for (const role of ROLES) state.sets[role] = { name: role, words: sets[role] };
  state.out = [];
  fillBoxes();
  update();
}

async function copied(kind) {
  let text = location.href;
  if (kind !== "link") {
    const found = await ask("copies", question());
    if (found.error) { byId("copied").textContent = found.error; return; }
    text = found[kind];
  }
  byId("copy").hidden = false;
  byId("copy").textContent = text;
  try { await navigator.clipboard.writeText(text); byId("copied").textContent = "Copied."; } catch { byId("copied").textContent = "Copy the text below."; }
}

async function save(kind) {
  if (kind === "file") {
    const found = await ask("copies", question());
    if (found.error) byId("copied").textContent = found.error; else saveAs(found.name, found.file);
    return;
  }
  if (kind === "csv") {
    const rows = answers.flatMap((one) => (one.scores || []).map(([role, word, score]) => [about.models[one.model].label, role, word, score, one.metric, one.value, one.p_value, one.ci_low, one.ci_high]));
    saveAs("explored.csv", separated([["model", "set", "word", "score", "metric", "effect_size", "p_value", "ci_low", "ci_high"], ...rows], ","));
    return;
  }
  const svg = document.querySelector(".strip svg");
  if (svg) saveAs(`explored.${kind}`, kind === "svg" ? standalone(svg) : await picture(standalone(svg)));
}

// The state in the address, if it is one.
function fromAddress() {
  try {
    const given = JSON.parse(decodeURIComponent(location.hash.slice(1)));
    const words = (some) => Array.isArray(some) && some.every((word) => typeof word === "string");
    if (!ROLES.every((role) => words(given.sets[role].words) && typeof given.sets[role].name === "string")) return;
    const models = given.models.filter((model) => about.models[model]);
    state = { sets: copyOf(given.sets), metric: String(given.metric), models: models.length ? models : [0], place: words(given.place) ? given.place : [], out: Array.isArray(given.out) ? given.out.filter(words) : [] };
    last = JSON.stringify(state);
  } catch { /* an address without a state */ }
}

byId("boxes").append(...ROLES.map(box));
if (about.models.length > 1) {
  byId("models").append(...about.models.map((model, n) => make("label", {}, make("input", { type: "checkbox", value: n }), model.label)));
  byId("models").addEventListener("change", (event) => {
    const chosen = [...document.querySelectorAll("#models input:checked")].map((one) => Number(one.value));
    if (!chosen.length) { event.target.checked = true; return; }
    state.models = chosen;
    update();
  });
}
byId("test").addEventListener("change", () => { if (byId("test").value) load(byId("test").value); });
byId("file").addEventListener("change", () => { if (byId("file").files[0]) readFile(byId("file").files[0]); });
byId("metric").addEventListener("change", () => { state.metric = byId("metric").value; update(); });
byId("undo").addEventListener("click", undo);
byId("choices").addEventListener("submit", (event) => event.preventDefault());
const put = (word) => { if (word && !state.place.includes(word)) { state.place = [...state.place, word].slice(-40); byId("place").value = ""; update(); } };
byId("placing").addEventListener("submit", (event) => { event.preventDefault(); byId("place-hints").replaceChildren(); put(byId("place").value.trim()); });
byId("place").addEventListener("input", () => hint(byId("place").value.trim(), byId("place-hints"), put));
byId("keep").addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (button?.dataset.copy) copied(button.dataset.copy);
  if (button?.dataset.get) save(button.dataset.get);
});
let resized = 0;
addEventListener("resize", () => { clearTimeout(resized); resized = setTimeout(show, 150); });
addEventListener("hashchange", () => { const old = last; fromAddress(); if (last !== old) { before.push(old); fillBoxes(); update(false); } });
fromAddress();
fillBoxes();
update(false);
