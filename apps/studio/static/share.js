// Saves a question with its answer as a self-contained file without scripts.

import { h } from "./dom.js";
import { save } from "./rows.js";

const DROPPED = "button.icon, .tools, textarea, .editor, .desk, .working, .all-steps, .rows > .row, .asked-with .row";

/** Save a turn as a page with this title. */
export async function share(turn, title) {
  const styles = await Promise.all(["studio.css", "run.css"].map(async (name) => (await fetch(name)).text()));
  const copy = turn.cloneNode(true);
  for (const one of copy.querySelectorAll(DROPPED)) one.remove();
  for (const one of copy.querySelectorAll("button")) {
    const plain = document.createElement("span");
    plain.className = one.className;
    plain.append(...one.childNodes);
    one.replaceWith(plain);
  }
  for (const one of copy.querySelectorAll("[id], [tabindex]")) {
    one.removeAttribute("id");
    one.removeAttribute("tabindex");
  }
  const main = h("main", { className: "shared" }, copy,
    h("p", { className: "dim small" }, `Saved from planweave on ${new Date().toISOString().slice(0, 16).replace("T", " ")} UTC.`));
  const head = [
    h("meta", { httpEquiv: "content-security-policy", content: "default-src 'none'; style-src 'unsafe-inline'" }),
    h("meta", { name: "viewport", content: "width=device-width, initial-scale=1" }), h("title", {}, title),
  ].map(serialized).join("");
  const style = `<style>${styles.join("\n")}</style>`; // as text: the page's policy forbids such an element
  save(`<!doctype html>\n<html lang="en"><head><meta charset="utf-8">${head}${style}</head><body>${serialized(main)}</body></html>`, `${fileName(title)}.html`, "text/html");
}

function serialized(element) {
  return new XMLSerializer().serializeToString(element);
}

function fileName(title) {
  return title.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "").slice(0, 60) || "answer";
}
