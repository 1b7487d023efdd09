// The table of every test: a row per test under its topic, a cell per model. Filtering hides rows, sorting moves them.

const place = byId("tests-table");
const filters = byId("filters");
const FEW = 4;
const PRINTED = 8;
const collator = new Intl.Collator("en", { numeric: true });
const inOrder = data.topics.flatMap(([, numbers]) => numbers);
const topicOf = new Map(data.topics.flatMap(([, numbers], topic) => numbers.map((t) => [t, topic])));
const haystacks = tests.map((test) => [test.name, test.title, test.topic, ...test.categories].join(" ").toLowerCase());
const watchers = [];
let sorting = { by: null, descending: false };
let view = null;
let table = null;

function chosen() {
  const form = new FormData(filters);
  const picked = filters.querySelector(".pick") ? new Set(form.getAll("subject").map(Number)) : new Set([0]);
  return {
    subjects: subjects.map((_, s) => s).filter((s) => picked.has(s)),
    metric: Number(form.get("metric") || 0),
    topic: form.get("topic") || "",
    context: form.get("context") || "*",
    marked: Number(form.get("marked") || 99),
    find: form.get("find").trim().toLowerCase(),
  };
}

function matches(t, choice) {
  if (choice.topic !== "" && topicOf.get(t) !== Number(choice.topic)) return false;
  if (choice.context !== "*" && tests[t].context !== choice.context) return false;
  if (choice.find && !haystacks[t].includes(choice.find)) return false;
  return choice.marked === 99 || choice.subjects.some((s) => (resultAt(t, s, choice.metric)?.mark ?? 99) < choice.marked);
}

function sorted(metric) {
  const { by, descending } = sorting;
  if (by === null) return inOrder;
  const sign = descending ? -1 : 1;
  if (by === "name") return [...inOrder].sort((a, b) => sign * collator.compare(tests[a].name, tests[b].name));
  const field = { p: "p", p_elements: "pElements" }[by] || "d";
  const subject = field === "d" ? Number(by) : 0;
  const value = (t) => resultAt(t, subject, metric)?.[field] ?? null;
  // Unknown values come last in either order.
  return [...inOrder].sort((a, b) => {
    const [one, other] = [value(a), value(b)];
    if (one === null || other === null) return (one === null) - (other === null);
    return sign * (one - other);
  });
}

const alone = subjects.length === 1;
const bySentences = results.some((r) => r.pElements !== null);

function testHeading(t) {
  const { title, words, name } = tests[t];
  return make("th", { scope: "row", class: "name", dir: "auto" }, title, make("small", {}, words ? `${words} ` : "", make("code", {}, breakable(name))));
}

// A cell has the chip, with few models its two lines, and with one model also its numbers.
function testCells(t, s, metric, lines) {
  const r = resultAt(t, s, metric);
  if (!r) return [make("td", { class: "model", "data-s": s }, noCell(data.failed?.[`${s}:${tests[t].name}`])), ...(alone ? [make("td"), make("td"), bySentences && make("td")] : [])];
  const label = alone ? tests[t].title : `${tests[t].title}, ${subjects[s].short}`;
  const cell = make("td", { class: "model", "data-s": s }, lines ? make("div", { class: "cellrow" }, chip(r, label), resultLines(r)) : chip(r, label));
  if (!alone) return [cell];
  return [cell, make("td", { class: "num ci" }, interval(r.ciLow, r.ciHigh)), make("td", { class: "num" }, pText(r.p)), bySentences && make("td", { class: "num" }, r.pElements === null ? "" : pText(r.pElements))];
}

const sortButton = (by, ...label) => make("button", { type: "button", "data-sort": by }, ...label);

function tableHead(shown, lines) {
  const model = (s) => make("th", { scope: "col", class: "model", "data-s": s, "aria-sort": "none", title: subjects[s].label, dir: "auto" },
    sortButton(s, alone ? make("i", {}, "d") : make("span", { class: "label" }, breakable(subjects[s].short))), lines && make("div", { class: "cellrow" }, make("span"), axisOfD()));
  return make("thead", {}, make("tr", {}, make("th", { scope: "col", class: "name", "aria-sort": "none" }, sortButton("name", "Test: positive d means")), shown.map(model),
    alone && [make("th", { scope: "col", class: "num ci" }, `${data.runs[0].level} interval`), make("th", { scope: "col", class: "num", "aria-sort": "none" }, sortButton("p", "p")),
      bySentences && make("th", { scope: "col", class: "num", "aria-sort": "none" }, sortButton("p_elements", "p by sentences"))]));
}

function wholeTable(shown, metric, sequence, grouped) {
  const lines = subjects.length <= FEW;
  const body = make("tbody");
  const columns = 1 + shown.length + (alone ? 2 + bySentences : 0);
  let topic = null;
  for (const t of sequence) {
    if (grouped && data.topics.length > 1 && topicOf.get(t) !== topic) {
      topic = topicOf.get(t);
      body.append(make("tr", { class: "group", "data-topic": topic }, make("th", { scope: "rowgroup", colspan: columns }, make("span", {}, capital(data.topics[topic][0])))));
    }
    body.append(make("tr", { "data-t": t }, testHeading(t), shown.flatMap((s) => testCells(t, s, metric, lines))));
  }
  const kind = alone ? "single" : lines ? "few" : shown.length > 8 ? "wide turned" : "wide";
  return make("table", { class: `tests ${kind}` }, make("caption", {}, `${data.poolable[metric] ? "Effect size d" : "Value"} by ${data.metrics[metric]}`), make("colgroup", {}, make("col", { class: "name" })), tableHead(shown, lines), body);
}

// The table is redrawn only for other columns, another metric or another order; a filter hides rows.
function update() {
  const choice = chosen();
  const everything = sorted(choice.metric);
  const key = JSON.stringify([choice.subjects, choice.metric, sorting]);
  view = { ...choice, tests: everything.filter((t) => matches(t, choice)), grouped: sorting.by === null };
  if (table?.key !== key) {
    table = { key, element: wholeTable(choice.subjects, choice.metric, everything, view.grouped) };
    place.replaceChildren(table.element);
    table.rows = [...table.element.tBodies[0].rows];
    markSorting();
  }
  const visible = new Set(view.tests);
  const topics = new Set(view.tests.map((t) => topicOf.get(t)));
  for (const row of table.rows) row.hidden = row.dataset.t === undefined ? !topics.has(Number(row.dataset.topic)) : !visible.has(Number(row.dataset.t));
  byId("shown").textContent = `${view.tests.length} of ${tests.length} tests${subjects.length > 1 ? `, ${choice.subjects.length} of ${subjects.length} models` : ""}`;
  const count = byId("models-shown");
  if (count) count.textContent = `${choice.subjects.length} of ${subjects.length}`;
  for (const watcher of watchers) watcher.stale();
}

function markSorting() {
  for (const heading of table.element.tHead.querySelectorAll("[aria-sort]")) {
    const mine = heading.querySelector("button").dataset.sort === sorting.by;
    heading.setAttribute("aria-sort", mine ? (sorting.descending ? "descending" : "ascending") : "none");
  }
}

function sortBy(by) {
  const firstDescending = !["name", "p", "p_elements"].includes(by);
  if (sorting.by !== by) sorting = { by, descending: firstDescending };
  else if (sorting.descending === firstDescending) sorting = { by, descending: !firstDescending };
  else sorting = { by: null, descending: false };
  update();
  place.querySelector(`button[data-sort="${by}"]`)?.focus();
}

// The sections below the table are drawn when they become visible, so that a filter never waits for them. Until then
// a box of about their height keeps their place, so that links to later sections lead there.
function drawInSight(box, paint, height) {
  const watcher = {
    inSight: false,
    isStale: true,
    stale() {
      watcher.isStale = true;
      if (watcher.inSight) watcher.paint();
      else box.style.minHeight = `${height(view)}px`;
    },
    paint() {
      if (!watcher.isStale || !view) return;
      watcher.isStale = false;
      box.style.minHeight = "";
      paint(view);
    },
  };
  new IntersectionObserver(([entry]) => {
    watcher.inSight = entry.isIntersecting;
    if (watcher.inSight) watcher.paint();
  }, { rootMargin: "200px" }).observe(box);
  window.addEventListener("beforeprint", watcher.paint);
  watchers.push(watcher);
}

// A sheet of A4 fits a few models; a wider table is printed in parts, each with the names of the tests.
function startPrinting() {
  const printed = byId("print-tables");
  window.addEventListener("beforeprint", () => {
    if (view.subjects.length <= PRINTED) return;
    for (let first = 0; first < view.subjects.length; first += PRINTED) {
      const shown = view.subjects.slice(first, first + PRINTED);
      const part = wholeTable(shown, view.metric, view.tests, view.grouped);
      part.classList.remove("turned");
      part.caption.textContent += `, models ${first + 1} to ${first + shown.length} of ${view.subjects.length}`;
      printed.append(part);
    }
    document.body.classList.add("in-parts");
  });
  window.addEventListener("afterprint", () => { printed.replaceChildren(); document.body.classList.remove("in-parts"); });
}

function startTests() {
  place.addEventListener("click", (event) => {
    const button = event.target.closest("button[data-sort]");
    if (button) sortBy(button.dataset.sort);
  });
  filters.addEventListener("change", update);
  filters.elements.find.addEventListener("input", update);
  filters.addEventListener("submit", (event) => event.preventDefault());
  filters.addEventListener("reset", () => setTimeout(update));
  filters.addEventListener("click", (event) => {
    const which = event.target.dataset.models;
    if (!which) return;
    for (const box of filters.querySelectorAll("input[name=subject]")) box.checked = which === "all";
    update();
  });
  startPrinting();
  update();
}
