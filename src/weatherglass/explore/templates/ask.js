// Questions to Python: of a server, of a notebook, or of the states that an exported page carries. Nothing is computed here.

const about = JSON.parse(byId("about").textContent);
const ROLES = ["X", "Y", "A", "B"];
const STORED = about.transport === "stored";
const client = Array.from(window.crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16)).join("");

// Return what Python answers, an object with the key error, or null if a later question has replaced this one.
async function ask(name, content, signal) {
  if (about.transport === "widget") return askNotebook(name, content, signal);
  const response = await fetch(`api/${name}`, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(content), signal });
  if (response.status === 409) return null;
  const found = await response.json().catch(() => ({ error: `The server answered ${response.status}.` }));
  return response.ok ? found : { error: found.error || `The server answered ${response.status}.` };
}

// A notebook answers one question after the other, so only the latest of a kind waits for its turn.
const awaited = new Map();
const waiting = new Map();
let asking = 0;
function askNotebook(name, content, signal) {
  if (waiting.has(name)) waiting.get(name).done(null);
  return new Promise((done) => {
    const entry = { name, content, done };
    waiting.set(name, entry);
    if (signal) signal.addEventListener("abort", () => { if (waiting.get(name) === entry) waiting.delete(name); done(null); });
    sendNext();
  });
}
function sendNext() {
  if (awaited.size || !waiting.size) return;
  const [name, entry] = waiting.entries().next().value;
  waiting.delete(name);
  asking += 1;
  awaited.set(asking, entry);
  window.parent.postMessage({ weatherglass: asking, name, content: entry.content }, "*");
}
if (about.transport === "widget") {
  addEventListener("message", (event) => {
    const entry = event.source === window.parent && awaited.get(event.data.weatherglass);
    if (!entry) return;
    awaited.delete(event.data.weatherglass);
    entry.done(event.data.answer);
    sendNext();
  });
}

// The states of an exported page: of each test, the whole one and the one without each word.
const stored = STORED ? await unpack(byId("stored")) : null;
function storedAnswers() {
  const test = stored[state.test];
  if (!test) return { error: "This page has the tests of its list only." };
  const one = state.out.length ? test.without[JSON.stringify(state.out[0])] : test.whole;
  if (!one) return { error: "This page does not have these words." };
  return { answers: state.models.map((model) => one[model]).filter(Boolean) };
}
