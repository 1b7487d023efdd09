// The kit of every page: elements, compressed blocks, theme, printing, links into closed sections, downloads.

const byId = (id) => document.getElementById(id);

// Elements. Text always goes in as text, never as markup.
function make(name, attributes, ...children) { return fill(document.createElement(name), attributes, children); }
function draw(name, attributes, ...children) { return fill(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children); }
function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value !== undefined && value !== null && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

// Large data are in blocks of compressed JSON.
async function unpack(element) {
  if (!element) return null;
  const bytes = Uint8Array.from(atob(element.textContent), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

function startTheme() {
  const root = document.documentElement;
  const button = byId("theme");
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme || (dark.matches ? "dark" : "light")) === "dark";
  const label = () => { button.textContent = isDark() ? "Light" : "Dark"; button.setAttribute("aria-label", `Switch to ${isDark() ? "light" : "dark"} colours`); };
  button.hidden = false;
  button.addEventListener("click", () => { root.dataset.theme = isDark() ? "light" : "dark"; label(); });
  dark.addEventListener("change", label);
  label();
}

// All sections are open in print.
function startPrintingDetails() {
  let closed = [];
  window.addEventListener("beforeprint", () => { closed = [...document.querySelectorAll("main details:not([open])")]; closed.forEach((one) => { one.open = true; }); });
  window.addEventListener("afterprint", () => closed.forEach((one) => { one.open = false; }));
}

// A link into a closed section opens it.
function reveal() {
  const target = byId(decodeURIComponent(location.hash.slice(1)));
  const section = target && target.closest("details");
  if (section) { section.open = true; target.scrollIntoView(); }
}

// Only boxes that scroll are stops of the Tab key.
const stops = () => document.querySelectorAll(".scroll").forEach((box) => { box.tabIndex = box.scrollWidth > box.clientWidth ? 0 : -1; });

// A cell that a spreadsheet would run as a formula gets an apostrophe before it; numbers are left as they are.
const defused = (text) => (/^'*[=+@\t\r-]/.test(text) && Number.isNaN(Number(text)) ? `'${text}` : text);

function separated(rows, separator) {
  const cell = (value) => {
    const text = defused(value === null || value === undefined ? "" : String(value));
    if (separator === "\t") return text.replace(/[\t\r\n]/g, " ");
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return `${rows.map((row) => row.map(cell).join(separator)).join("\n")}\n`;
}

// A picture of an SVG file, at twice its size.
async function picture(svg) {
  const image = new Image();
  const [, width, height] = /width="([\d.]+)" height="([\d.]+)"/.exec(svg).map(Number);
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = make("canvas", { width: Math.round(2 * width), height: Math.round(2 * height) });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done) => { canvas.toBlob(done, "image/png"); });
}

function saveAs(name, content) {
  const address = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type: "text/plain;charset=utf-8" }));
  make("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

const tableRows = (table) => [...table.rows].map((row) => [...row.cells].flatMap((cell) => [cell.textContent.replace(/\s+/g, " ").trim().replace(/^−/, "-"), ...Array(cell.colSpan - 1).fill("")]));

// The drawing as a file, with the colours of the page in it, since a file has no style sheet.
const INHERITED = ["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity", "font-family", "font-size", "font-weight", "text-anchor"];
function standalone(svg) {
  const copy = svg.cloneNode(true);
  const copies = [copy, ...copy.querySelectorAll("*")];
  [svg, ...svg.querySelectorAll("*")].forEach((element, n) => {
    const style = getComputedStyle(element);
    copies[n].setAttribute("style", INHERITED.map((name) => `${name}:${style.getPropertyValue(name)}`).join(";"));
  });
  const [x, y, width, height] = copy.getAttribute("viewBox").split(/[\s,]+/).map(Number);
  const paper = getComputedStyle(document.body).backgroundColor;
  copy.prepend(draw("rect", { x, y, width, height, fill: paper }));
  ["class", "style"].forEach((name) => copy.removeAttribute(name));
  const inner = [...copy.childNodes].map((child) => new XMLSerializer().serializeToString(child)).join("");
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="${x} ${y} ${width} ${height}">${inner}</svg>`;
}

const SAVERS = {
  csv: (box) => separated(tableRows(box.querySelector("table")), ","),
  svg: (box) => standalone(box.querySelector("svg[viewBox]")),
  png: (box) => picture(standalone(box.querySelector("svg[viewBox]"))),
};

function startSaves() {
  document.addEventListener("click", async (event) => {
    const button = event.target.closest(".saves [data-save]");
    if (button) saveAs(`${button.dataset.name}.${button.dataset.save}`, await SAVERS[button.dataset.save](button.closest("figure")));
  });
}

startTheme();
startPrintingDetails();
startSaves();
addEventListener("resize", stops);
addEventListener("toggle", stops, true);
addEventListener("hashchange", reveal);
addEventListener("click", (event) => { if (event.target.closest("a[href^='#']")) setTimeout(reveal); });
