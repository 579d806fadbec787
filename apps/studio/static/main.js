// Shows the part of the studio that the address names: `#/part/rest`.

import { get } from "./server.js";
import { h, icon, notice } from "./dom.js";

const PARTS = {
  ask: "Ask",
  compare: "Compare",
  traces: "Traces",
  documents: "Documents",
  databases: "Databases",
  experience: "Experience",
  results: "Results",
};
const main = document.getElementById("main");
const links = new Map();
let methods = null;

function drawNavigation() {
  for (const [part, title] of Object.entries(PARTS)) {
    links.set(part, h("a", { href: `#/${part}` }, title));
  }
  document.getElementById("nav").append(...links.values());
  const theme = document.getElementById("theme");
  const show = () => {
    theme.replaceChildren(icon(isDark() ? "sun" : "moon"));
    theme.title = theme.ariaLabel = isDark() ? "Light colours" : "Dark colours";
  };
  theme.addEventListener("click", () => {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    localStorage.setItem("planweave.theme", document.documentElement.dataset.theme);
    show();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", show);
  show();
}

function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

/** Scroll a narrow bar to a link; scrollIntoView would also move the start of the Tab order. */
function reveal(link) {
  const bar = link.closest("nav"), [there, here] = [bar, link].map((one) => one.getBoundingClientRect());
  bar.scrollLeft += here.left - there.left - (there.width - here.width) / 2;
}

let shown = 0;

async function route() {
  const [, part = "ask", ...rest] = location.hash.split("/").map(decode);
  const name = part in PARTS ? part : "ask";
  const request = ++shown;
  for (const [at, link] of links) {
    if (at === name) {
      link.setAttribute("aria-current", "page");
      reveal(link);
    } else link.removeAttribute("aria-current");
  }
  document.title = `${PARTS[name]} · planweave studio`;
  try {
    const [found, { view }] = await Promise.all([methods ?? get("/studio/api/methods"), import(`./${name}.js`)]);
    methods = found;
    const drawn = await view(methods, rest);
    if (request === shown) main.replaceChildren(drawn); // otherwise another part was requested meanwhile
  } catch (error) {
    if (request === shown) main.replaceChildren(h("div", { className: "page" }, notice(error.message)));
  }
}

/** Decode a part of an address; a typed one may contain a literal `%`. */
function decode(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

drawNavigation();
addEventListener("hashchange", () => {
  for (const dialog of document.querySelectorAll("dialog[open]")) dialog.close(); // of the previous part
  route().then(() => main.focus({ preventScroll: true }));
});
route();
