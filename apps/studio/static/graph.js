// Draws a graph: running nodes are lit, and nodes can be chosen.

import { button, h, opened, s } from "./dom.js";
import { Graph, layout } from "./vendor/dagre.esm.js";

const HEIGHT = 32;
const LETTER = 7.9; // width of a letter in names, by the font size in studio.css
const WORD = 6.6; // width of a letter in the name of an edge
const OPENER = 26; // width of the button that opens a node's subgraph
const MAX_TOOLS_IN_ROW = 3; // more tools are in two rows, so that their names are readable
const ENDS = { __start__: "start", __end__: "end" };
let drawings = 0;

const MIN_SCALE = 12 / 13; // least scale of a drawing, at which names are 12 pixels high
const STATES = ["lit", "visited", "failed"];
const LEGEND = [["lit", "at work"], ["visited", "done"], ["taken", "way taken"], ["tool", "tool"], ["pausing", "pauses before"]];

/** Nodes and edges in a picture; nodes can be pressed, and subgraphs opened. */
export class Drawing {
  /**
   * `pressed(id)` is whether a node is chosen, `press(id)` toggles it, `called(id)` is the label of
   * that button; without `press`, nodes cannot be chosen. `subgraphs` are the subgraphs of nodes by name.
   */
  constructor({ nodes, edges, subgraphs = {} }, title, { pressed, press, called } = {}) {
    Object.assign(this, { title, subgraphs, opened: new Map(), nodes: new Map(), lines: new Map(), states: new Map() });
    this.picture = this.draw(nodes, edges);
    this.parts = h("div", { className: "parts" });
    this.element = h("div", { className: "drawing" }, h("div", { className: "canvas-of" }, this.picture), this.parts);
    if (press) for (const { id } of nodes) if (!ENDS[id]) this.pressable(id, pressed, press, called);
    this.reset();
  }

  draw(nodes, edges) {
    const graph = layOut(nodes, edges, this.subgraphs);
    const { left, top, width, height } = extent(graph);
    const arrow = `arrow-${++drawings}`;
    const tip = (id, name) => s("marker", {
      id, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 6.5, markerHeight: 6.5, orient: "auto-start-reverse",
    }, s("path", { d: "M0 .8 7.4 4 0 7.2z", class: name }));
    const picture = s("svg", {
      class: "graph", viewBox: `${left - 6} ${top - 6} ${width + 12} ${height + 12}`, role: "group",
      "aria-label": `${this.title}: ${nodes.length} nodes`,
    }, s("defs", {}, tip(arrow, "tip"), tip(`${arrow}-taken`, "tip taken")));
    const drawn = graph.edges().map((edge) => ({ edge, parts: edgeOf(graph.edge(edge), arrow) }));
    const lines = drawn.map(({ parts }) => parts);
    for (const { edge: { v, w }, parts: [path] } of drawn) this.lines.set(`${v} ${w}`, [...(this.lines.get(`${v} ${w}`) ?? []), path]);
    for (const { source, target, label } of edges) {
      if (source === target) lines.push(loopOf(graph.node(source), label, arrow));
    }
    picture.append(...lines.map(([path]) => path));
    for (const node of nodes) picture.append(this.nodeOf(node, graph.node(node.id)));
    picture.append(...lines.flatMap(([, label]) => label ?? []));
    picture.style.maxWidth = `${(width + 12) * 1.1}px`;
    picture.style.minWidth = `${(width + 12) * MIN_SCALE}px`;
    return picture;
  }

  nodeOf({ id, tool, label }, place) {
    const end = ENDS[id];
    const left = place.x - place.width / 2, top = place.y - HEIGHT / 2;
    const box = s("rect", { x: left, y: top, width: place.width, height: HEIGHT, rx: end ? HEIGHT / 2 : 7 });
    const dot = s("circle", { class: "pause", cx: left, cy: top, r: 5 });
    const name = s("text", { x: place.x - (this.subgraphs[id] ? OPENER / 2 : 0), y: place.y + 4.5 }, end ?? label ?? id);
    const group = s("g", { class: `node ${end ? "end" : tool ? "tool" : ""}` }, box, name, dot);
    this.nodes.set(id, group);
    if (!this.subgraphs[id]) return group;
    return s("g", {}, group, this.opener(id, left + place.width - OPENER, top));
  }

  /** Make the button that opens a node's subgraph. */
  opener(id, x, y) {
    const it = s("g", { class: "opener", role: "button", tabindex: 0, "aria-expanded": false, "aria-label": `What ${id} is made of` },
      s("rect", { x, y, width: OPENER, height: HEIGHT, rx: 7 }),
      s("path", { d: `M${x + OPENER / 2 - 4} ${y + HEIGHT / 2}h8m-4 -4v8` }));
    onPress(it, () => this.open(id, it));
    return it;
  }

  open(id, opener) {
    const shown = this.opened.get(id);
    opener.setAttribute("aria-expanded", !shown);
    if (shown) {
      shown.place.remove();
      this.opened.delete(id);
      return;
    }
    const drawing = new Drawing({ ...this.subgraphs[id], subgraphs: inside(this.subgraphs, id) }, id);
    for (const [node, state] of this.states) drawing.mark(node, state);
    const place = h("section", { className: "part", "aria-label": id }, h("h3", {}, id), drawing.element);
    this.opened.set(id, { drawing, place });
    this.parts.append(place);
    place.scrollIntoView({ block: "nearest" });
  }

  pressable(id, pressed, press, called) {
    const group = this.nodes.get(id);
    group.setAttribute("tabindex", "0");
    group.setAttribute("role", "button");
    group.setAttribute("aria-pressed", pressed(id));
    group.setAttribute("aria-label", called(id));
    onPress(group, () => {
      press(id);
      for (const [other, one] of this.nodes) if (!ENDS[other]) one.setAttribute("aria-pressed", pressed(other));
    });
  }

  /** Show the drawing in a large dialog. */
  enlarge() {
    const place = h("div", {});
    this.element.replaceWith(place);
    const dialog = opened(h("dialog", { className: "large", "aria-label": this.title, onclose: () => place.replaceWith(this.element) },
      this.element, h("div", { className: "row end" }, button("Close", () => dialog.close(), { className: "primary" }))));
  }

  /** Clear the states of all nodes. */
  reset() {
    this.states.clear();
    this.before = new Set(["__start__"]); // the nodes that ended last; an edge leads from them to the next node
    this.begun = false;
    for (const group of this.nodes.values()) group.classList.remove(...STATES);
    for (const path of [...this.lines.values()].flat()) path.classList.remove("taken");
    for (const { drawing } of this.opened.values()) drawing.reset();
  }

  /** Set the state of a node: lit, visited or failed. */
  mark(node, state) {
    if (state !== "lit" && this.states.get(node) !== "lit") this.enter(node);
    if (state === "lit") this.enter(node);
    else this.leave(node);
    this.states.set(node, state);
    const group = this.nodes.get(node);
    group?.classList.remove(...STATES);
    group?.classList.add(state);
    for (const { drawing } of this.opened.values()) drawing.mark(node, state);
  }

  enter(node) {
    if (!this.nodes.has(node)) return;
    this.begun = true;
    for (const source of this.before) {
      for (const path of this.lines.get(`${source} ${node}`) ?? []) {
        path.classList.add("taken");
        path.setAttribute("marker-end", path.getAttribute("marker-end").replace(/(-taken)?\)$/, "-taken)"));
      }
    }
  }

  leave(node) {
    if (!this.nodes.has(node)) return;
    if (this.begun) this.before.clear();
    this.begun = false;
    this.before.add(node);
  }
}

/** Make the legend of a drawing. */
export function legend() {
  return h("ul", { className: "legend", "aria-label": "Legend" }, LEGEND.map(([kind, words]) => h("li", {}, h("span", { className: `sample ${kind}` }), words)));
}

/** The subgraphs inside a subgraph. */
function inside(subgraphs, id) {
  const names = new Set(subgraphs[id].nodes.map((node) => node.id));
  return Object.fromEntries(Object.entries(subgraphs).filter(([name]) => name !== id && names.has(name)));
}

function onPress(element, go) {
  element.addEventListener("click", go);
  element.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      go();
    }
  });
}

function layOut(nodes, edges, subgraphs) {
  const graph = new Graph({ multigraph: true });
  graph.setGraph({ rankdir: "TB", nodesep: 14, ranksep: 22, edgesep: 6 });
  for (const { id, label } of nodes) {
    graph.setNode(id, { width: (ENDS[id] ?? label ?? id).length * LETTER + 20 + (subgraphs[id] ? OPENER : 0), height: HEIGHT });
  }
  const tools = new Set(nodes.filter(({ tool }) => tool).map(({ id }) => id));
  const crowded = tools.size > MAX_TOOLS_IN_ROW;
  let chosen = 0;
  const order = new Map(nodes.map(({ id }, at) => [id, at])); // the order in the source: the usual path comes first
  const sorted = [...edges].sort((a, b) => order.get(a.source) - order.get(b.source) || order.get(a.target) - order.get(b.target));
  sorted.forEach(({ source, target, label, conditional }, at) => {
    const minlen = crowded && tools.has(target) && !tools.has(source) ? 1 + (chosen++ % 2) : 1;
    const room = label ? { width: label.length * WORD + 6, height: 16, labelpos: "c" } : {};
    if (source !== target) graph.setEdge(source, target, { label, conditional, minlen, ...room }, String(at));
  });
  layout(graph);
  return graph;
}

/** The rectangle around all nodes and lines; the layout's own size ignores outer lines. */
function extent(graph) {
  const points = graph.edges().flatMap((edge) => {
    const { points: line, x, y, width = 0 } = graph.edge(edge);
    return x === undefined ? line : [...line, { x: x - width / 2, y }, { x: x + width / 2, y }];
  });
  for (const node of graph.nodes()) {
    const { x, y, width, height } = graph.node(node);
    points.push({ x: x - width / 2, y: y - height / 2 }, { x: x + width / 2, y: y + height / 2 });
  }
  const [left, top] = [Math.min(...points.map(({ x }) => x)), Math.min(...points.map(({ y }) => y))];
  return { left, top, width: Math.max(...points.map(({ x }) => x)) - left, height: Math.max(...points.map(({ y }) => y)) - top };
}

function edgeOf({ points, label, conditional, x, y }, arrow) {
  const path = s("path", { class: `edge ${conditional ? "may" : ""}`, d: smooth(points), "marker-end": `url(#${arrow})` });
  return label ? [path, s("text", { class: "label", x, y: y + 3 }, label.replaceAll("_", " "))] : [path];
}

/** Draw the edge from a node to itself as a loop on its right. */
function loopOf({ x, y, width }, label, arrow) {
  const right = x + width / 2;
  const path = s("path", { class: "edge may", d: `M${right} ${y - 7}c22 -9 22 23 0 14`, "marker-end": `url(#${arrow})` });
  return [path, s("text", { class: "label", x: right + 44, y: y + 3 }, label.replaceAll("_", " "))];
}

/** A smooth line through the midpoints between points. */
function smooth(points) {
  const at = ({ x, y }) => `${x.toFixed(1)} ${y.toFixed(1)}`;
  const inner = points.slice(1, -1).map((point, n) => {
    const end = n === points.length - 3 ? points.at(-1) : middle(point, points[n + 2]);
    return `Q${at(point)} ${at(end)}`;
  });
  return inner.length ? `M${at(points[0])}${inner.join("")}` : `M${at(points[0])}L${at(points.at(-1))}`;
}

function middle(a, b) {
  return { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 };
}
