// Wiring: tooltips, opening details, copying.

const tip = byId("tip");

function showTip(target) {
  const r = results[Number(target.dataset.r)];
  if (!r) return;
  const lines = [
    make("b", { dir: "auto" }, tests[r.test].title),
    make("span", { dir: "auto" }, `${tests[r.test].words} · ${shorten(tests[r.test].name, 60)}`), make("br"),
    make("span", {}, `${quantity(r)} = ${effect(r.d)} ${interval(r.ciLow, r.ciHigh)}`), make("br"),
    make("span", {}, whyNoP(r) ? verdict(r) : `p ${relation(r)} ${pText(r.p)}, ${sided(r)}${r.pElements !== null ? `; by single sentences ${pText(r.pElements)}` : ""}: ${verdict(r)}`), make("br"),
    make("span", { dir: "auto" }, shorten(direction(r), 160)),
  ];
  if (subjects.length > 1) lines.splice(1, 0, make("span", { dir: "auto" }, subjects[r.subject].short), make("br"));
  tip.replaceChildren(...lines);
  tip.hidden = false;
  const box = target.getBoundingClientRect();
  const own = tip.getBoundingClientRect();
  const above = box.top - own.height - 8;
  tip.style.left = `${Math.max(8, Math.min(window.innerWidth - own.width - 8, box.left + box.width / 2 - own.width / 2))}px`;
  tip.style.top = `${above > 8 ? above : box.bottom + 8}px`;
}

const hideTip = () => { tip.hidden = true; };

function startTips() {
  const over = (event) => {
    const target = event.target.closest?.("[data-r]");
    if (target && target.closest("main") && target.matches(".chip")) showTip(target);
    else hideTip();
  };
  document.addEventListener("mouseover", over);
  document.addEventListener("focusin", (event) => { if (event.target.matches?.(":focus-visible")) over(event); });
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") hideTip(); });
  document.addEventListener("scroll", hideTip, { capture: true, passive: true });
}

function startDetails() {
  document.addEventListener("click", (event) => {
    const target = event.target.closest("[data-r]");
    if (!target || event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    hideTip();
    openDetail(Number(target.dataset.r), target.closest("a") ? target : null);
  });
  sheet.addEventListener("click", (event) => { if (event.target === sheet) sheet.close(); });
  sheet.addEventListener("close", () => {
    history.replaceState(null, "", location.pathname + location.search);
    if (opener?.isConnected) opener.focus();
    opened = opener = null;
    sheet.replaceChildren();
  });
  const follow = () => {
    const match = /^#r(\d+)$/.exec(location.hash);
    if (match) openDetail(Number(match[1]));
  };
  window.addEventListener("hashchange", follow);
  follow();
}

function startCopying() {
  document.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-copy]");
    if (!button) return;
    const code = byId(button.dataset.copy);
    try {
      await navigator.clipboard.writeText(code.textContent);
      button.textContent = "Copied";
    } catch {
      // If the page may not use the clipboard, the command is selected instead.
      getSelection().selectAllChildren(code);
      button.textContent = "Selected";
    }
  });
}

startTests();
startTables();
startTips();
startCopying();
startDownloads();
startDetails();
