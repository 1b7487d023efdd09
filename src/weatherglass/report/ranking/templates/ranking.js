// The same text under other names: the places of one passage, for the names that the reader chooses.

const AT_FIRST = 6;

async function startRanks(box) {
  const data = await unpack(byId(`block-${box.dataset.ranks}`));
  if (!data || !data.texts.length) return;
  const [choice, quote, status] = ["select", "blockquote", ".status"].map((selector) => box.querySelector(selector));
  const [table, list] = [".places", ".names"].map((selector) => box.querySelector(selector));
  const topics = new Map();
  data.texts.forEach((one, n) => topics.set(one.topic, [...(topics.get(one.topic) || []), n]));
  choice.append(...[...topics].map(([topic, texts]) => make("optgroup", { label: topic }, texts.map((n, place) => make("option", { value: n }, `${topic} ${place + 1}`)))));

  // At first, names from the highest place of the first passage to the lowest.
  const order = data.names.map((_, n) => n).sort((a, b) => data.texts[0].places[a] - data.texts[0].places[b]);
  const shown = Math.min(AT_FIRST, order.length);
  const chosen = new Set(Array.from({ length: shown }, (_, n) => order[Math.round((n * (order.length - 1)) / Math.max(1, shown - 1))]));
  const groups = [...new Set(data.names.map(([, group]) => group))];
  list.append(...groups.flatMap((group) => [
    make("b", {}, group),
    ...data.names.flatMap(([name, own], n) => (own === group ? [make("label", { dir: "auto" }, make("input", { type: "checkbox", value: n, checked: chosen.has(n) }), name)] : [])),
  ]));

  function row([n, place]) {
    const [name, group, pieces] = data.names[n];
    const spot = make("i", {});
    spot.style.left = `${(100 * (place - 1)) / Math.max(1, data.names.length - 1)}%`;
    return make("tr", {}, make("td", { class: "n" }, String(Math.round(place))), make("th", { scope: "row", dir: "auto" }, name), make("td", {}, group),
      make("td", { class: "n" }, pieces === null ? "–" : String(pieces)), make("td", { class: "bar", "aria-hidden": "true" }, make("span", { class: "track" }, spot)));
  }

  function update() {
    const text = data.texts[Number(choice.value)];
    const places = [...chosen].map((n) => [n, text.places[n]]).sort((a, b) => a[1] - b[1]);
    const top = places.length ? data.names[places[0][0]][0] : "…";
    quote.replaceChildren(...text.text.split("{name}").flatMap((part, n) => (n ? [make("b", {}, top), part] : [part])));
    const heads = [["n", `Place of ${data.names.length}`], ["", "Name"], ["", "Group"], ["n", "Pieces"], ["", "First … last"]];
    table.replaceChildren(make("table", { class: "plain" }, make("thead", {}, make("tr", {}, heads.map(([kind, head]) => make("th", { scope: "col", class: kind || null }, head)))), make("tbody", {}, places.map(row))));
    const apart = places.length > 1 ? places.at(-1)[1] - places[0][1] : 0;
    status.textContent = places.length > 1 ? `${places.length} names, ${apart.toFixed(0)} places apart` : "Choose two or more names below.";
    stops();
  }

  list.addEventListener("change", (event) => {
    const n = Number(event.target.value);
    if (event.target.checked) chosen.add(n); else chosen.delete(n);
    update();
  });
  choice.addEventListener("change", update);
  box.hidden = false;
  box.parentElement.querySelectorAll(".still").forEach((one) => { one.hidden = true; });
  update();
}

for (const box of document.querySelectorAll("[data-ranks]")) await startRanks(box);
