// Shows a pair, sends the vote, shows the next. Texts are set as text, never as HTML.
const part = (id) => document.getElementById(id);
const buttons = [...document.querySelectorAll("button")];
const keys = { a: "a", b: "b", t: "tie", n: "both_bad" };
let number = 0;

async function ask(path, vote) {
  const options = vote
    ? { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(vote) }
    : {};
  const reply = await fetch(path, options);
  if (!reply.ok) throw new Error(`The server answers with ${reply.status}.`);
  return reply.json();
}

function show(found) {
  const over = found.left === 0;
  number = found.number;
  part("main").hidden = part("votes").hidden = over;
  part("progress").textContent = over
    ? `Every pair is decided (${found.of}). Thank you; the terminal tells the result.`
    : `Pair ${number} of ${found.of}`;
  if (over) return;
  for (const name of ["task", "a", "b"]) part(name).textContent = found[name];
  scrollTo(0, 0);
  part("task-head").focus();
}

async function turn(path, vote) {
  buttons.forEach((button) => { button.disabled = true; });
  try {
    show(await ask(path, vote));
    part("problem").textContent = "";
  } catch (error) {
    part("problem").textContent = `${error.message} Your earlier votes are kept; is the command still running?`;
  }
  buttons.forEach((button) => { button.disabled = false; });
}

const cast = (verdict) => turn("vote", { number, verdict });
buttons.forEach((button) => button.addEventListener("click", () => cast(button.value)));
document.addEventListener("keydown", (event) => {
  const plain = !(event.ctrlKey || event.metaKey || event.altKey || event.repeat);
  const verdict = plain && keys[event.key.toLowerCase()];
  if (verdict && part("keys").checked && !part("votes").hidden && !buttons[0].disabled) cast(verdict);
});
turn("match");
