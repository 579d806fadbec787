// One thread with one method: ask, stream, wait for a person, rewind and fork.

import { get, post, stream } from "./server.js";
import { button, confirmed, field, h, icon, iconButton, notice, opened, tell } from "./dom.js";
import { showPage } from "./documents.js";
import { copyButton } from "./rows.js";
import { settings } from "./settings.js";
import { share } from "./share.js";
import { Story } from "./story.js";

/** Channels that append: an edited value has to overwrite the old one. */
const GROWING = new Set(["facts", "turns", "replans", "failures", "usage", "lookups", "revisions", "members"]);
const HIDDEN = new Set(["messages"]);
const HISTORY = 400;
const MAX_TRIES = 120; // seconds to wait for a restart of the server

export class Conversation {
  /**
   * `method()` names the method to ask; `pauses` is the set of nodes to pause before; `changed`
   * is called with `{ node, state }` for the drawing, and without arguments for other changes.
   */
  constructor({ method, pauses, changed }) {
    Object.assign(this, { method, pauses, changed });
    this.story = new Story((document, page, quote) => showPage(this.collection, document, page, quote));
    this.thread = null;
    this.collection = undefined; // the collection that the facts quote
    this.running = null;
    this.checkpoints = [];
    this.desk = h("div", { className: "desk" });
    this.element = h("div", { className: "conversation" }, this.story.element, this.desk, this.story.meter);
  }

  /** Ask a question; a follow-up if the thread has one already. */
  async ask(question) {
    this.collection = settings.values.collection ?? this.collection;
    if (!this.thread) {
      const metadata = { title: question.slice(0, 200), method: this.method(), model: settings.values.model, collection: this.collection };
      this.thread = (await post("/threads", { metadata })).thread_id;
    }
    this.story.ask(question);
    await this.run({ input: { messages: [{ role: "user", content: question }] } });
  }

  /** Show an existing thread, and follow its active run if there is one. */
  async open(thread, collection) {
    Object.assign(this, { thread, collection: collection ?? settings.values.collection });
    const run = await this.activeRun();
    if (run) this.running = { abort: new AbortController(), run };
    await this.recall({ whole: true });
    if (run) this.follow(`/threads/${thread}/runs/${run}/stream`); // not awaited
  }

  /** The id of the active run of this thread; null if there is none. */
  async activeRun() {
    const newest = await this.newest();
    return ["pending", "running"].includes(newest?.status) ? newest.run_id : null;
  }

  /** Call `ask`, and retry while the server does not answer: it may be restarting. */
  async retry(ask) {
    const waitNotice = notice("The server does not answer. This page waits for it.");
    for (let tries = 0; ; tries++) {
      try {
        const answer = await ask();
        waitNotice.remove();
        return answer;
      } catch (error) {
        if (error.status !== 0 || tries === MAX_TRIES || this.stopped) throw error;
        this.desk.replaceChildren(waitNotice);
        await new Promise((resolve) => { setTimeout(resolve, 1000); });
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
      on_disconnect: "continue", // whoever returns to the thread follows the run again
      ...(this.pauses.size ? { interrupt_before: [...this.pauses] } : {}),
      ...given,
    };
    await this.follow(`/threads/${this.thread}/runs/stream`, body);
  }

  /** Follow the events of a run to its end, then read its state; without `body`, retell it all. */
  async follow(path, body) {
    this.stopped = false;
    this.problem = "";
    let over = false;
    let broke = false;
    try {
      for await (const { event, data } of stream(path, body, this.running.abort.signal)) {
        over ||= event === "end" || event === "error";
        this.handle(event, data);
      }
    } catch (error) {
      broke = error.name !== "AbortError" && Boolean(this.running.run);
      over = !broke;
      if (error.name !== "AbortError") this.problem = messageOf(error);
    }
    const run = over ? null : await this.retry(() => this.activeRun()).catch(() => undefined);
    if (run) { // the stream has ended, but the run is active
      this.running.run = run;
      await this.follow(`/threads/${this.thread}/runs/${run}/stream`);
      return;
    }
    if (broke && run === null) this.problem = ""; // the run has ended meanwhile
    this.running = null;
    await this.retry(() => this.recall({ whole: !body || broke })).catch((error) => { this.problem ||= messageOf(error); });
    if (this.problem) this.story.fail(this.problem);
    this.story.settle();
    this.changed();
  }

  handle(event, data) {
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
    const run = this.running?.run ?? (await this.newest().catch(() => null))?.run_id; // a queued run has sent no id yet
    if (run) await post(`/threads/${this.thread}/runs/${run}/cancel`).catch(() => {});
    this.running?.abort.abort();
  }

  async newest() {
    return (await get(`/threads/${this.thread}/runs?limit=1`))[0];
  }

  /** Read the checkpoints; retell the `whole` story from them, or only offer to rewind. */
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
    else if (last && !this.running && usefulTurns(last.values).length) this.desk.replaceChildren(this.judgement(last));
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
        if (state !== this.checkpoints[0]) this.story.fail(errorText(task.error)); // otherwise it waits
      }
    }
  }

  /** Offer tools for each answer: copy, share, trace, and ask the last question again. */
  offerTools() {
    for (const turn of this.story.turns) {
      const { question, answer, element, tools } = turn;
      const title = question ?? "Answer";
      tools.replaceChildren(...(answer.firstChild ? [
        copyButton("Copy the answer", () => answer.innerText),
        iconButton("share", "Save as a page of its own", () => share(element, title)),
        h("a", { className: "trace-of", href: `#/traces/${this.thread}` }, "Trace"),
        turn === this.story.turns.at(-1) ? iconButton("again", "Ask again, without cached replies", () => this.askAnew()) : null,
      ].filter(Boolean) : []));
    }
  }

  /** Ask the last question again without the cache; the previous answer stays as a branch. */
  async askAnew() {
    const line = lineage(this.checkpoints);
    const asked = line.findLastIndex((state) => state.tasks.some((task) => task.name === "__start__"));
    const { checkpoint } = line[asked + 1];
    this.cut(line[asked + 1]);
    await this.run({ input: null, checkpoint, context: { ...settings.values, fresh: true } });
  }

  offerRewind(state) {
    for (const task of state.tasks) {
      const entry = this.story.begun.get(task.id);
      if (!entry || entry.head.querySelector("button")) continue;
      entry.head.append(iconButton("back", `Rewind to before ${task.name}`, () => this.rewind(state)));
    }
  }

  /** Show that the run waits: for a decision, at a pause, after a stop or a failure. */
  wait(state) {
    const request = state.tasks.flatMap((task) => task.interrupts ?? [])[0];
    const node = state.next[0];
    const failed = state.tasks.some((task) => task.error) && !this.stopped;
    if (failed) this.fail(state.tasks.find((task) => task.error));
    else this.removeNodes(state.tasks); // it is shown again when it is done
    if (request?.value?.action_requests) {
      this.desk.replaceChildren(this.approval(request));
      tell("The run waits for your decision.");
    } else {
      this.desk.replaceChildren(this.paused(state, node, failed));
      tell(failed ? `The run failed in ${node}.` : `The run pauses before ${node}.`);
    }
    this.desk.querySelector(".primary").focus({ preventScroll: true });
    this.desk.scrollIntoView({ block: "center" });
    this.changed({ node, state: failed ? "failed" : "lit" });
  }

  /** Show the error in the checkpoint; the stream may only report that there is one. */
  fail(task) {
    this.story.begin(task.id, task.name);
    this.story.fail(errorText(task.error));
    this.problem = "";
  }

  removeNodes(tasks) {
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
    const args = field(plan ? "Steps, one per line" : "Arguments", text);
    const go = button(plan ? "Approve the plan" : "Approve", onceAtATime(args, approve), { className: "primary" });
    text.addEventListener("input", () => { go.textContent = text.value === given ? (plan ? "Approve the plan" : "Approve") : "Carry out as edited"; });
    return h("section", { className: "card decide", "aria-labelledby": "decide" },
      h("h3", { id: "decide" }, plan ? "Carry out this plan?" : `Carry out ${asked.name}?`),
      problem ? h("p", { className: "notice problem" }, problem) : null,
      args,
      allowed.includes("reject") ? field("Or say what should change", note) : null,
      h("div", { className: "row" }, go,
        allowed.includes("reject") ? button("Reject", () => resume({ type: "reject", message: note.value }), { className: "danger" }) : null));
  }

  paused(state, node, failed) {
    const { editor, edited } = editorOf(state);
    const action = state.values.action;
    const tool = action && node === "tools";
    const note = h("input", { autocomplete: "off" });
    const reject = () => this.fork(state, rejection(state, note.value), node);
    return h("section", { className: "card decide", "aria-labelledby": "decide" },
      h("h3", { id: "decide" }, failed ? `Failed in ${node}` : `Paused before ${node}`),
      editor,
      tool ? field("Or say why not", note) : null,
      h("div", { className: "row" },
        button(failed ? "Try again" : "Go on", onceAtATime(editor, () => this.proceed(state, edited(), failed)), { className: "primary" }),
        tool ? button("Reject", onceAtATime(editor, reject), { className: "danger" }) : null));
  }

  proceed(state, changes, failed) {
    if (failed) this.removeNodes(state.tasks);
    return this.fork(state, changes, null, true);
  }

  /** Ask whether the answer is right; on request, its steps are saved as experience. */
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
    const kept = usefulTurns(values).map((turn) => ({ turn, field: right && isQuery(turn)
      ? h("textarea", { className: "code", rows: 3, value: turn.input, "aria-label": `${turn.tool} query` })
      : h("code", {}, `${turn.tool}: ${turn.input}`) }));
    const about = [
      h("p", { className: "dim" }, `The question and ${kept.length === 1 ? "this step" : "these steps"} are stored on the server as experience${right ? "" : " that failed"}, and guide later runs of methods that learn from it. Forget them at any time on the page Experience.`),
      kept.some(({ turn }) => isQuery(turn)) ? h("p", { className: "dim" }, right ? "You can correct a query before it is stored." : "If you know the right query, choose Right instead and write it there.") : null,
      h("p", {}, h("b", {}, values.question)),
      h("ol", { className: "steps" }, kept.map(({ field }) => h("li", {}, field))),
    ];
    if (!(await confirmed(`Keep the steps to this answer as a path that ${right ? "succeeded" : "failed"}?`, "Keep it", about))) return;
    try {
      const path = await post(`/studio/api/experience?${new URLSearchParams({ owner })}`, {
        thread: this.thread,
        task: metadata?.graph_id ?? this.method(),
        question: values.question,
        turns: kept.map(({ turn: { tool, input, facts, problem }, field }) => ({ tool, input: field.value ?? input, facts, problem })),
        right,
        in_context: Boolean(settings.values.rules?.trim()) || values.messages.filter(({ type }) => type === "human").length > 1,
      });
      desk.replaceChildren(h("span", { className: "dim" }, `Kept as a path that ${right ? "succeeded" : "failed"}, with ${path.instructions.length} instruction${path.instructions.length === 1 ? "" : "s"}.`),
        h("a", { href: `#/experience/${encodeURIComponent(owner)}` }, "Experience"));
      tell("It is kept.");
    } catch (error) {
      desk.append(notice(messageOf(error)));
    }
  }

  /** Rewind to a checkpoint: show its state, edit it, run again from there. */
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
      h("p", { className: "dim" }, "Later steps stay in the thread as a separate branch; see the timeline."),
      editor,
      h("div", { className: "row end" }, button("Cancel", () => dialog.close()), button("Run again from here", onceAtATime(editor, go), { className: "primary" }))));
  }

  /** Retell the story up to `state` only. */
  cut(state) {
    this.desk.replaceChildren();
    this.story.forget();
    for (const one of lineage(this.checkpoints, state)) if (one !== state) this.retell(one);
  }

  /** Continue from `state` with `changes`, written as if by `node`. */
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
      this.story.fail(messageOf(error));
    }
  }
}

/** The checkpoints from the first to the newest, or to `end`, without other branches. */
export function lineage(history, end = history[0]) {
  const known = new Map(history.map((state) => [state.checkpoint.checkpoint_id, state]));
  const line = [];
  for (let state = end; state; state = known.get(state.parent_checkpoint?.checkpoint_id)) line.unshift(state);
  return line;
}

/** The message of a server's error `Kind('Problem.', 'Fix.')`. */
function errorText(error) {
  const parts = [...String(error).matchAll(/'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"/g)].map(([, single, double]) => single ?? double);
  return parts.join(" ") || String(error);
}

function messageOf(error) {
  return error instanceof Error ? error.message : String(error);
}

function questionOf(input) {
  const message = input?.messages?.at?.(-1);
  const content = message?.content ?? input?.question ?? "";
  return typeof content === "string" ? content : content.map((part) => part.text ?? "").join("");
}

const isQuery = ({ tool }) => ["sql", "cypher"].includes(tool);

/** The turns that led to the answer: the actions that found facts. */
function usefulTurns({ answer, turns = [] }) {
  return answer ? turns.filter((turn) => turn.facts.length && !turn.problem) : [];
}

function lines(text) {
  return text.split("\n").map((line) => line.trim()).filter(Boolean);
}

/** Make fields to edit a state, and a function that returns the changes. */
function editorOf({ values, next }) {
  const action = next.includes("tools") ? values.action : null; // otherwise the action is done
  const plan = h("textarea", { rows: Math.max(2, values.plan?.length ?? 0) + 1, value: (values.plan ?? []).join("\n") });
  const input = h("textarea", { rows: 3, value: action?.input ?? "", spellcheck: false });
  const shown = Object.fromEntries(Object.entries(values).filter(([name]) => !HIDDEN.has(name)));
  const json = h("textarea", { rows: 14, spellcheck: false, className: "code", value: JSON.stringify(shown, null, 2) });
  const editor = h("div", { className: "editor" },
    values.plan?.length ? field("Plan, one step per line", plan) : null,
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

/** Wrap the action of a button so that it never runs twice at once; `editor` shows errors. */
function onceAtATime(editor, action) {
  let busy = false;
  return async () => {
    if (busy) return;
    busy = true;
    try {
      await action();
    } catch (error) {
      editor.querySelector(".notice")?.remove();
      editor.prepend(h("p", { className: "notice wrong", role: "alert" }, messageOf(error)));
    } finally {
      busy = false;
    }
  };
}

/** The state update of an action that a person rejected. */
function rejection({ values }, note) {
  const { action, iteration } = values;
  const problem = `A person refused this: ${note.trim() || "take another way"}`;
  const turn = { iteration: iteration + 1, ...action, facts: [], problem, seconds: 0 };
  return { turns: [turn], iteration: iteration + 1, replanning: problem };
}
