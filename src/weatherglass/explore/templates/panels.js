// Panels that are asked for: the same words under other choices, and where a passage ranks under each name.

async function showMultiverse() {
  byId("multiverse-answer").replaceChildren(make("p", { class: "soft" }, "computing …"));
  const found = await ask("multiverse", { ...question(), client, sequence: Date.now() });
  if (!found) return;
  if (found.error) { byId("multiverse-answer").replaceChildren(make("p", { class: "wrong" }, found.error)); return; }
  setTimeout(stops);
  byId("multiverse-answer").replaceChildren(...found.answers.map((one) => {
    const label = answers.length > 1 || about.models.length > 1 ? make("h3", {}, about.models[one.model].label) : null;
    if (one.error) return make("div", {}, label, make("p", { class: "wrong" }, one.error));
    const largest = Object.entries(one.shares).filter(([name]) => name !== "rest").sort((p, q) => q[1] - p[1])[0];
    return make("div", { class: "verse" }, label, make("p", { class: "says" }, `${one.sentence.charAt(0).toUpperCase()}${one.sentence.slice(1)}.`),
      make("p", { class: "change" }, `${one.specifications.length} combinations: median d ${number(one.median)}; ${number(100 * one.same_sign, 0)} % have the same sign, ${number(100 * one.significant, 0)} % have p ≤ 0.05; multiverse p ${pText(one.p)}.${largest ? ` Most of the difference comes from ${largest[0]} (${number(100 * largest[1], 0)} %).` : ""}`),
      verseCurve(one.specifications));
  }));
}

// Every combination from the smallest d to the largest, with its interval; below, which choices it makes.
function verseCurve(specifications) {
  const some = [...specifications].filter((one) => Number.isFinite(one.d)).sort((p, q) => p.d - q.d);
  const keys = ["similarity", "statistic", "template"];
  const levels = keys.flatMap((key) => [...new Set(some.map((one) => one[key]))].map((level) => ({ key, level })));
  const [left, wide, high] = [140, 12, 130];
  const width = left + wide * some.length + 10;
  const height = high + 20 + levels.length * 15;
  const reach = Math.max(1, ...some.flatMap((one) => [one.ci_low, one.ci_high, one.d].filter(Number.isFinite).map(Math.abs)));
  const at = (d) => high / 2 - (d / reach) * (high / 2 - 6);
  const svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": `Effect size d of ${some.length} combinations, from ${number(some[0]?.d)} to ${number(some.at(-1)?.d)}` },
    draw("line", { class: "zero", x1: left, x2: width, y1: at(0), y2: at(0) }),
    ...[-1, 1].map((d) => draw("text", { class: "t", x: left - 8, y: at(d * Math.floor(reach)) + 4, "text-anchor": "end" }, `d = ${number(d * Math.floor(reach), 0)}`)));
  some.forEach((one, n) => {
    const x = left + wide * (n + 0.5);
    const group = draw("g", { class: one.d < 0 ? "c-neg" : "c-pos" }, draw("title", {}, `${keys.map((key) => one[key]).join(", ")}: d ${number(one.d)}, p ${pText(one.p)}`));
    if (Number.isFinite(one.ci_low) && Number.isFinite(one.ci_high)) group.append(draw("line", { class: "iv thin", x1: x, x2: x, y1: at(one.ci_low), y2: at(one.ci_high), opacity: 0.5 }));
    group.append(draw("circle", { cx: x, cy: at(one.d), r: one.published ? 5 : 3.5, fill: "currentColor" }));
    levels.forEach(({ key, level }, row) => { if (one[key] === level) group.append(draw("circle", { cx: x, cy: high + 16 + 15 * row, r: 3, fill: "currentColor" })); });
    svg.append(group);
  });
  levels.forEach(({ level }, row) => svg.append(draw("text", { class: "t", x: left - 8, y: high + 20 + 15 * row, "text-anchor": "end" }, level)));
  return make("div", { class: "scroll" }, make("figure", { class: "curve" }, svg));
}

let ranked = null;
let rankSequence = 0;
async function showRanking() {
  const queries = byId("query").value.split("\n").map((line) => line.trim()).filter(Boolean);
  const passages = byId("passage").value.split(/\n\s*\n/).map((text) => text.trim()).filter(Boolean);
  const mine = byId("groups").value === "own";
  const groups = mine ? ["X", "Y"].map((role) => ({ name: nameOf(role), words: state.sets[role].words })) : byId("groups").value;
  if (!queries.length || !passages.length) return;
  if (ranked) ranked.abort();
  ranked = new AbortController();
  rankSequence += 1;
  const turn = rankSequence;
  byId("ranking-answer").classList.add("waiting");
  const found = await ask("ranking", { queries, passages, groups, models: state.models, client, sequence: rankSequence }, ranked.signal).catch(() => null);
  if (!found || turn !== rankSequence) return;
  byId("ranking-answer").classList.remove("waiting");
  byId("ranking-answer").replaceChildren(...(found.error ? [make("p", { class: "wrong" }, found.error)] : found.answers.map(oneRanking)));
}

function oneRanking(one) {
  const label = about.models.length > 1 ? make("h3", {}, about.models[one.model].label) : null;
  if (one.error) return make("div", {}, label, make("p", { class: "wrong" }, one.error));
  return make("div", { class: "ranked" }, label, make("p", { class: "says" }, one.sentence),
    make("dl", { class: "facts" }, fact(`${one.x} above ${one.y}`, `${number(100 * one.win_rate, 0)} %`, ends(one.ci_low, one.ci_high) ? `95 % CI ${number(100 * one.ci_low, 0)} to ${number(100 * one.ci_high, 0)} %` : ""), fact("p", pText(one.p), `${["enumerate", "meet-in-the-middle", "lattice"].includes(one.p_method) ? "exact: " : ""}names exchanged between the groups`), fact("Places apart", number(Math.abs(one.places), 1), `of ${one.names.length}; ${one.places < 0 ? one.y : one.x} are higher`)),
    placesStrip(one));
}

// The names from the first rank to the last.
function placesStrip(one) {
  const names = one.names.map(([group, name]) => ({ group, word: name, place: one.places_of_first[name], kind: group === one.x ? "x" : "y" })).sort((p, q) => p.place - q.place);
  const width = Math.max(300, Math.min(1140, byId("ranking-answer").clientWidth || 1140));
  const at = (place) => 24 + ((place - 1) / Math.max(1, names.length - 1)) * (width - 48);
  const points = names.map((each) => ({ ...each, at: at(each.place) }));
  const upper = inRows(points.filter((point) => point.kind === "x"), width);
  const lower = inRows(points.filter((point) => point.kind === "y"), width);
  const rows = (some) => Math.max(0, ...some.map((point) => point.row + 1));
  const line = rows(upper) * HIGH + 26;
  const height = line + rows(lower) * HIGH + 50;
  const svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `Ranks: ${names.map((each) => `${each.word} ${number(each.place, 1)}`).join(", ")}` }, draw("line", { class: "grid", x1: 8, x2: width - 8, y1: line, y2: line }));
  for (const [some, y, text, lift] of [[upper, line - 8, line - 22, -1], [lower, line + 8, line + 30, 1]]) {
    some.forEach((point) => svg.append(draw("g", { class: `rank ${point.kind}`, "data-name": point.word }, draw("title", {}, `${point.word}: rank ${number(point.place, 1)}`), draw("circle", { cx: point.at, cy: y, r: 5 }), draw("text", { x: point.middle, y: text + lift * point.row * HIGH, "text-anchor": "middle" }, point.word))));
  }
  svg.append(draw("text", { class: "t", x: 8, y: height - 6 }, "← first"), draw("text", { class: "t", x: width - 8, y: height - 6, "text-anchor": "end" }, "last →"));
  return make("figure", { class: "strip" }, make("figcaption", {}, `The first passage under each name: ${one.x} above the line, ${one.y} below.`), svg);
}
