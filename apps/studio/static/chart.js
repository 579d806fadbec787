// Charts of rows: bars for a ranking, a line for a series.

import { number, s } from "./dom.js";

const MOST = 30; // bars
const POINTS = 2000;
const TIME = /^\d{4}(-\d{2}(-\d{2}([T ][\d:.]+)?)?)?$|^\d{4}-?Q[1-4]$/;
const BAR = 26, HEIGHT = 240, LEFT = 64, BELOW = 30;
const LETTER = 7.2; // width of one

/** The chart of a table as `{ kind, labels, values, name }`; null if none is suitable. */
export function chartOf(columns, rows) {
  if (rows.length < 2 || columns.length < 2) return null;
  const isNumber = columns.map((_, at) => rows.every((row) => typeof row[at] === "number"));
  const ordered = (at) => rows.every((row) => TIME.test(String(row[at]))) && sorted(rows.map((row) => String(row[at])));
  const time = columns.findIndex((_, at) => ordered(at));
  const value = columns.findLastIndex((_, at) => isNumber[at] && at !== time);
  if (value < 0) return null;
  const values = rows.map((row) => row[value]);
  const of = (kind, at) => ({ kind, name: columns[value], about: columns[at], labels: rows.map((row) => String(row[at] ?? "")), values });
  if (time >= 0 && rows.length > 2 && rows.length <= POINTS) return of("line", time);
  const label = columns.findIndex((_, at) => !isNumber[at]);
  const distinct = label >= 0 && new Set(rows.map((row) => row[label])).size === rows.length;
  return distinct && rows.length <= MOST ? of("bar", label) : null;
}

/** Draw the result of `chartOf`, `width` pixels wide. */
export function chart(found, width) {
  return found.kind === "bar" ? bars(found, width) : line(found, width);
}

function sorted(texts) {
  return new Set(texts).size === texts.length && (texts.every((one, at) => !at || texts[at - 1] < one) || texts.every((one, at) => !at || texts[at - 1] > one));
}

function drawing(kind, { name, about, labels, values }, width, height, ...children) {
  const best = labels[values.indexOf(Math.max(...values))];
  return s("svg", { class: `chart ${kind}`, width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${name} by ${about}: ${labels.length} values, the highest for ${best}` }, ...children);
}

function bars(found, width) {
  const { labels, values } = found;
  const letters = Math.min(26, Math.floor((width * 0.34) / LETTER));
  const left = Math.min(letters, Math.max(...labels.map((label) => label.length))) * LETTER + 14;
  const low = Math.min(0, ...values), span = Math.max(0, ...values) - low || 1;
  const room = width - left - 70;
  const at = (value) => left + ((value - low) / span) * room;
  return drawing("bars", found, width, labels.length * BAR + 8, labels.flatMap((label, row) => {
    const value = values[row], y = row * BAR + 4;
    return [
      s("title", {}, `${label}: ${number(value, 4)}`),
      s("text", { x: left - 8, y: y + 16, "text-anchor": "end" }, shortened(label, letters)),
      s("rect", { x: Math.min(at(0), at(value)), y: y + 2, width: Math.max(1.5, Math.abs(at(value) - at(0))), height: BAR - 8, rx: 3 }),
      s("text", { x: Math.max(at(0), at(value)) + 8, y: y + 16, class: "value-text" }, number(value, 4)),
    ];
  }));
}

function line(found, width) {
  const descends = found.labels[0] > found.labels[1];
  const labels = descends ? [...found.labels].reverse() : found.labels;
  const values = descends ? [...found.values].reverse() : found.values;
  const low = Math.min(...values), high = Math.max(...values), span = high - low || 1;
  const x = (at) => LEFT + (at / (labels.length - 1)) * (width - LEFT - 16);
  const y = (value) => 12 + (1 - (value - low) / span) * (HEIGHT - BELOW - 24);
  const path = values.map((value, at) => `${at ? "L" : "M"}${x(at).toFixed(1)} ${y(value).toFixed(1)}`).join("");
  const marks = [...new Set([0, Math.floor((labels.length - 1) / 2), labels.length - 1])];
  return drawing("series", found, width, HEIGHT,
    [low, (low + high) / 2, high].flatMap((value) => [
      s("path", { class: "grid", d: `M${LEFT} ${y(value)}H${width - 16}` }),
      s("text", { x: LEFT - 8, y: y(value) + 4, "text-anchor": "end" }, number(value, 2)),
    ]),
    s("path", { class: "stroke", d: path }),
    labels.length <= 60 ? values.map((value, at) => s("circle", { cx: x(at), cy: y(value), r: 3 })) : [],
    marks.map((at) => s("text", { x: x(at), y: HEIGHT - 8, "text-anchor": at === 0 ? "start" : at === labels.length - 1 ? "end" : "middle" }, labels[at])));
}

function shortened(text, letters) {
  return text.length > letters ? `${text.slice(0, letters - 1)}…` : text;
}
