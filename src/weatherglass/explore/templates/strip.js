// The axis: every word at its score s(w, A, B), X above the line and Y below; a click leaves a word out or takes it back.

const HIGH = 15;

// Put labels into rows, so that no two of a row touch.
function inRows(points, width) {
  const ends = [];
  return [...points].sort((p, q) => p.at - q.at).map((point) => {
    const wide = 7 * Math.min(point.word.length, 22) + 18;
    const left = Math.max(2, Math.min(point.at - wide / 2, width - wide - 2));
    let row = ends.findIndex((end) => end < left);
    if (row < 0) row = ends.push(0) - 1;
    ends[row] = left + wide;
    return { ...point, row, middle: left + wide / 2 };
  });
}

function strip(answer, names, toggle) {
  const room = byId("answers").clientWidth || 1140;
  const beside = byId("answers").classList.contains("several") && room > 995;  // two columns of 30rem and their gap
  const width = Math.max(300, Math.min(1140, (beside ? (room - 36) / 2 : room) - 4));
  const points = [
    ...(answer.scores || []).map(([role, word, score]) => ({ role, word, score, kind: role.toLowerCase() })),
    ...(answer.placed || []).map((one) => ({ role: "", word: one.word, score: one.score, kind: isOut(one.word) ? "out" : "put", of: isOut(one.word) })),
  ].filter((point) => Number.isFinite(point.score));
  if (!points.length) return null;
  const reach = Math.max(...points.map((point) => Math.abs(point.score))) * 1.12 || 0.01;
  const at = (score) => width / 2 + (score / reach) * (width / 2 - 26);
  const placed = points.map((point) => ({ ...point, at: at(point.score) }));
  const upper = inRows(placed.filter((point) => point.kind === "x" || point.of === "X"), width);
  const lower = inRows(placed.filter((point) => point.kind === "y" || point.of === "Y"), width);
  const own = inRows(placed.filter((point) => point.kind === "put" || (point.kind === "out" && !"XY".includes(point.of))), width);
  const rows = (some) => Math.max(0, ...some.map((point) => point.row + 1));
  const line = rows(upper) * HIGH + 26;
  const last = line + rows(lower) * HIGH + 34;
  const height = last + (own.length ? rows(own) * HIGH + 22 : 0) + 22;
  const said = [...placed].sort((p, q) => q.score - p.score).slice(0, 60).map((point) => `${point.word} ${number(point.score, 3)}`).join(", ");
  const svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": `Words from ${names.A} to ${names.B}: ${said}` });
  svg.append(draw("line", { class: "zero", x1: width / 2, x2: width / 2, y1: 8, y2: height - 22 }), draw("line", { class: "grid", x1: 8, x2: width - 8, y1: line, y2: line }));
  const word = (point, y, text) => {
    const out = point.kind === "out";
    const mark = point.kind === "put" ? draw("path", { d: `M${point.at} ${y - 6}l6 6-6 6-6-6Z` }) : draw("circle", { cx: point.at, cy: y, r: 5 });
    const group = draw("g", { class: `word ${point.kind}`, tabindex: 0, role: "button", "aria-pressed": out ? "true" : "false", "aria-label": `${point.word}, score ${number(point.score, 3)}${out ? ", left out; take it back" : point.kind === "put" ? ", placed; remove it" : "; leave it out"}`, "data-word": point.word, "data-role": point.role },
      draw("title", {}, `${point.word}: s = ${number(point.score, 4)}`), draw("line", { class: "stem", x1: point.at, x2: point.middle, y1: y, y2: text > y ? text - 10 : text + 3 }), mark, draw("text", { x: point.middle, y: text, "text-anchor": "middle" }, point.word.length > 22 ? `${point.word.slice(0, 21)}…` : point.word));
    group.addEventListener("click", () => toggle(point));
    group.addEventListener("keydown", (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); toggle(point); } });
    svg.append(group);
  };
  upper.forEach((point) => word(point, line - 8, line - 22 - point.row * HIGH));
  lower.forEach((point) => word(point, line + 8, line + 30 + point.row * HIGH));
  own.forEach((point) => word(point, last, last + 20 + point.row * HIGH));
  for (const role of ["X", "Y"]) {
    const scores = points.filter((point) => point.role === role).map((point) => point.score);
    const mean = at(scores.reduce((sum, score) => sum + score, 0) / scores.length);
    if (scores.length) svg.append(draw("line", { class: `mean ${role.toLowerCase()}`, x1: mean, x2: mean, y1: role === "X" ? line - 20 : line, y2: role === "X" ? line : line + 20 }));
  }
  svg.append(draw("text", { class: "t", x: 8, y: height - 6 }, `← nearer to ${names.B}`), draw("text", { class: "t", x: width - 8, y: height - 6, "text-anchor": "end" }, `nearer to ${names.A} →`));
  return make("figure", { class: "strip" }, make("figcaption", {}, "Each word at its score s(w, A, B); the short bars are the means of X and Y. Choose a word to leave it out."), svg);
}
