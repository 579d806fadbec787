// Databases: connect to one and see what it holds.

import { post } from "./server.js";
import { button, empty, field, h, notice, number, seconds, table, tell } from "./dom.js";
import { settings } from "./settings.js";

const KEPT = "planweave.databases";

export async function view({ offered: { database: databases = [], graph: graphs = [] } }) {
  const shown = h("div", {});
  const url = h("input", { required: true, autocomplete: "off", spellcheck: false, placeholder: "postgresql://reader:${DB_PASSWORD}@host/shop" });
  const connect = async () => {
    shown.replaceChildren(h("p", { className: "dim" }, "Connecting …"));
    try {
      const schema = await post("/studio/api/databases", { url: url.value.trim() });
      remember({ url: url.value.trim(), kind: schema.kind });
      shown.replaceChildren(...described(url.value.trim(), schema));
      tell(`Connected: ${schema.entities.length} tables or labels.`);
    } catch (error) {
      shown.replaceChildren(notice(error.message));
    }
  };
  const known = [...new Set([...databases, ...graphs, ...remembered().map((one) => one.url)])];
  const earlier = known.length && h("ul", { className: "chips", "aria-label": "Databases at hand" }, known.map((one) =>
    h("li", {}, button(one, () => { url.value = one; connect(); }, { className: "chip" }))));
  return h("div", { className: "page" }, h("h1", {}, "Databases"),
    h("p", { className: "lead" }, "Relational databases are asked in SQL, graph databases in Cypher; both only ever read."),
    h("form", { className: "card", onsubmit: (event) => { event.preventDefault(); connect(); } },
      field("Database", url, "SQLAlchemy URL, bolt:// URL, SQLite file, .sql or .cql script. Write ${NAME} for a password that an environment variable of the server holds."),
      h("div", { className: "row" }, h("button", { className: "primary" }, "Connect"), earlier || null)),
    shown);
}

function remembered() {
  return JSON.parse(sessionStorage.getItem(KEPT) ?? "[]");
}

function remember(one) {
  const others = remembered().filter(({ url }) => url !== one.url);
  sessionStorage.setItem(KEPT, JSON.stringify([one, ...others].slice(0, 8)));
}

function described(url, { kind, language, entities }) {
  if (!entities.length) return [empty("Nothing in it", "The database holds no tables or labels.")];
  const setting = kind === "graph" ? "graph" : "database";
  const use = button("", () => { settings.set(setting, used() ? undefined : url); show(); });
  const used = () => settings.values[setting] === url;
  const show = () => {
    use.textContent = used() ? "Used for questions" : "Use for questions";
    use.setAttribute("aria-pressed", used());
  };
  show();
  return [
    h("div", { className: "row" }, h("h2", {}, language), h("span", { className: "grow" }), use),
    queryBox(url, language),
    ...entities.map(entity),
  ];
}

/** Asks the database as a method would: one plain read, guarded and limited. */
function queryBox(url, language) {
  const rows = h("div", {});
  const text = h("textarea", { rows: 3, required: true, spellcheck: false, className: "code" });
  const run = async () => {
    rows.replaceChildren(h("p", { className: "dim" }, "Asking …"));
    try {
      const result = await post("/studio/api/databases/query", { url, query: text.value });
      rows.replaceChildren(...found(result));
      tell(`${result.rows.length} rows.`);
    } catch (error) {
      rows.replaceChildren(notice(error.message));
    }
  };
  const form = h("form", { className: "card", "aria-label": "Query", onsubmit: (event) => { event.preventDefault(); run(); } },
    field(`Query in ${language}`, text, "One statement that only reads; it runs under the same guard and limits as the queries of a method."),
    h("div", { className: "row" }, h("button", { className: "primary" }, "Run the query")), rows);
  text.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
  });
  return form;
}

function found({ columns, rows, total_rows: total, seconds: took, hint }) {
  const numeric = columns.map((_, at) => rows.some((row) => typeof row[at] === "number"));
  const cells = rows.map((row) => row.map((cell) => (cell === null ? h("span", { className: "dim" }, "null") : String(cell))));
  const all = total === rows.length ? `${number(total)} row${total === 1 ? "" : "s"}` : `The first ${number(rows.length)} of ${total === null ? "more" : number(total)} rows`;
  return [
    h("p", { className: "dim", role: "status" }, `${all} · ${seconds(took)}`),
    hint ? notice(hint, "problem") : null,
    rows.length ? table(columns.map((name, at) => ({ name, number: numeric[at] })), cells, "Rows") : null,
  ].filter(Boolean);
}

function entity({ name, kind, fields, count, start, end }) {
  const about = [kind, count === null ? null : `${number(count)} rows`, start.length ? `(${start.join(", ")}) → (${end.join(", ")})` : null];
  const rows = fields.map((one) => [
    h("span", { className: one.key ? "key" : "" }, one.name, one.key ? h("span", { className: "unseen" }, " (key)") : null), one.type,
    one.references ? `→ ${one.references}` : "", one.samples.join(", "),
  ]);
  return h("details", { className: "card", open: true },
    h("summary", {}, h("b", {}, name), h("span", { className: "dim" }, ` · ${about.filter(Boolean).join(" · ")}`)),
    fields.length ? table(["Column", "Type", "Refers to", "Values"], rows, `Columns of ${name}`) : h("p", { className: "dim" }, "No properties."));
}
