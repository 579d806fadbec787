// Experience: the saved paths and their instruction graph.

import { get, put, removed } from "./server.js";
import { button, counted, dropZone, empty, field, h, iconButton, notice, number, table, uploaded } from "./dom.js";
import { Drawing } from "./graph.js";

const API = "/studio/api/experience";
const LETTERS = 24;
const SHOWN = 200;
const MOST_BYTES = 20e6;

export async function view(_, [owner = "local"]) {
  const page = new Experience(owner);
  await page.load();
  return page.element;
}

class Experience {
  constructor(owner) {
    this.owner = owner;
    this.chosen = null;
    const whose = h("input", { value: owner, autocomplete: "off", onchange: ({ target }) => { location.hash = `#/experience/${encodeURIComponent(target.value.trim() || "local")}`; } });
    this.threshold = h("input", { type: "range", min: 0, max: 1, step: 0.05, onchange: () => this.draw() });
    this.most = h("select", { onchange: () => this.draw() }, [20, 40, 80, 160, 300].map((value) => h("option", { value, selected: value === 40 }, `${value} nodes`)));
    this.about = h("p", { className: "dim", role: "status" });
    this.canvas = h("div", { className: "canvas" });
    this.detail = h("div", { className: "detail" });
    this.list = h("div", {});
    this.log = h("ul", { className: "log", "aria-live": "polite" });
    this.whose = whose;
    this.element = h("div", { className: "page wide" }, h("h1", {}, "Experience"),
      h("p", { className: "lead" }, "Paths of instructions from earlier runs. Similar instructions share a node, at which paths can be recombined."),
      h("section", { className: "card" },
        h("div", { className: "columns" }, field("Owner", whose), field("Similarity from which instructions share a node", this.threshold), field("Shown, most travelled first", this.most)),
        this.about, h("div", { className: "split" }, this.canvas, this.detail)),
      h("section", { className: "card", "aria-label": "Add paths" }, h("h2", {}, "Add paths"),
        h("p", { className: "about" }, "Trajectories, one per line: {\"question\": …, \"steps\": [{\"action\": …}, …], \"reward\": 1}. They are stored on the server for this owner; failed ones are marked by their reward."),
        dropZone(".jsonl,.gz", `.jsonl .jsonl.gz · up to ${number(MOST_BYTES / 1e6)} MB each`, (files) => this.add(files)), this.log),
      this.list);
  }

  async load() {
    const { paths, threshold, owner } = await get(`${API}?${new URLSearchParams({ owner: this.owner })}`);
    this.paths = new Map(paths.map((path) => [path.key, path]));
    this.threshold.value = threshold;
    this.whose.value = owner;
    this.whose.readOnly = owner !== this.owner; // the server sets the owner
    this.listPaths();
    if (paths.length) this.draw(); // slow the first time, so the page does not wait
    else this.canvas.replaceChildren(empty("No experience yet", "Add a file of trajectories below, or mark an answer on the page Ask as right."));
  }

  async add(files) {
    await uploaded(files, this.log, (file) => this.upload(file));
    await this.load();
  }

  async upload(file) {
    if (file.size > MOST_BYTES) throw new Error("It is too large.");
    const query = new URLSearchParams({ owner: this.owner, name: file.name });
    const added = await put(`${API}?${query}`, file);
    return `${file.name}: ${number(added.new)} new of ${number(added.paths)} paths, ${number(added.succeeded)} of them succeeded.`;
  }

  async draw() {
    this.about.textContent = "Making the graph …";
    const query = new URLSearchParams({ owner: this.owner, threshold: this.threshold.value, most: this.most.value });
    const own = this.drawn = Symbol("drawn");
    let graph;
    try {
      graph = await get(`${API}/graph?${query}`);
    } catch (error) {
      if (own !== this.drawn) return; // another graph was requested meanwhile
      this.about.textContent = "";
      this.canvas.replaceChildren(notice(error.message));
      return;
    }
    if (own !== this.drawn) return;
    this.graph = graph;
    const { nodes, edges, all_nodes: all, all_edges: links } = this.graph;
    if (!nodes.length) {
      this.about.textContent = "";
      this.canvas.replaceChildren(empty("No graph yet", "It is made of successful paths, and there are none."));
      return;
    }
    this.about.textContent = `At a similarity of ${this.threshold.value}, nodes: ${number(all)} (${nodes.length} shown), edges: ${number(links)}.`;
    const named = new Map(nodes.map((node) => [String(node.id), node]));
    this.drawing = new Drawing({
      nodes: nodes.map((node) => ({ id: String(node.id), tool: node.instructions.length > 1, label: labelOf(node) })),
      edges: edges.map(({ source, target, tasks }) => ({ source: String(source), target: String(target), label: Object.keys(tasks)[0] ?? "", conditional: false })),
    }, "Instruction graph", {
      pressed: (id) => id === this.chosen,
      press: (id) => { this.chosen = id; this.showNode(named.get(id)); },
      called: (id) => named.get(id).instructions.join(" or "),
    });
    this.canvas.replaceChildren(this.drawing.element);
    if (!this.detail.firstChild) this.detail.replaceChildren(h("p", { className: "about" }, "Choose a node to see its instructions, or a path to see its way."));
  }

  showNode({ id, instructions, paths }) {
    this.drawing.reset();
    this.drawing.mark(String(id), "lit");
    const through = Object.entries(this.graph.walks).filter(([, walk]) => walk.includes(id)).map(([key]) => this.paths.get(key));
    this.detail.replaceChildren(
      h("h2", {}, counted(instructions.length, "instruction")),
      h("ul", { className: "plain-list" }, instructions.slice(0, SHOWN).map((text) => h("li", {}, h("code", {}, text)))),
      h("h3", {}, `${counted(paths, "path")} through it`),
      h("ul", { className: "plain-list" }, through.slice(0, SHOWN).filter(Boolean).map((path) => h("li", {}, button(path.question, () => this.showPath(path), { className: "link" })))));
  }

  showPath(path) {
    const walk = this.graph?.walks[path.key] ?? [];
    this.drawing?.reset();
    for (const node of walk) this.drawing.mark(String(node), "lit");
    this.detail.replaceChildren(
      h("h2", {}, path.question),
      h("p", { className: "dim" }, [path.task, `reward ${path.reward}`, path.origin].filter(Boolean).join(" · ")),
      h("ol", { className: "steps" }, path.instructions.map((text) => h("li", {}, h("code", {}, text)))),
      ...(walk.length ? [] : [h("p", { className: "about" }, "It is not in the graph, which has only successful paths.")]));
    this.canvas.scrollIntoView({ block: "nearest" });
  }

  listPaths() {
    const text = h("input", { type: "search", "aria-label": "Search in paths", placeholder: "Search tasks and questions" });
    const place = h("div", {});
    const show = () => {
      const words = text.value.toLowerCase();
      const found = [...this.paths.values()].filter((path) => `${path.task} ${path.question}`.toLowerCase().includes(words));
      place.replaceChildren(
        h("p", { className: "dim", role: "status" }, `${counted(found.length, "path")}${found.length > SHOWN ? `, the first ${SHOWN} shown` : ""}`),
        table(["Question", "Task", { name: "Steps", number: true }, { name: "Reward", number: true }, { name: h("span", { className: "unseen" }, "Delete") }],
          found.slice(0, SHOWN).map((path) => [
            button(path.question, () => this.showPath(path), { className: "link" }), path.task, number(path.instructions.length), number(path.reward, 2),
            iconButton("trash", `Delete: ${path.question}`, () => this.forget(path)),
          ]), "Paths"));
    };
    text.addEventListener("input", show);
    show();
    this.list.replaceChildren(this.paths.size
      ? h("section", { className: "card tall" }, h("h2", {}, "Paths"), h("div", { className: "row" }, text), place) : h("div", {}));
  }

  forget(path) {
    const asked = new URLSearchParams({ owner: this.owner, key: path.key });
    const question = `Forget the path of “${path.question}” for good?`;
    return removed(`${API}?${asked}`, { question, action: "Forget", place: this.list, then: () => this.load() });
  }
}

function labelOf({ instructions }) {
  const [first] = instructions;
  const text = first.length > LETTERS ? `${first.slice(0, LETTERS - 1)}…` : first;
  return instructions.length > 1 ? `${text} +${instructions.length - 1}` : text;
}
