// One thread with one method: asks, streams, stops for a person, rewinds and forks.

import { get, post, stream } from "./server.js";
import { button, confirmed, field, h, icon, iconButton, notice, opened, tell } from "./dom.js";
import { showPage } from "./documents.js";
import { copyButton } from "./rows.js";
import { settings } from "./settings.js";
import { share } from "./share.js";
import { Story } from "./story.js";

/** Channels that grow: an edited value has to replace the old one. */
const GROWING = new Set(["facts", "turns", "replans", "failures", "usage", "lookups", "revisions", "members"]);
const HIDDEN = new Set(["messages"]);
const HISTORY = 400;
const PATIENCE = 120; // seconds that a server may take to start again

export class Conversation {
  /**
   * `method()` names the method to ask; `pauses` is the set of nodes to pause before; `changed`
   * hears of `{ node, state }` for the drawing, and of everything else without arguments.
   */
  constructor({ method, pauses, changed }) {
    Object.assign(this, { method, pauses, changed });
    this.story = new Story((document, page, quote) => showPage(this.collection, document, page, quote));
    this.thread = null;
    this.collection = undefined; // whose pages the facts quote
    this.running = null;
    this.checkpoints = [];
    this.desk = h("div", { className: "desk" });
    this.element = h("div", { className: "conversation" }, this.story.element, this.desk, this.story.meter);
  }

  /** Ask a question, as a follow-up if the thread has one already. */
  async ask(question) {
    this.collection = settings.values.collection ?? this.collection;
    if (!this.thread) {
      const metadata = { title: question.slice(0, 200), method: this.method(), model: settings.values.model, collection: this.collection };
      this.thread = (await post("/threads", { metadata })).thread_id;
    }
    this.story.ask(question);
    await this.run({ input: { messages: [{ role: "user", content: question }] } });
  }

  /** Show a thread that there is already, and go along with a run that is still going on. */
  async open(thread, collection) {
    Object.assign(this, { thread, collection: collection ?? settings.values.collection });
    const run = await this.underWay();
    if (run) this.running = { abort: new AbortController(), run };
    await this.recall({ whole: true });
    if (run) this.hearAll(`/threads/${thread}/runs/${run}/stream`); // not to be waited for
  }

  /** The run of this thread that is not over. */
  async underWay() {
    const newest = await this.newest();
    return ["pending", "running"].includes(newest?.status) ? newest.run_id : null;
  }

  /** Ask the server something, and again while it does not answer: it may be starting anew. */
  async patiently(ask) {
    const told = notice("The server does not answer. This page waits for it.");
    for (let tries = 0; ; tries++) {
      try {
        const answer = await ask();
        told.remove();
        return answer;
      } catch (error) {
        if (error.status !== 0 || tries === PATIENCE || this.stopped) throw error;
        this.desk.replaceChildren(told);
        await new Promise((goOn) => { setTimeout(goOn, 1000); });
      }
    }
  }

  async run(given) {
    this.running = { abort: new AbortController(), run: null };
    this.desk.replaceChildren();
    this.changed();
    const body = {
      assistant_id: this.method(),
      context: settings.values,
      stream_mode: ["tasks", "custom", "messages-tuple"],
      on_disconnect: "continue", // who comes back to the thread goes along with the run again
      ...(this.pauses.size ? { interrupt_before: [...this.pauses] } : {}),
      ...given,
    };
    await this.hearAll(`/threads/${this.thread}/runs/stream`, body);
  }

  /** Tell the events of a run to its end, then look where it stands; of one that is joined, whole. */
  async hearAll(path, body) {
    this.stopped = false;
    this.problem = "";
    let over = false;
    let broke = false;
    try {
      for await (const { event, data } of stream(path, body, this.running.abort.signal)) {
        over ||= event === "end" || event === "error";
        this.hear(event, data);
      }
    } catch (error) {
      broke = error.name !== "AbortError" && Boolean(this.running.run);
      over = !broke;
      if (error.name !== "AbortError") this.problem = said(error);
    }
    const run = over ? null : await this.patiently(() => this.underWay()).catch(() => undefined);
    if (run) { // the server has let go of it, and it goes on
      this.running.run = run;
      await this.hearAll(`/threads/${this.thread}/runs/${run}/stream`);
      return;
    }
    if (broke && run === null) this.problem = ""; // it has ended meanwhile
    this.running = null;
    await this.patiently(() => this.recall({ whole: !body || broke })).catch((error) => { this.problem ||= said(error); });
    if (this.problem) this.story.fail(this.problem);
    this.story.settle();
    this.changed();
  }

  hear(event, data) {
    if (event === "metadata") this.running.run = data.run_id;
    else if (event === "error") this.problem = data.message || data.error || "The run failed.";
    else if (event === "custom" && data.call) this.story.call(data.call);
    else if (event === "custom" && data.progress) this.story.progress(data.progress);
    else if (event === "tasks") this.task(data);
    else if (event === "messages") this.story.writes(...data);
  }

  task(task) {
    if (!("result" in task) && !("error" in task)) {
      this.story.begin(task.id, task.name);
      this.changed({ node: task.name, state: "lit" });
      return;
    }
    if (task.interrupts?.length) return;
    if (!task.error) this.story.end(task.id, task.name, task.result);
    this.changed({ node: task.name, state: task.error ? "failed" : "visited" });
  }

  async stop() {
    this.stopped = true;
    const run = this.running?.run ?? (await this.newest().catch(() => null))?.run_id; // one that waits has said nothing yet
    if (run) await post(`/threads/${this.thread}/runs/${run}/cancel`).catch(() => {});
    this.running?.abort.abort();
  }

  async newest() {
    return (await get(`/threads/${this.thread}/runs?limit=1`))[0];
  }

  /** Read the checkpoints; tell the whole story from them, or only offer to go back to them. */
  async recall({ whole }) {
    const history = await post(`/threads/${this.thread}/history`, { limit: HISTORY });
    this.checkpoints = history;
    const line = lineage(history);
    if (whole) {
      this.story.forget();
      for (const state of line) this.retell(state);
    }
    for (const state of line) this.offerRewind(state);
    this.offerTools();
    const last = line.at(-1);
    if (last?.next.length && !this.running) this.wait(last);
    else if (last && !this.running && carriedOut(last.values).length) this.desk.replaceChildren(this.judgement(last));
    this.changed();
  }

  retell(state) {
    if (state.metadata?.source === "update") this.story.edited(state.values.plan);
    for (const task of state.tasks) {
      if (task.name === "__start__") this.story.ask(questionOf(task.result));
      else if (task.result && !task.error) {
        this.story.end(task.id, task.name, task.result);
        this.changed({ node: task.name, state: "visited" });
      } else if (task.error) {
        this.story.begin(task.id, task.name);
        if (state !== this.checkpoints[0]) this.story.fail(errorText(task.error)); // else it waits
      }
    }
  }

  /** What can be done with an answer: copy it, share it, and ask the last question anew. */
  offerTools() {
    for (const turn of this.story.turns) {
      const { question, answer, element, tools } = turn;
      const title = question ?? "Answer";
      tools.replaceChildren(...(answer.firstChild ? [
        copyButton("Copy the answer", () => answer.innerText),
        iconButton("share", "Save as a page of its own", () => share(element, title)),
        h("a", { className: "trace-of", href: `#/traces/${this.thread}` }, "Trace"),
        turn === this.story.turns.at(-1) ? iconButton("again", "Ask anew, without kept replies", () => this.askAnew()) : null,
      ].filter(Boolean) : []));
    }
  }

  /** Ask the last question again, of the models themselves; the answer so far stays as a branch. */
  async askAnew() {
    const line = lineage(this.checkpoints);
    const asked = line.findLastIndex((state) => state.tasks.some((task) => task.name === "__start__"));
    const { checkpoint } = line[asked + 1];
    this.cut(line[asked + 1]);
    await this.run({ input: null, checkpoint, context: { ...settings.values, fresh: true } });
  }

  offerRewind(state) {
    for (const task of state.tasks) {
      const told = this.story.begun.get(task.id);
      if (!told || told.head.querySelector("button")) continue;
      told.head.append(iconButton("back", `Rewind to before ${task.name}`, () => this.rewind(state)));
    }
  }

  /** The run waits: for a decision, at a pause, or after it was stopped or has failed. */
  wait(state) {
    const request = state.tasks.flatMap((task) => task.interrupts ?? [])[0];
    const node = state.next[0];
    const failed = state.tasks.some((task) => task.error) && !this.stopped;
    if (failed) this.fail(state.tasks.find((task) => task.error));
    else this.drop(state.tasks); // it is told when it is done
    if (request?.value?.action_requests) {
      this.desk.replaceChildren(this.approval(request));
      tell("The run waits for your decision.");
    } else {
      this.desk.replaceChildren(this.paused(state, node, failed));
      tell(failed ? `The run has failed in ${node}.` : `The run pauses before ${node}.`);
    }
    this.desk.querySelector(".primary").focus({ preventScroll: true });
    this.desk.scrollIntoView({ block: "center" });
    this.changed({ node, state: failed ? "failed" : "lit" });
  }

  /** Checkpoints keep what went wrong; the stream of a server may only say that something did. */
  fail(task) {
    this.story.begin(task.id, task.name);
    this.story.fail(errorText(task.error));
    this.problem = "";
  }

  drop(tasks) {
    for (const { id } of tasks) {
      this.story.begun.get(id)?.item.remove();
      this.story.begun.delete(id);
    }
  }

  approval({ id, value: { action_requests: [asked], review_configs: [review] = [] } }) {
    const allowed = review?.allowed_decisions ?? ["approve", "edit", "reject"];
    const plan = Array.isArray(asked.args?.plan);
    const given = plan ? asked.args.plan.join("\n") : JSON.stringify(asked.args, null, 2);
    const text = h("textarea", { rows: Math.min(12, given.split("\n").length + 1), value: given, readOnly: !allowed.includes("edit") });
    const note = h("input", { autocomplete: "off" });
    const problem = /^The last answer could not be used.*$/m.exec(asked.description ?? "")?.[0];
    const resume = (decision) => this.run({ command: { resume: { [id]: { decisions: [decision] } } } });
    const approve = () => {
      if (text.value === given) return resume({ type: "approve" });
      const edited = plan ? { plan: lines(text.value) } : JSON.parse(text.value);
      return resume({ type: "edit", edited_action: { name: asked.name, args: edited } });
    };
    const args = field(plan ? "Steps, one a line" : "Arguments", text);
    const go = button(plan ? "Approve the plan" : "Approve", guarded(args, approve), { className: "primary" });
    text.addEventListener("input", () => { go.textContent = text.value === given ? (plan ? "Approve the plan" : "Approve") : "Carry out as edited"; });
    return h("section", { className: "card decide", "aria-labelledby": "decide" },
      h("h3", { id: "decide" }, plan ? "Carry out this plan?" : `Carry out ${asked.name}?`),
      problem ? h("p", { className: "notice problem" }, problem) : null,
      args,
      allowed.includes("reject") ? field("Or say what should differ", note) : null,
      h("div", { className: "row" }, go,
        allowed.includes("reject") ? button("Reject", () => resume({ type: "reject", message: note.value }), { className: "danger" }) : null));
  }

  paused(state, node, failed) {
    const { editor, edited } = editorOf(state);
    const action = state.values.action;
    const tool = action && node === "tools";
    const note = h("input", { autocomplete: "off" });
    const reject = () => this.fork(state, refused(state, note.value), node);
    return h("section", { className: "card decide", "aria-labelledby": "decide" },
      h("h3", { id: "decide" }, failed ? `Failed in ${node}` : `Paused before ${node}`),
      editor,
      tool ? field("Or say why not", note) : null,
      h("div", { className: "row" },
        button(failed ? "Try again" : "Go on", guarded(editor, () => this.goOn(state, edited(), failed)), { className: "primary" }),
        tool ? button("Reject", guarded(editor, reject), { className: "danger" }) : null));
  }

  goOn(state, changes, failed) {
    if (failed) this.drop(state.tasks);
    return this.fork(state, changes, null, true);
  }

  /** Whether the answer is right, in a person's eyes; how it came about is kept if they want it. */
  judgement(state) {
    const judge = (right) => this.judge(state, right, desk);
    const desk = h("div", { className: "judge row" },
      h("span", { className: "dim" }, "Is this right?"),
      h("button", { type: "button", onclick: () => judge(true) }, icon("right"), "Right"),
      h("button", { type: "button", onclick: () => judge(false) }, icon("wrong"), "Wrong"));
    return desk;
  }

  async judge({ values, metadata }, right, desk) {
    const owner = settings.values.owner ?? "local";
    const kept = carriedOut(values);
    const about = [
      h("p", { className: "dim" }, `The question and ${kept.length === 1 ? "this step" : "these steps"} are kept on the server as experience${right ? "" : " that failed"}, and guide later runs of methods that learn from it. Forget them at any time on the page Experience.`),
      h("p", {}, h("b", {}, values.question)),
      h("ol", { className: "steps" }, kept.map(({ tool, input }) => h("li", {}, h("code", {}, `${tool}: ${input}`)))),
    ];
    if (!(await confirmed(`Keep how this answer came about as a path that ${right ? "succeeded" : "failed"}?`, "Keep it", about))) return;
    try {
      const path = await post(`/studio/api/experience?${new URLSearchParams({ owner })}`, {
        thread: this.thread,
        task: metadata?.graph_id ?? this.method(),
        question: values.question,
        turns: values.turns.map(({ tool, input, facts, problem }) => ({ tool, input, facts, problem })),
        right,
      });
      desk.replaceChildren(h("span", { className: "dim" }, `Kept as a path that ${right ? "succeeded" : "failed"}, with ${path.instructions.length} instruction${path.instructions.length === 1 ? "" : "s"}.`),
        h("a", { href: `#/experience/${encodeURIComponent(owner)}` }, "Experience"));
      tell("It is kept.");
    } catch (error) {
      desk.append(notice(said(error)));
    }
  }

  /** Go back to a checkpoint: look at the state, edit it, run again from there. */
  rewind(state) {
    const { editor, edited } = editorOf(state);
    const go = async () => {
      const changes = edited();
      dialog.close();
      this.cut(state);
      await this.fork(state, changes, null);
    };
    const dialog = opened(h("dialog", { className: "wide", "aria-labelledby": "rewind" },
      h("h2", { id: "rewind" }, `Rewind to before ${state.next.join(", ") || "the end"}`),
      h("p", { className: "dim" }, "What comes after stays in the thread as a branch of its own; see the timeline."),
      editor,
      h("div", { className: "row end" }, button("Cancel", () => dialog.close()), button("Run again from here", guarded(editor, go), { className: "primary" }))));
  }

  /** Tell only what happened up to `state`. */
  cut(state) {
    this.desk.replaceChildren();
    this.story.forget();
    for (const one of lineage(this.checkpoints, state)) if (one !== state) this.retell(one);
  }

  /** Run on from `state` with `changes`, written as if `node` had made them. */
  async fork(state, changes, node, here = false) {
    try {
      let checkpoint = here ? undefined : state.checkpoint;
      if (Object.keys(changes).length) {
        const made = await post(`/threads/${this.thread}/state`, {
          values: changes, checkpoint: state.checkpoint, ...(node ? { as_node: node } : {}),
        });
        checkpoint = made.checkpoint;
        this.story.edited(changes.plan);
      }
      await this.run({ input: null, ...(checkpoint ? { checkpoint } : {}) });
    } catch (error) {
      this.story.fail(said(error));
    }
  }
}

/** The checkpoints from the first to the newest, or to `end`; other branches are left out. */
export function lineage(history, end = history[0]) {
  const known = new Map(history.map((state) => [state.checkpoint.checkpoint_id, state]));
  const line = [];
  for (let state = end; state; state = known.get(state.parent_checkpoint?.checkpoint_id)) line.unshift(state);
  return line;
}

/** What an error of the server says: `Kind('Problem.', 'Mend.')` without its code. */
function errorText(error) {
  const parts = [...String(error).matchAll(/'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"/g)].map(([, single, double]) => single ?? double);
  return parts.join(" ") || String(error);
}

function said(error) {
  return error instanceof Error ? error.message : String(error);
}

function questionOf(input) {
  const message = input?.messages?.at?.(-1);
  const content = message?.content ?? input?.question ?? "";
  return typeof content === "string" ? content : content.map((part) => part.text ?? "").join("");
}

/** What led to the answer, of what the run did: the actions that found something. */
function carriedOut({ answer, turns = [] }) {
  return answer ? turns.filter((turn) => turn.facts.length && !turn.problem) : [];
}

function lines(text) {
  return text.split("\n").map((line) => line.trim()).filter(Boolean);
}

/** Fields to edit what a run goes on with, and a function that gives what was changed. */
function editorOf({ values, next }) {
  const action = next.includes("tools") ? values.action : null; // else it is done
  const plan = h("textarea", { rows: Math.max(2, values.plan?.length ?? 0) + 1, value: (values.plan ?? []).join("\n") });
  const input = h("textarea", { rows: 3, value: action?.input ?? "", spellcheck: false });
  const shown = Object.fromEntries(Object.entries(values).filter(([name]) => !HIDDEN.has(name)));
  const json = h("textarea", { rows: 14, spellcheck: false, className: "code", value: JSON.stringify(shown, null, 2) });
  const editor = h("div", { className: "editor" },
    values.plan?.length ? field("Plan, one step a line", plan) : null,
    action?.input ? field(`Input of ${action.tool}`, input) : null,
    h("details", {}, h("summary", {}, "The whole working memory"), field("As JSON", json)));
  const edited = () => {
    const whole = JSON.parse(json.value);
    if (values.plan?.length && plan.value !== values.plan.join("\n")) whole.plan = lines(plan.value);
    if (action?.input && input.value !== action.input) whole.action = { ...whole.action, input: input.value };
    const changes = Object.entries(whole).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(values[name]));
    return Object.fromEntries(changes.map(([name, value]) => [name, GROWING.has(name) ? { __overwrite__: value } : value]));
  };
  return { editor, edited };
}

/** What a button does, once however often it is pressed meanwhile; `editor` shows what goes wrong. */
function guarded(editor, action) {
  let busy = false;
  return async () => {
    if (busy) return;
    busy = true;
    try {
      await action();
    } catch (error) {
      editor.querySelector(".notice")?.remove();
      editor.prepend(h("p", { className: "notice wrong", role: "alert" }, said(error)));
    } finally {
      busy = false;
    }
  };
}

/** The turn of an action that a person did not allow. */
function refused({ values }, note) {
  const { action, iteration } = values;
  const problem = `A person refused this: ${note.trim() || "take another way"}`;
  const turn = { iteration: iteration + 1, ...action, facts: [], problem, seconds: 0 };
  return { turns: [turn], iteration: iteration + 1, replanning: problem };
}
