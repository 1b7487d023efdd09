// Keep a state: copies from Python, and pictures and tables of what the page shows.

async function copied(kind) {
  let text = location.href;
  if (kind !== "link") {
    const found = await ask("copies", question());
    if (found.error) { byId("copied").textContent = found.error; return; }
    text = found[kind];
  }
  byId("copy").hidden = false;
  byId("copy").textContent = text;
  try {
    await navigator.clipboard.writeText(text);
    byId("copied").textContent = "Copied.";
  } catch { byId("copied").textContent = "Copy the text below."; }
}

async function save(kind) {
  if (kind === "file") {
    const found = await ask("copies", question());
    if (found.error) byId("copied").textContent = found.error; else saveAs(found.name, found.file);
  } else if (kind === "csv") saveAs("explored.csv", separated(table(), ","));
  else {
    const svg = sheet();
    if (svg) saveAs(`explored.${kind}`, kind === "svg" ? svg : await picture(svg));
  }
}

function table() {
  const head = ["model", "metric", "effect_size", "ci_low", "ci_high", "p_value", "p_random", "set", "word", "score", "effect_size_without", "p_value_without"];
  const rows = answers.filter((one) => !one.error).flatMap((one) => {
    const without = Object.fromEntries(one.left_out.map(([role, word, d, p]) => [JSON.stringify([role, word]), [d, p]]));
    const own = [about.models[one.model].label, one.metric, one.value, one.ci_low, one.ci_high, one.p_value, one.p_random];
    const words = [...one.scores, ...["A", "B"].flatMap((role) => question().sets[role].words.map((word) => [role, word, ""])), ...(one.placed || []).map((each) => ["", each.word, each.score])];
    return words.map(([role, word, score]) => [...own, role, word, score, ...(without[JSON.stringify([role, word])] || ["", ""])]);
  });
  return [head, ...rows];
}

// One picture of all models: name, sentence and axis of each.
function sheet() {
  const shown = [...document.querySelectorAll("#answers .one")].filter((one) => one.querySelector(".strip svg"));
  if (!shown.length) return "";
  const parts = shown.map((one) => ({ axis: standalone(one.querySelector(".strip svg")), lines: [one.querySelector("h2")?.textContent, ...wrapped(one.querySelector(".says").textContent, 120)].filter(Boolean) }));
  const sizes = parts.map(({ axis }) => /width="([\d.]+)" height="([\d.]+)"/.exec(axis).slice(1).map(Number));
  const width = Math.max(860, ...sizes.map(([wide]) => wide)) + 40;
  const style = getComputedStyle(document.body);
  let y = 20;
  const inner = parts.map(({ axis, lines }, n) => {
    const texts = lines.map((line, row) => new XMLSerializer().serializeToString(draw("text", { x: 20, y: y + 16 + 20 * row, "font-family": style.fontFamily, "font-size": 14, fill: style.color }, line)));
    const top = y + 20 * lines.length + 14;
    y = top + sizes[n][1] + 26;
    return `${texts.join("")}${axis.replace("<svg ", `<svg x="20" y="${top}" `)}`;
  }).join("");
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${y}" viewBox="0 0 ${width} ${y}"><rect width="${width}" height="${y}" fill="${style.backgroundColor}"/>${inner}</svg>`;
}

function wrapped(text, most) {
  const lines = [""];
  for (const word of text.split(" ")) {
    if (lines.at(-1).length + word.length > most) lines.push("");
    lines.push(`${lines.pop()} ${word}`.trim());
  }
  return lines;
}
