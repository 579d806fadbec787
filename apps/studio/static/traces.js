// Traces: all runs with filters; the calls of one run as a waterfall.

import { get, post } from "./server.js";
import { choices, counted, empty, h, notice, number, seconds, table } from "./dom.js";
import { exchange } from "./story.js";

const MOST = 200;
const LETTERS = 110; // of a question in the list
const ANY = "all";
const AT_ONCE = 0.05; // seconds

export async function view(_, [thread]) {
  return thread ? one(thread) : list();
}

async function list() {
  const found = await post("/threads/search", { limit: MOST, sort_by: "updated_at", select: ["thread_id", "metadata", "values", "updated_at", "status"] });
  const runs = found.map(lineOf).filter((run) => run.question);
  if (!runs.length) return h("div", { className: "page" }, h("h1", {}, "Traces"), empty("No runs yet", "This page shows every question that you or your programs have asked."));
  const text = h("input", { type: "search", "aria-label": "Search in questions", placeholder: "Search questions" });
  const chosen = Object.fromEntries(["method", "model", "verdict"].map((name) => [name, select(name, runs)]));
  const since = h("input", { type: "date", "aria-label": "Asked since" });
  const place = h("div", {});
  const show = () => {
    const fits = (run) => Object.entries(chosen).every(([name, { value }]) => value === ANY || run[name] === value)
      && run.question.toLowerCase().includes(text.value.toLowerCase())
      && (!since.value || run.when >= new Date(since.value));
    const shown = runs.filter(fits);
    place.replaceChildren(
      h("p", { className: "dim", role: "status" }, `${number(shown.length)} of ${number(runs.length)} runs${found.length === MOST ? `, the newest ${MOST}` : ""}`),
      table(["Question", "Method", "Model", "Verdict", "When"], shown.map((run) => [
        h("a", { href: `#/traces/${run.thread}`, title: run.question }, cut(run.question)), run.method, run.model,
        h("span", { className: run.verdict === "supported" ? "good" : "" }, run.verdict), run.when.toLocaleString(),
      ]), "Runs"));
  };
  for (const control of [text, since, ...Object.values(chosen)]) control.addEventListener("input", show);
  show();
  return h("div", { className: "page wide" }, h("h1", {}, "Traces"),
    h("p", { className: "lead" }, "Every run, and its calls to models."),
    h("section", { className: "card tall" }, h("div", { className: "row filters" }, text, ...Object.values(chosen), since), place));
}

function lineOf({ thread_id: thread, metadata, values, updated_at: updated, status }) {
  const answer = values?.answer;
  const ended = answer ? (answer.verdict?.kind.replaceAll("_", " ") ?? "answered") : { busy: "runs", interrupted: "waits", error: "failed" }[status] ?? "no answer";
  return {
    thread, question: values?.question || metadata?.title || "", method: metadata?.method ?? metadata?.graph_id ?? "",
    model: metadata?.model ?? "", verdict: ended, when: new Date(updated),
  };
}

function select(name, runs) {
  const values = [...new Set(runs.map((run) => run[name]).filter(Boolean))].sort();
  const element = choices(name[0].toUpperCase() + name.slice(1), values);
  element.prepend(h("option", { value: ANY, selected: true }, `every ${name}`));
  return element;
}

async function one(thread) {
  const [{ metadata, values }, calls] = await Promise.all([get(`/threads/${thread}`), get(`/threads/${thread}/calls`).catch((error) => error)]);
  const title = values?.question || metadata?.title || "A run";
  const body = Array.isArray(calls) ? runsOf(calls) : [notice(calls.status === 404 ? "This server stores no calls; `planweave serve` does." : calls.message, "problem")];
  return h("div", { className: "page wide" },
    h("div", { className: "row" }, h("h1", {}, "Trace"), h("span", { className: "grow" }), h("a", { href: `#/ask/${thread}` }, "Answer"), h("a", { href: "#/traces" }, "All runs")),
    h("p", { className: "lead" }, title), ...body);
}

function runsOf(calls) {
  if (!calls.length) return [empty("No calls", "No model was called in this thread.")];
  const runs = grouped(calls);
  return [...runs.values()].map((made, at) => waterfall(made, runs.size > 1 ? `Run ${at + 1}` : "Calls"));
}

function grouped(calls) {
  const groups = new Map();
  for (const call of calls) groups.set(call.run_id, [...(groups.get(call.run_id) ?? []), call]);
  return groups;
}

/** Draw the calls of a run as a waterfall. */
function waterfall(calls, title) {
  const spans = placed(calls);
  const first = Math.min(...spans.map(({ begun }) => begun)), last = Math.max(...spans.map(({ ended }) => ended));
  const whole = last - first || 1;
  const sum = (name) => calls.reduce((total, call) => total + (call[name] ?? 0), 0);
  const read = sum("input_tokens"), kept = calls.filter((call) => call.from_cache).length;
  return h("section", { className: "card waterfall", "aria-label": title },
    h("h2", {}, title),
    h("p", { className: "meter" }, [
      counted(calls.length, "call"), `${seconds(whole)} from first to last`, `${seconds(sum("seconds"))} in models`,
      `${number(read)} tokens read`, `${share(sum("cached_tokens"), read)} of them cached`, `${number(sum("output_tokens"))} written`, kept ? `${number(kept)} from cache` : "",
    ].filter(Boolean).map((part) => h("span", {}, part))),
    h("ol", {}, spans.map(({ call, begun, ended }) => h("li", {}, callRow(call, (begun - first) / whole, (ended - begun) / whole)))));
}

/** Start and end of each call; calls of a task that were reported at once ran one after another. */
function placed(calls) {
  let later = null;
  return calls.toReversed().map((call) => {
    const together = later && later.call.task === call.task && later.call.ended - call.ended < AT_ONCE;
    const ended = together ? later.begun : call.ended;
    later = { call, begun: ended - call.seconds, ended };
    return later;
  }).reverse();
}

function callRow(call, from, width) {
  const bar = h("span", { className: call.error ? "bar-of wrong" : call.from_cache ? "bar-of kept" : "bar-of" });
  bar.style.marginLeft = `${(from * 100).toFixed(2)}%`;
  bar.style.width = `${Math.max(0.4, width * 100).toFixed(2)}%`;
  const facts = [seconds(call.seconds), `${number(call.input_tokens)} read`, `${share(call.cached_tokens, call.input_tokens)} cached`, `${number(call.output_tokens)} written`];
  return h("details", { className: "call" },
    h("summary", {},
      h("b", {}, call.role), h("span", { className: "lane-of", "aria-hidden": "true" }, bar),
      h("span", { className: "dim" }, facts.join(" · "), call.from_cache ? h("span", { className: "badge" }, "from cache") : null, call.error ? h("span", { className: "bad" }, " · unreadable") : null)),
    h("p", { className: "dim" }, call.model),
    exchange(call));
}

function share(part, whole) {
  return whole ? `${Math.round((100 * part) / whole)} %` : "0 %";
}

function cut(text) {
  return text.length > LETTERS ? `${text.slice(0, LETTERS - 1)}…` : text;
}
