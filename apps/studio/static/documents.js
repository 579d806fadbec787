// Documents: collections that answers come from.

import { get, removed } from "./server.js";
import { attempt, button, counted, dropZone, empty, field, h, icon, iconButton, notice, number, opened, table, tell, uploaded } from "./dom.js";
import { settings } from "./settings.js";
import { addedOf, sampleButton, uploadDocument } from "./sources.js";

const API = "/studio/api/documents";

export async function view() {
  const page = new Page();
  await page.show();
  return page.element;
}

class Page {
  constructor() {
    this.listing = h("div", {});
    this.uploader = h("div", {});
    this.element = h("div", { className: "page" }, h("h1", {}, "Documents"),
      h("p", { className: "lead" }, "Collections are searched by meaning and by words. Answers quote the pages of their facts."),
      this.uploader, this.listing);
  }

  async show() {
    this.known = await get(API);
    const { collections, problems } = this.known;
    const names = Object.keys(collections);
    const benchmarks = names.filter(isBenchmark);
    const own = names.filter((name) => !isBenchmark(name)).sort((a, b) => newest(collections[b]).localeCompare(newest(collections[a])));
    if (!this.uploader.childElementCount) this.uploader.append(this.adding(own[0]));
    const drawn = (some) => some.map((name) => this.collection(name, collections[name]));
    this.listing.replaceChildren(...problems.map((problem) => notice(problem)),
      ...(own.length ? drawn(own) : [empty("No documents yet", "Add a file, and a collection is made for it.")]),
      ...(benchmarks.length ? [h("details", {}, h("summary", {}, `Collections of benchmarks (${benchmarks.length})`), h("div", { className: "list" }, drawn(benchmarks)))] : []));
  }

  /** Make the form that adds files to a collection. */
  adding(first) {
    const { collections, kinds, most_bytes: most, owner } = this.known;
    const list = h("datalist", { id: "collections" }, Object.keys(collections).map((value) => h("option", { value })));
    this.name = h("input", { value: first ?? (owner ? `${owner}/documents` : "default"), list: list.id, required: true, autocomplete: "off", pattern: "\\w[\\w\\-]{0,63}(/\\w[\\w\\-]{0,63})?" });
    const search = h("select", {}, h("option", { value: "" }, "As the collection is, or by meaning and words"), h("option", { value: "none" }, "By words alone (quick, no model)"));
    const log = h("ul", { className: "log", "aria-live": "polite" });
    const add = async (chosen) => {
      if (!this.name.reportValidity()) return;
      await uploaded(chosen, log, async (file) => addedOf(await uploadDocument(file, this.name.value.trim(), most, search.value)));
      await this.show();
    };
    this.place = dropZone(kinds.join(","), `${kinds.join(" ")} · up to ${number(most / 1e6)} MB each`, add);
    return h("section", { className: "card", "aria-label": "Add documents" },
      h("div", { className: "columns" }, field("Collection", this.name), field("Search", search)), list, this.place, log, h("div", { className: "row" }, sampleButton("documents", log, () => this.show())));
  }

  collection(name, documents) {
    const used = settings.values.collection === name;
    const forget = (document) => {
      const what = document ? `“${document}” from ${name}` : `the collection ${name} with its ${counted(documents.length, "document")}`;
      const then = () => {
        if (!document && used) settings.set("collection", undefined);
        return this.show();
      };
      const asked = new URLSearchParams({ collection: name, ...(document ? { name: document } : {}) });
      return removed(`${API}?${asked}`, { question: `Delete ${what}?`, place: section, then });
    };
    const use = button(used ? "Used for questions" : "Use for questions", () => {
      settings.set("collection", used ? undefined : name);
      tell(used ? `${name} is no longer used.` : `Questions are answered from ${name}.`);
      this.show();
    }, { "aria-pressed": used });
    const ask = button("Ask about this", () => {
      settings.set("collection", name);
      location.hash = "#/ask";
    });
    const more = button([icon("upload"), "Add files"], () => {
      this.name.value = name;
      this.place[0].click();
    }, { "aria-label": `Add files to ${name}` });
    const rows = documents.map((info) => [
      button(info.name, () => showPage(name, info.name, 1), { className: "link" }),
      number(info.pages), number(info.chunks), `${number(info.bytes / 1000, 1)} kB`, info.added.slice(0, 10),
      iconButton("trash", `Delete ${info.name}`, () => forget(info.name)),
    ]);
    const section = h("section", { className: "card" },
      h("div", { className: "row" }, h("h2", {}, name), h("span", { className: "grow" }), more, ask, use, iconButton("trash", `Delete the collection ${name}`, () => forget(""))),
      documents.length
        ? table(["Document", { name: "Pages", number: true }, { name: "Chunks", number: true }, { name: "Size", number: true }, "Added", { name: h("span", { className: "unseen" }, "Delete") }], rows, `Documents of ${name}`)
        : h("p", { className: "dim" }, "Empty."));
    return section;
  }
}

/** Collections that `planweave bench` makes, as in `bench/agents-1f2e`. */
function isBenchmark(name) {
  return /^(bench|mhqa|rat)[/-]/.test(name);
}

function newest(documents) {
  return documents.map(({ added: when }) => when).sort().at(-1) ?? "";
}

/** Show a page of a document, with the quoted words marked. */
export async function showPage(collection, document, page, quote = "") {
  const body = h("div", { className: "paper" });
  const title = h("h2", { id: "paper" });
  const turn = async (to) => {
    title.textContent = `${document}, p. ${to}`;
    await attempt(body, async () => {
      const query = new URLSearchParams({ collection: collection ?? "", name: document, page: to });
      const { text } = await get(`${API}/page?${query}`);
      body.replaceChildren(...marked(text, to === page ? quote : ""));
      at = to;
      body.querySelector("mark")?.scrollIntoView({ block: "center" });
    });
  };
  let at = page;
  const dialog = opened(h("dialog", { className: "wide", "aria-labelledby": "paper" },
    title, body,
    h("div", { className: "row end" },
      button("Previous page", () => turn(Math.max(1, at - 1))), button("Next page", () => turn(at + 1)),
      button("Close", () => dialog.close(), { className: "primary" }))));
  await turn(page);
}

/** Mark `quote` in a text, regardless of whitespace; `…` in it stands for omitted lines. */
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
