// The story of a run: plan, thoughts, queries, rows, facts, new plans, answer.
// `Story` shows it node by node, live or from checkpoints; `recorded` shows a run of a result file.

import { button, counted, h, icon, number, seconds } from "./dom.js";
import { factBody, queryOf } from "./rows.js";
import { coloured } from "./sql.js";

const NO_USAGE = { calls: 0, input_tokens: 0, output_tokens: 0, cached_tokens: 0, seconds: 0, dollars: 0, unpriced: 0 };
const REMARKS = { objection: "The plan was rejected", reason: "Goes on", task: "Task", reasoning: "Reasoning" };
const NEAR_END = 160; // pixels from the end of the page
const LONG = 400; // letters of a question

/** One question: its answer, the plan, the facts and the steps. */
class Turn {
  constructor(question) {
    this.question = question;
    this.now = h("p", { className: "now", hidden: true });
    this.draft = h("p", { className: "draft", hidden: true });
    this.answer = h("div", { className: "slot" });
    this.tools = h("div", { className: "tools row small" });
    this.plan = h("div", { className: "slot" });
    this.facts = h("div", { className: "facts" });
    this.nodes = h("ol", { className: "nodes" });
    const all = button("Show every step", () => {
      const shown = this.nodes.classList.toggle("every");
      all.textContent = shown ? "Hide steps without output" : "Show every step";
    }, { className: "link all-steps" });
    this.element = h("section", { className: "turn" },
      question === null ? null : h("h2", { className: "asked", tabIndex: question.length > LONG ? 0 : null }, question), // scrollable
      this.now, this.draft, this.answer, this.tools, this.plan,
      h("section", { className: "found", "aria-label": "Facts" }, h("h3", {}, "Facts"), this.facts),
      h("section", { className: "happened", "aria-label": "How it came about" }, h("h3", {}, "How it came about"), this.nodes, all));
  }
}

export class Story {
  /** `openPage(document, page, quote)` shows a page that a fact quotes. */
  constructor(openPage) {
    this.openPage = openPage;
    this.element = h("div", { className: "story" });
    this.meter = h("p", { className: "meter", "aria-label": "What the run has used" });
    this.forget();
  }

  forget() {
    this.element.replaceChildren();
    this.turns = [];
    this.begun = new Map();
    this.facts = new Map(); // a follow-up may cite facts of earlier questions
    this.start();
  }

  /** A question starts with an empty working memory. */
  start() {
    this.usage = { ...NO_USAGE };
    this.kept = 0; // replies that came from the cache
    this.plan = null;
    this.action = null;
    this.answer = null;
    this.count();
  }

  ask(question) {
    this.start();
    this.turns.push(new Turn(question));
    this.element.append(this.told.element);
  }

  /** The current turn; without a question if it is not known. */
  get told() {
    if (!this.turns.length) this.ask(null);
    return this.turns.at(-1);
  }

  /** Show that a node starts; `id` is the id of its task. */
  begin(id, node) {
    if (this.begun.has(id)) return;
    const body = h("div", { className: "told" });
    const state = h("span", { className: "working" }, "working …");
    const head = h("div", { className: "head" }, h("span", { className: "name" }, node), state);
    const item = h("li", { className: "node running", "data-node": node }, head, body);
    this.begun.set(id, { node, item, head, body, state, calls: [], since: performance.now() });
    this.follow(() => this.told.nodes.append(item));
  }

  /** Show a part of the answer while it is written. */
  writes({ id, type, content }) {
    if (type !== "AIMessageChunk") return;
    const { draft } = this.told;
    if (this.written?.id !== id) this.stay(id);
    this.written.text += textOf({ content });
    draft.textContent = this.written.text;
    draft.hidden = false;
  }

  /** Scroll to the answer, and stop following the end of the story. */
  stay(id = "") {
    this.written = { id, text: "" };
    this.told.element.scrollIntoView({ block: "start" });
  }

  /** Show the current activity of a task. */
  progress({ task, ...now }) {
    const told = this.of(task);
    if (!told?.item.classList.contains("running")) return;
    if (told.doing !== now.doing) told.since = performance.now();
    told.doing = now.doing;
    told.now = activityText(now);
    this.tick();
    this.ticking ??= setInterval(() => this.tick(), 1000);
  }

  /** Update the activity and duration of every running node. */
  tick() {
    const running = [...this.begun.values()].filter(({ item }) => item.classList.contains("running"));
    const said = running.map((told) => `${told.now ?? told.node} · ${Math.floor((performance.now() - told.since) / 1000)} s`);
    running.forEach(({ state }, at) => { state.textContent = said[at]; });
    this.told.now.textContent = said.at(-1) ?? "";
    this.told.now.hidden = !said.length;
    if (!said.length) {
      clearInterval(this.ticking);
      this.ticking = undefined;
    }
  }

  /** The entry of a task; `task` may be a path through subgraphs. */
  of(task = "") {
    const ids = task.split("|").map((part) => part.split(":").at(-1));
    return this.begun.get(ids.find((id) => this.begun.has(id)));
  }

  /** Add a call to a model. */
  call(call) {
    (this.of(call.task) ?? [...this.begun.values()].at(-1))?.calls.push(call);
    this.kept += call.from_cache ? 1 : 0;
  }

  /** Show that a node ends, with its update of the working memory. */
  end(id, node, update) {
    this.begin(id, node);
    const told = this.begun.get(id);
    this.ends(told);
    update = written(update ?? {});
    const parts = this.parts(node, update).filter(Boolean);
    if (!parts.length) told.item.classList.add("silent");
    this.follow(() => told.body.append(...parts, ...told.calls.map(callDetails)));
    if (update.usage) this.use(update.usage);
    if (update.done_steps) this.ticked(update.done_steps);
    else if (update.step) this.ticked(before(update.step));
  }

  ends({ item, state }) {
    item.classList.remove("running");
    state.remove();
    this.tick();
  }

  /** Show an error at the running node. */
  fail(text) {
    const last = [...this.begun.values()].at(-1);
    const alert = h("p", { className: "notice wrong", role: "alert" }, text);
    if (last?.item.classList.contains("running")) {
      last.item.classList.add("failed");
      this.ends(last);
      last.body.append(...last.calls.map(callDetails), alert);
    } else {
      this.told.nodes.append(h("li", { className: "node failed" }, alert));
    }
  }

  /** Mark running nodes as stopped, as the run has ended. */
  settle() {
    for (const { item, state } of this.begun.values()) {
      if (!item.classList.contains("running")) continue;
      item.classList.remove("running");
      state.textContent = "stopped";
    }
    this.tick();
    this.told.draft.hidden = true;
    this.written = null;
  }

  /** Show a plan that a person has edited. */
  edited(plan) {
    if (!plan?.length || same(plan, this.plan?.steps)) return;
    this.told.nodes.append(h("li", { className: "node" }, h("div", { className: "told" }, h("p", { className: "remark" }, "A person has edited the plan."))));
    this.planned(plan, "Plan as edited");
  }

  /** Make a change, and keep the end of the story visible if it was visible before. */
  follow(change) {
    const page = document.scrollingElement;
    const near = !this.written && page.scrollHeight - page.scrollTop - page.clientHeight < NEAR_END;
    change();
    if (near) page.scrollTop = page.scrollHeight;
  }

  parts(node, update) {
    if (node === "__start__") return [];
    const parts = [];
    const replans = update.replans ?? [];
    if (update.plan?.length && !replans.length && !same(update.plan, this.plan?.steps)) {
      this.planned(update.plan, this.plan ? "Plan as edited" : "Plan");
      parts.push(h("p", { className: "remark" }, `Plans ${counted(update.plan.length, "step")}.`));
    }
    if (node === "plan_approval" && update.replanning) parts.push(h("p", { className: "remark" }, update.replanning));
    for (const [name, words] of Object.entries(REMARKS)) {
      if (update[name]) parts.push(remark(words, update[name]));
    }
    if (update.draft?.length) parts.push(steps("Draft", update.draft));
    if (update.candidate_queries?.length) parts.push(candidates(update));
    parts.push(...(update.revisions ?? []).map(revision));
    if (update.pages?.length) parts.push(this.found(update.pages));
    if (update.action) parts.push(...this.chosen(update.action));
    const facts = update.facts ?? [];
    for (const turn of update.turns ?? []) {
      parts.push(...this.turn(turn, facts.filter((fact) => turn.facts.includes(fact.number))));
    }
    if (!update.turns?.length) parts.push(...facts.map((fact) => this.fact(fact)));
    for (const change of replans) {
      parts.push(replan(change));
      this.planned(change.after, "New plan");
    }
    parts.push(...(update.failures ?? []).map(failure), ...(update.members ?? []).map((one) => this.member(one)));
    if (update.answer) {
      this.answered(update.answer, update.claims ?? []);
      if (!this.written) this.stay();
    } else if (node === "opening") this.told.answer.append(...(update.messages ?? []).filter(({ type }) => type === "ai").map((said) => h("p", { className: "card" }, textOf(said))));
    return parts;
  }

  /** Show the current plan. */
  planned(plan, title) {
    const list = h("ol", { className: "steps" }, plan.map((step) => h("li", {}, h("span", {}, step))));
    this.plan = { steps: plan, list };
    this.told.plan.replaceChildren(h("section", { className: "card plan" }, h("h3", {}, title), list));
    this.ticked([]);
  }

  /** Mark the steps with these numbers as done, and the first other one as next. */
  ticked(numbers) {
    if (!this.plan) return;
    const items = [...this.plan.list.children];
    const next = items.findIndex((_, at) => !numbers.includes(at + 1));
    items.forEach((item, at) => {
      const done = numbers.includes(at + 1);
      item.className = done ? "done" : at === next ? "next" : "";
      item.querySelector(".mark")?.remove();
      if (done) item.prepend(h("span", { className: "mark" }, icon("tick"), h("span", { className: "unseen" }, "done: ")));
    });
  }

  chosen(action) {
    const before = this.action;
    this.action = action;
    if (before && same(before, action)) return [];
    const parts = action.thought ? [h("p", { className: "thought" }, action.thought)] : [];
    if (action.tool === "finish" || action.tool === "replan") {
      parts.push(h("p", { className: "dim" }, action.tool === "finish" ? "Has enough to answer." : "Asks for another plan."));
    } else if (action.input) {
      parts.push(query(action.tool, action.input));
    }
    return parts;
  }

  turn(turn, facts) {
    const shown = this.action?.input === turn.input && this.action?.tool === turn.tool;
    const parts = [];
    if (!shown) {
      if (turn.thought) parts.push(h("p", { className: "thought" }, turn.thought));
      if (turn.input && turn.tool !== "thinking") parts.push(query(turn.tool, turn.input));
    }
    if (turn.corrected?.length) parts.push(remark("Corrected", turn.corrected.join("; ")));
    parts.push(...facts.map((fact) => this.fact(fact)));
    if (turn.problem) parts.push(h("p", { className: "notice problem" }, turn.problem));
    return parts;
  }

  /** Show a fact; return a link to it. */
  fact(fact) {
    const card = h("section", { className: "card fact", tabIndex: -1, "aria-label": `Fact ${fact.number}` },
      h("span", { className: "cite" }, String(fact.number)),
      h("div", {}, fact.quote ? [h("p", {}, fact.text), this.quoted(fact.quote)] : factBody(fact),
        queryOf(fact)));
    const known = this.facts.get(fact.number);
    if (known?.isConnected && this.told.facts.contains(known)) known.replaceWith(card);
    else this.told.facts.append(card);
    this.facts.set(fact.number, card);
    return h("p", { className: "remark" }, "Found ", this.citation(fact.number), rowCount(fact));
  }

  quoted(quote) {
    const place = `${quote.document}, p. ${quote.page}`;
    const source = this.openPage
      ? button(place, () => this.openPage(quote.document, quote.page, quote.text), { className: "link" })
      : place;
    return h("blockquote", {}, quote.text ? h("p", {}, quote.text) : null, h("cite", {}, source));
  }

  found(pages) {
    return h("ul", { className: "chips", "aria-label": "Pages found" }, pages.map((page) => h("li", {},
      this.openPage
        ? button(`${page.document} · p. ${page.page}`, () => this.openPage(page.document, page.page, page.nearest), { className: "chip" })
        : h("span", { className: "chip" }, `${page.document} · p. ${page.page}`))));
  }

  /** Show the answer; the checked answer replaces the first one. */
  answered(answer, claims) {
    const verdict = answer.verdict;
    const good = !verdict || verdict.kind === "supported";
    const card = h("section", { className: good && (answer.decision || answer.why) ? "card answer" : "card answer doubtful", "aria-label": "Answer" },
      answer.decision ? h("p", { className: "decision" }, answer.decision) : null,
      answer.decision || (answer.why && verdict?.kind !== "undecided") ? null : h("p", { className: "decision" }, "No answer"),
      verdict ? h("p", { className: good ? "verdict good" : "verdict notice problem" }, verdict.text) : null,
      verdict?.other ? h("p", {}, `Another reading: ${verdict.other.text} (`, h("code", {}, verdict.other.query), ")") : null,
      answer.why ? h("p", {}, this.cited(answer.why), this.uncited(answer)) : null,
      answer.unknown && !isInVerdict(answer.unknown, verdict) ? h("p", { className: "notice problem" }, `Not known: ${answer.unknown}`) : null,
      claims.length && (good || claims.some((claim) => !claim.supported)) ? checked(claims) : null);
    this.answer = answer;
    this.told.draft.hidden = true;
    this.told.answer.replaceChildren(card);
  }

  cited(text) {
    return text.split(/(\[\d+\]|\(no source\))/).map((part) => {
      if (part === "(no source)") return h("span", { className: "unsourced" }, "no source");
      const match = /^\[(\d+)\]$/.exec(part);
      return match ? this.citation(Number(match[1])) : part;
    });
  }

  uncited({ why, facts }) {
    return facts.filter((fact) => !why.includes(`[${fact}]`)).map((fact) => [" ", this.citation(fact)]);
  }

  citation(fact) {
    return button(String(fact), () => {
      const card = this.facts.get(fact);
      card?.scrollIntoView({ block: "center", behavior: "smooth" });
      card?.focus({ preventScroll: true });
    }, { className: "cite", "aria-label": `Fact ${fact}` });
  }

  member(member) {
    const said = member.answer?.decision ?? member.answer?.why ?? "no answer";
    return h("details", {}, h("summary", {}, `Run ${member.number}: ${said}`),
      recorded({ ...member, replans: [], failures: [] }).element);
  }

  use(byRole) {
    for (const used of Object.values(byRole)) {
      for (const name of Object.keys(NO_USAGE)) this.usage[name] += used[name] ?? 0;
    }
    this.count();
  }

  count() {
    const used = this.usage;
    const parts = [
      counted(used.calls, "call"),
      `${number(used.input_tokens)} tokens read`,
      `${number(used.output_tokens)} written`,
      seconds(used.seconds),
      used.unpriced ? "price unknown" : `$${used.dollars.toFixed(4)}`,
      ...(this.kept ? [`${number(this.kept)} from cache`] : []),
    ];
    this.meter.replaceChildren(...parts.map((part) => h("span", {}, part)));
    this.meter.hidden = !used.calls && !used.seconds;
  }
}

/** Make the story of a run in a result file. */
export function recorded(record) {
  const story = new Story(null);
  const first = record.replans?.[0]?.before ?? record.plan;
  const add = (...parts) => story.told.nodes.append(h("li", { className: "node" }, h("div", { className: "told" }, parts.filter(Boolean))));
  if (first?.length) story.planned(first, "Plan");
  const left = [...(record.replans ?? [])];
  const known = new Map((record.facts ?? []).map((fact) => [fact.number, fact]));
  let done = [];
  const replanned = (change) => {
    add(replan(change));
    story.planned(change.after, "New plan");
    done = [];
  };
  for (const turn of record.turns ?? []) {
    while (left.length && left[0].iteration < turn.iteration) replanned(left.shift());
    const numbers = turn.facts ?? (turn.fact ? [turn.fact] : []); // older files have one fact
    add(...story.turn(turn, numbers.map((n) => known.get(n)).filter(Boolean)));
    if (!turn.problem) done.push(...(turn.completes ?? before(turn.step + 1)));
    story.ticked(done);
  }
  for (const change of left) replanned(change);
  for (const one of record.failures ?? []) add(failure(one));
  if (record.error) add(h("p", { className: "notice wrong" }, record.error));
  if (record.answer) story.answered(record.answer, record.claims ?? []);
  return story;
}

/** Make the folded details of a call to a model. */
export function callDetails(call) {
  const tokens = `${number(call.input_tokens)} tokens read, ${number(call.output_tokens)} written`;
  return h("details", { className: "call" },
    h("summary", {}, `${call.role} asked the model`, h("span", { className: "dim" }, ` · ${tokens} · ${seconds(call.seconds)}`),
      call.from_cache ? h("span", { className: "badge" }, "from cache") : null,
      call.error ? h("span", { className: "bad" }, " · unreadable reply") : null),
    exchange(call));
}

/** The prompt and reply of a call, and its error if any. */
export function exchange({ error, prompt = [], reply }) {
  return [
    error ? h("p", { className: "notice problem" }, error) : null,
    prompt.map(({ role, content }) => [h("h4", {}, role), h("pre", { tabIndex: 0 }, content)]),
    h("h4", {}, "reply"), h("pre", { tabIndex: 0 }, reply),
  ];
}

/** Whether the verdict already contains what is not known. */
function isInVerdict(unknown, verdict) {
  return Boolean(verdict) && verdict.text.toLowerCase().includes(unknown.toLowerCase().replace(/\.$/, ""));
}

/** The current activity as text. */
function activityText({ doing, read = 0, tokens = 0, cached = 0, written = 0 }) {
  if (written) return `${doing}, ${number(written)} tokens`;
  const share = read > cached ? `${Math.round((100 * read) / tokens)} % of ` : "";
  return tokens ? `reading the prompt, ${share}${number(tokens)} tokens` : doing;
}

/** The values of an update, whether they append or overwrite. */
function written(update) {
  const plain = (value) => (value?.type === "__overwrite__" ? value.value : value);
  return Object.fromEntries(Object.entries(update).map(([name, value]) => [name, plain(value)]));
}

/** The numbers of the steps before this one. */
function before(step) {
  return Array.from({ length: step - 1 }, (_, at) => at + 1);
}

function same(a, b) {
  return JSON.stringify(a) === JSON.stringify(b);
}

function textOf({ content }) {
  return typeof content === "string" ? content : (content ?? []).map((part) => part.text ?? "").join("");
}

function remark(words, text) {
  return h("p", { className: "remark" }, h("b", {}, `${words}: `), text);
}

function steps(title, list) {
  return h("section", { className: "card plan" }, h("h3", {}, title),
    h("ol", { className: "steps" }, list.map((step) => h("li", {}, h("span", {}, step)))));
}

function query(tool, text) {
  return h("figure", { className: "query" }, h("figcaption", {}, tool), h("pre", {}, ["sql", "cypher"].includes(tool) ? coloured(text) : text));
}

function failure({ role, detail }) {
  return h("p", { className: "notice problem" }, `${role}: ${detail}`);
}

function revision({ step, document, page, before, after }) {
  const unchanged = before === after;
  const what = unchanged ? "unchanged" : "changed";
  return h("section", { className: "card" }, h("h3", {}, `Step ${step}: ${what} (${document}, p. ${page})`),
    unchanged ? null : diff(before.split("\n"), after.split("\n")));
}

function replan({ before, after, reason }) {
  return h("section", { className: "card change" }, h("h3", {}, "The plan changes"),
    reason ? h("p", {}, reason) : null, diff(before, after));
}

function candidates({ candidate_queries: queries, query_scores: scores = [] }) {
  return h("ul", { className: "candidates", "aria-label": "Candidate queries" }, queries.map((text, at) => h("li", {},
    h("span", {}, text), scores[at] === undefined ? null : h("span", { className: "dim" }, scores[at].toFixed(2)))));
}

function checked(claims) {
  const good = claims.filter((claim) => claim.supported).length;
  return h("details", { className: "claims" },
    h("summary", {}, `Citation check: ${good} of ${claims.length} claims supported`),
    h("ul", {}, claims.map((claim) => h("li", { className: claim.supported ? "good" : "bad" },
      h("b", {}, claim.supported ? "Supported: " : "Unsupported: "), claim.text,
      claim.reason ? h("span", { className: "dim" }, ` (${claim.reason})`) : null))));
}

/** What changed between two lists of lines (longest common subsequence). */
function diff(before, after) {
  const common = before.map(() => []);
  const length = (a, b) => common[a]?.[b] ?? 0;
  for (let a = before.length - 1; a >= 0; a--) {
    for (let b = after.length - 1; b >= 0; b--) {
      common[a][b] = before[a] === after[b] ? length(a + 1, b + 1) + 1 : Math.max(length(a + 1, b), length(a, b + 1));
    }
  }
  const lines = [];
  for (let a = 0, b = 0; a < before.length || b < after.length;) {
    if (a < before.length && before[a] === after[b]) {
      lines.push(h("li", {}, before[a]));
      a++; b++;
    } else if (a < before.length && (b >= after.length || length(a + 1, b) >= length(a, b + 1))) {
      lines.push(h("li", {}, h("del", {}, before[a++])));
    } else {
      lines.push(h("li", {}, h("ins", {}, after[b++])));
    }
  }
  return h("ul", { className: "diff" }, lines);
}

/** The number of rows of a fact, if it has several. */
function rowCount({ table }) {
  return table && table.rows.length > 1 ? `, ${number(table.rows.length)} rows` : "";
}
