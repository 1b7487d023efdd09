// Any word between the two attribute sets: its effect size with interval and p, and its nearest words.

function put(word) {
  if (!word || state.place.includes(word)) return;
  state.place = [...state.place, word].slice(-40);
  if (hinted) hinted.abort();
  byId("place").value = "";
  byId("place-hints").replaceChildren();
  update();
}

function leaning(found) {
  if (!Number.isFinite(found.ci_low) || (found.ci_low <= 0 && found.ci_high >= 0)) return "no clear direction";
  return nameOf(found.value > 0 ? "A" : "B");
}

function showPlaced() {
  const rows = state.place.flatMap((word) => answers.map((one) => ({ one, word, found: (one.placed || []).find((each) => each.word === word) })));
  if (!rows.length) { byId("placed").replaceChildren(); byId("near").replaceChildren(); return; }
  const several = answers.length > 1;
  const head = ["Word", ...(several ? ["Model"] : []), "Effect size", `${nameOf("B")} ↔ ${nameOf("A")}`, "95 % CI", "p", "Leans to", ""];
  const cells = (found) => [number(found.value), interval(found.value, found.ci_low, found.ci_high, 2), ends(found.ci_low, found.ci_high), pText(found.p_value), leaning(found)];
  const table = make("table", { class: "plain" }, make("thead", {}, make("tr", {}, head.map((text) => make("th", { scope: "col" }, text)))), make("tbody", {}, rows.map(({ one, word, found }) => make("tr", { "data-placed": word },
    make("th", { scope: "row", dir: "auto" }, word), several ? make("td", {}, about.models[one.model].label) : null,
    found && !found.error ? cells(found).map((cell) => make("td", {}, cell)) : make("td", { colspan: 5 }, found ? found.error : "not in the model"),
    make("td", { class: "acts" }, button("Neighbours", () => neighbours(word, one.model)), button("Remove", () => toggle({ word, kind: "put" })))))));
  byId("placed").replaceChildren(make("div", { class: "scroll" }, table));
}

async function neighbours(word, model) {
  const found = await ask("neighbours", { word, model });
  const text = found.error || (found.nearest.length ? `Nearest to “${word}” among ${found.searched}: ` : `No neighbours of “${word}”: ${found.searched}.`);
  const near = (found.nearest || []).flatMap(([each, cosine], n) => [n ? ", " : "", button(each, () => put(each)), ` ${number(cosine)}`]);
  byId("near").replaceChildren(make("p", { class: "change near" }, text, ...near));
}
