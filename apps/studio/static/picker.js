// Pickers: choose the method by a picture of its graph, and the model.

import { get } from "./server.js";
import { button, field, form, h, opened, s } from "./dom.js";
import { settings } from "./settings.js";
import { Graph, layout } from "./vendor/dagre.esm.js";

export const AUTOMATIC = "automatic";
/** The groups of methods and their titles. */
export const METHOD_GROUPS = { decide: "Decide, from databases", documents: "Ask documents", act: "Act, in an environment" };
const SEEN = "planweave.models";

/** Show a dialog with choices; resolves to the chosen value, or null. */
function choice(title, choices, own = null) {
  return new Promise((resolve) => {
    let made = null;
    const choose = (value) => { made = value; dialog.close(); };
    const dialog = h("dialog", { className: "wide choices", "aria-label": title, onclose: () => resolve(made) },
      h("div", { className: "row" }, h("h2", {}, title), h("span", { className: "grow" }), button("Close", () => dialog.close())),
      choices(choose), own?.(choose));
    dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
    opened(dialog).querySelector("[aria-pressed='true']")?.focus();
  });
}

/** Let a person choose a method. */
export function pickMethod({ methods }, current) {
  return choice("Which method answers?", (choose) => {
    const one = (name, about, picture) => h("li", {}, button([picture, h("span", {}, h("b", {}, name), h("span", { className: "about" }, about))],
      () => choose(name), { className: "method", "aria-pressed": name === current }));
    const group = ([key, title]) => h("section", {}, h("h3", {}, title),
      h("ul", {}, methods.filter((method) => method.group === key).map(({ name, description }) => one(name, description, figure(name)))));
    return h("div", {}, h("ul", {}, one(AUTOMATIC, "The cheapest method that suits the model and the sources.", h("span", { className: "figure", "aria-hidden": "true" }, "✦"))),
      Object.entries(METHOD_GROUPS).map(group));
  });
}

/** A small picture of a method's graph, drawn when it is loaded. */
function figure(method) {
  const place = h("span", { className: "figure", "aria-hidden": "true" });
  get(`/studio/api/methods/${method}/graph`).then((graph) => place.append(sketch(graph))).catch(() => {});
  return place;
}

function sketch({ nodes, edges }) {
  const graph = new Graph().setGraph({ nodesep: 5, ranksep: 7 }).setDefaultEdgeLabel(() => ({}));
  for (const { id } of nodes) graph.setNode(id, { width: 22, height: 12 });
  for (const { source, target } of edges) if (source !== target) graph.setEdge(source, target);
  layout(graph);
  const { width, height } = graph.graph();
  const path = ({ points: [first, ...rest] }) => `M${first.x} ${first.y}${rest.map(({ x, y }) => `L${x} ${y}`).join("")}`;
  return s("svg", { viewBox: `-2 -2 ${width + 4} ${height + 4}`, preserveAspectRatio: "xMidYMid meet" },
    graph.edges().map((edge) => s("path", { d: path(graph.edge(edge)) })),
    nodes.map(({ id, tool }) => {
      const { x, y } = graph.node(id);
      return s("rect", { x: x - 11, y: y - 6, width: 22, height: 12, rx: 3, class: tool ? "tool" : "" });
    }));
}

/** Models that can be chosen, with what is missing; names that a person entered come last. */
export async function models() {
  const { models: known } = await get("/studio/api/models").catch(() => ({ models: [] }));
  const own = JSON.parse(localStorage.getItem(SEEN) ?? "[]").filter((name) => !known.some((one) => one.name === name));
  return [...known, ...own.map((name) => ({ name, about: "named by you", missing: "" }))];
}

/** Let a person choose a model from the list, or by name. */
export async function pickModel(mayName) {
  const known = await models();
  const current = settings.values.model ?? known[0]?.name;
  const picked = await choice("Which model answers?", (choose) => h("ul", {}, known.map(({ name, about, missing }) =>
    h("li", {}, button([h("span", { className: missing ? "state bad" : "state good" }, missing ? "○" : "●"),
      h("span", {}, h("b", {}, name), h("span", { className: "about" }, [about, missing || "ready"].filter(Boolean).join(" · ")))],
    () => choose(name), { className: "method", "aria-pressed": name === current })))),
  mayName && ((choose) => {
    const name = h("input", { placeholder: "http://localhost:11434/v1#qwen3", required: true, autocomplete: "off", spellcheck: false });
    return form({}, () => choose(name.value.trim()),
      field("Another model", name, "openai:gpt-4.1, any LangChain provider, or any OpenAI-compatible server: its address, #, and the model. Set its key as PLANWEAVE_API_KEY on the server."),
      h("div", { className: "row end" }, h("button", { className: "primary" }, "Use this model")));
  }));
  if (picked === null) return;
  if (!known.some(({ name }) => name === picked)) {
    const seen = JSON.parse(localStorage.getItem(SEEN) ?? "[]").filter((name) => name !== picked);
    localStorage.setItem(SEEN, JSON.stringify([picked, ...seen].slice(0, 6)));
  }
  settings.set("model", picked === known[0]?.name ? undefined : picked);
}
