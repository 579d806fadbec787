// Calls the server of this page: the LangGraph protocol and the studio's own routes.

import { confirmed, field, h, notice, opened } from "./dom.js";

/** An error reply of the server. */
class Refused extends Error {
  constructor(status, text) {
    super(text);
    this.status = status;
  }
}

const KEY = "planweave.key";
let asking = null;

async function send(path, { method = "GET", json, body, signal } = {}) {
  const headers = {};
  const key = sessionStorage.getItem(KEY);
  if (key) headers["x-api-key"] = key;
  if (json !== undefined) headers["content-type"] = "application/json";
  let reply;
  try {
    reply = await fetch(path, { method, headers, signal, body: json === undefined ? body : JSON.stringify(json) });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refused(0, "The server does not answer. Is it still running?");
  }
  if (reply.status === 401) {
    asking ??= askForKey(Boolean(key)).finally(() => { asking = null; });
    await asking;
    return send(path, { method, json, body, signal });
  }
  if (!reply.ok) throw new Refused(reply.status, await reason(reply));
  return reply;
}

async function reason(reply) {
  const text = await reply.text();
  try {
    const { detail, error } = JSON.parse(text);
    const message = detail ?? error ?? text;
    return typeof message === "string" ? message : JSON.stringify(message);
  } catch {
    return text || `The server answers ${reply.status}.`;
  }
}

function askForKey(wrong) {
  return new Promise((resolve) => {
    const input = h("input", { type: "password", autocomplete: "off", required: true });
    const dialog = h("dialog", { onclose: () => resolve() },
      h("form", { method: "dialog", onsubmit: () => sessionStorage.setItem(KEY, input.value.trim()) },
        h("h2", {}, "This server asks for a key"),
        field("API key", input, wrong ? "The last one was refused." : "It is kept until this tab is closed."),
        h("div", { className: "row end" }, h("button", { className: "primary" }, "Go on"))));
    dialog.addEventListener("cancel", (event) => event.preventDefault());
    opened(dialog);
  });
}

async function read(path, options) {
  const reply = await send(path, options);
  const text = await reply.text();
  return text ? JSON.parse(text) : null;
}

export const get = (path) => read(path);
export const post = (path, json = {}) => read(path, { method: "POST", json });
export const patch = (path, json) => read(path, { method: "PATCH", json });
export const put = (path, body) => read(path, { method: "PUT", body });
const remove = (path) => read(path, { method: "DELETE" });

/** Delete something after a confirmation; an error is shown before `place`. */
export async function removed(path, { question, action = "Delete", place, then }) {
  if (!(await confirmed(question, action))) return;
  try {
    await remove(path);
    await then();
  } catch (error) {
    place.before(notice(error.message));
  }
}

/** Yield the events `{ event, data }` of a run; without `json`, of an existing run. */
export async function* stream(path, json, signal) {
  const reply = await send(path, { method: json ? "POST" : "GET", json, signal });
  const reader = reply.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    rest = (rest + (value ?? "")).replace(/\r\n/g, "\n");
    const blocks = rest.split("\n\n");
    rest = blocks.pop();
    for (const block of blocks) {
      const message = parse(block);
      if (message) yield message;
    }
    if (done) return;
  }
}

function parse(block) {
  let event = "message";
  const data = [];
  for (const line of block.split("\n")) {
    if (line.startsWith("event:")) event = line.slice(6).trim();
    if (line.startsWith("data:")) data.push(line.slice(5).trimStart());
  }
  return data.length ? { event, data: JSON.parse(data.join("\n")) } : null;
}
