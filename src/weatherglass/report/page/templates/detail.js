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
  sheet.replaceChildren(make("div", { class: "sheet" }, detailBar(r), detailHead(r, found), detailReadings(r, found), detailOthers(r), found ? detailPlots(r, found, width) : detailMissing(), detailContexts(r, found, width), detailCurve(r), detailWords(r, found), detailAgain(r), detailSettings(r, found)));
  if (!sheet.open) sheet.showModal();
  sheet.scrollTop = 0;
  if (location.hash !== `#r${number}`) history.replaceState(null, "", `#r${number}`);
}

function detailBar(r) {
  const neighbours = view ? view.tests.map((t) => resultAt(t, r.subject, r.metric)).filter(Boolean) : [];
  const place = neighbours.indexOf(r);
  const step = (label, other) => {
    const button = make("button", { type: "button", disabled: !other }, label);
    if (other) button.addEventListener("click", () => openDetail(other.number).then(() => sheet.querySelector(label === "Next" ? "[data-next]" : "[data-previous]")?.focus()));
    button.setAttribute(label === "Next" ? "data-next" : "data-previous", "");
    return button;
  };
  const close = make("button", { type: "button", autofocus: true }, "Close");
  close.addEventListener("click", () => sheet.close());
  return make("div", { class: "bar" }, make("span", { class: "place" }, place < 0 ? "" : `${place + 1} of ${neighbours.length}`), step("Previous", neighbours[place - 1]), step("Next", neighbours[place + 1]), close);
}

function detailHead(r, found) {
  const test = tests[r.test];
  const subject = subjects[r.subject];
  const context = data.contexts[test.context] || test.context;
  return make("div", {},
    make("h2", { id: "detail-title", dir: "auto" }, test.title),
    make("p", { class: "where" }, make("code", { class: "id", dir: "auto" }, breakable(test.name)), ` · ${test.words || context} · `, make("bdi", {}, subject.label), " · ", data.metrics[r.metric]),
    make("p", { class: "says", dir: "auto" }, direction(r)),
    (found?.warnings || []).map((warning) => make("p", { class: "warn", dir: "auto" }, warning)),
    make("dl", { class: "figures" }, effectFigure(r), pFigure(r, found), correctedFigure(r), elementsFigure(r)));
}

const figure = (name, big, ...lines) => make("div", {}, make("dt", {}, name), make("dd", {}, make("span", { class: "big" }, big), lines.filter(Boolean).map((line) => make("small", {}, line))));

const plus = (sizes) => sizes.join(" + ");

function sizesText(r) {
  const words = procedure(r).permute === "words" && r.units;
  const inSentences = words && plus(r.units) !== plus(r.targets);
  const attributes = `${plus(r.attributes)} ${!words ? "attribute elements" : inSentences ? "attribute sentences" : "attribute words"}`;
  if (!words) return `${plus(r.targets)} target elements, ${attributes}`;
  return `${plus(r.units)} target words${inSentences ? ` in ${plus(r.targets)} sentences` : ""}, ${attributes}`;
}

function effectFigure(r) {
  if (!poolable(r)) {
    const { level } = subjects[r.subject].run;
    return figure(data.metrics[r.metric], effect(r.d, 3), `not an effect size d; without bias it is ${r.unbiased}`,
      r.ciLow !== null && `${level} interval [${effect(r.ciLow, 3)}, ${effect(r.ciHigh, 3)}] for other words in the sets that are exchanged for p`,
      r.ciAttrLow !== null && `[${effect(r.ciAttrLow, 3)}, ${effect(r.ciAttrHigh, 3)}] for other words in all sets`,
      `sets used: ${tests[r.test].roles.map((role, n) => `${role} ${tests[r.test].categories[n]}`).join(", ")}`);
  }
  return figure("Effect size d", effect(r.d), sizesText(r), r.units && r.units[0] === r.units[1] && "|d| stays below 2 with sets of equal size");
}

function pFigure(r, found) {
  if (whyNoP(r)) return figure("p", absent, verdict(r));
  const { permute } = procedure(r);
  const range = r.pLow !== null && r.pHigh !== null && r.pLow !== r.pHigh && `between ${pText(r.pLow, 3)} and ${pText(r.pHigh, 3)}${found ? (found.certified ? ", certified" : ", not certified") : ""}`;
  return figure(permute === "words" ? "p, by words" : "p, by elements", `${relation(r) === "=" ? "" : "≤ "}${pText(r.p)}`, sided(r),
    `method: ${data.methods[r.method]}${found?.certified && r.pLow === r.pHigh ? ", exact" : ""}`, range, r.floor !== null && `cannot be below ${pText(r.floor)} with sets of this size`);
}

function elementsFigure(r) {
  if (r.pElements === null) return null;
  return figure("p by single sentences, as published", pText(r.pElements), r.dElements !== null && `d of single sentences ${effect(r.dElements)}`, "treats the sentences of a word as independent, which they are not");
}

function correctedFigure(r) {
  const alpha = subjects[r.subject].run.alpha;
  if (whyNoP(r)) return null;
  if (r.pAdjusted === null) return figure("p corrected over all rows", absent, "not computed: the run is not complete");
  const { symbol, words } = markOf(r);
  return figure("p corrected over all rows", pText(r.pAdjusted), make("span", {}, symbol && glyph(symbol), ` ${words}`), `level ${alpha}; verdicts are corrected over topics`);
}

// The effect for fixed and for random attribute words.
function detailReadings(r, found) {
  if (!poolable(r) || !found || found.random_corrected === undefined) return null;
  const { alternative } = procedure(r);
  const bounds = (low, high, kind, reason) => (present(low) ? make("span", {}, interval(low, high), make("small", {}, ` ${kind}`)) : reason || "not computed");
  const lines = [
    ["fixed: the words tested", effect(r.d), bounds(r.ciLow, r.ciHigh, intervalKind(found), found.fixed_reason), `${pText(r.p)}${alternative === "two-sided" ? "" : ` (${alternative})`}`],
    ["random: other words of this kind", effect(r.dAttr), bounds(r.ciAttrLow, r.ciAttrHigh, "jackknife", found.random_reason), pText(r.pAttr)],
  ];
  const { level, alpha } = subjects[r.subject].run;
  return make("div", { class: "readings" }, make("h3", {}, "Fixed and random attribute words"),
    make("p", { class: "intro" }, readingsText(r, found)),
    make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Fixed and random attribute words" }, make("table", { class: "plain" },
      make("thead", {}, make("tr", {}, ["Attribute words", "d", `${level} interval`, "p"].map((head, n) => make("th", { scope: "col", class: n % 2 ? "n" : "" }, head)))),
      make("tbody", {}, lines.map(([name, ...cells]) => make("tr", {}, make("th", { scope: "row" }, name), cells.map((text, n) => make("td", { class: n === 1 ? "" : "n" }, text))))))),
    factList({
      "Score reliability over attribute words": present(found.score_reliability) ? effect(found.score_reliability) : undefined,
      "Ruled out at 5 % with random attribute words: |d| above": present(found.excluded_above) ? effect(found.excluded_above) : undefined,
      [`Smallest d detected with 80 % power at p ≤ ${alpha}`]: present(found.minimum_detectable) ? effect(found.minimum_detectable) : undefined,
      ...(found.power ? { "Power to detect d": Object.entries(found.power).map(([d, chance]) => `${d}: ${chance.toFixed(2)}`).join(", ") } : {}),
    }));
}

function readingsText(r, found) {
  const held = found.templates_random ? "attribute words and templates" : "attribute words";
  return [
    `Would other target words of this kind give the same result with these ${held}? And with other ${held} of their kind?`,
    r.pElements !== null && !found.templates_random && "Both use the same templates.",
    r.dAttr !== null && (found.random_corrected ? "The second d is corrected for the noise of the attribute words." : "The second d is not corrected for the noise of the attribute words."),
  ].filter(Boolean).join(" ");
}

function intervalKind(found) {
  if (!found.bootstrap) return "jackknife";
  return `BCa over targets and attributes, ${found.bootstrap.resamples} resamples; the Monte Carlo error of an end is ${pText(found.bootstrap.monte_carlo_error)}`;
}

// The other word lists of the topic in this model.
function detailOthers(r) {
  if (!poolable(r)) return null;
  const [, listed] = data.topics.find(([, numbers]) => numbers.includes(r.test));
  const others = listed.map((t) => resultAt(t, r.subject, r.metric)).filter(Boolean);
  if (others.length < 2 || others.length > 60) return null;
  return make("div", { class: "others" }, make("h3", {}, "What other lists would have given"),
    make("p", { class: "intro" }, "Tests of the same topic with other words or contexts, in this model."),
    make("table", { class: "rows" }, make("tbody", {}, others.map((other) => make("tr", {},
      make("th", { scope: "row" }, other === r ? make("b", {}, "this row") : tests[other.test].words || tests[other.test].title, make("small", {}, make("code", {}, breakable(tests[other.test].name)))),
      make("td", { class: "wide" }, resultLines(other, 24)),
      make("td", { class: "num" }, other === r ? make("b", {}, effect(other.d)) : make("a", { href: `#r${other.number}` }, effect(other.d)), " ", interval(other.ciLow, other.ciHigh), make("small", {}, `p ${pText(other.p)}, ${verdict(other)}`)))))));
}

// How d depends on the sentences of its words: a band over draws (not an interval) and concordance lines.
function detailContexts(r, found, width) {
  const seen = found?.notes?.contexts;
  if (!seen) return null;
  const used = Object.values(seen.used);
  const share = (part) => `${Math.round(100 * part)} %`;
  return make("div", {}, make("h3", {}, "Sentences of the words"),
    make("figure", {}, make("figcaption", {}, `d with one sentence per word, in ${seen.draws} draws: 95 % and 50 % of them, and their median; the line is d with all sentences. The band is not a confidence interval.`), bandPlot(seen, r.d, width)),
    factList({
      "Sentences per word": `${Math.min(...used)} to ${Math.max(...used)}`,
      [`Sentences per word for d within ±${seen.stable} in 95 % of samples`]: seen.needed ?? undefined,
      "Variance of a score in one sentence (REML)": seen.shares ? Object.entries(seen.shares).map(([name, part]) => `${name} ${share(part)}`).join(", ") : undefined,
    }),
    seen.lines.length && lazyDetails(`Sentences that change d most (${seen.lines.length})`, () => plainTable(["Set", "Before", "Word", "After", "d minus d without"], seen.lines.map((line) => [line.role, ...line.line, effect(line.change, 3)]))));
}

// The specification curve, if a multiverse was run on this topic and model.
function detailCurve(r) {
  const { model } = subjects[r.subject];
  const curves = data.multiverse.filter((curve) => curve.model === model && curve.tests.includes(tests[r.test].name));
  return curves.length ? make("div", {}, curves.map(curveFigure)) : null;
}

// The command and the Python call that compute this row again.
function detailAgain(r) {
  const { spec, run } = subjects[r.subject];
  const test = tests[r.test].name.replace(/ \([A-Z0-9 ]+\)$/, "").replace(tests[r.test].context === "corpus" ? /^context-/ : "", "");
  const metric = data.metrics[r.metric];
  const quoted = (word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'"'"'`)}'`);
  const command = ["weatherglass run", quoted(spec), "-t", quoted(test), "-m", quoted(metric), run.options].filter(Boolean).join(" ");
  const call = `weatherglass.run(${[JSON.stringify(spec), JSON.stringify(test), JSON.stringify(metric), run.arguments].filter(Boolean).join(", ")})`;
  return make("div", { class: "again" }, make("h3", {}, "Reproduce this row"),
    make("p", { class: "intro" }, "d, p and both intervals are the same; the correction is for this one test."),
    [["again-command", command], ["again-call", call]].map(([id, text]) => make("div", { class: "command" }, make("pre", { tabindex: 0, "aria-label": id === "again-call" ? "Python call" : "Command" }, make("code", { id }, text)), make("button", { type: "button", "data-copy": id }, "Copy"))));
}

const factList = (facts) => make("dl", { class: "facts" }, Object.entries(facts).filter(([, value]) => value !== undefined && value !== "").map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", { dir: "auto" }, String(value)))));

function detailMissing() {
  return make("p", { class: "warn" }, `The details of this result could not be unpacked. Scores, null distribution and leave-one-out are therefore not shown; the figures above are those of the table.`);
}

function detailPlots(r, found, width) {
  const { categories, roles } = tests[r.test];
  const half = width > 780 ? (width - 40) / 2 : width;
  const range = padded(found.elements.map((element) => element.score).filter(present));
  const names = Math.min(150, Math.max(60, ...found.words.map((word) => 12 + Array.from(shorten(word.word, 20)).length * 6.6)));
  const parts = [];
  if (found.words.some((word) => present(word.score))) {
    const scored = [...new Set(found.words.map((word) => word.role))];
    const ofAttributes = !/^[XY]/.test(scored[0]);
    parts.push(make("h3", {}, ofAttributes ? "Scores of the attribute words" : "Scores of the targets"),
      poolable(r) && r.lean !== null && make("p", { class: "intro", dir: "auto" }, `s(w): to the right, closer to ${categories[2]}; to the left, closer to ${categories[3]}.`),
      make("div", { class: "plots" }, scored.map((role) => scorePlot(role, categories[roles.indexOf(role)], found, range, scored.length > 1 ? half : width, names))));
  }
  const pair = [];
  if (found.null.length && r.d !== null) {
    pair.push(make("figure", {}, make("h3", {}, "If labels did not matter"), make("figcaption", {}, poolable(r) ? "d in random relabellings of the targets, and the value observed" : `${quantity(r)} with exchanged labels or signs, and the value observed`), nullPlot(found.null, r.d, half, quantity(r), poolable(r) ? 0 : r.unbiased)));
  }
  if (found.leftOut.length && r.d !== null) pair.push(leftOutFigure(r, found, half));
  if (pair.length) parts.push(make("div", { class: "plots" }, pair));
  return make("div", {}, parts);
}

function leftOutFigure(r, found, width) {
  const sign = r.d < 0 ? -1 : 1;
  const lines = found.leftOut.filter((line) => line.d !== null).sort((p, q) => sign * (p.d - q.d));
  return make("figure", {}, make("h3", {}, found.leftOut.some((line) => line.kind === "template") ? "With one word or template left out" : "With one word left out"),
    make("figcaption", { dir: "auto" }, `${quantity(r)} without each; the line is ${quantity(r)} with all. ${hangsOnText(r, found)}`),
    leftOutPlot(lines.slice(0, 10), r.d, width),
    lines.length > 10 && lazyDetails(`All ${lines.length}`, () => plainTable(["Left out", "Set", "p, where close", quantity(r)], lines.map((line) => [line.name, line.kind === "template" ? "template" : line.role, present(line.p) ? pText(line.p) : "", effect(line.d, 3)]))));
}

function hangsOnText(r, found) {
  const { alpha } = subjects[r.subject].run;
  if (!(r.p <= alpha)) return "";
  if (!found.hangs_on) return `p stays at or below ${alpha} without any one of them.`;
  return found.hangs_on.map(({ kind, name, p_value: p, lifting }) =>
    `The result depends on ${kind === "template" ? "the template " : ""}“${name}”: without it p = ${pText(p)}. ${lifting === 1 ? `Without any other ${kind}, p stays at or below ${alpha}.` : `Without any one of ${lifting} ${kind}s, p is above ${alpha}.`}`).join(" ");
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
    for (const [role, texts] of Object.entries(oov.dropped || {})) parts.push(make("p", { dir: "auto" }, `Dropped from ${role}, because the model knows none of their words: ${texts.join(", ")}.`));
    const missing = Object.entries(oov.missing || {});
    if (missing.length) parts.push(make("p", { dir: "auto" }, `Not known to the model: ${missing.map(([word, times]) => (times > 1 ? `${word} (in ${times} texts)` : word)).join(", ")}.`));
    for (const [remark, times] of Object.entries(oov.notes || {})) parts.push(make("p", { dir: "auto" }, `${remark}: ${times}`));
  } else parts.push(make("p", { class: "soft", dir: "auto" }, r.oov ? `Not known to the model: ${r.oov}.` : "The model knows every word of this test."));
  if (found && found.elements.length) {
    parts.push(lazyDetails(`Target elements and their scores (${found.elements.length})`, () => plainTable(["Set", "Text", "Word", "s(w)"], found.elements.map((e) => [e.role, e.text, e.word, effect(e.score, 4)]))));
    const { roles, categories } = tests[r.test];
    for (const [role, category] of roles.map((role, n) => [role, categories[n]]).filter(([role]) => /^[AB]/.test(role))) {
      const words = found.leftOut.filter((line) => line.role === role).map((line) => line.name);
      if (words.length) parts.push(make("p", { class: "attributes", dir: "auto" }, make("b", {}, `${role}: ${category}. `), words.join(", ")));
    }
  }
  return make("div", {}, parts);
}

function detailSettings(r, found) {
  const { run, options, model } = subjects[r.subject];
  const { permute, alternative, ddof } = procedure(r);
  const covariance = found?.notes?.covariance;
  const facts = {
    Model: model, Options: options, Metric: data.metrics[r.metric], Alternative: alternative, Exchanged: permute,
    "Standard deviation divides by": ddof ? "n − 1" : "n", "Test statistic S": r.statistic === null ? absent : effect(r.statistic, 4),
    "Method of p": run.settings.significance, Seed: run.settings.seed, Interval: run.settings.ci, "Significance level": run.alpha,
    "Hash of the test": run.hashes[tests[r.test].name]?.slice(0, 16),
    ...(covariance ? { "Covariance of A": summary(covariance.A), "Covariance of B": summary(covariance.B) } : {}),
  };
  return make("div", {}, make("h3", {}, "Settings"), factList(facts));
}

const summary = (record) => Object.entries(record || {}).map(([name, value]) => `${name} ${typeof value === "number" ? Number(value.toPrecision(3)) : value}`).join(", ");
