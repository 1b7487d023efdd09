// The button that switches between light and dark, and the stops of the Tab key: shared by all pages.

function startTheme() {
  const root = document.documentElement;
  const button = document.getElementById("theme");
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme || (dark.matches ? "dark" : "light")) === "dark";
  const label = () => { button.textContent = isDark() ? "Light" : "Dark"; button.setAttribute("aria-label", `Switch to ${isDark() ? "light" : "dark"} colours`); };
  button.hidden = false;
  button.addEventListener("click", () => { root.dataset.theme = isDark() ? "light" : "dark"; label(); });
  dark.addEventListener("change", label);
  label();
}

// On paper everything is open.
function startPrintingDetails() {
  let closed = [];
  window.addEventListener("beforeprint", () => { closed = [...document.querySelectorAll("main details:not([open])")]; closed.forEach((one) => { one.open = true; }); });
  window.addEventListener("afterprint", () => closed.forEach((one) => { one.open = false; }));
}

startTheme();
startPrintingDetails();
