// Compare: two methods side by side on the same question and settings.

import { composer, methodDrawing, methodSelect, suggestions } from "./ask.js";
import { Conversation } from "./conversation.js";
import { field, h, number, seconds, table } from "./dom.js";
import { form, settings, summary } from "./settings.js";

const PAIR = ["planrag", "iter_rag"];

export async function view(known) {
  const sides = PAIR.map((method) => new Side(known, method));
  await Promise.all(sides.map((side) => side.choose(side.method)));
  const result = h("div", { className: "verdict", "aria-live": "polite" });
  const { element, go } = composer("Ask both a question", async (question) => {
    go.disabled = true;
    result.replaceChildren();
    await Promise.all(sides.map((side) => side.ask(question)));
    result.replaceChildren(verdict(sides));
    result.scrollIntoView({ block: "center" }); // the page has scrolled with the stories
    go.disabled = false;
  });
  const asked = h("p", { className: "sources" });
  const tell = () => { asked.textContent = summary() || "Nothing is connected yet: choose a database or documents in the settings."; };
  tell();
  return h("div", { className: "page wide", onchange: tell },
    h("h1", {}, "Two methods, one question"),
    element, asked,
    h("details", { className: "card" }, h("summary", {}, "Settings of both"), form(known.settings, "", await suggestions(known))),
    result,
    h("div", { className: "pair" }, sides.map((side) => side.element)));
}

class Side {
  constructor(known, method) {
    this.known = known;
    this.method = method;
    this.pauses = new Set();
    this.graph = h("div", { className: "mini" });
    this.talk = this.fresh();
    this.place = h("div", {}, this.talk.element);
    this.element = h("section", { className: "lane", "aria-label": "A method" },
      field("Method", methodSelect(known, method, (chosen) => this.choose(chosen))),
      h("details", {}, h("summary", {}, "Graph"), this.graph), this.place);
  }

  fresh() {
    return new Conversation({
      method: () => this.method,
      pauses: this.pauses,
      changed: (mark) => mark && this.drawing.mark(mark.node, mark.state),
    });
  }

  async choose(method) {
    this.method = method;
    this.pauses.clear();
    const drawing = await methodDrawing(method, this.pauses, () => {});
    if (method !== this.method) return; // another method was chosen meanwhile
    this.drawing = drawing;
    this.graph.replaceChildren(this.drawing.element);
    this.element.setAttribute("aria-label", method);
  }

  /** Each question starts a new thread: a follow-up would also compare earlier answers. */
  async ask(question) {
    this.talk = this.fresh();
    this.place.replaceChildren(this.talk.element);
    this.drawing.reset();
    const started = performance.now();
    await this.talk.ask(question).catch((error) => this.talk.story.fail(error.message));
    this.took = (performance.now() - started) / 1000;
  }
}

function verdict(sides) {
  const values = sides.map(({ talk }) => talk.checkpoints[0]?.values ?? {});
  const row = (name, of) => [name, ...sides.map((side, at) => of(side, values[at]))];
  const used = ({ talk }) => talk.story.usage;
  return table(["", ...sides.map((side) => side.method)], [
    row("Answer", (_, state) => state.answer?.decision ?? state.answer?.why ?? "none"),
    row("Facts", (_, state) => String(state.facts?.length ?? 0)),
    row("Changes of plan", (_, state) => String(state.replans?.length ?? 0)),
    row("Model calls", (side) => number(used(side).calls)),
    row("Tokens", (side) => number(used(side).input_tokens + used(side).output_tokens)),
    row("Time", (side) => seconds(side.took)),
  ], "The two runs");
}
