"""Working memory as text for a prompt, longest-lived parts first."""

import re
from collections.abc import Callable, Sequence
from functools import partial

from planweave.memory import (
    BOUND_TOOL,
    OWN_TOOLS,
    Context,
    Exchange,
    Fact,
    Tool,
    Turn,
    WorkingMemory,
)
from planweave.nodes.support.naming import named_values
from planweave.nodes.support.turns import same
from planweave.prompts import load
from planweave.texts import shorten
from planweave.tools.bound import TOOLS
from planweave.tools.calculator import Given

_SHORTENED = 160


def ground(state: WorkingMemory, context: Context) -> str:
    """The part of every prompt that stays the same for a whole run."""
    if context.environment:
        return load("environments/ground").fill(
            question=state["question"], schema=state["schema_text"]
        )
    return load("documents/ground" if context.has_documents else "common/ground").fill(
        question=state["question"],
        rules=context.rules.strip() or "(none given)",
        schema=state["schema_text"],
    )


def briefing(state: WorkingMemory, context: Context) -> str:
    """Plan and work so far; observations are shortened, oldest first, to fit the limit.

    Repetitions are left out, of thoughts too: what a prompt shows often, a small model writes
    again.
    """
    known = [partial(_found_text, fact) for fact in _earlier_facts(state)]
    taken = [partial(_turn_text, turn, state) for turn in _first_of_their_kind(state["turns"])]
    texts = _fitting([*known, *taken], context.memory_characters)
    work = [*texts[len(known) :], *_expansions(state)]
    remembered = load("common/memory").fill(
        plan=plan_text(state["plan"]) or "(no plan)",
        work="\n\n".join(work) or "(nothing yet)",
    )
    if not state["history"]:
        return remembered
    earlier = load("common/earlier").fill(
        conversation=conversation_text(state["history"]),
        facts="\n\n".join(texts[: len(known)]) or "(none)",
    )
    return f"{earlier}\n\n{remembered}"


def conversation_text(history: Sequence[Exchange]) -> str:
    """What was asked and answered before, as lines."""
    return "\n\n".join(
        f"Question: {exchange['question']}\nAnswer: {exchange['answer']}" for exchange in history
    )


def _fitting(texts: Sequence[Callable[[int | None], str]], budget: int) -> list[str]:
    """The texts whole, the older ones with shortened lines once ``budget`` characters are full."""
    newest_first = []
    for text_of in reversed(texts):
        text = text_of(None)
        if len(text) > budget:
            text = text_of(_SHORTENED)
        budget -= len(text)
        newest_first.append(text)
    return newest_first[::-1]


def _earlier_facts(state: WorkingMemory) -> list[Fact]:
    """Facts that no turn of this question has found."""
    found = {number for turn in state["turns"] for number in turn["facts"]}
    return [fact for fact in state["facts"] if state["history"] and fact["number"] not in found]


def fact_text(fact: Fact) -> str:
    """A fact with its number; one from a document with its place, and its values by name."""
    quote, number = fact["quote"], fact["number"]
    if not quote:
        return f"Fact [{number}]: {fact['text']}"
    text = f"Fact [{number}] ({quote['document']}, p. {quote['page']}): {fact['text']}"
    names = named_values([fact])
    if (only := f"f{number}") in names:
        names = {only: names[only]} | {n: v for n, v in names.items() if n.startswith(f"{only}_")}
        names.pop(f"{only}_value", None)
    named = [f"{name} = {_plain(value)}" for name, value in names.items()]
    return f"{text} ({', '.join(named)})" if named else text


def _plain(value: Given) -> str:
    if isinstance(value, str):
        return value
    return f"{value:.12g}" if isinstance(value, int | float) else "a list"


def source_text(fact: Fact) -> str:
    """Where a fact comes from, for people: a page and its words, a query, or the working."""
    if quote := fact["quote"]:
        words = " ".join(quote["text"].split())
        return f'[{fact["number"]}] {quote["document"]}, p. {quote["page"]}: "{words}"'
    if "working" in fact:
        return f"[{fact['number']}] {fact['source']}: {'; '.join(fact['text'].splitlines())}"
    return f"[{fact['number']}] {fact['source']}: {' '.join(fact['query'].split())}"


def _expansions(state: WorkingMemory) -> list[str]:
    """What the abbreviations stand for that occur in the question or in the facts."""
    texts = " ".join([state["question"], *(fact["text"] for fact in state["facts"])])
    known = state["abbreviations"].items()
    found = [
        f"{short}: {long}" for short, long in known if re.search(rf"\b{re.escape(short)}\b", texts)
    ]
    return ["Abbreviations:\n" + "\n".join(found)] if found else []


def plan_text(plan: list[str]) -> str:
    """The plan as numbered lines."""
    return "\n".join(f"{number}. {step}" for number, step in enumerate(plan, start=1))


def _first_of_their_kind(turns: list[Turn]) -> list[Turn]:
    seen: set[tuple[str, str]] = set()
    thought: set[str] = set()
    kept: list[Turn] = []
    for turn in turns:
        kind = (turn["tool"], same(turn["input"]))
        if kind not in seen or turn["facts"]:  # a search that went on may have found more
            kept.append({**turn, "thought": "" if turn["thought"] in thought else turn["thought"]})
        seen.add(kind)
        thought.add(turn["thought"])
    return kept


def _turn_text(turn: Turn, state: WorkingMemory, limit: int | None) -> str:
    lines = [f"Thought: {turn['thought']}"] if turn["thought"] else []
    lines.append(f"{turn['tool']}: {turn['input']}")
    lines += [_shown_once(state["facts"][number - 1], state) for number in turn["facts"]]
    if turn["problem"]:
        lines.append(f"Problem: {turn['problem']}")
    return _lines(lines, limit)


def _shown_once(fact: Fact, state: WorkingMemory) -> str:
    """A fact; a page of an environment that was shown before is only referred to."""
    for earlier in state["facts"][: fact["number"] - 1]:
        if (earlier["source"], earlier["text"]) == ("environment", fact["text"]):
            same_page = f"the same as fact [{earlier['number']}]"
            if len(same_page) < len(fact["text"]):
                return fact_text({**fact, "text": same_page})
    return fact_text(fact)


def _found_text(fact: Fact, limit: int | None) -> str:
    """A fact of an earlier question, with the query that found it."""
    return _lines([f"{fact['source']}: {fact['query']}", fact_text(fact)], limit)


def _lines(lines: Sequence[str], limit: int | None) -> str:
    return "\n".join(
        line if limit is None or len(line) <= limit else f"{shorten(line, limit)} (shortened)"
        for line in lines
    )


def tools_text(tools: Sequence[Tool], state: WorkingMemory, context: Context) -> str:
    """What each tool does and what its input is."""
    return "\n".join(_tool_text(tool, state, context) for tool in tools)


def _tool_text(name: Tool, state: WorkingMemory, context: Context) -> str:
    if name in OWN_TOOLS:
        template = load(f"tools/{name}")
        values = {
            "language": state["languages"].get(name, ""),
            "rows": str(context.query_rows),
        }
        return template.fill(**{one: values[one] for one in template.placeholders})
    tool = TOOLS.get(name)
    keys = [f"{key} ({one.get('type', 'any value')})" for key, one in tool.args.items()]
    return load("tools/bound").fill(
        name=name,
        description=" ".join(tool.description.split()),
        arguments=", ".join(keys) or "none",
    )


def with_bound(tools: Sequence[Tool], state: WorkingMemory) -> tuple[Tool, ...]:
    """The tools, with those that this run binds in the place of ``bound_tool``."""
    bound = tuple(name for name in state["languages"] if name not in OWN_TOOLS)
    return tuple(one for tool in tools for one in (bound if tool == BOUND_TOOL else (tool,)))


def filled(prompt: str, state: WorkingMemory, **values: str) -> str:
    """A role's prompt; one with ``{{kinds}}`` names the steps that what is connected allows."""
    template = load(prompt)
    kinds = {"kinds": _kinds_of_step(state)} if "kinds" in template.placeholders else {}
    return template.fill(**values, **kinds)


def _kinds_of_step(state: WorkingMemory) -> str:
    """What one step can be, in words: no database is named where there is none."""
    connected = state["languages"]
    names = ["documents"] if "documents" in connected else []
    names += ["query"] if {"sql", "cypher"} & connected.keys() else []
    *first, last = [load(f"steps/{name}").fill() for name in [*names, "calculation"]]
    return f"{', '.join(first)} or {last}" if first else last
