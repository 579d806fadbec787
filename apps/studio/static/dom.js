// Makes elements from plain text: text of models, rows or documents is never parsed as HTML.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, properties, children) {
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined) continue;
    if (name.startsWith("aria-")) element.setAttribute(name, value);
    else if (value === false) continue;
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name in element && !(element instanceof SVGElement) && name !== "list") element[name] = value;
    else element.setAttribute(name === "className" ? "class" : name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** Make an element; properties that start with `on` are listeners. */
export function h(tag, properties = {}, ...children) {
  return fill(document.createElement(tag), properties, children);
}

/** Make an SVG element. */
export function s(tag, properties = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), properties, children);
}

const ICONS = {
  plus: "M12 5v14M5 12h14",
  stop: "M7 7h10v10H7z",
  send: "M12 19V5M6 11l6-6 6 6",
  back: "M4 5v5h5M4.5 10A8 8 0 1 1 4 13",
  trash: "M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13",
  sun: "M12 4V2M12 22v-2M4 12H2M22 12h-2M6 6 4.5 4.5M19.5 19.5 18 18M6 18l-1.5 1.5M19.5 4.5 18 6M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8",
  moon: "M20 14.5A8 8 0 0 1 9.5 4 8 8 0 1 0 20 14.5z",
  tick: "M5 12.5l4.5 4.5L19 7.5",
  copy: "M9 9h11v11H9zM15 9V4H4v11h5",
  download: "M12 4v11M7 10l5 5 5-5M5 20h14",
  chart: "M4 20h16M7 20v-7M12 20V6M17 20v-11",
  edit: "M4 20l1-4L16 5l3 3L8 19zM14 7l3 3",
  share: "M12 15V4M8 8l4-4 4 4M5 12v8h14v-8",
  again: "M20 5v5h-5M19.5 10A8 8 0 1 0 20 13",
  close: "M6 6l12 12M18 6 6 18",
  figure: "M9 3h6v4H9zM3 17h6v4H3zM15 17h6v4h-6zM12 7v5M6 17v-5h12v5",
  upload: "M12 16V4M7 9l5-5 5 5M4 16v4h16v-4",
  right: "M7 11v9H4v-9zM7 11l4-8c1.6 0 2.6 1 2.6 2.6V9H19c1.1 0 1.8 1 1.6 2l-1.4 7.2c-.2 1.1-1 1.8-2.1 1.8H7",
  wrong: "M7 13V4H4v9zM7 13l4 8c1.6 0 2.6-1 2.6-2.6V15H19c1.1 0 1.8-1 1.6-2l-1.4-7.2C19 4.7 18.2 4 17.1 4H7",
};

export function icon(name) {
  return s("svg", { class: "glyph", viewBox: "0 0 24 24", "aria-hidden": "true" }, s("path", { d: ICONS[name] }));
}

export function button(label, onclick, properties = {}) {
  return h("button", { type: "button", onclick, ...properties }, label);
}

/** Make a button with an icon and the accessible name `label`. */
export function iconButton(name, label, onclick, properties = {}) {
  return h("button", { type: "button", className: "icon", title: label, "aria-label": label, onclick, ...properties }, icon(name));
}

let fields = 0;

/** Make a labelled control with its description. */
export function field(label, control, description = "") {
  control.id ||= `field-${++fields}`;
  const about = description && h("p", { className: "about", id: `${control.id}-about` }, description);
  if (about) control.setAttribute("aria-describedby", about.id);
  return h("div", { className: "field" }, h("label", { htmlFor: control.id }, label), control, about || null);
}

/** Make a place to choose or drop files, which are passed to `add`. */
export function dropZone(accept, about, add) {
  const files = h("input", { type: "file", multiple: true, accept, className: "unseen", id: "files" });
  const zone = h("label", { className: "drop", htmlFor: "files" }, icon("upload"),
    h("span", {}, h("b", {}, "Choose files"), " or drop them here"), h("span", { className: "about" }, about));
  const given = async (chosen) => {
    await add(chosen);
    files.value = "";
  };
  files.addEventListener("change", () => given([...files.files]));
  zone.addEventListener("dragover", (event) => { event.preventDefault(); zone.classList.add("over"); });
  zone.addEventListener("dragleave", () => zone.classList.remove("over"));
  zone.addEventListener("drop", (event) => {
    event.preventDefault();
    zone.classList.remove("over");
    given([...event.dataTransfer.files]);
  });
  return [files, zone];
}

/** Upload files one after another; `log` gets a line with the result of each. */
export async function uploaded(files, log, upload) {
  for (const file of files) {
    const line = h("li", {}, `${file.name}: reading …`);
    log.append(line);
    try {
      line.textContent = await upload(file);
    } catch ({ message }) {
      line.className = "bad";
      line.textContent = message.startsWith(file.name) ? message : `${file.name}: ${message}`;
    }
  }
}

/** Make a form that calls `send` when it is submitted. */
export function form(properties, send, ...children) {
  return h("form", { ...properties, onsubmit: (event) => { event.preventDefault(); send(); } }, ...children);
}

/** Call `send` on Ctrl+Enter or Command+Enter in a text field. */
export function sends(text, send) {
  text.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) send();
  });
}

/** Make a select of values with the accessible name `label`. */
export function choices(label, values) {
  return h("select", { "aria-label": label }, values.map((value) => h("option", { value }, value)));
}

/** Show a dialog until it is closed; return it. */
export function opened(dialog) {
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

export function notice(text, kind = "wrong") {
  return h("p", { className: `notice ${kind}`, role: kind === "wrong" ? "alert" : "note" }, text);
}

/** Run `work`; an error replaces the content of `place`. */
export async function attempt(place, work) {
  try {
    await work();
  } catch (error) {
    place.replaceChildren(notice(error.message));
  }
}

export function empty(title, text) {
  return h("div", { className: "empty" }, h("h2", {}, title), h("p", {}, text));
}

/** Announce a text to screen readers. */
export function tell(text) {
  document.getElementById("live").textContent = text;
}

export function table(columns, rows, caption = "") {
  const cells = (row) => row.map((cell, at) => h("td", { className: columns[at]?.number ? "number" : "" }, cell));
  return h("div", { className: "scroll", tabIndex: 0, role: "region", "aria-label": caption || "Table" },
    h("table", {},
      caption && h("caption", { className: "unseen" }, caption),
      h("thead", {}, h("tr", {}, columns.map((column) =>
        h("th", { scope: "col", className: column.number ? "number" : "" }, column.name ?? column)))),
      h("tbody", {}, rows.map((row) => (row instanceof Node ? row : h("tr", {}, cells(row))))),
    ));
}

/** Ask for confirmation; resolves to whether it was given. `about` are details to show. */
export function confirmed(question, action, ...about) {
  return new Promise((resolve) => {
    const dialog = opened(h("dialog", { onclose: () => resolve(dialog.returnValue === "yes") },
      h("form", { method: "dialog" },
        h("p", {}, question), about,
        h("div", { className: "row end" },
          h("button", { value: "no" }, "Cancel"),
          h("button", { value: "yes", className: about.length ? "primary" : "danger" }, action)))));
  });
}

export function number(value, digits = 0) {
  return value.toLocaleString("en", { maximumFractionDigits: digits });
}

/** A number with its noun. */
export function counted(value, thing) {
  return `${number(value)} ${thing}${value === 1 ? "" : "s"}`;
}

export function seconds(value) {
  return value < 10 ? `${value.toFixed(value < 1 ? 2 : 1)} s` : `${number(value)} s`;
}
