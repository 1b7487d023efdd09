// Two more tables of the same cells: tests by metrics, and two runs side by side.

function metricsTable(view) {
  const place = byId("metrics-table");
  const picker = byId("metrics-subject");
  const s = picker ? Number(picker.value) : 0;
  const head = make("tr", {}, make("th", { scope: "col", class: "name" }, "Test"), data.metrics.map((metric) => make("th", { scope: "col", class: "n" }, make("code", {}, metric))));
  const lines = view.tests.map((t) => make("tr", {}, testHeading(t), data.metrics.map((metric, m) => {
    const r = resultAt(t, s, m);
    return make("td", { class: "model" }, r ? chip(r, `${tests[t].name}, ${metric}`) : noCell());
  })));
  place.replaceChildren(make("table", { class: "tests wide" }, make("caption", {}, `${shorten(subjects[s].label, 120)}: ${data.poolable.every(Boolean) ? "effect size" : "value"} by metric`), make("thead", {}, head), make("tbody", {}, lines)));
}

const changeKey = (test, metric, before, after) => JSON.stringify([test, metric, before, after]);
const changes = new Map(named(data.changes).map((found) => [changeKey(found.test, found.metric, found.before, found.after), found]));

function changeCell(found) {
  if (!found) return make("td", { class: "n" }, absent);
  const text = (found.change > 0 ? "+" : "") + effect(found.change);
  return make("td", { class: "n" }, found.changed ? make("b", {}, text) : text, make("span", { class: "soft" }, ` ${interval(found.low, found.high)}`));
}

function comparisonTable(view) {
  const place = byId("comparison-table");
  const lines = [];
  for (const [first, second] of data.pairs) {
    for (const t of view.tests) {
      const pair = [resultAt(t, first, view.metric), resultAt(t, second, view.metric)];
      if (pair[0] || pair[1]) lines.push(comparisonLine(t, first, second, pair));
    }
  }
  const several = data.pairs.length > 1;
  const head = make("tr", {}, make("th", { scope: "col", class: "name" }, "Test"), several && make("th", { scope: "col" }, "Model"),
    data.runs.map((run, n) => make("th", { scope: "col", class: "model" }, shorten(run.label, 40), !several && subjects[data.pairs[0][n]].label !== run.label && make("br"), !several && make("span", { class: "soft" }, subjects[data.pairs[0][n]].short))),
    changes.size > 0 && make("th", { scope: "col", class: "n" }, "Change"),
    make("th", { scope: "col", class: "wide" }, "First ○ and second ●, with intervals"));
  place.replaceChildren(make("table", { class: "tests pairs" }, make("caption", {}, `Effect sizes of two runs, ${data.metrics[view.metric]}`), make("thead", {}, head), make("tbody", {}, lines)));
}

function comparisonLine(t, first, second, pair) {
  const several = data.pairs.length > 1;
  return make("tr", {}, testHeading(t), several && make("td", { dir: "auto" }, breakable(subjects[first].short)),
    pair.map((r, n) => make("td", { class: "model" }, r ? chip(r, `${tests[t].name}, ${data.runs[n].label}`) : noCell())),
    changes.size > 0 && changeCell(changes.get(changeKey(t, view.metric, subjects[first].model, subjects[second].model))),
    make("td", { class: "wide" }, dumbbell(pair)));
}

function dumbbell(pair) {
  const svg = draw("svg", { class: "on-grid", width: "100%", height: 26, "aria-hidden": "true" });
  pair.forEach((r, n) => {
    if (!r || r.d === null || !poolable(r)) return;
    const y = n ? 18 : 8;
    const own = draw("g", { class: tone(r) });
    if (present(r.ciLow) && present(r.ciHigh)) own.append(draw("line", { class: "iv thin", x1: at(r.ciLow), x2: at(r.ciHigh), y1: y, y2: y }));
    own.append(dot(n ? "robust" : "unconfirmed", r.d, y, 10));
    svg.append(own);
  });
  return svg;
}

function startTables() {
  const height = (view) => view.tests.length * 36 + 60;
  if (byId("metrics-table")) drawInSight(byId("metrics-table"), metricsTable, height);
  if (byId("comparison-table")) drawInSight(byId("comparison-table"), comparisonTable, (view) => data.pairs.length * height(view));
  byId("metrics-subject")?.addEventListener("change", () => metricsTable(view));
}
