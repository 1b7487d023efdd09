// The matrix: filtering hides rows and columns, sorting moves rows, another metric changes what cells say.

const matrix = byId("matrix");
const filters = byId("filters");
const body = matrix.tBodies[0];
const order = Array.from(body.rows);
const rows = order.filter((row) => row.dataset.t !== undefined).map((row) => ({ row, test: Number(row.dataset.t) }));
const headings = order.filter((row) => row.dataset.t === undefined);
const inOrder = rows.map(({ test }) => test);
const collator = new Intl.Collator("en", { numeric: true });
const haystacks = tests.map((test) => [test.name, ...test.categories].join(" ").toLowerCase());
const watchers = [];
let sorting = { by: null, descending: false };

function chosen() {
  const form = new FormData(filters);
  const picked = filters.querySelector(".pick") ? new Set(form.getAll("subject").map(Number)) : new Set([0]);
  return {
    subjects: subjects.map((_, s) => s).filter((s) => picked.has(s)),
    metric: Number(form.get("metric") || 0),
    group: form.get("group"),
    context: form.get("context"),
    marked: Number(form.get("marked")),
    find: form.get("find").trim().toLowerCase(),
  };
}

function visibleTests(choice) {
  return new Set(inOrder.filter((t) => {
    const test = tests[t];
    if (choice.group && test.group !== choice.group) return false;
    if (choice.context !== "*" && test.context !== choice.context) return false;
    if (choice.find && !haystacks[t].includes(choice.find)) return false;
    if (!choice.marked) return true;
    return choice.subjects.some((s) => (resultAt(t, s, choice.metric)?.mark ?? 0) >= choice.marked);
  }));
}

function sorted(metric) {
  const { by, descending } = sorting;
  if (by === null) return inOrder;
  const sign = descending ? -1 : 1;
  if (by === "name") return [...inOrder].sort((a, b) => sign * collator.compare(tests[a].name, tests[b].name));
  const field = { p: "p", p_elements: "pElements" }[by] || "d";
  const subject = field === "d" ? Number(by) : 0;
  const value = (t) => resultAt(t, subject, metric)?.[field] ?? null;
  // What is not known comes last, whichever way the rest is sorted.
  return [...inOrder].sort((a, b) => {
    const [one, other] = [value(a), value(b)];
    if (one === null || other === null) return (one === null) - (other === null);
    return sign * (one - other);
  });
}

let shownMetric = 0;

function showMetric(metric) {
  if (metric === shownMetric) return;
  shownMetric = metric;
  byId("matrix-metric").textContent = data.metrics[metric];
  for (const { row, test } of rows) {
    for (const cell of row.querySelectorAll("td.model")) {
      const subject = Number(cell.dataset.s);
      const r = resultAt(test, subject, metric);
      const label = subjects.length > 1 ? `${tests[test].name}, ${subjects[subject].label}` : tests[test].name;
      const link = cell.querySelector("a");
      if (r && link) setCell(link, r, label);
      else cell.replaceChildren(r ? cellLink(r, label) : noCell());
    }
    if (subjects.length > 1) continue;
    const r = resultAt(test, 0, metric);
    row.querySelector(".ci").textContent = r ? interval(r.ciLow, r.ciHigh) : "";
    row.querySelector(".p").textContent = r ? pText(r.p) : "";
    const byElements = row.querySelector(".pe");
    if (byElements) byElements.textContent = r && r.pElements !== null ? pText(r.pElements) : "";
  }
}

let view = null;

function update() {
  const choice = chosen();
  const visible = visibleTests(choice);
  const sequence = sorted(choice.metric).filter((t) => visible.has(t));
  view = { ...choice, tests: sequence, grouped: sorting.by === null };
  showMetric(choice.metric);
  arrange(visible);
  showColumns(new Set(choice.subjects));
  byId("shown").textContent = `${sequence.length} of ${tests.length} tests${subjects.length > 1 ? `, ${choice.subjects.length} of ${subjects.length} models` : ""}`;
  for (const watcher of watchers) watcher.stale();
}

// What lies below the matrix is drawn when it comes into sight, so that a filter never waits for it. Until then its
// place is kept, about as high as it will be, so that a link to what follows leads there.
function drawInSight(place, paint, height) {
  const watcher = {
    inSight: false,
    isStale: true,
    stale() {
      watcher.isStale = true;
      if (watcher.inSight) watcher.paint();
      else place.style.minHeight = `${height(view)}px`;
    },
    paint() {
      if (!watcher.isStale || !view) return;
      watcher.isStale = false;
      place.style.minHeight = "";
      paint(view);
    },
  };
  new IntersectionObserver(([entry]) => {
    watcher.inSight = entry.isIntersecting;
    if (watcher.inSight) watcher.paint();
  }, { rootMargin: "200px" }).observe(place);
  window.addEventListener("beforeprint", watcher.paint);
  watchers.push(watcher);
}

let arranged = inOrder.join();

function arrange(visible) {
  const sequence = sorted(shownMetric);
  if (sequence.join() !== arranged) {
    arranged = sequence.join();
    const place = new Map(sequence.map((t, n) => [t, n]));
    body.append(...(sorting.by === null ? order : [...headings, ...[...rows].sort((a, b) => place.get(a.test) - place.get(b.test)).map(({ row }) => row)]));
  }
  for (const { row, test } of rows) row.hidden = !visible.has(test);
  for (const heading of headings) heading.hidden = sorting.by !== null || !followed(heading);
}

function followed(heading) {
  for (let row = heading.nextElementSibling; row && row.dataset.t !== undefined; row = row.nextElementSibling) {
    if (!row.hidden) return true;
  }
  return false;
}

let shownSubjects = subjects.length;

function showColumns(picked) {
  const signature = [...picked].join();
  if (signature === shownSubjects) return;
  shownSubjects = signature;
  for (const cell of matrix.querySelectorAll("[data-s]")) cell.hidden = !picked.has(Number(cell.dataset.s));
  const count = byId("models-shown");
  if (count) count.textContent = `${picked.size} of ${subjects.length}`;
}

function sortBy(button) {
  const by = button.dataset.sort;
  const firstDescending = !["name", "p", "p_elements"].includes(by);
  if (sorting.by !== by) sorting = { by, descending: firstDescending };
  else if (sorting.descending === firstDescending) sorting = { by, descending: !firstDescending };
  else sorting = { by: null, descending: false };
  for (const heading of matrix.tHead.querySelectorAll("[aria-sort]")) {
    const mine = heading.contains(button) && sorting.by !== null;
    heading.setAttribute("aria-sort", mine ? (sorting.descending ? "descending" : "ascending") : "none");
  }
  update();
}

function startMatrix() {
  matrix.tHead.addEventListener("click", (event) => {
    const button = event.target.closest("button[data-sort]");
    if (button) sortBy(button);
  });
  filters.addEventListener("change", update);
  filters.elements.find.addEventListener("input", update);
  filters.addEventListener("submit", (event) => event.preventDefault());
  filters.addEventListener("reset", () => setTimeout(update));
  filters.addEventListener("click", (event) => {
    const which = event.target.dataset.models;
    if (!which) return;
    for (const box of filters.elements.subject.length ? filters.elements.subject : [filters.elements.subject]) box.checked = which === "all";
    update();
  });
  const dense = byId("dense");
  if (!dense) return;
  const thin = () => matrix.classList.toggle("dense", dense.checked);
  dense.addEventListener("change", thin);
  thin();
}
