// Wire the page, then ask the first question.

const on = (id, event, run) => byId(id)?.addEventListener(event, run);

byId("boxes").append(...ROLES.map(box));
if (about.models.length > 1) {
  byId("models").append(make("span", {}, "Models"), ...about.models.map((model, n) => make("label", {}, make("input", { type: "checkbox", value: n }), model.label)));
  on("models", "change", (event) => {
    const chosen = [...document.querySelectorAll("#models input:checked")].map((one) => Number(one.value));
    if (!chosen.length) { event.target.checked = true; return; }
    state.models = chosen;
    update();
  });
}
on("test", "change", () => { if (byId("test").value) load(byId("test").value); });
on("file", "change", async () => { if (byId("file").files[0]) await readFile(byId("file").files[0]); byId("file").value = ""; });
on("open", "click", () => byId("file").click());
on("metric", "change", () => { state.metric = byId("metric").value; update(); });
on("context", "change", () => { state.context = byId("context").value; update(); });
on("undo", "click", () => step(before, after));
on("redo", "click", () => step(after, before));
on("choices", "submit", (event) => event.preventDefault());
on("placing", "submit", (event) => { event.preventDefault(); put(byId("place").value.trim()); });
on("place", "input", () => hint(byId("place").value.trim(), byId("place-hints"), put));
on("multiverse", "click", showMultiverse);
on("ranking", "submit", (event) => { event.preventDefault(); showRanking(); });
let pause = 0;
on("ranking", "input", () => { clearTimeout(pause); pause = setTimeout(showRanking, 300); });
on("keep", "click", (event) => {
  const chosen = event.target.closest("button");
  if (chosen?.dataset.copy) copied(chosen.dataset.copy);
  if (chosen?.dataset.get) save(chosen.dataset.get);
});
let resized = 0;
addEventListener("resize", () => { clearTimeout(resized); resized = setTimeout(show, 150); });
addEventListener("hashchange", () => {
  const old = last;
  if (!fromAddress()) return;
  before.push(old);
  fillBoxes();
  evidence();
});
fromAddress();
fillBoxes();
ROLES.forEach(mark);
evidence();
