// Syntax highlighting of queries: keywords, strings, numbers and comments.

import { h } from "./dom.js";

const WORDS = "all|and|as|asc|between|by|call|case|cast|contains|cross|delete|desc|distinct|else|end|except|exists|from|full|group|having|in|inner|intersect|is|join|left|like|limit|match|not|null|offset|on|optional|or|order|outer|over|partition|return|right|select|then|union|unwind|using|values|when|where|with|yield";
const PARTS = new RegExp(`(--[^\\n]*|//[^\\n]*|/\\*[^]*?\\*/)|('(?:[^'\\\\]|''|\\\\.)*'|"(?:[^"\\\\]|\\\\.)*")|\\b(\\d+(?:\\.\\d+)?)\\b|\\b(${WORDS})\\b`, "gi");
const KINDS = ["comment", "string", "numeral", "keyword"];

const QUERY = /^[\s(]*(select|with|match|optional|unwind|call|values|return)\b/i;

/** Split a query into coloured parts; other text stays as it is. */
export function coloured(text) {
  if (!QUERY.test(text)) return text;
  const parts = [];
  let end = 0;
  for (const found of text.matchAll(PARTS)) {
    parts.push(text.slice(end, found.index), h("span", { className: KINDS[found.slice(1).findIndex(Boolean)] }, found[0]));
    end = found.index + found[0].length;
  }
  return [...parts, text.slice(end)];
}
