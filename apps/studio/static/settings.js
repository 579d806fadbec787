// The settings of a run: a form from the schema of the context. Only changed values are sent.

import { field, h } from "./dom.js";
import { holdsPassword, sourceName } from "./sources.js";

const KEPT = "planweave.settings";
const COMMON = ["database", "collection", "graph", "rules", "candidates", "approve", "max_seconds", "max_calls"];

/** The changed settings. They are kept for later tabs; a URL with a password only in this tab. */
export const settings = {
  values: JSON.parse(sessionStorage.getItem(KEPT) ?? localStorage.getItem(KEPT) ?? "{}"),
  set(name, value) {
    if (value === undefined) delete this.values[name];
    else this.values[name] = value;
    sessionStorage.setItem(KEPT, JSON.stringify(this.values));
    const lasting = Object.entries(this.values).filter(([, one]) => typeof one !== "string" || !holdsPassword(one));
    localStorage.setItem(KEPT, JSON.stringify(Object.fromEntries(lasting)));
  },
};

/** Make the form of the settings that a method reads, or of all; common ones first, then groups. */
export function form({ schema, groups, only = {} }, method, suggestions) {
  const reads = (name) => !method || !only[name] || only[name].includes(method);
  const shown = groups.filter((group) => !method || !group.methods.length || group.methods.includes(method));
  const known = new Set(shown.flatMap((group) => group.fields).filter(reads));
  const first = { title: "Common", fields: COMMON.filter((name) => known.has(name)) };
  const others = shown.map(({ title, fields }) => ({ title, fields: fields.filter((name) => known.has(name) && !COMMON.includes(name)) }));
  const sections = [first, ...others].filter(({ fields }) => fields.length);
  const badges = sections.map(() => h("span", { className: "badge" }));
  const count = () => sections.forEach(({ fields }, at) => {
    const set = fields.filter((name) => name in settings.values).length;
    badges[at].hidden = !set;
    badges[at].textContent = `${set} set`;
  });
  count();
  return h("form", { className: "settings", onsubmit: (event) => event.preventDefault(), onchange: count },
    sections.map(({ title, fields }, at) => h("details", { open: at === 0 },
      h("summary", {}, title, badges[at]),
      fields.map((name) => control(name, schema.properties[name], suggestions)))));
}

/** The sources and the model in one line. */
export function summary() {
  const { database, graph, collection, model } = settings.values;
  const sources = [database, graph, collection].filter(Boolean).map(sourceName);
  return sources.length ? `Asks ${sources.join(", ")} with the model ${model ?? "embedded"}.` : "";
}

function control(name, property, suggestions) {
  const type = typeOf(property);
  const input = MAKERS[type.kind](name, type, property, suggestions);
  return field(words(name), input, property.description ?? bounds(type));
}

/** A schema's property without its `null`: kind, choices, bounds. */
function typeOf(property) {
  const types = (property.anyOf ?? [property]).filter((one) => one.type !== "null");
  const type = types[0];
  if (type.enum) return { ...type, kind: "choice" };
  if (type.type === "boolean") return { ...type, kind: property.anyOf ? "either" : "flag" };
  if (type.type === "integer" || type.type === "number") return { ...type, kind: "number" };
  if (type.type === "array") return { ...type, kind: "lines" };
  if (type.type === "object") return { ...type, kind: "pairs" };
  return { ...type, kind: "text" };
}

function bounds({ minimum, maximum, kind }) {
  if (kind !== "number" || minimum === undefined || maximum === undefined) return "";
  return `From ${minimum} to ${maximum.toLocaleString("en")}.`;
}

function words(name) {
  const text = name.replaceAll("_", " ");
  return text[0].toUpperCase() + text.slice(1);
}

const MAKERS = {
  text(name, _, property, suggestions) {
    const known = suggestions[name] ?? [];
    const given = { value: settings.values[name] ?? "", placeholder: property.default ?? "", spellcheck: false,
      onchange: (event) => settings.set(name, event.target.value.trim() || undefined) };
    if (name === "rules") return h("textarea", { ...given, rows: 3 });
    if (!known.length) return h("input", { ...given, autocomplete: "off" });
    const list = h("datalist", { id: `known-${name}` }, known.map((value) => h("option", { value })));
    const input = h("input", { ...given, list: list.id, autocomplete: "off" });
    input.append(list);
    return input;
  },
  number(name, type, property) {
    const low = type.minimum ?? type.exclusiveMinimum;
    return h("input", { type: "number", step: type.type === "integer" ? 1 : "any", min: low ?? "", max: type.maximum ?? "",
      value: settings.values[name] ?? "", placeholder: property.default ?? (name.startsWith("max_") ? "no limit" : "none"),
      onchange: ({ target }) => {
        if (target.reportValidity()) settings.set(name, target.value === "" ? undefined : Number(target.value));
      } });
  },
  flag(name, _, property) {
    return h("input", { type: "checkbox", role: "switch", checked: settings.values[name] ?? property.default,
      onchange: ({ target }) => settings.set(name, target.checked === property.default ? undefined : target.checked) });
  },
  either(name) {
    const chosen = String(settings.values[name] ?? "");
    const values = { "": "As the method does", true: "Yes", false: "No" };
    return h("select", { onchange: ({ target }) => settings.set(name, target.value ? target.value === "true" : undefined) },
      Object.entries(values).map(([value, text]) => h("option", { value, selected: value === chosen }, text)));
  },
  choice(name, type, property) {
    const chosen = settings.values[name] ?? property.default;
    return h("select", { onchange: ({ target }) => settings.set(name, target.value === property.default ? undefined : target.value) },
      type.enum.map((value) => h("option", { value, selected: value === chosen }, words(value))));
  },
  lines(name) {
    return h("textarea", { rows: 2, placeholder: "One a line", value: (settings.values[name] ?? []).join("\n"),
      onchange: ({ target }) => settings.set(name, target.value.trim() ? target.value.trim().split(/\s*\n\s*/) : undefined) });
  },
  pairs(name) {
    const pairs = Object.entries(settings.values[name] ?? {}).map(([key, value]) => `${key}=${value}`);
    return h("textarea", { rows: 2, placeholder: "planner=openai:gpt-4o", spellcheck: false, value: pairs.join("\n"),
      onchange: ({ target }) => {
        const lines = target.value.split("\n").map((line) => line.split(/=(.*)/s).map((part) => part.trim())).filter(([key]) => key);
        settings.set(name, lines.length ? Object.fromEntries(lines.map(([key, value]) => [key, value ?? ""])) : undefined);
      } });
  },
};
