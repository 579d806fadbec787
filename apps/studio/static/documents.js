// Documents: collections that answers are drawn from.

import { get, put, remove } from "./server.js";
import { button, confirmed, dropZone, empty, field, h, iconButton, notice, number, table, tell } from "./dom.js";
import { settings } from "./settings.js";

const API = "/studio/api/documents";

export async function view() {
  const listing = h("div", {});
  const show = async () => listing.replaceChildren(...listed(await get(API), show));
  const known = await get(API);
  listing.append(...listed(known, show));
  return h("div", { className: "page" }, h("h1", {}, "Documents"),
    h("p", { className: "lead" }, "Collections are searched by meaning and by words. Answers quote the page that they rest on."),
    uploader(known, show), listing);
}

function uploader({ collections, kinds, most_bytes: most }, show) {
  const list = h("datalist", { id: "collections" }, Object.keys(collections).map((value) => h("option", { value })));
  const name = h("input", { value: Object.keys(collections)[0] ?? "default", list: list.id, required: true, autocomplete: "off", pattern: "\\w[\\w\\-]{0,63}(/\\w[\\w\\-]{0,63})?" });
  const search = h("select", {}, h("option", { value: "" }, "As the collection is, or by meaning and words"), h("option", { value: "none" }, "By words alone (quick, no model)"));
  const log = h("ul", { className: "log", "aria-live": "polite" });
  const add = async (chosen) => {
    if (!name.reportValidity()) return;
    for (const file of chosen) {
      const line = h("li", {}, `${file.name}: reading …`);
      log.append(line);
      line.textContent = await upload(file, name.value.trim(), search.value, most).catch((error) => {
        line.className = "bad";
        return `${file.name}: ${error.message}`;
      });
    }
    await show();
  };
  const place = dropZone(kinds.join(","), `${kinds.join(" ")} · up to ${number(most / 1e6)} MB each`, add);
  return h("section", { className: "card", "aria-label": "Add documents" },
    h("div", { className: "columns" }, field("Collection", name), field("Search", search)), list, place, log);
}

async function upload(file, collection, embeddings, most) {
  if (file.size > most) throw new Error("It is too large.");
  const query = new URLSearchParams({ collection, name: file.name, ...(embeddings ? { embeddings } : {}) });
  const added = await put(`${API}?${query}`, file);
  const images = added.image_pages.length ? ` Only images on ${added.image_pages.length} pages: nothing there can be found.` : "";
  return `${added.document}: ${added.status}, ${number(added.pages)} ${added.pages === 1 ? "page" : "pages"}.${images}`;
}

function listed({ collections }, show) {
  const names = Object.keys(collections);
  if (!names.length) return [empty("No documents yet", "Add a file, and a collection is made for it.")];
  return names.map((name) => collection(name, collections[name], show));
}

function collection(name, documents, show) {
  const used = settings.values.collection === name;
  const forget = async (document) => {
    const what = document ? `“${document}” from ${name}` : `the collection ${name} with its ${documents.length} documents`;
    if (!(await confirmed(`Delete ${what}?`, "Delete"))) return;
    await remove(`${API}?${new URLSearchParams({ collection: name, ...(document ? { name: document } : {}) })}`)
      .catch((error) => section.append(notice(error.message)));
    await show();
  };
  const use = button(used ? "Used for questions" : "Use for questions", () => {
    settings.set("collection", used ? undefined : name);
    tell(used ? `${name} is no longer used.` : `Questions are answered from ${name}.`);
    show();
  }, { "aria-pressed": used });
  const rows = documents.map((info) => [
    button(info.name, () => showPage(name, info.name, 1), { className: "link" }),
    number(info.pages), number(info.chunks), `${number(info.bytes / 1000, 1)} kB`, info.added.slice(0, 10),
    iconButton("trash", `Delete ${info.name}`, () => forget(info.name)),
  ]);
  const section = h("section", { className: "card" },
    h("div", { className: "row" }, h("h2", {}, name), h("span", { className: "grow" }), use, iconButton("trash", `Delete the collection ${name}`, () => forget(""))),
    documents.length
      ? table(["Document", { name: "Pages", number: true }, { name: "Chunks", number: true }, { name: "Size", number: true }, "Added", { name: h("span", { className: "unseen" }, "Delete") }], rows, `Documents of ${name}`)
      : h("p", { className: "dim" }, "Empty."));
  return section;
}

/** A page of a document, with the words that were quoted marked. */
export async function showPage(collection, document, page, quote = "") {
  const body = h("div", { className: "paper" });
  const title = h("h2", { id: "paper" });
  const turn = async (to) => {
    title.textContent = `${document}, p. ${to}`;
    try {
      const query = new URLSearchParams({ collection: collection ?? "", name: document, page: to });
      const { text } = await get(`${API}/page?${query}`);
      body.replaceChildren(...marked(text, to === page ? quote : ""));
      at = to;
      body.querySelector("mark")?.scrollIntoView({ block: "center" });
    } catch (error) {
      body.replaceChildren(notice(error.message));
    }
  };
  let at = page;
  const dialog = h("dialog", { className: "wide", onclose: () => dialog.remove(), "aria-labelledby": "paper" },
    title, body,
    h("div", { className: "row end" },
      button("Previous page", () => turn(Math.max(1, at - 1))), button("Next page", () => turn(at + 1)),
      button("Close", () => dialog.close(), { className: "primary" })));
  window.document.body.append(dialog);
  dialog.showModal();
  await turn(page);
}

/** The text with `quote` marked, whatever the spaces between its words; `…` in it leaves lines out. */
function marked(text, quote) {
  const shown = [];
  let rest = text;
  for (const part of quote.split("\n… ")) {
    const words = part.trim().split(/\s+/).filter(Boolean).map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
    const match = words.length ? new RegExp(words.join("\\s+")).exec(rest) : null;
    if (!match) continue;
    shown.push(rest.slice(0, match.index), h("mark", {}, match[0]));
    rest = rest.slice(match.index + match[0].length);
  }
  return [...shown, rest];
}
