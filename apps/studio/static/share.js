// One question with its answer as a file that stands alone: no script, nothing from elsewhere.

import { save } from "./rows.js";

const DROPPED = "button.icon, .tools, textarea, .editor, .desk, .working, .all-steps, .rows > .row, .asked-with .row";

/** Save what is shown of a question; `title` names it. */
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
  const page = document.implementation.createHTMLDocument(title);
  page.documentElement.lang = "en";
  const meta = (attributes) => page.head.prepend(Object.assign(page.createElement("meta"), attributes));
  meta({ httpEquiv: "content-security-policy", content: "default-src 'none'; style-src 'unsafe-inline'" });
  meta({ name: "viewport", content: "width=device-width, initial-scale=1" });
  const charset = page.createElement("meta");
  charset.setAttribute("charset", "utf-8");
  page.head.prepend(charset);
  const style = page.createElement("style");
  style.textContent = styles.join("\n");
  page.head.append(style);
  const main = page.createElement("main");
  main.className = "shared";
  const note = page.createElement("p");
  note.className = "dim small";
  note.textContent = `Saved from planweave on ${new Date().toISOString().slice(0, 16).replace("T", " ")} UTC.`;
  main.append(copy, note);
  page.body.append(main);
  save(`<!doctype html>\n${page.documentElement.outerHTML}`, `${named(title)}.html`, "text/html");
}

function named(title) {
  return title.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "").slice(0, 60) || "answer";
}
