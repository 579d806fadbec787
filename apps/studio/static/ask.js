// Ask: a question, the story of its run, the graph, the settings and the timeline.

import { get, patch, post, removed } from "./server.js";
import { Conversation, lineage } from "./conversation.js";
import { attempt, button, field, h, icon, iconButton, notice } from "./dom.js";
import { Drawing, legend } from "./graph.js";
import { AUTOMATIC, METHOD_GROUPS, models, pickMethod, pickModel } from "./picker.js";
import { form, settings } from "./settings.js";
import { chips, chosen, examples, remembered, ways } from "./sources.js";

const KEPT = "planweave.method";
const LISTED = 200;
const HEADING = "What do you want to know?";
const NEEDS_NOTHING = new Set(["direct", "cot", "path_policy"]);

export async function view(known, [thread]) {
  const page = new Ask(known);
  page.ready = page.prepare(); // the question can be typed meanwhile
  if (thread) await page.ready.then(() => page.open(thread));
  else requestAnimationFrame(() => page.composer.text.focus({ preventScroll: true }));
  return page.element;
}

/** Suggested values for settings. */
export async function suggestions({ offered }) {
  const { collections } = await get("/studio/api/documents").catch(() => ({ collections: {} }));
  const { databases } = await get("/studio/api/databases").catch(() => ({ databases: [] }));
  const urls = (kind) => remembered().filter((one) => one.kind === kind).map((one) => one.url);
  const own = {
    collection: Object.keys(collections), graph: urls("graph"),
    database: [...new Set([...databases.map(({ url }) => url), ...urls("relational")])],
    model: (await models()).map(({ name }) => name),
  };
  if (!Object.keys(offered).length) return own;
  return { ...offered, collection: [...offered.collection, ...own.collection], database: [...offered.database, ...databases.map(({ url }) => url)] };
}

/** Make a select of all methods in groups; `first` is an option before them. */
export function methodSelect(known, chosen, onchange, first = null) {
  const option = (name) => h("option", { value: name, selected: name === chosen }, name);
  return h("select", { onchange: ({ target }) => onchange(target.value) }, first && option(first),
    Object.entries(METHOD_GROUPS).map(([group, label]) => h("optgroup", { label },
      known.methods.filter((method) => method.group === group).map(({ name }) => option(name)))));
}

/** Draw the graph of a method; choosing a node adds it to `pauses`, or removes it. */
export async function methodDrawing(method, pauses, changed) {
  const graph = await get(`/studio/api/methods/${method}/graph`);
  return new Drawing(graph, `Graph of ${method}`, {
    pressed: (id) => pauses.has(id),
    press: (id) => {
      if (!pauses.delete(id)) pauses.add(id);
      changed();
    },
    called: (id) => `Pause before ${id}`,
  });
}

/** Make the field for questions; Enter sends, Shift+Enter breaks the line. */
export function composer(label, send) {
  const text = h("textarea", { rows: 1, "aria-label": label, placeholder: label, required: true });
  const grow = () => {
    text.style.height = "auto";
    text.style.height = `${Math.min(text.scrollHeight, 240)}px`;
  };
  const go = h("button", { className: "primary round", title: "Ask", "aria-label": "Ask" }, icon("send"));
  const element = h("form", { className: "composer", onsubmit: (event) => {
    event.preventDefault();
    const question = text.value.trim();
    if (!question || go.disabled) return;
    text.value = "";
    grow();
    send(question);
  } }, text, go);
  text.addEventListener("input", grow);
  text.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      element.requestSubmit();
    }
  });
  return { element, text, go };
}

class Ask {
  constructor(known) {
    this.known = known;
    this.pauses = new Set();
    this.running = false;
    this.address = location.hash;
    this.models = [];
    this.suggested = {};
    this.method = localStorage.getItem(KEPT) ?? AUTOMATIC;
    if (!known.methods.some(({ name }) => name === this.method)) this.method = AUTOMATIC;
    this.actual = known.methods[0].name; // the method that answers if the choice is automatic
    this.talk = new Conversation({
      method: () => this.actual,
      pauses: this.pauses,
      changed: (mark) => this.changed(mark),
    });
    this.build();
  }

  build() {
    this.list = h("ul", { className: "threads", "aria-label": "Earlier questions" });
    this.search = h("input", { type: "search", "aria-label": "Search in earlier questions", placeholder: "Search", oninput: () => this.showThreads() });
    this.threads = [];
    this.about = h("p", { className: "about" });
    this.select = methodSelect(this.known, this.method, (method) => this.choose(method), AUTOMATIC);
    const figures = iconButton("figure", "Choose by figure", async () => {
      const method = await pickMethod(this.known, this.method);
      if (method) await this.choose(method);
    });
    this.model = button("", async () => {
      await pickModel(!Object.keys(this.known.offered).length);
      await this.choose(this.method);
      this.showSources();
    }, { className: "model", "aria-label": "Model" });
    this.composer = composer("Ask a question", (question) => this.ask(question));
    this.stop = button([icon("stop"), "Stop"], () => this.talk.stop(), { className: "stop", hidden: true });
    this.welcome = h("div", { className: "welcome" }, h("h2", {}, HEADING));
    this.sources = h("div", { className: "sources" });
    this.tabs = new Tabs({ Graph: h("div", {}), Settings: h("div", {}), Timeline: h("div", {}) });
    this.element = h("div", { className: "ask" }, h("h1", { className: "unseen" }, "Ask"),
      h("details", { className: "earlier" }, h("summary", {}, "Earlier questions"),
        h("a", { className: "button new", href: "#/ask", onclick: () => this.fresh() }, icon("plus"), "New question"), this.search, this.list),
      h("section", { className: "talk", "aria-label": "Conversation" },
        h("div", { className: "picker" }, h("div", { className: "method-field" }, field("Method", this.select), figures),
          h("div", { className: "field" }, h("span", { className: "label", id: "model-label" }, "Model"), this.model), this.about),
        this.welcome, this.talk.element,
        h("div", { className: "foot" }, this.stop, this.composer.element, this.talk.story.meter, this.sources)),
      h("aside", { className: "side", "aria-label": "Graph, settings and timeline" }, this.tabs.element));
    this.tabs.element.addEventListener("change", () => this.sourcesChanged());
    const wide = matchMedia("(min-width: 1180px)"), earlier = this.element.querySelector(".earlier");
    earlier.open = wide.matches;
    wide.addEventListener("change", () => { earlier.open = wide.matches; });
  }

  /** Load what the page shows in addition to the question field. */
  async prepare() {
    await attempt(this.welcome, async () => {
      [this.suggested, this.models] = await Promise.all([suggestions(this.known), models()]);
      this.shown = null; // a form that was drawn meanwhile lacks the suggestions
      await Promise.all([this.choose(this.method), this.listThreads(), this.showSources()]);
    });
  }

  async choose(method) {
    this.method = method;
    localStorage.setItem(KEPT, method);
    this.select.value = method;
    await this.settle();
  }

  /** Find the method that answers, and show it. */
  async settle() {
    const asked = this.method;
    const found = asked === AUTOMATIC ? await post("/studio/api/methods/choice", settings.values) : { method: asked };
    if (asked !== this.method) return; // another method was chosen meanwhile
    this.actual = found.method;
    const reason = found.reason && `${found.method} answers: ${found.reason}.`;
    this.about.textContent = reason || this.known.methods.find(({ name }) => name === this.actual).description;
    if (this.shown === this.actual) return;
    this.shown = this.actual;
    const method = this.actual;
    this.pauses.clear();
    const drawing = await methodDrawing(method, this.pauses, () => this.hintPauses());
    if (this.shown !== method) return;
    this.drawing = drawing;
    this.hint = h("p", { className: "about" });
    this.hintPauses();
    const enlarge = button("Enlarge", () => this.drawing.enlarge(), { className: "link" });
    this.tabs.put("Graph", this.drawing.element, legend(), h("div", { className: "under" }, this.hint, enlarge));
    this.tabs.put("Settings", form(this.known.settings, method, this.suggested));
  }

  hintPauses() {
    const names = [...this.pauses];
    this.hint.textContent = names.length
      ? `The run pauses before ${names.join(", ")}.`
      : "Choose a node to pause the run before it.";
  }

  /** A source or setting has changed, which may change the automatic method. */
  async sourcesChanged() {
    if (this.method === AUTOMATIC && !this.talk.thread) await this.settle();
    await this.showSources();
  }

  /** The first source was chosen, or one was removed. */
  async adopted() {
    this.suggested = await suggestions(this.known);
    this.shown = null; // redraw the form, which shows the source
    await this.settle();
    await this.showSources();
    this.composer.text.focus({ preventScroll: true });
  }

  /** Show sources and model, and on a new page example questions or ways to add a source. */
  async showSources() {
    const name = settings.values.model ?? this.models[0]?.name ?? "embedded";
    const missing = this.models.find((one) => one.name === name)?.missing ?? "";
    this.model.replaceChildren(h("span", { className: missing ? "state bad" : "state good", "aria-hidden": "true" }, missing ? "○" : "●"), h("span", {}, name));
    this.model.setAttribute("aria-label", `Model: ${name}, ${missing || "ready"}`);
    this.model.title = missing || "Ready. Choose another model.";
    const connected = chosen().length > 0;
    this.unsourced &&= !connected;
    const unconnected = this.unsourced ? notice("Nothing is connected yet: choose what to ask, then send the question.", "problem") : "Nothing is connected yet.";
    this.sources.replaceChildren(connected ? chips(() => this.adopted()) : unconnected);
    const heading = h("h2", {}, HEADING);
    if (!connected) {
      this.welcome.replaceChildren(heading, h("p", {}, "First choose what to ask. Queries only read. Nothing leaves this machine, except to the model that you choose."), ways(() => this.adopted()));
      return;
    }
    const place = h("ul", { className: "examples", "aria-label": "Example questions" });
    this.welcome.replaceChildren(heading, h("p", {}, `Ask ${chosen().map(({ name: one }) => one).join(" and ")}. Watch each step, stop where you like, and go back to any of them.`), place);
    const questions = await examples();
    place.replaceChildren(...questions.map((question) => h("li", {}, button(question, () => this.ask(question)))));
  }

  /** Reload the page if its address does not change. */
  fresh() {
    if (location.hash === "#/ask" || location.hash === "") dispatchEvent(new HashChangeEvent("hashchange"));
  }

  /** Ask a question, unless a run is active: a double click asks once. */
  async ask(question) {
    const { go } = this.composer;
    if (go.disabled) return;
    go.disabled = true;
    try {
      await this.begin(question);
    } finally {
      go.disabled = Boolean(this.talk.running);
    }
  }

  async begin(question) {
    await this.ready;
    if (!chosen().length && !this.talk.thread && this.needsSource()) {
      this.composer.text.value = question; // keep the typed text
      this.unsourced = true;
      await this.showSources();
      return;
    }
    this.welcome.hidden = true;
    if (!this.talk.thread) await this.settle();
    this.drawing.reset();
    try {
      await this.talk.ask(question);
    } catch (error) {
      this.talk.story.fail(error.message);
    }
  }

  needsSource() {
    const { environment, web_search: web, tools } = settings.values;
    return !(NEEDS_NOTHING.has(this.actual) || environment || web || tools?.length);
  }

  async open(thread) {
    const { metadata } = await get(`/threads/${thread}`);
    const { collection, method = metadata.graph_id } = metadata;
    const adopted = collection && !chosen().length; // so that a follow-up has the same source
    if (adopted) settings.set("collection", collection);
    if (adopted || (method && method !== this.method)) await this.choose(method ?? this.method);
    await this.showSources();
    this.welcome.hidden = true;
    await this.talk.open(thread, collection);
    await this.listThreads();
  }

  changed(mark) {
    if (mark) return this.drawing.mark(mark.node, mark.state);
    const running = Boolean(this.talk.running);
    if (this.running !== running) this.listThreads();
    this.running = running;
    if (this.talk.thread && this.element.isConnected && location.hash === this.address) { // otherwise the page was left
      this.address = `#/ask/${this.talk.thread}`;
      history.replaceState(null, "", this.address);
    }
    this.welcome.hidden ||= Boolean(this.talk.thread);
    this.stop.hidden = !running;
    this.composer.go.disabled = running;
    const asked = this.talk.story.element.childElementCount > 0;
    this.composer.text.placeholder = asked ? "Ask a follow-up question" : "Ask a question";
    this.timeline();
  }

  timeline() {
    const history = this.talk.checkpoints;
    if (!history.length) return this.tabs.put("Timeline", h("p", { className: "about" }, "Each step of a run is a checkpoint to go back to. There are none yet."));
    const line = new Set(lineage(history));
    const items = history.map((state) => h("li", { className: line.has(state) ? "" : "branch" },
      button([
        h("b", {}, state.next.length ? `before ${state.next.join(", ")}` : "end"),
        h("span", { className: "dim" }, `${new Date(state.created_at).toLocaleTimeString()}${{ update: " · edited", fork: " · forked" }[state.metadata?.source] ?? ""}${line.has(state) ? "" : " · another branch"}`),
      ], () => this.talk.rewind(state))));
    this.tabs.put("Timeline", h("p", { className: "about" }, "Newest first. Choose a checkpoint to look at its state, edit it, and run again from there."), h("ol", { className: "timeline" }, items));
  }

  async listThreads() {
    const found = await post("/threads/search", { limit: LISTED }).catch(() => []);
    this.threads = found.filter(({ metadata }) => metadata?.title);
    this.showThreads();
  }

  /** List the earlier questions whose titles match the search. */
  showThreads() {
    if (this.renaming === document.activeElement) return; // drawn when renaming ends
    const words = this.search.value.trim().toLowerCase();
    const shown = this.threads.filter(({ metadata }) => metadata.title.toLowerCase().includes(words));
    this.list.replaceChildren(...shown.map((thread) => this.threadLine(thread)));
    if (!shown.length) this.list.replaceChildren(h("li", { className: "dim" }, words ? "No question has these words." : "None yet."));
  }

  threadLine({ thread_id: id, metadata: { title, method }, status }) {
    const line = h("li", {},
      h("a", { href: `#/ask/${id}`, "aria-current": id === this.talk.thread ? "true" : null },
        h("span", { className: "title" }, title), h("span", { className: "dim" }, `${method ?? ""}${status === "interrupted" ? " · waits" : ""}`)),
      iconButton("edit", `Rename: ${title}`, () => this.rename(line, id, title)),
      iconButton("trash", `Delete: ${title}`, () => this.forget(id, title)));
    return line;
  }

  /** Replace the line by a field; leaving it saves the new title, Escape keeps the old one. */
  rename(line, id, title) {
    const text = h("input", { value: title, maxLength: 200, "aria-label": "New title", onblur: async () => {
      const given = text.value.trim() || title;
      try {
        if (given !== title) await patch(`/threads/${id}`, { metadata: { title: given } });
      } catch (error) {
        this.list.before(notice(error.message));
      }
      await this.listThreads();
    } });
    text.addEventListener("keydown", ({ key, isComposing }) => {
      if (isComposing || !["Enter", "Escape"].includes(key)) return;
      if (key === "Escape") text.value = title;
      text.blur();
    });
    line.replaceChildren(text);
    this.renaming = text;
    text.select();
  }

  forget(id, title) {
    const then = () => {
      if (id === this.talk.thread) location.hash = "#/ask";
      return this.listThreads();
    };
    return removed(`/threads/${id}`, { question: `Delete “${title}” with all its checkpoints?`, place: this.list, then });
  }
}

/** Tabs with panels; the arrow keys choose a tab. */
class Tabs {
  constructor(panels) {
    this.panels = panels;
    this.buttons = Object.entries(panels).map(([name, panel], at) => {
      panel.id = `panel-${name}`;
      panel.className = "panel";
      panel.setAttribute("role", "tabpanel");
      panel.setAttribute("aria-labelledby", `tab-${name}`);
      panel.hidden = at > 0;
      return button(name, () => this.show(at), { role: "tab", id: `tab-${name}`, "aria-controls": panel.id, "aria-selected": at === 0, tabIndex: at ? -1 : 0 });
    });
    const list = h("div", { role: "tablist", "aria-label": "Side panel", className: "tabs" }, this.buttons);
    list.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const at = (this.buttons.indexOf(document.activeElement) + step + this.buttons.length) % this.buttons.length;
      this.show(at);
      this.buttons[at].focus();
    });
    this.element = h("div", {}, list, Object.values(panels));
  }

  show(chosen) {
    Object.values(this.panels).forEach((panel, at) => {
      panel.hidden = at !== chosen;
      this.buttons[at].setAttribute("aria-selected", at === chosen);
      this.buttons[at].tabIndex = at === chosen ? 0 : -1;
    });
  }

  put(name, ...children) {
    this.panels[name].replaceChildren(...children);
  }
}
