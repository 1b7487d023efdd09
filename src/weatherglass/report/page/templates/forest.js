// The forest plot: tests down, a panel for each model, all on one scale.

const forestPlace = byId("forest");
const PANELS = 40;

function forest(view, room = forestPlace.clientWidth) {
  const narrow = room < 600;
  const height = narrow ? 30 : 22;
  const lines = forestLines(view);
  if (!lines.length || !view.subjects.length) {
    forestPlace.replaceChildren(make("p", { class: "nothing" }, "Nothing matches the filters."));
    return;
  }
  if (!data.isEffectSize[view.metric]) {
    forestPlace.replaceChildren(make("p", { class: "nothing" }, `${data.metrics[view.metric]} is not an effect size d; its values are in the table.`));
    return;
  }
  const names = narrow ? 128 : 330;
  const panels = view.subjects.slice(0, PANELS);
  const width = Math.max(narrow ? 190 : 150, Math.min(840, (room - names) / panels.length));
  const scale = forestScale(view, width);
  const grid = make("div", { class: "grid" },
    make("div", { class: "names" }, make("div", { class: "head", style: "height:3.4rem" }), lines.map((line) => forestName(line, height))),
    panels.map((s) => forestPanel(s, view.metric, lines, scale, width, height)));
  grid.style.gridTemplateColumns = `${names}px repeat(${panels.length}, ${width}px)`;
  forestPlace.replaceChildren(grid);
}

function forestLines(view) {
  const lines = [];
  let group = null;
  const several = new Set(view.tests.map((t) => tests[t].group)).size > 1;
  for (const t of view.tests) {
    if (view.grouped && several && tests[t].group !== group) {
      group = tests[t].group;
      lines.push({ group });
    }
    lines.push({ test: t });
  }
  return lines;
}

function forestName(line, height) {
  const name = line.test === undefined ? line.group : tests[line.test].name;
  return make("div", { class: line.test === undefined ? "head" : "", style: `height:${height}px`, title: name, dir: "auto" },
    make("span", {}, line.test === undefined ? name : breakable(shorten(name, 60))));
}

function forestScale(view, width) {
  let reach = 2;
  for (const t of view.tests) {
    for (const s of view.subjects) {
      const r = resultAt(t, s, view.metric);
      if (r && r.d !== null) reach = Math.max(reach, Math.abs(r.d), Math.min(2.5, Math.max(Math.abs(r.ciLow ?? 0), Math.abs(r.ciHigh ?? 0))));
    }
  }
  const middle = width / 2;
  return Object.assign((d) => middle + (Math.max(-reach, Math.min(reach, d)) / reach) * (middle - 14), { reach });
}

function forestPanel(s, metric, lines, scale, width, height) {
  const bottom = lines.length * height;
  const svg = draw("svg", { width, height: bottom + 22, role: "img", "aria-label": `Effect sizes of ${subjects[s].label}` });
  for (const d of [-2, -1, 0, 1, 2]) {
    svg.append(draw("line", { class: d ? "axis" : "axis zero", x1: scale(d), x2: scale(d), y1: 0, y2: bottom }),
      ...[-6, bottom + 15].map((y) => draw("text", { class: "soft", x: scale(d), y, "text-anchor": "middle" }, effect(d, 0))));
  }
  lines.forEach((line, n) => {
    const r = line.test === undefined ? null : resultAt(line.test, s, metric);
    if (r && r.d !== null) svg.append(forestMark(r, scale, n * height, width, height));
  });
  return make("div", { class: "panel" }, make("h3", { title: subjects[s].label, dir: "auto" }, shorten(subjects[s].label, Math.floor(width / 4))), svg);
}

function forestMark(r, scale, top, width, height) {
  const y = top + height / 2;
  const mark = draw("g", { "data-r": r.number }, draw("rect", { class: "hit", x: 0, y: top, width, height }));
  if (r.ciLow !== null && r.ciHigh !== null) {
    mark.append(draw("line", { class: `whisker ${kind(r)}`, x1: scale(r.ciLow), x2: scale(r.ciHigh), y1: y, y2: y }));
  }
  mark.append(draw("circle", { class: `dot ${kind(r)}`, cx: scale(r.d), cy: y, r: r.mark ? 4 : 3.2 }));
  return mark;
}

function startForest() {
  drawInSight(forestPlace, forest, (view) => forestLines(view).length * 22 + 80);
  let waiting = 0;
  let before = forestPlace.clientWidth;
  window.addEventListener("resize", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      if (forestPlace.clientWidth !== before) forest(view);
      before = forestPlace.clientWidth;
    }, 120);
  });
}
