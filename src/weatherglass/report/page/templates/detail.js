// The detail of one result, drawn when it is opened.

const sheet = byId("detail");
let opened = null;
let opener = null;

async function openDetail(number, from) {
  const r = results[number];
  if (!r) return;
  opened = r;
  opener = from || opener;
  const found = await details(r).catch(() => null);
  if (opened !== r) return;
  const room = Math.min(window.innerWidth, 66 * 16);
  const width = room - (room < 700 ? 32 : 58);
  sheet.replaceChildren(make("div", { class: "sheet" }, detailBar(r), detailHead(r, found), found ? detailPlots(r, found, width) : detailMissing(), detailWords(r, found), detailSettings(r, found)));
  if (!sheet.open) sheet.showModal();
  sheet.scrollTop = 0;
  if (location.hash !== `#r${number}`) history.replaceState(null, "", `#r${number}`);
}

function detailBar(r) {
  const neighbours = view ? view.tests.map((t) => resultAt(t, r.subject, r.metric)).filter(Boolean) : [];
  const place = neighbours.indexOf(r);
  const step = (label, other) => {
    const button = make("button", { type: "button", class: "quiet", disabled: !other }, label);
    if (other) button.addEventListener("click", () => openDetail(other.number).then(() => sheet.querySelector(label === "Next" ? "[data-next]" : "[data-previous]")?.focus()));
    button.setAttribute(label === "Next" ? "data-next" : "data-previous", "");
    return button;
  };
  const close = make("button", { type: "button", class: "quiet", autofocus: true }, "Close");
  close.addEventListener("click", () => sheet.close());
  return make("div", { class: "bar" }, make("span", { class: "place" }, place < 0 ? "" : `${place + 1} of ${neighbours.length}`), step("Previous", neighbours[place - 1]), step("Next", neighbours[place + 1]), close);
}

function detailHead(r, found) {
  const test = tests[r.test];
  const subject = subjects[r.subject];
  const context = data.contexts[test.context] || test.context;
  return make("div", {},
    make("h2", { id: "detail-title", dir: "auto" }, breakable(test.name)),
    make("p", { class: "where" }, make("bdi", {}, subject.label), " · ", data.metrics[r.metric], ` · ${context}`),
    make("p", { class: "says", dir: "auto" }, direction(r)),
    (found?.warnings || []).map((warning) => make("p", { class: "warn", dir: "auto" }, warning)),
    make("dl", { class: "figures" }, effectFigure(r, found), pFigure(r, found), wordFigure(r), correctedFigure(r)));
}

const figure = (name, big, ...lines) => make("div", {}, make("dt", {}, name), make("dd", {}, make("span", { class: "big" }, big), lines.filter(Boolean).map((line) => make("small", {}, line))));

function effectFigure(r, found) {
  const sizes = `${r.nX} + ${r.nY} targets, ${r.nA} + ${r.nB} attributes`;
  const bca = interval(r.ciLow, r.ciHigh);
  const percentile = found?.percentile;
  return figure("Effect size d", effect(r.d), bca ? `95 % interval ${bca}, BCa bootstrap` : "no interval was asked for with this metric",
    percentile && `percentile interval ${interval(percentile.low, percentile.high)}, ${percentile.resamples} resamples`, sizes, r.nX === r.nY && "|d| stays below 2 with sets of equal size");
}

function pFigure(r, found) {
  const method = data.methods[r.method];
  const range = r.pLow !== null && r.pHigh !== null && r.pLow !== r.pHigh && `between ${pText(r.pLow, 3)} and ${pText(r.pHigh, 3)}${found ? (found.certified ? ", certified" : ", not certified") : ""}`;
  const unit = subjects[r.subject].run.permute === "words" ? "words exchanged" : r.pWords === null ? "" : "single sentences exchanged";
  return figure(subjects[r.subject].run.permute === "words" ? "p, by word" : "p, by element", `${relation(r) === "=" ? "" : "≤ "}${pText(r.p)}`,
    method && `method: ${method}${found?.certified && r.pLow === r.pHigh ? ", exact" : ""}`, range, unit, r.floor !== null && `cannot go below ${pText(r.floor)} with sets of this size`);
}

function wordFigure(r) {
  if (r.pWords === null) return null;
  return figure("p, by word", pText(r.pWords), "whole words exchanged; the safer value", r.dWords !== null && `d of word means ${effect(r.dWords)}`);
}

function correctedFigure(r) {
  const alpha = subjects[r.subject].run.alpha;
  if (r.pAdjusted === null) return figure("After correction", absent, "not judged: the run is not complete");
  return figure("After correction", make("span", {}, pText(r.pAdjusted), " ", stars(r)), `${verdict(r)} at ${alpha}`);
}

function detailMissing() {
  return make("p", { class: "warn" }, `The details of this result could not be unpacked. Scores, null distribution and leave-one-out are therefore not shown; the figures above are those of the table.`);
}

function detailPlots(r, found, width) {
  const [x, y, a, b] = tests[r.test].categories;
  const half = width > 780 ? (width - 40) / 2 : width;
  const range = padded(found.elements.map((element) => element.score));
  const names = Math.min(150, Math.max(60, ...found.words.map((word) => 12 + Array.from(shorten(word.word, 20)).length * 6.6)));
  const parts = [];
  if (found.words.length) {
    parts.push(make("h3", {}, "Scores of the targets"),
      make("p", { class: "intro", dir: "auto" }, `s(w): to the right, closer to ${a}; to the left, closer to ${b}.`),
      make("div", { class: "plots" }, scorePlot("X", x, found, range, half, names), scorePlot("Y", y, found, range, half, names)));
  }
  const pair = [];
  if (found.null.length && r.d !== null) {
    pair.push(make("figure", {}, make("h3", {}, "If labels did not matter"), make("figcaption", {}, "d in random relabellings of the targets, and the value observed"), nullPlot(found.null, r.d, half)));
  }
  if (found.leftOut.length && r.d !== null) pair.push(leftOutFigure(r, found, half));
  if (pair.length) parts.push(make("div", { class: "plots" }, pair));
  return make("div", {}, parts);
}

function leftOutFigure(r, found, width) {
  const sign = r.d < 0 ? -1 : 1;
  const lines = found.leftOut.filter((line) => line.d !== null).sort((p, q) => sign * (p.d - q.d));
  const telling = lines.find((line) => line.p !== undefined && line.p !== null);
  return make("figure", {}, make("h3", {}, "With one word left out"),
    make("figcaption", { dir: "auto" }, `d without each; the line is d with all. ${telling ? `Least without “${telling.name}”: d = ${effect(telling.d)}, p = ${pText(telling.p)}.` : ""}`),
    leftOutPlot(lines.slice(0, 10), r.d, width),
    lines.length > 10 && lazyDetails(`All ${lines.length}`, () => plainTable(["Left out", "Set", "d"], lines.map((line) => [line.name, line.kind === "template" ? "template" : line.role, effect(line.d, 3)]))));
}

function lazyDetails(title, content) {
  const element = make("details", {}, make("summary", {}, title));
  element.addEventListener("toggle", () => { if (element.open && element.children.length === 1) element.append(content()); });
  return element;
}

function plainTable(head, lines) {
  return make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": head.join(", ") }, make("table", { class: "plain" },
    make("thead", {}, make("tr", {}, head.map((name, n) => make("th", { scope: "col", class: n === head.length - 1 ? "n" : "" }, name)))),
    make("tbody", {}, lines.map((line) => make("tr", {}, line.map((text, n) => make("td", { class: n === line.length - 1 ? "n" : "", dir: "auto" }, text)))))));
}

function detailWords(r, found) {
  const parts = [make("h3", {}, "Words and elements")];
  const oov = found?.notes?.oov;
  if (oov) {
    for (const [role, texts] of Object.entries(oov.dropped || {})) parts.push(make("p", { dir: "auto" }, `Dropped from ${role}, since the model knows nothing in them: ${texts.join(", ")}.`));
    const missing = Object.entries(oov.missing || {});
    if (missing.length) parts.push(make("p", { dir: "auto" }, `Not known to the model: ${missing.map(([word, times]) => (times > 1 ? `${word} (in ${times} texts)` : word)).join(", ")}.`));
    for (const [remark, times] of Object.entries(oov.notes || {})) parts.push(make("p", { dir: "auto" }, `${remark}: ${times}`));
  } else parts.push(make("p", { class: "soft", dir: "auto" }, r.oov ? `Not known to the model: ${r.oov}.` : "The model knows every word of this test."));
  if (found && found.elements.length) {
    parts.push(lazyDetails(`Target elements and their scores (${found.elements.length})`, () => plainTable(["Set", "Text", "Word", "s(w)"], found.elements.map((e) => [e.role, e.text, e.word, effect(e.score, 4)]))));
    for (const [role, category] of [["A", tests[r.test].categories[2]], ["B", tests[r.test].categories[3]]]) {
      const words = found.leftOut.filter((line) => line.role === role).map((line) => line.name);
      if (words.length) parts.push(make("p", { class: "attributes", dir: "auto" }, make("b", {}, `${role}: ${category}. `), words.join(", ")));
    }
  }
  return make("div", {}, parts);
}

function detailSettings(r, found) {
  const { run, options, model } = subjects[r.subject];
  const covariance = found?.notes?.covariance;
  const facts = {
    Model: model, Options: options, Metric: data.metrics[r.metric], Alternative: run.alternative, Exchanged: run.permute,
    "Standard deviation divides by": run.ddof ? "n − 1" : "n", "Test statistic S": r.statistic === null ? absent : effect(r.statistic, 4),
    "Asked for p": run.settings.significance, Seed: run.settings.seed, Resamples: run.settings.resamples,
    "Hash of the test": run.hashes[tests[r.test].name]?.slice(0, 16),
    ...(found?.attribute_noise !== undefined ? { "Noise of the attribute words, share of the scores’ variance": found.attribute_noise } : {}),
    ...(found?.power ? { "Power by effect size": Object.entries(found.power).map(([d, chance]) => `${d}: ${chance.toFixed(2)}`).join(", ") } : {}),
    ...(covariance ? { "Covariance of A": summary(covariance.A), "Covariance of B": summary(covariance.B) } : {}),
  };
  return make("div", {}, make("h3", {}, "Settings"), make("dl", { class: "facts" }, Object.entries(facts).filter(([, value]) => value !== undefined && value !== "").map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", { dir: "auto" }, String(value))))));
}

const summary = (record) => Object.entries(record || {}).map(([name, value]) => `${name} ${typeof value === "number" ? Number(value.toPrecision(3)) : value}`).join(", ");
