// Rows of a query: sort, show as a chart, copy, save as CSV, and edit the query.

import { post } from "./server.js";
import { attempt, button, counted, h, icon, iconButton, notice, number, seconds, sends, tell } from "./dom.js";
import { chart, chartOf } from "./chart.js";
import { settings } from "./settings.js";
import { coloured } from "./sql.js";

const SHOWN = 8;
const LONG = 160; // letters of a cell
const NUMBER = /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i;
let files = 0;

/** The content of a fact: its rows if it has some, otherwise its text. */
export function factBody(fact) {
  const { notes, table } = fact.table ? { notes: [], table: fact.table } : read(fact.text);
  const about = notes.map((note) => h("p", { className: "dim" }, note));
  if (!table) return [...about, h("p", { className: "plain" }, fact.text)];
  const cut = fact.table && !fact.table.complete ? h("p", { className: "dim" }, `The first ${number(table.rows.length)} rows; there are more.`) : null;
  return [...about, rowsTable(table.columns, table.rows), cut];
}

const SOURCES = { sql: ["SQL", "database"], cypher: ["Cypher", "graph"] };

/** The folded query of a fact, to copy, or to edit and run. */
export function queryOf({ source, query }) {
  const [language, setting] = SOURCES[source] ?? [];
  if (!query || !language) return null;
  const url = settings.values[setting];
  return h("details", { className: "asked-with" }, h("summary", {}, language),
    h("pre", { className: "code" }, coloured(query)),
    h("div", { className: "row small" }, copyButton("Copy the query", () => query),
      url ? button([icon("edit"), "Edit and run"], ({ currentTarget }) => currentTarget.parentElement.replaceWith(editor(url, query)), { className: "quiet" }) : null));
}

/** Make an editor that runs a read-only query, as `planweave query` does. */
function editor(url, query) {
  const text = h("textarea", { className: "code", rows: Math.min(12, query.split("\n").length + 1), value: query, spellcheck: false, "aria-label": "Query" });
  const { place, run } = querying(url, text);
  sends(text, run);
  return h("div", { className: "editor" }, text, h("div", { className: "row small" }, button("Run the query", run, { className: "primary" }), h("span", { className: "dim" }, "It only reads. Its result does not change the answer.")), place);
}

/** Return `run`, which runs the query in a text field, and `place`, which shows its rows. */
export function querying(url, text) {
  const place = h("div", { "aria-live": "polite" });
  const run = () => attempt(place, async () => {
    place.replaceChildren(h("p", { className: "dim" }, "Running …"));
    place.replaceChildren(...answerOf(await post("/studio/api/databases/query", { url, query: text.value })));
  });
  return { place, run };
}

/** The result of a query: number of rows, duration, hint, rows. */
function answerOf({ columns, rows, total_rows: total, seconds: took, hint }) {
  const all = total === rows.length ? counted(total, "row") : `The first ${number(rows.length)} of ${total === null ? "more" : number(total)} rows`;
  return [
    h("p", { className: "dim", role: "status" }, `${all} · ${seconds(took)}`),
    hint ? notice(hint, "problem") : null,
    rows.length ? rowsTable(columns, rows) : null,
  ].filter(Boolean);
}

/** A sortable table, with a chart if one is suitable. */
function rowsTable(columns, rows, caption = "Rows") {
  const typed = typedRows(columns, rows);
  const numeric = columns.map((_, at) => typed.every((row) => row[at] === null || typeof row[at] === "number"));
  const picture = chartOf(columns, typed);
  let by = null, down = false, all = rows.length <= SHOWN;
  const body = h("tbody", {});
  const heads = columns.map((name, at) => h("th", { scope: "col", className: numeric[at] ? "number" : "", "aria-sort": "none" },
    button(name, () => sort(at), { className: "sort" })));
  const drawn = h("div", { className: "drawn", hidden: true });
  const more = button(`Show all ${number(rows.length)} rows`, () => { all = true; show(); }, { className: "link" });
  const sort = (at) => {
    down = by === at ? !down : numeric[at];
    by = at;
    heads.forEach((head, column) => head.setAttribute("aria-sort", column === by ? (down ? "descending" : "ascending") : "none"));
    show();
  };
  const paint = (order) => drawn.replaceChildren(chart(picture.kind === "bar" ? chartOf(columns, order) : picture, Math.min(640, drawn.clientWidth)));
  const ordered = () => (by === null ? typed : [...typed].sort((a, b) => compared(a[by], b[by]) * (down ? -1 : 1)));
  const show = () => {
    const order = ordered();
    if (!drawn.hidden) paint(order); // bars have the order of the rows
    body.replaceChildren(...order.slice(0, all ? undefined : SHOWN).map((row) => h("tr", {}, row.map((cell, at) => h("td", { className: numeric[at] ? "number" : "" }, shownCell(cell))))));
    more.hidden = all;
  };
  const draw = button([icon("chart"), "Chart"], () => {
    drawn.hidden = !drawn.hidden;
    draw.setAttribute("aria-pressed", !drawn.hidden);
    if (!drawn.hidden) paint(ordered());
  }, { className: "quiet", "aria-pressed": false });
  show();
  return h("div", { className: "rows" },
    h("div", { className: "scroll", tabIndex: 0, role: "region", "aria-label": caption },
      h("table", {}, h("caption", { className: "unseen" }, caption), h("thead", {}, h("tr", {}, heads)), body)),
    drawn,
    h("div", { className: "row small" }, more, picture ? draw : null,
      button([icon("download"), "CSV"], () => save(csv(columns, rows), `rows-${++files}.csv`, "text/csv"), { className: "quiet" }),
      copyButton("Copy the rows", () => csv(columns, rows, "\t"))));
}

function compared(a, b) {
  if (a === null || b === null) return (a === null) - (b === null);
  return typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true });
}

function shownCell(cell) {
  if (cell === null) return h("span", { className: "dim" }, "null");
  const text = typeof cell === "number" ? plainNumber(cell) : String(cell);
  if (text.length <= LONG) return text;
  return h("details", { className: "long" }, h("summary", {}, `${text.slice(0, LONG)}…`), text);
}

/** A number without the noise of binary fractions: 135654.85 in place of 135654.85000000003. */
function plainNumber(value) {
  return String(Number.isInteger(value) ? value : Number(value.toPrecision(12)));
}

/** Convert columns that contain only numbers as strings. */
function typedRows(columns, rows) {
  const isNumber = (cell) => typeof cell === "number" || (NUMBER.test(cell) && String(Number(cell)) === cell);
  const numbers = columns.map((_, at) => rows.every((row) => row[at] === null || isNumber(row[at])));
  return rows.map((row) => row.map((cell, at) => (cell !== null && numbers[at] ? Number(cell) : cell)));
}

/** Parse rows in a text, and the notes above them. */
function read(text) {
  const lines = text.split("\n");
  const notes = [];
  while (lines.length && /^(truncated|hint|no rows)/.test(lines[0])) notes.push(lines.shift());
  const cells = lines.map((line) => line.split(/(?<!\\) \| /).map((cell) => cell.replaceAll("\\|", "|")));
  const width = cells[0]?.length ?? 0;
  if (lines.length < 2 || !cells.every((row) => row.length === width)) return { notes, table: null };
  const [columns, ...rows] = cells.map((row) => row.map((cell) => (cell === "null" ? null : cell)));
  return { notes, table: { columns: columns.map(String), rows } };
}

/** Format CSV; a cell that starts like a formula is escaped for spreadsheets. */
function csv(columns, rows, between = ",") {
  const quoted = (cell) => {
    if (cell === null) return "";
    const text = typeof cell === "string" && /^[=+\-@\t\r]/.test(cell) && !NUMBER.test(cell) ? `'${cell}` : String(cell);
    return /["\n\r]/.test(text) || text.includes(between) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return [columns, ...rows].map((row) => row.map(quoted).join(between)).join("\r\n");
}

/** Save a text as a file. */
export function save(text, name, type) {
  const url = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }));
  h("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** Make a button that copies the result of `text()`. */
export function copyButton(label, text) {
  const it = iconButton("copy", label, async () => {
    try {
      await navigator.clipboard.writeText(text());
      tell("Copied.");
      it.classList.add("done");
      setTimeout(() => it.classList.remove("done"), 1500);
    } catch {
      tell("The browser does not let this page copy.");
    }
  });
  return it;
}
