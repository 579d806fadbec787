// Results: leaderboards with intervals, traces of runs, comparison of two methods.

import { get } from "./server.js";
import { attempt, button, choices, counted, empty, h, icon, number, s, seconds, table } from "./dom.js";
import { callDetails, recorded } from "./story.js";

const API = "/studio/api/results";
const SHOWN = 200;
const [RUNS, COMPARED] = ["Runs", "Question by question"];

export async function view(_, chosen) {
  const { folder, files } = await get(API);
  if (!files.length) return h("div", { className: "page" }, h("h1", {}, "Results"), empty("No result files", `planweave bench writes them; the studio looks in ${folder}.`));
  const body = h("div", {});
  const boxes = files.map((file) => {
    const box = h("input", { type: "checkbox", value: file.name, checked: chosen.includes(file.name) });
    box.addEventListener("change", () => load());
    const what = [file.suite, file.methods, file.models].filter(Boolean).join(" · ") || file.name;
    const about = [file.started.slice(0, 16).replace("T", " "), file.name, `${number(file.bytes / 1000)} kB`].filter(Boolean).join(" · ");
    return h("label", {}, box, h("span", {}, h("b", {}, what), h("span", { className: "about" }, ` ${about}`)));
  });
  const load = async () => {
    const names = boxes.map((label) => label.control ?? label.querySelector("input")).filter((box) => box.checked).map((box) => box.value);
    history.replaceState(null, "", `#/results${names.map((name) => `/${encodeURIComponent(name)}`).join("")}`);
    if (!names.length) return body.replaceChildren(empty("Choose a result file", "Files of the same suite can be chosen together."));
    await attempt(body, async () => {
      const query = new URLSearchParams(names.map((name) => ["file", name]));
      body.replaceChildren(...new Board(await get(`${API}/report?${query}`), query).parts());
    });
  };
  await load();
  return h("div", { className: "page wide" }, h("h1", {}, "Results"),
    h("div", { className: "files card", role: "group", "aria-label": "Result files" }, boxes), body);
}

class Board {
  constructor(report, query) {
    this.report = report;
    this.query = query;
    this.groups = [...new Set(report.records.map((record) => record.group))];
    this.trace = h("div", {});
  }

  parts() {
    const [first, ...others] = this.report.tables;
    const titles = [first.title, ...(this.groups.length > 1 ? [COMPARED] : []), RUNS, ...others.map(({ title }) => title)];
    return [
      ...this.report.heads.map((head) => h("p", { className: "dim small" }, head)),
      h("nav", { className: "index", "aria-label": "Tables of this report" }, titles.map((title) => button(title, () => document.getElementById(anchor(title))?.scrollIntoView(), { className: "link" }))),
      section(first),
      this.compared(),
      this.runs(),
      this.trace,
      ...others.map(section),
    ].filter(Boolean);
  }

  /** The list of runs with filters. */
  runs() {
    const text = h("input", { type: "search", "aria-label": "Search in questions and answers", placeholder: "Search questions and answers" });
    const group = choices("Method", ["all methods", ...this.groups]);
    const value = choices("Score", ["right and wrong", "right", "wrong", "crashed"]);
    const place = h("div", {});
    const show = () => {
      const found = this.report.records.filter((one) =>
        (group.value === "all methods" || one.group === group.value)
        && ({ right: one.value === 1, wrong: one.value < 1, crashed: Boolean(one.error) }[value.value] ?? true)
        && `${one.question} ${one.answer ?? ""} ${one.scenario}`.toLowerCase().includes(text.value.toLowerCase()));
      const rows = found.slice(0, SHOWN).map((one) => [
        button(one.question, () => this.open([one]), { className: "link" }), one.group, one.scenario,
        mark(one), cut(one.error || one.answer || "no answer"), number(one.calls), number(one.tokens), seconds(one.seconds),
      ]);
      place.replaceChildren(
        h("p", { className: "dim", role: "status" }, `${counted(found.length, "run")}${found.length > SHOWN ? `, the first ${SHOWN} shown` : ""}`),
        table(["Question", "Method", "Scenario", "Score", "Answer", { name: "Calls", number: true }, { name: "Tokens", number: true }, { name: "Time", number: true }], rows, "Runs"));
    };
    for (const control of [text, group, value]) control.addEventListener("input", show);
    show();
    return h("section", { className: "card tall", id: anchor(RUNS) }, h("h2", {}, RUNS), h("div", { className: "row" }, text, group, value), place);
  }

  /** Compare two methods on their common questions. */
  compared() {
    if (this.groups.length < 2) return null;
    const first = choices("First method", this.groups);
    const second = choices("Second method", this.groups);
    second.value = this.groups[1];
    const place = h("div", {});
    const show = () => place.replaceChildren(...this.differences(first.value, second.value));
    for (const control of [first, second]) control.addEventListener("input", show);
    show();
    return h("section", { className: "card tall", id: anchor(COMPARED) }, h("h2", {}, COMPARED), h("div", { className: "row" }, first, h("span", { className: "dim" }, "beside"), second), place);
  }

  differences(first, second) {
    const of = (group) => new Map(this.report.records.filter((one) => one.group === group).map((one) => [`${one.question}/${one.database}`, one]));
    const [a, b] = [of(first), of(second)];
    const pairs = [...a].filter(([key]) => b.has(key)).map(([key, one]) => [one, b.get(key)]);
    if (first === second || !pairs.length) return [h("p", { className: "dim" }, "They share no question.")];
    const differing = pairs.filter(([x, y]) => (x.value === 1) !== (y.value === 1));
    const only = (at) => differing.filter((pair) => pair[at].value === 1).length;
    const row = (pair) => [button(pair[0].question, () => this.open(pair), { className: "link" }), pair[0].database, mark(pair[0]), cut(pair[0].answer ?? "no answer"), mark(pair[1]), cut(pair[1].answer ?? "no answer")];
    return [
      h("p", {}, `${pairs.length} questions; only ${first} is right on ${only(0)}, only ${second} on ${only(1)}.`),
      differing.length ? table(["Question", "Source", first, "", second, ""], differing.slice(0, SHOWN).map(row), "Questions on which they differ") : h("p", { className: "dim" }, "Both are right on the same questions."),
    ];
  }

  /** Show the trace of one run, or of two side by side. */
  async open(records) {
    this.trace.replaceChildren(h("p", { className: "dim" }, "Reading …"));
    await attempt(this.trace, async () => {
      const whole = await Promise.all(records.map((one) => {
        const query = new URLSearchParams(this.query);
        query.set("key", one.key);
        return get(`${API}/record?${query}`);
      }));
      const lanes = whole.map((record, at) => lane(record, records[at]));
      const close = button("Close", () => this.trace.replaceChildren());
      this.trace.replaceChildren(h("section", { className: "card trace", tabIndex: -1, "aria-label": "Trace" },
        h("div", { className: "row" }, h("h2", {}, records[0].question), h("span", { className: "grow" }), close),
        h("div", { className: lanes.length > 1 ? "pair" : "" }, lanes)));
      this.trace.firstChild.focus({ preventScroll: true });
      this.trace.firstChild.scrollIntoView({ behavior: "smooth", block: "start" });
    });
  }
}

function anchor(title) {
  return `table-${title.toLowerCase().replace(/\W+/g, "-")}`;
}

function lane(record, line) {
  return h("section", { className: "lane", "aria-label": line.group },
    h("h3", {}, line.group, " ", mark(line)),
    h("p", { className: "dim" }, record.score.explanation),
    recorded(record).element,
    h("details", {}, h("summary", {}, counted(record.calls.length, "model call")), record.calls.map(callDetails)));
}

function mark({ value, error }) {
  if (error) return h("span", { className: "bad" }, "crashed");
  if (value === 1) return h("span", { className: "good" }, icon("tick"), "right");
  return value ? number(value, 2) : h("span", { className: "bad" }, "wrong");
}

function cut(text) {
  return text.length > 90 ? h("span", { title: text }, `${text.slice(0, 89)}…`) : text;
}

function section({ title, note, columns, rows }) {
  const numeric = columns.map((_, at) => rows.every((row) => row[at] === null || typeof row[at] === "number"));
  return h("section", { className: "card", id: anchor(title) }, h("h2", {}, title),
    table(columns.map((name, at) => ({ name, number: numeric[at] })), rows.map((row) => row.map(cell)), title),
    note ? h("p", { className: "about" }, note) : null);
}

function cell(value) {
  if (value === null) return h("span", { className: "dim" }, "–");
  if (typeof value === "number") return number(value, 3);
  if (typeof value === "string") return value;
  if ("low" in value) return rate(value);
  return [value.mean, value.median, value.p95].map((one) => number(one, one < 10 ? 2 : 0)).join(" · ");
}

/** A share with its interval, drawn and as numbers. */
function rate({ value, low, high, n }) {
  const percent = (share) => `${(share * 100).toFixed(1)} %`;
  return h("span", { className: "rate" },
    s("svg", { viewBox: "0 0 100 14", "aria-hidden": "true", preserveAspectRatio: "none" },
      s("rect", { class: "track", width: 100, height: 4, y: 5, rx: 2 }),
      s("rect", { class: "span", x: low * 100, width: Math.max(1, (high - low) * 100), height: 4, y: 5, rx: 2 }),
      s("rect", { class: "value", x: Math.max(0, value * 100 - 1), width: 2, height: 14 })),
    h("b", {}, percent(value)), h("span", { className: "dim" }, `[${(low * 100).toFixed(0)}–${(high * 100).toFixed(0)}] (${number(n)})`));
}
