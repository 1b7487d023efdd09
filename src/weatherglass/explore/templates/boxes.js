// The four boxes: names, words, suggestions of the vocabulary, and words that the model does not know.

const WHAT = { X: "first target set", Y: "second target set", A: "first attribute set", B: "second attribute set" };
const counted = (role) => `${state.sets[role].words.length} word${state.sets[role].words.length === 1 ? "" : "s"}`;

function fillBoxes() {
  for (const role of ROLES) {
    byId(`words-${role}`).value = written(state.sets[role].words);
    byId(`name-${role}`).value = state.sets[role].name;
    byId(`count-${role}`).textContent = counted(role);
    byId(`hints-${role}`).replaceChildren();
  }
  byId("metric").value = state.metric;
  byId("test").value = [...byId("test").options].some((one) => one.value === state.test) ? state.test : "";
  byId("context").value = state.context;
  document.querySelectorAll("#models input").forEach((one) => { one.checked = state.models.includes(Number(one.value)); });
}

function box(role) {
  const name = make("input", { id: `name-${role}`, maxlength: 80, readonly: STORED, "aria-label": `Name of ${role}, the ${WHAT[role]}` });
  const area = make("textarea", { id: `words-${role}`, rows: 4, readonly: STORED, spellcheck: "false", autocapitalize: "off", autocomplete: "off", "aria-label": `Words of ${role}, the ${WHAT[role]}`, "aria-describedby": `lost-${role}` });
  const mirror = make("div", { class: "mirror", id: `mirror-${role}`, "aria-hidden": "true" });
  const hints = make("div", { class: "hints", id: `hints-${role}`, role: "group", "aria-label": `Suggestions for ${role}` });
  const read = () => {
    state.sets[role] = { ...state.sets[role], words: listed(area.value) };
    state.out = state.out.filter(([of, word]) => of !== role || state.sets[role].words.includes(word));
    state.test = byId("test").value = "";
    byId(`count-${role}`).textContent = counted(role);
    mark(role);
    update(`words ${role}`);
  };
  area.addEventListener("input", () => {
    read();
    const at = wordsIn(area.value).find((one) => one.start < area.selectionStart && area.selectionStart <= one.end);
    hint(at ? at.word : "", hints, (word) => {
      const old = wordsIn(area.value).find((one) => one.start === at.start);
      area.setRangeText(written([word]), at.start, old ? old.end : at.start, "end");
      area.focus();
      read();
    });
  });
  // A pasted list keeps its phrases: what is between commas, tabs or lines is one word.
  area.addEventListener("paste", (event) => {
    const text = event.clipboardData.getData("text/plain");
    if (!/[,;\t\n]/.test(text)) return;
    event.preventDefault();
    const words = text.split(/[,;\t\r\n]+/).map((word) => word.replace(/["“”]/g, "").trim()).filter(Boolean);
    const between = /[^\s,;]$/.test(area.value.slice(0, area.selectionStart)) ? ", " : "";
    area.setRangeText(between + written(words), area.selectionStart, area.selectionEnd, "end");
    read();
  });
  area.addEventListener("scroll", () => { mirror.scrollTop = area.scrollTop; });
  name.addEventListener("input", () => { state.sets[role].name = name.value.trim(); update(`name ${role}`); });
  return make("fieldset", { class: `box ${role.toLowerCase()}` }, make("legend", { class: "hidden" }, `${role}: ${WHAT[role]}`),
    make("div", { class: "head" }, make("b", {}, role), name, make("span", { class: "count", id: `count-${role}` })),
    make("div", { class: "field" }, mirror, area), hints, make("p", { class: "lost", id: `lost-${role}` }));
}

// Behind the text, the same text with marks: a wavy line under unknown words, a line through words that are left out.
function mark(role) {
  const text = byId(`words-${role}`).value;
  const lost = new Set(answers.flatMap((one) => one.unknown?.[role] || []));
  const gone = new Set(state.out.filter(([of]) => of === role).map(([, word]) => word));
  const parts = [];
  let end = 0;
  for (const one of wordsIn(text)) {
    const kind = gone.has(one.word) ? "gone" : lost.has(one.word) ? "unknown" : "";
    parts.push(text.slice(end, one.start), kind ? make("span", { class: kind }, text.slice(one.start, one.end)) : text.slice(one.start, one.end));
    end = one.end;
  }
  byId(`mirror-${role}`).replaceChildren(...parts, text.slice(end), "\n");
  byId(`mirror-${role}`).scrollTop = byId(`words-${role}`).scrollTop;
  const known = [...lost].filter((word) => state.sets[role].words.includes(word));
  byId(`lost-${role}`).textContent = known.length ? `Not in the model: ${known.join(", ")}` : "";
}

let hinted = null;
async function hint(text, place, insert) {
  if (hinted) hinted.abort();
  hinted = new AbortController();
  if (text.length < 2) { place.replaceChildren(); return; }
  const found = await ask("suggest", { prefix: text, model: state.models[0] }, hinted.signal).catch(() => null);
  if (!found?.words) return;
  place.replaceChildren(...found.words.filter((word) => word !== text).slice(0, 6).map((word) => {
    const button = make("button", { type: "button" }, word);
    button.addEventListener("click", () => { place.replaceChildren(); insert(word); });
    return button;
  }));
}

function replaceSets(found, test = "") {
  state = { ...state, sets: found.sets, out: [], test };
  fillBoxes();
  update();
}
async function load(name) {
  const found = STORED ? stored[name] : await ask("test", { name });
  if (found?.error) say(found.error); else if (found) replaceSets(found, name);
}
async function readFile(file) {
  if (file.size > 150000) { say("The file is larger than 150 kB."); return; }
  const bytes = new Uint8Array(await file.arrayBuffer());
  const content = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
  const found = await ask("file", { name: file.name, content });
  if (found?.error) say(found.error); else if (found) replaceSets(found);
}
