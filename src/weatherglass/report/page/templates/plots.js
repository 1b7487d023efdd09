// The drawings of one result: scores by word, the null distribution, effects with one word left out.

const ROW = 18;

function axisTicks(low, high, wanted = 5) {
  const rough = (high - low) / wanted || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough);
  const ticks = [];
  for (let n = Math.ceil(low / step); n * step <= high + step * 1e-9; n += 1) ticks.push(n * step);
  return { ticks, digits: Math.max(0, -Math.floor(Math.log10(step) + 1e-9)) };
}

function linear(low, high, from, to) {
  const span = high - low || 1;
  return (value) => from + ((value - low) / span) * (to - from);
}

function axis(svg, x, low, high, top, bottom) {
  const { ticks, digits } = axisTicks(low, high);
  for (const tick of ticks) {
    svg.append(draw("line", { class: Math.abs(tick) < 1e-12 ? "axis zero" : "axis", x1: x(tick), x2: x(tick), y1: top, y2: bottom }),
      draw("text", { class: "soft", x: x(tick), y: bottom + 14, "text-anchor": "middle" }, effect(tick, digits)));
  }
}

const padded = (values) => {
  const [low, high] = [Math.min(0, ...values), Math.max(0, ...values)];
  const margin = (high - low) * 0.04 || 0.01;
  return [low - margin, high + margin];
};

// Scores of one target set: a dot per word, a tick per sentence.
function scorePlot(role, category, found, range, width, names) {
  const all = found.words.filter((word) => word.role === role);
  const words = all.filter((word) => word.score !== null).sort((a, b) => b.score - a.score);
  const ofWord = new Map(words.map((word) => [word.word, []]));
  for (const element of found.elements) if (element.role === role) ofWord.get(element.word)?.push(element);
  const bottom = words.length * ROW + 4;
  const x = linear(...range, names, width - 14);
  const svg = draw("svg", { viewBox: `0 0 ${width} ${bottom + 20}`, role: "img", "aria-label": `Scores of ${category}, highest first: ${words.slice(0, 60).map((w) => `${w.word} ${effect(w.score, 3)}`).join(", ")}` });
  axis(svg, x, ...range, 0, bottom);
  words.forEach((word, n) => {
    const y = n * ROW + ROW / 2 + 2;
    const elements = ofWord.get(word.word);
    const row = draw("g", { class: "row" }, draw("title", {}, `${word.word}: s = ${effect(word.score, 4)}${word.elements > 1 ? `, mean of ${word.elements} sentences` : ""}`),
      draw("rect", { x: 0, y: y - ROW / 2, width, height: ROW }),
      draw("text", { x: names - 8, y: y + 4, "text-anchor": "end" }, shorten(word.word, 20)));
    if (word.elements > 1) for (const element of elements) row.append(draw("line", { class: `tick ${role.toLowerCase()}`, x1: x(element.score), x2: x(element.score), y1: y - 5, y2: y + 5 }));
    row.append(draw("circle", { class: role.toLowerCase(), cx: x(word.score), cy: y, r: 3.6 }));
    svg.append(row);
  });
  return make("figure", {}, make("figcaption", { dir: "auto" }, make("b", { class: role.toLowerCase() }, `${role}: ${category}`), ` · ${words.length} word${words.length === 1 ? "" : "s"}${found.elements.some((e) => e.template) ? ", a tick per sentence" : ""}${all.length > words.length ? `; ${all.length - words.length} without a defined score` : ""}`), svg);
}

// Bars from quantiles: an equal share of the relabellings lies between two neighbouring levels.
function nullPlot(quantiles, d, width, name, middle) {
  const reach = Math.max(Math.abs(quantiles[0] - middle), Math.abs(quantiles[quantiles.length - 1] - middle), Math.abs(d - middle)) * 1.06 || 0.01;
  const least = middle - reach;
  const bins = 48;
  const mass = new Array(bins).fill(0);
  const size = (2 * reach) / bins;
  for (let n = 0; n + 1 < quantiles.length; n += 1) spread(mass, (quantiles[n] - least) / size, (quantiles[n + 1] - least) / size);
  const top = Math.max(...mass);
  const [height, bottom] = [110, 124];
  const x = linear(least, middle + reach, 12, width - 12);
  const svg = draw("svg", { viewBox: `0 0 ${width} ${bottom + 20}`, role: "img", "aria-label": `Distribution of ${name} with exchanged labels, from ${effect(quantiles[0])} to ${effect(quantiles[quantiles.length - 1])}; observed ${effect(d)}` });
  axis(svg, x, least, middle + reach, 14, bottom);
  mass.forEach((share, bin) => {
    const tall = (share / top) * (height - 8);
    if (tall) svg.append(draw("rect", { class: "null", x: x(least + bin * size) + 0.5, y: bottom - tall, width: Math.max(0.5, x(size) - x(0) - 1), height: tall }));
  });
  svg.append(draw("line", { class: "observed", x1: x(d), x2: x(d), y1: 14, y2: bottom }),
    draw("text", { x: x(d), y: 10, "text-anchor": d - middle > reach * 0.8 ? "end" : d - middle < -reach * 0.8 ? "start" : "middle" }, `observed ${effect(d)}`));
  return svg;
}

// The band of d over draws of one sentence per word.
function bandPlot(seen, d, width) {
  const [low, quarter, middle, three, high] = seen.band;
  const range = padded([...seen.band, d]);
  const x = linear(...range, 14, width - 14);
  const svg = draw("svg", { viewBox: `0 0 ${width} 52`, role: "img", "aria-label": `95 % of draws between ${effect(low)} and ${effect(high)}, median ${effect(middle)}; d ${effect(d)}` });
  axis(svg, x, ...range, 0, 34);
  svg.append(draw("rect", { class: "band", x: x(low), y: 10, width: x(high) - x(low), height: 14 }), draw("rect", { class: "band", x: x(quarter), y: 10, width: x(three) - x(quarter), height: 14 }),
    draw("circle", { class: "x", cx: x(middle), cy: 17, r: 3.6 }), draw("line", { class: "observed", x1: x(d), x2: x(d), y1: 2, y2: 32 }));
  return svg;
}

function spread(mass, from, to) {
  const last = mass.length - 1;
  const clamp = (bin) => Math.max(0, Math.min(last, bin));
  if (to - from < 1e-9) { mass[clamp(Math.floor(from))] += 1; return; }
  for (let bin = clamp(Math.floor(from)); bin <= clamp(Math.floor(to)); bin += 1) {
    mass[bin] += Math.max(0, Math.min(to, bin + 1) - Math.max(from, bin)) / (to - from);
  }
}

function leftOutPlot(lines, d, width) {
  const names = 170;
  const known = lines.filter((line) => line.d !== null);
  const range = padded([d, ...known.map((line) => line.d)]);
  const bottom = known.length * ROW + 4;
  const x = linear(...range, names, width - 14);
  const svg = draw("svg", { viewBox: `0 0 ${width} ${bottom + 20}`, role: "img", "aria-label": `The value without one word: ${known.map((l) => `${l.name} ${effect(l.d)}`).join(", ")}` });
  axis(svg, x, ...range, 0, bottom);
  svg.append(draw("line", { class: "observed", x1: x(d), x2: x(d), y1: 0, y2: bottom }));
  known.forEach((line, n) => {
    const y = n * ROW + ROW / 2 + 2;
    svg.append(draw("g", { class: "row" }, draw("title", {}, `without ${line.name}: ${effect(line.d, 3)}`),
      draw("rect", { x: 0, y: y - ROW / 2, width, height: ROW }),
      draw("text", { x: names - 8, y: y + 4, "text-anchor": "end" }, shorten(line.name, line.role === "XYAB" ? 24 : 20), line.role === "XYAB" ? "" : draw("tspan", { class: "soft" }, `  ${line.role}`)),
      draw("circle", { class: "ring", cx: x(line.d), cy: y, r: 3.6 })));
  });
  return svg;
}

// Every specification of a multiverse, sorted by d, with a tick in the row of each choice below.
function curveFigure(curve) {
  const width = 900;
  const names = 190;
  const top = 150;
  const levels = curve.choices.flatMap((choice, k) => [...new Set(curve.rows.map((row) => row[5 + k]))].filter((level) => level !== null).map((level) => ({ choice, k, level })));
  const x = (n) => names + ((n + 0.5) / curve.rows.length) * (width - names - 10);
  const y = (d) => 75 - (Math.max(-REACH, Math.min(REACH, d)) / REACH) * 70;
  const height = top + 12 + levels.length * 13;
  const svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `Specification curve of ${curve.list}: ${curve.rows.length} specifications, d from ${effect(curve.rows[0]?.[0])} to ${effect(curve.rows[curve.rows.length - 1]?.[0])}` });
  for (const d of [-2, -1, 0, 1, 2]) svg.append(draw("line", { class: d ? "grid" : "zero", x1: names, x2: width - 10, y1: y(d), y2: y(d) }), draw("text", { class: "t", x: names - 6, y: y(d) + 4, "text-anchor": "end" }, effect(d, 0)));
  curve.rows.forEach(([d, low, high, significant, published], n) => {
    const own = draw("g", { class: significant ? (d < 0 ? "c-neg" : "c-pos") : "c-faint" });
    if (low !== null) own.append(draw("line", { class: "pred", x1: x(n), x2: x(n), y1: y(low), y2: y(high) }));
    own.append(draw("circle", { cx: x(n), cy: y(d), r: 2.2, fill: "currentColor" }));
    if (published) own.append(draw("circle", { class: "ring-only", cx: x(n), cy: y(d), r: 5.5 }));
    svg.append(own);
  });
  levels.forEach(({ choice, k, level }, n) => {
    const middle = top + 16 + n * 13;
    svg.append(draw("text", { class: "t", x: names - 6, y: middle + 4, "text-anchor": "end" }, draw("title", {}, `${choice}: ${level}`), shorten(`${choice}: ${level}`, 30)));
    const ticks = curve.rows.map((row, place) => (row[5 + k] === level ? `M${x(place).toFixed(1)} ${middle - 4}v8` : "")).join("");
    svg.append(draw("path", { class: "ticks", d: ticks }));
  });
  return make("figure", { class: "curve" }, make("h3", {}, `Every reasonable choice: ${curve.list}`), make("figcaption", {}, `${curve.rows.length} specifications by size of d; the ring is the published setting, colour is p ≤ ${curve.alpha}. ${curve.sentence}`), make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Specification curve" }, svg));
}
