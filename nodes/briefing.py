"""Working memory as text for a prompt, longest-lived parts first."""

import re
from collections.abc import Callable, Sequence
from functools import partial

from planweave.memory import Context, Exchange, Fact, Turn, WorkingMemory
from planweave.nodes.turns import same
from planweave.prompts import load

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
    told = load("common/memory").fill(
        plan=plan_text(state["plan"]) or "(no plan)",
        work="\n\n".join(work) or "(nothing yet)",
    )
    if not state["history"]:
        return told
    earlier = load("common/earlier").fill(
        conversation=conversation_text(state["history"]),
        facts="\n\n".join(texts[: len(known)]) or "(none)",
    )
    return f"{earlier}\n\n{told}"


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
    """A fact with its number; one from a document with its place, and its value by name."""
    quote, number = fact["quote"], fact["number"]
    if not quote:
        return f"Fact [{number}]: {fact['text']}"
    text = f"Fact [{number}] ({quote['document']}, p. {quote['page']}): {fact['text']}"
    if "value" not in fact["values"]:
        return text
    named = f"f{number} = {fact['values']['value']} {fact['values'].get('unit') or ''}"
    return f"{text} ({named.rstrip()})"


def source_text(fact: Fact) -> str:
    """Where a fact comes from, for people: a page and its words, or a query."""
    if quote := fact["quote"]:
        words = " ".join(quote["text"].split())
        return f'[{fact["number"]}] {quote["document"]}, p. {quote["page"]}: "{words}"'
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
    return "\n".join(line if limit is None else _shorten(line, limit) for line in lines)


def _shorten(line: str, limit: int) -> str:
    return line if len(line) <= limit else f"{line[:limit]} … (shortened)"
