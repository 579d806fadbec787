// Databases: upload a file as a database, connect, show the schema, run a query.

import { get, post, removed } from "./server.js";
import { attempt, button, counted, dropZone, empty, field, form, h, iconButton, notice, number, sends, table, tell, uploaded } from "./dom.js";
import { querying } from "./rows.js";
import { settings } from "./settings.js";
import { madeOf, remember, remembered, sampleButton, sourceName, uploadTables } from "./sources.js";

const API = "/studio/api/databases";

export async function view({ offered: { database: offered = [], graph: graphs = [] } }) {
  const page = new Page([...offered, ...graphs]);
  await page.list();
  return page.element;
}

class Page {
  constructor(offered) {
    this.offered = offered;
    this.kept = h("div", {});
    this.shown = h("div", {});
    this.log = h("ul", { className: "log", "aria-live": "polite" });
    this.into = h("select", {});
    this.url = h("input", { required: true, autocomplete: "off", spellcheck: false, placeholder: "postgresql://reader:${DB_PASSWORD}@host/shop" });
    this.upload = h("section", { className: "card", "aria-label": "Upload" });
    this.element = h("div", { className: "page" }, h("h1", {}, "Databases"),
      h("p", { className: "lead" }, "Relational databases are asked in SQL, graph databases in Cypher; both only read."),
      this.upload, this.kept, this.connecting(), this.shown);
  }

  connecting() {
    const known = [...new Set([...this.offered, ...remembered().map((one) => one.url)])];
    const earlier = known.length && h("ul", { className: "chips", "aria-label": "Known databases" }, known.map((one) =>
      h("li", {}, button(sourceName(one), () => { this.url.value = one; this.connect(one); }, { className: "chip", title: one }))));
    return form({ className: "card" }, () => this.connect(this.url.value.trim()),
      h("h2", {}, "Connect to a database"),
      field("Database", this.url, "SQLAlchemy URL, bolt:// URL, or a file of the server: SQLite, .sql, .cql, CSV, Excel, Parquet. Write ${NAME} for a password that an environment variable of the server holds."),
      h("div", { className: "row" }, h("button", { className: "primary" }, "Connect"), earlier || null));
  }

  /** List the uploaded databases, and offer to upload more. */
  async list() {
    const { databases, kinds, most_bytes: most } = await get(API);
    this.most = most;
    this.into.replaceChildren(h("option", { value: "" }, "a database of its own"), ...databases.map(({ name }) => h("option", { value: name }, `tables of ${name}`)));
    if (!this.upload.childElementCount) {
      this.upload.append(h("h2", {}, "Upload a file as a database"), field("Each file becomes", this.into),
        ...dropZone(kinds.join(","), `${kinds.join(" ")} · up to ${number(most / 1e6)} MB each`, (files) => this.add(files)), this.log,
        h("div", { className: "row" }, sampleButton("database", this.log, () => this.list())));
    }
    this.kept.replaceChildren(...(databases.length ? [h("section", { className: "list", "aria-label": "Uploaded databases" }, databases.map((one) => this.entry(one)))] : []));
  }

  entry(one) {
    const rows = one.tables.map(({ name, rows: count, columns }) => [name, number(count),
      h("span", { className: "types" }, Object.entries(columns).map(([column, type]) => `${column} ${type.toLowerCase()}`).join(", "))]);
    return h("section", { className: "card" },
      h("div", { className: "row" }, h("h2", {}, one.name), h("span", { className: "dim" }, `${one.files.join(", ")} · ${number(one.bytes / 1000)} kB`), h("span", { className: "grow" }),
        button("Look inside", () => this.connect(one.url)), askButton(one.url, "database"),
        iconButton("trash", `Delete ${one.name}`, () => this.forget(one))),
      table(["Table", { name: "Rows", number: true }, "Columns"], rows, `Tables of ${one.name}`),
      one.notes.map((note) => notice(note, "problem")));
  }

  async add(files) {
    await uploaded(files, this.log, async (file) => madeOf(await uploadTables(file, this.most, this.into.value)));
    await this.list();
  }

  forget(one) {
    const question = `Delete the database ${one.name} with its ${counted(one.tables.length, "table")}?`;
    const then = () => {
      if (settings.values.database === one.url) settings.set("database", undefined);
      this.shown.replaceChildren();
      return this.list();
    };
    return removed(`${API}?${new URLSearchParams({ name: one.name })}`, { question, place: this.kept, then });
  }

  async connect(url) {
    this.shown.replaceChildren(h("p", { className: "dim" }, "Connecting …"));
    await attempt(this.shown, async () => {
      const schema = await post(API, { url });
      if (!(await this.isUploaded(url))) remember({ url, kind: schema.kind });
      this.shown.replaceChildren(...described(url, schema));
      this.shown.scrollIntoView({ block: "start" });
      tell(`Connected: ${schema.entities.length} tables or labels.`);
    });
  }

  async isUploaded(url) {
    const { databases } = await get(API);
    return databases.some((one) => one.url === url);
  }
}

/** Make a button that chooses a database and opens the page Ask. */
function askButton(url, setting) {
  return button("Ask about this", () => {
    settings.set(setting, url);
    location.hash = "#/ask";
  }, { className: "primary" });
}

function described(url, { kind, language, entities }) {
  if (!entities.length) return [empty("Empty", "The database has no tables or labels.")];
  return [
    h("div", { className: "row" }, h("h2", {}, sourceName(url)), h("span", { className: "dim" }, language), h("span", { className: "grow" }), askButton(url, kind === "graph" ? "graph" : "database")),
    queryBox(url, language),
    ...entities.map(entity),
  ];
}

/** Make a field for a query with the same guard and limits as a method's. */
function queryBox(url, language) {
  const text = h("textarea", { rows: 3, required: true, spellcheck: false, className: "code" });
  const { place, run } = querying(url, text);
  const box = form({ className: "card", "aria-label": "Query" }, run,
    field(`Query in ${language}`, text, "One statement that only reads; it runs under the same guard and limits as the queries of a method."),
    h("div", { className: "row" }, h("button", { className: "primary" }, "Run the query")), place);
  sends(text, () => box.requestSubmit());
  return box;
}

function entity({ name, kind, fields, count, start, end }) {
  const about = [kind, count === null ? null : counted(count, "row"), start.length ? `(${start.join(", ")}) → (${end.join(", ")})` : null];
  const rows = fields.map((one) => [
    h("span", { className: one.key ? "key" : "" }, one.name, one.key ? h("span", { className: "unseen" }, " (key)") : null), one.type,
    one.references ? `→ ${one.references}` : "", one.samples.join(", "),
  ]);
  return h("details", { className: "card", open: true },
    h("summary", {}, h("b", {}, name), h("span", { className: "dim" }, ` · ${about.filter(Boolean).join(" · ")}`)),
    fields.length ? table(["Column", "Type", "Refers to", "Values"], rows, `Columns of ${name}`) : h("p", { className: "dim" }, "No properties."));
}
