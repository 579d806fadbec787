// Sources of answers: choose them, make them from files, and suggest questions.

import { get, post, put } from "./server.js";
import { button, counted, h, iconButton, notice, number, tell, uploaded } from "./dom.js";
import { settings } from "./settings.js";

const DATABASES = "/studio/api/databases";
const DOCUMENTS = "/studio/api/documents";
const OPENED = "planweave.databases";

/** The databases that were connected to by URL, latest first: `{ url, kind }`. */
export function remembered() {
  return JSON.parse(localStorage.getItem(OPENED) ?? "[]");
}

export function remember(one) {
  if (holdsPassword(one.url)) return; // do not keep a password after the tab is closed
  const others = remembered().filter(({ url }) => url !== one.url);
  localStorage.setItem(OPENED, JSON.stringify([one, ...others].slice(0, 8)));
}

/** Whether a URL contains a password, not the name of a variable. */
export function holdsPassword(url) {
  return /:\/\/[^/@\s]*:[^$@/\s][^@\s]*@/.test(url);
}

/** A readable name of a database: the name of an uploaded one, or host and database. */
export function sourceName(url) {
  const path = url.replace(/[?#].*$/, "");
  if (!path.includes("://")) return path.split("/").pop().replace(/\.(db|sqlite3?)$/, "");
  return path.replace(/^.*:\/\//, "").replace(/^[^@]*@/, "");
}

/** The chosen sources: `{ setting, value, name }`. */
export function chosen() {
  return ["database", "graph", "collection"].filter((setting) => settings.values[setting])
    .map((setting) => ({ setting, value: settings.values[setting], name: sourceName(settings.values[setting]) }));
}

/** The chosen sources as chips with a button to remove each. */
export function chips(changed) {
  return h("ul", { className: "chips", "aria-label": "Sources in use" }, chosen().map(({ setting, name }) =>
    h("li", { className: "chip" }, h("span", { className: "dim" }, setting), name,
      iconButton("close", `Do not ask ${name}`, () => { settings.set(setting, undefined); changed(); }))));
}

/** Up to three example questions to the chosen sources; none after an error. */
export async function examples() {
  const { database, graph, collection } = settings.values;
  const found = await Promise.all([
    ...[database, graph].filter(Boolean).map((url) => post(`${DATABASES}/questions`, { url })),
    ...(collection ? [get(`${DOCUMENTS}/questions?${new URLSearchParams({ collection })}`)] : []),
  ].map((asked) => asked.catch(() => ({ questions: [] }))));
  const rounds = [0, 1, 2].flatMap((at) => found.map(({ questions }) => questions[at]));
  return rounds.filter(Boolean).slice(0, 3);
}

/** Make and choose the sample `database` or `documents`. */
async function useSample(kind) {
  if (kind === "documents") settings.set("collection", (await post(`${DOCUMENTS}/sample`)).collection);
  else settings.set("database", (await post(`${DATABASES}/sample`)).url);
}

/** Make a button for the sample; it calls `changed`, and shows errors in `log`. */
export function sampleButton(kind, log, changed) {
  return button(`Use the sample ${kind}`, async () => {
    try {
      await useSample(kind);
      await changed();
    } catch (error) {
      log.append(h("li", { className: "bad" }, error.message));
    }
  }, { className: "link" });
}

/** Upload a file as a database, or as tables of the database `into`. */
export async function uploadTables(file, most, into = "") {
  return send(DATABASES, file, most, into ? { into } : {});
}

/** Describe the database from an uploaded file. */
export function madeOf({ name, tables, notes }) {
  const words = tables.map((table) => `${table.name} (${counted(table.rows, "row")})`).join(", ");
  return `${name}: ${words}.${notes.map((note) => ` ${note}`).join("")}`;
}

/** Upload a document into a collection. */
export async function uploadDocument(file, collection, most, embeddings = "") {
  return send(DOCUMENTS, file, most, { collection, ...(embeddings ? { embeddings } : {}) });
}

/** Describe an added document. */
export function addedOf({ document, status, pages, image_pages: images }) {
  const unread = images.length ? ` Only images on ${counted(images.length, "page")}: nothing there can be found.` : "";
  return `${document}: ${status}, ${counted(pages, "page")}.${unread}`;
}

async function send(path, file, most, about) {
  if (file.size > most) throw new Error(`${file.name} has ${number(file.size / 1e6)} MB, and ${number(most / 1e6)} MB are allowed.`);
  return put(`${path}?${new URLSearchParams({ name: file.name, ...about })}`, file);
}

/** Upload files of any kind: tables become a database, other files a collection. */
async function adopt(files, log) {
  const [tables, documents] = await Promise.all([get(DATABASES), get(DOCUMENTS)]);
  let into = "";
  await uploaded(files, log, async (file) => {
    if (tables.kinds.some((kind) => file.name.toLowerCase().endsWith(kind))) {
      const made = await uploadTables(file, tables.most_bytes, joins(file, into) ? into : "");
      into = made.name;
      settings.set("database", made.url);
      return madeOf(made);
    }
    const collection = documents.owner ? `${documents.owner}/files` : "files";
    const added = await uploadDocument(file, collection, documents.most_bytes);
    settings.set("collection", collection);
    return addedOf(added);
  });
}

/** Whether a file joins the database of the file before it; a SQLite file does not. */
function joins(file, into) {
  return into && !/\.(db|sqlite3?)$/i.test(file.name);
}

/** Make buttons to choose a first source; `changed` is called afterwards. */
export function ways(changed) {
  const log = h("ul", { className: "log", "aria-live": "polite" });
  const files = h("input", { type: "file", multiple: true, className: "unseen", id: "first-files", tabIndex: -1, "aria-label": "Files to ask" });
  const busy = async (work) => {
    try {
      await work();
      if (chosen().length) {
        tell(`Questions go to ${chosen().map(({ name }) => name).join(", ")}.`);
        changed();
      }
    } catch (error) {
      log.replaceChildren(h("li", {}, notice(error.message)));
    }
  };
  files.addEventListener("change", () => busy(() => adopt([...files.files], log)));
  const way = (title, about, go) => h("li", {}, button([h("b", {}, title), h("span", { className: "about" }, about)], go, { className: "way" }));
  const element = h("div", { className: "ways" }, files, h("ul", {},
    way("Upload a file", "CSV, Excel, Parquet, SQLite, PDF, Word, text", () => files.click()),
    way("Try the sample database", "A wholesaler of bicycle parts", () => busy(() => useSample("database"))),
    way("Try sample documents", "A contract, rules for returns, minutes", () => busy(() => useSample("documents"))),
    way("Connect a database", "PostgreSQL, MySQL, Neo4j, or a file of the server", () => { location.hash = "#/databases"; })), log);
  element.addEventListener("dragover", (event) => event.preventDefault());
  element.addEventListener("drop", (event) => {
    event.preventDefault();
    busy(() => adopt([...event.dataTransfer.files], log));
  });
  return element;
}
