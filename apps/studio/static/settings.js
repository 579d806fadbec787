// The settings of a run: a form made from the schema of the context. Only what differs is sent.

import { field, h } from "./dom.js";

const KEPT = "planweave.settings";

/** What a person has set, kept until the tab is closed. */
export const settings = {
  values: JSON.parse(sessionStorage.getItem(KEPT) ?? "{}"),
  set(name, value) {
    if (value === undefined) delete this.values[name];
    else this.values[name] = value;
    sessionStorage.setItem(KEPT, JSON.stringify(this.values));
  },
};

/** The form's groups that a method reads. */
export function form({ schema, groups }, method, suggestions) {
  const shown = groups.filter((group) => !group.methods.length || group.methods.includes(method));
  const badges = shown.map(() => h("span", { className: "badge" }));
  const count = () => shown.forEach((group, at) => {
    const set = group.fields.filter((name) => name in settings.values).length;
    badges[at].hidden = !set;
    badges[at].textContent = `${set} set`;
  });
  count();
  return h("form", { className: "settings", onsubmit: (event) => event.preventDefault(), onchange: count },
    shown.map((group, at) => h("details", { open: at === 0 },
      h("summary", {}, group.title, badges[at]),
      group.fields.map((name) => control(name, schema.properties[name], suggestions)))));
}

/** What questions are answered from and by, in a line. */
export function summary() {
  const { database, graph, collection, model } = settings.values;
  const sources = [database, graph, collection].filter(Boolean);
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
