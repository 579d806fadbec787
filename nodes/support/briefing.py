"""Working memory as text for a prompt; the parts that change least come first."""

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
from planweave.nodes.support.turns import normalise
from planweave.prompts import load
from planweave.texts import listed, shorten
from planweave.tools.bound import TOOLS
from planweave.tools.calculator import Given

_LINE_CHARACTERS = 160
_SHOWN_CANDIDATES = 10


def ground(state: WorkingMemory, context: Context) -> str:
    """The part of every prompt that stays the same during a run."""
    if context.environment:
        return load("environments/ground").fill(
            question=state["question"], schema=state["schema_text"]
        )
    return load("documents/ground" if context.has_documents else "common/ground").fill(
        question=state["question"],
        rules=_rules_text(context),
        schema=state["schema_text"],
    )


def _rules_text(context: Context) -> str:
    """The rules, and the decisions that the question admits if they are given."""
    rules, candidates = context.rules.strip() or "(none given)", context.candidates
    if not candidates:
        return rules
    choices = listed(candidates, _SHOWN_CANDIDATES)
    return f"{rules}\n\n{load('common/choices').fill(count=str(len(candidates)), choices=choices)}"


def briefing(state: WorkingMemory, context: Context) -> str:
    """The plan and the work so far; the oldest observations are shortened to fit the limit.

    It leaves out repeated actions and thoughts: small models repeat what a prompt shows often.
    """
    earlier_facts = [partial(_earlier_fact_text, fact) for fact in _earlier_facts(state)]
    turns = [partial(_turn_text, turn, state) for turn in _distinct_turns(state["turns"])]
    texts = _fit_texts([*earlier_facts, *turns], context.memory_characters)
    work = [*texts[len(earlier_facts) :], *_abbreviations_text(state)]
    memory_text = load("common/memory").fill(
        plan=plan_text(state["plan"]) or "(no plan)",
        work="\n\n".join(work) or "(nothing yet)",
    )
    if not state["history"]:
        return memory_text
    earlier_text = load("common/earlier").fill(
        conversation=conversation_text(state["history"]),
        facts="\n\n".join(texts[: len(earlier_facts)]) or "(none)",
    )
    return f"{earlier_text}\n\n{memory_text}"


def conversation_text(history: Sequence[Exchange]) -> str:
    """The earlier questions and answers as text."""
    return "\n\n".join(
        f"Question: {exchange['question']}\nAnswer: {exchange['answer']}" for exchange in history
    )


def _fit_texts(texts: Sequence[Callable[[int | None], str]], budget: int) -> list[str]:
    """The texts; once ``budget`` characters are used up, the older ones have shortened lines."""
    newest_first = []
    for text_of in reversed(texts):
        text = text_of(None)
        if len(text) > budget:
            text = text_of(_LINE_CHARACTERS)
        budget -= len(text)
        newest_first.append(text)
    return newest_first[::-1]


def _earlier_facts(state: WorkingMemory) -> list[Fact]:
    found = {number for turn in state["turns"] for number in turn["facts"]}
    return [fact for fact in state["facts"] if state["history"] and fact["number"] not in found]


def fact_text(fact: Fact) -> str:
    """A fact with its number; a fact from a document also has its place and its values by name."""
    quote, number = fact["quote"], fact["number"]
    if not quote:
        return f"Fact [{number}]: {fact['text']}"
    text = f"Fact [{number}] ({quote['document']}, p. {quote['page']}): {fact['text']}"
    names = named_values([fact])
    if (only := f"f{number}") in names:
        names = {only: names[only]} | {n: v for n, v in names.items() if n.startswith(f"{only}_")}
        names.pop(f"{only}_value", None)
    named = [f"{name} = {_value_text(value)}" for name, value in names.items()]
    return f"{text} ({', '.join(named)})" if named else text


def _value_text(value: Given) -> str:
    if isinstance(value, str):
        return value
    return f"{value:.12g}" if isinstance(value, int | float) else "a list"


def source_text(fact: Fact) -> str:
    """The source of a fact, for people: a page and its words, a query, or a calculation."""
    if quote := fact["quote"]:
        words = " ".join(quote["text"].split())
        return f'[{fact["number"]}] {quote["document"]}, p. {quote["page"]}: "{words}"'
    if "working" in fact:
        return f"[{fact['number']}] {fact['source']}: {'; '.join(fact['text'].splitlines())}"
    return f"[{fact['number']}] {fact['source']}: {' '.join(fact['query'].split())}"


def _abbreviations_text(state: WorkingMemory) -> list[str]:
    """The known abbreviations in the question or in the facts."""
    texts = " ".join([state["question"], *(fact["text"] for fact in state["facts"])])
    known = state["abbreviations"].items()
    found = [
        f"{short}: {long}" for short, long in known if re.search(rf"\b{re.escape(short)}\b", texts)
    ]
    return ["Abbreviations:\n" + "\n".join(found)] if found else []


def plan_text(plan: list[str]) -> str:
    """The plan as numbered lines."""
    return "\n".join(f"{number}. {step}" for number, step in enumerate(plan, start=1))


def _distinct_turns(turns: list[Turn]) -> list[Turn]:
    seen: set[tuple[str, str]] = set()
    thought: set[str] = set()
    kept: list[Turn] = []
    for turn in turns:
        kind = (turn["tool"], normalise(turn["input"]))
        if kind not in seen or turn["facts"]:  # a repeated search may have found more
            kept.append({**turn, "thought": "" if turn["thought"] in thought else turn["thought"]})
        seen.add(kind)
        thought.add(turn["thought"])
    return kept


def _turn_text(turn: Turn, state: WorkingMemory, limit: int | None) -> str:
    lines = [f"Thought: {turn['thought']}"] if turn["thought"] else []
    lines.append(f"{turn['tool']}: {turn['input']}")
    lines += [_fact_or_reference(state["facts"][number - 1], state) for number in turn["facts"]]
    if turn["problem"]:
        lines.append(f"Problem: {turn['problem']}")
    return _join_lines(lines, limit)


def _fact_or_reference(fact: Fact, state: WorkingMemory) -> str:
    """A fact, or a reference to an earlier fact with the same page of an environment."""
    for earlier in state["facts"][: fact["number"] - 1]:
        if (earlier["source"], earlier["text"]) == ("environment", fact["text"]):
            same_page = f"the same as fact [{earlier['number']}]"
            if len(same_page) < len(fact["text"]):
                return fact_text({**fact, "text": same_page})
    return fact_text(fact)


def _earlier_fact_text(fact: Fact, limit: int | None) -> str:
    """A fact of an earlier question, with its query."""
    return _join_lines([f"{fact['source']}: {fact['query']}", fact_text(fact)], limit)


def _join_lines(lines: Sequence[str], limit: int | None) -> str:
    return "\n".join(
        line if limit is None or len(line) <= limit else f"{shorten(line, limit)} (shortened)"
        for line in lines
    )


def tools_text(tools: Sequence[Tool], state: WorkingMemory, context: Context) -> str:
    """The description of each tool and its input."""
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


def insert_bound_tools(tools: Sequence[Tool], state: WorkingMemory) -> tuple[Tool, ...]:
    """Replace ``bound_tool`` by the tools that this run binds."""
    bound = tuple(name for name in state["languages"] if name not in OWN_TOOLS)
    return tuple(one for tool in tools for one in (bound if tool == BOUND_TOOL else (tool,)))


def fill_prompt(prompt: str, state: WorkingMemory, **values: str) -> str:
    """Fill a role's prompt; ``{{kinds}}`` names the steps that the connected sources allow."""
    template = load(prompt)
    kinds = {"kinds": _step_kinds_text(state)} if "kinds" in template.placeholders else {}
    return template.fill(**values, **kinds)


def _step_kinds_text(state: WorkingMemory) -> str:
    """The kinds of step, in words; it names only connected sources."""
    connected = state["languages"]
    names = ["documents"] if "documents" in connected else []
    names += ["query"] if {"sql", "cypher"} & connected.keys() else []
    *first, last = [load(f"steps/{name}").fill() for name in [*names, "calculation"]]
    return f"{', '.join(first)} or {last}" if first else last
