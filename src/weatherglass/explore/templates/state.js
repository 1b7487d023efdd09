// The state of the page: words, choices, what is left out; how it is kept, undone and written into the address.

let state = { test: "", out: [], place: [], ...JSON.parse(byId("start").textContent) };
let answers = [];
let whole = { key: "", answers: {} };
let sequence = 0;
let running = null;
let settling = 0;

const copyOf = (value) => JSON.parse(JSON.stringify(value));
const isOut = (word) => (state.out.find((one) => one[1] === word) || [""])[0];
const nameOf = (role) => state.sets[role].name || role;

// Words are separated by spaces, commas or lines; a phrase is in quotes.
function wordsIn(text) {
  const found = Array.from(text.matchAll(/["“”]([^"“”]*)["“”]?|[^\s,;"“”]+/g), (match) => ({ word: (match[1] ?? match[0]).trim(), start: match.index, end: match.index + match[0].length }));
  return found.filter((one) => one.word);
}
const listed = (text) => [...new Set(wordsIn(text).map((one) => one.word))].slice(0, 200);
const written = (words) => words.map((word) => (/[\s,;]/.test(word) ? `"${word}"` : word)).join(", ");

// What is asked: the words without those that are left out, which are placed on the axis instead.
function question(out = state.out) {
  const sets = Object.fromEntries(ROLES.map((role) => [role, { name: nameOf(role), words: state.sets[role].words.filter((word) => !out.some(([of, gone]) => of === role && gone === word)) }]));
  const place = [...new Set([...state.place, ...out.filter(([role]) => "XY".includes(role)).map(([, word]) => word)])];
  return { sets, place, metric: state.metric, context: state.context, models: state.models };
}

// Earlier and later states. Keystrokes in one box within a second are one step.
let last = JSON.stringify(state);
let before = [];
let after = [];
let typed = { kind: "", time: 0 };
function keep(kind) {
  const now = JSON.stringify(state);
  if (now === last) return;
  const again = kind && kind === typed.kind && Date.now() - typed.time < 1000;
  if (!again) before = [...before, last].slice(-200);
  typed = { kind, time: Date.now() };
  after = [];
  last = now;
  toAddress();
}
function step(from, to) {
  if (!from.length) return;
  to.push(last);
  last = from.pop();
  state = JSON.parse(last);
  typed = { kind: "", time: 0 };
  toAddress();
  fillBoxes();
  evidence();
}
function toAddress() {
  byId("undo").disabled = !before.length;
  byId("redo").disabled = !after.length;
  try { history.replaceState(null, "", `#${encodeURIComponent(last)}`); } catch { /* a frame of a notebook has no address */ }
}
function fromAddress() {
  try {
    const given = JSON.parse(decodeURIComponent(location.hash.slice(1)));
    const words = (some) => Array.isArray(some) && some.every((word) => typeof word === "string");
    if (!ROLES.every((role) => words(given.sets[role].words) && typeof given.sets[role].name === "string")) return false;
    const models = (Array.isArray(given.models) ? given.models : []).filter((model) => about.models[model]);
    state = {
      test: String(given.test || ""), sets: Object.fromEntries(ROLES.map((role) => [role, { name: given.sets[role].name, words: given.sets[role].words }])),
      metric: String(given.metric), context: about.contexts.includes(given.context) ? given.context : "word", models: models.length ? models : [0],
      place: words(given.place) ? given.place : [], out: Array.isArray(given.out) ? given.out.filter((one) => words(one) && one.length === 2) : [],
    };
    const now = JSON.stringify(state);
    const changed = now !== last;
    last = now;
    return changed;
  } catch { return false; }
}

function update(kind = "") { keep(kind); evidence(); }

// Ask for the evidence: at once with certified bounds of p where counting takes long, and p without the word that
// probably raises it most; then, when typing rests, counted, and p without each word.
async function evidence(quick = true) {
  clearTimeout(settling);
  sequence += 1;
  const own = sequence;
  if (running) running.abort();
  running = new AbortController();
  const slow = setTimeout(() => watch(own), 300);
  try {
    const found = STORED ? storedAnswers() : await ask("state", { ...question(), quick, client, sequence }, running.signal);
    if (own !== sequence || found === null) return;
    if (found.error) { say(found.error); return; }
    answers = found.answers;
    await askWhole(quick, running.signal);
    if (own !== sequence) return;
    show();
    byId("answers").dataset.sequence = own;
    byId("answers").dataset.final = answers.every((one) => one.error || one.final !== false);
    const unfinished = answers.some((one) => one.final === false);
    say(STORED ? "" : `${number(answers.reduce((sum, one) => sum + (one.milliseconds || 0), 0), 0)} ms${unfinished ? "; p without each word follows" : ""}`);
    if (unfinished) settling = setTimeout(() => evidence(false), 500);
  } catch (error) {
    if (error.name !== "AbortError") say("No answer. Has the program been stopped?");
  } finally {
    clearTimeout(slow);
    if (own === sequence) { byId("answers").classList.remove("waiting"); byId("progress").hidden = true; }
  }
}

// The evidence with all words, to compare with that without some of them.
async function askWhole(quick, signal) {
  const key = JSON.stringify([state.sets, state.metric, state.context, state.models]);
  if (!state.out.length) whole = { key, answers: Object.fromEntries(answers.map((one) => [one.model, one])) };
  if (whole.key === key) return;
  const found = STORED ? { answers: stored[state.test].whole } : await ask("state", { ...question([]), quick, client: `${client}w`, sequence }, signal);
  if (found?.answers) whole = { key, answers: Object.fromEntries(found.answers.map((one) => [one.model, one])) };
}

// A slow model: say how far it is, without blocking the boxes.
async function watch(own) {
  byId("answers").classList.add("waiting");
  say("computing …");
  while (own === sequence && byId("answers").classList.contains("waiting")) {
    const found = about.transport === "server" ? await ask("progress", {}).catch(() => []) : [];
    const one = Array.isArray(found) && found.find((each) => each.total);
    if (own !== sequence || !byId("answers").classList.contains("waiting")) return;
    byId("progress").hidden = !one;
    if (one) {
      byId("progress").max = one.total;
      byId("progress").value = one.done;
      say(`${about.models[one.model].label}: ${one.done} of ${one.total} texts are encoded …`);
    }
    await new Promise((done) => { setTimeout(done, 250); });
  }
}

const say = (text) => { byId("status").textContent = text; };
