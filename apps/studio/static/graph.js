// A graph as a drawing: what is being done is lit, and nodes can be chosen.

import { button, h, s } from "./dom.js";
import { Graph, layout } from "./vendor/dagre.esm.js";

const HEIGHT = 32;
const LETTER = 7.9; // width of one, at the size that studio.css gives the names
const CROWD = 3; // tools beside each other: more of them stand in two rows, so that names can be read
const ENDS = { __start__: "start", __end__: "end" };
let drawings = 0;

export class Drawing {
  /**
   * `pressed` says which nodes a person has chosen, `press(id)` changes it, `called(id)` says what
   * choosing a node means.
   */
  constructor({ nodes, edges }, title, { pressed, press, called }) {
    this.nodes = new Map();
    const graph = arranged(nodes, edges);
    const { left, top, width, height } = extent(graph);
    const arrow = `arrow-${++drawings}`;
    this.element = s("svg", {
      class: "graph", viewBox: `${left - 6} ${top - 6} ${width + 12} ${height + 12}`, role: "group",
      "aria-label": `${title}: ${nodes.length} nodes`,
    },
    s("defs", {}, s("marker", {
      id: arrow, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 6.5, markerHeight: 6.5, orient: "auto-start-reverse",
    }, s("path", { d: "M0 .8 7.4 4 0 7.2z", class: "tip" }))));
    const lines = graph.edges().map((edge) => edgeOf(graph.edge(edge), arrow, graph));
    for (const { source, target, label } of edges) {
      if (source === target) lines.push(loopOf(graph.node(source), label, arrow));
    }
    this.element.append(...lines.map(([path]) => path));
    for (const node of nodes) this.element.append(this.nodeOf(node, graph.node(node.id)));
    this.element.append(...lines.flatMap(([, label]) => label ?? []));
    this.element.style.maxWidth = `${width * 1.1}px`;
    for (const { id } of nodes) if (!ENDS[id]) this.pressable(id, pressed, press, called);
  }

  nodeOf({ id, tool, label }, place) {
    const end = ENDS[id];
    const box = s("rect", {
      x: place.x - place.width / 2, y: place.y - HEIGHT / 2, width: place.width, height: HEIGHT,
      rx: end ? HEIGHT / 2 : 7,
    });
    const text = end ?? label ?? id;
    const dot = s("circle", { class: "pause", cx: place.x - place.width / 2, cy: place.y - HEIGHT / 2, r: 5 });
    const group = s("g", { class: `node ${end ? "end" : tool ? "tool" : ""}` },
      box, s("text", { x: place.x, y: place.y + 4.5 }, text), dot);
    this.nodes.set(id, group);
    return group;
  }

  pressable(id, pressed, press, called) {
    const group = this.nodes.get(id);
    const go = () => {
      press(id);
      for (const [other, one] of this.nodes) if (!ENDS[other]) one.setAttribute("aria-pressed", pressed(other));
    };
    group.setAttribute("tabindex", "0");
    group.setAttribute("role", "button");
    group.setAttribute("aria-pressed", pressed(id));
    group.setAttribute("aria-label", called(id));
    group.addEventListener("click", go);
    group.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") {
        event.preventDefault();
        go();
      }
    });
  }

  /** Show the drawing large, with the names of its edges, until it is closed. */
  enlarge() {
    const place = h("div", {});
    this.element.replaceWith(place);
    const dialog = h("dialog", { className: "large", "aria-label": this.element.getAttribute("aria-label"), onclose: () => {
      place.replaceWith(this.element);
      dialog.remove();
    } }, this.element, h("div", { className: "row end" }, button("Close", () => dialog.close(), { className: "primary" })));
    document.body.append(dialog);
    dialog.showModal();
  }

  /** Forget what has been lit. */
  reset() {
    for (const group of this.nodes.values()) group.classList.remove("lit", "visited", "failed");
  }

  /** `state` is lit, visited or failed. */
  mark(node, state) {
    const group = this.nodes.get(node);
    if (!group) return;
    group.classList.remove("lit", "visited", "failed");
    group.classList.add(state);
  }
}

function arranged(nodes, edges) {
  const graph = new Graph({ multigraph: true });
  graph.setGraph({ rankdir: "TB", nodesep: 14, ranksep: 34, edgesep: 7 });
  for (const { id, label } of nodes) {
    graph.setNode(id, { width: (ENDS[id] ?? label ?? id).length * LETTER + 20, height: HEIGHT });
  }
  const tools = new Set(nodes.filter(({ tool }) => tool).map(({ id }) => id));
  const crowded = tools.size > CROWD;
  let chosen = 0;
  const order = new Map(nodes.map(({ id }, at) => [id, at])); // as they were written: the usual way comes first
  const sorted = [...edges].sort((a, b) => order.get(a.source) - order.get(b.source) || order.get(a.target) - order.get(b.target));
  sorted.forEach(({ source, target, label, conditional }, at) => {
    const minlen = crowded && tools.has(target) && !tools.has(source) ? 1 + (chosen++ % 2) : 1;
    if (source !== target) graph.setEdge(source, target, { label, conditional, minlen }, String(at));
  });
  layout(graph);
  return graph;
}

/** The rectangle around all nodes and lines: the layout leaves out lines that run around it. */
function extent(graph) {
  const points = graph.edges().flatMap((edge) => graph.edge(edge).points);
  for (const node of graph.nodes()) {
    const { x, y, width, height } = graph.node(node);
    points.push({ x: x - width / 2, y: y - height / 2 }, { x: x + width / 2, y: y + height / 2 });
  }
  const [left, top] = [Math.min(...points.map(({ x }) => x)), Math.min(...points.map(({ y }) => y))];
  return { left, top, width: Math.max(...points.map(({ x }) => x)) - left, height: Math.max(...points.map(({ y }) => y)) - top };
}

function edgeOf({ points, label, conditional }, arrow, graph) {
  const { x, y } = placeOf(label, points, graph);
  const path = s("path", { class: `edge ${conditional ? "may" : ""}`, d: smooth(points), "marker-end": `url(#${arrow})` });
  return label ? [path, s("text", { class: "label", x, y: y + 3 }, label.replaceAll("_", " "))] : [path];
}

/** Where the name of an edge stands: near its middle, and if it can be on no node. */
function placeOf(label, points, graph) {
  const covered = ({ x, y }) => graph.nodes().some((id) => {
    const node = graph.node(id);
    return Math.abs(x - node.x) < (node.width + label.length * 5.6) / 2 && Math.abs(y - node.y) < HEIGHT / 2 + 6;
  });
  const places = points.slice(1, -1).map((point, at) => { // the line is rounded at its points
    const from = at ? middle(points[at], point) : points[0];
    const to = at + 3 < points.length ? middle(point, points[at + 2]) : points.at(-1);
    return middle(middle(from, point), middle(point, to));
  });
  places.push(...points.slice(1).map((point, at) => middle(points[at], point)));
  const centre = places[Math.floor((points.length - 2) / 2)];
  const far = ({ x, y }) => Math.hypot(x - centre.x, y - centre.y);
  return places.sort((a, b) => far(a) - far(b)).find((place) => !covered(place)) ?? centre;
}

/** A node that may follow itself, drawn as a small loop on its right. */
function loopOf({ x, y, width }, label, arrow) {
  const right = x + width / 2;
  const path = s("path", { class: "edge may", d: `M${right} ${y - 7}c22 -9 22 23 0 14`, "marker-end": `url(#${arrow})` });
  return [path, s("text", { class: "label", x: right + 38, y: y + 3 }, label.replaceAll("_", " "))];
}

/** A line through the middles between points, rounded at the points. */
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
