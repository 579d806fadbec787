// Which part of the studio is shown: `#/part/rest`.

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
let known = null;

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

/** Scroll a bar that is too narrow for all; scrollIntoView would also move where Tab begins. */
function reveal(link) {
  const bar = link.closest("nav"), [there, here] = [bar, link].map((one) => one.getBoundingClientRect());
  bar.scrollLeft += here.left - there.left - (there.width - here.width) / 2;
}

let shown = 0;

async function route() {
  const [, part = "ask", ...rest] = location.hash.split("/").map(decoded);
  const name = part in PARTS ? part : "ask";
  const own = ++shown;
  for (const [at, link] of links) {
    if (at === name) {
      link.setAttribute("aria-current", "page");
      reveal(link);
    } else link.removeAttribute("aria-current");
  }
  document.title = `${PARTS[name]} · planweave studio`;
  try {
    const [found, { view }] = await Promise.all([known ?? get("/studio/api/methods"), import(`./${name}.js`)]);
    known = found;
    const drawn = await view(known, rest);
    if (own === shown) main.replaceChildren(drawn); // else another part was asked for meanwhile
  } catch (error) {
    if (own === shown) main.replaceChildren(h("div", { className: "page" }, notice(error.message)));
  }
}

/** A part of an address; one that was typed may hold a `%` that means itself. */
function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

drawNavigation();
addEventListener("hashchange", () => {
  for (const dialog of document.querySelectorAll("dialog[open]")) dialog.close(); // of the part that is left
  route().then(() => main.focus({ preventScroll: true }));
});
route();
