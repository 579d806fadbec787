"""Speaker: says the answer in the chat, with the sources that it cites."""

import re
from collections.abc import Mapping, Sequence

from langchain_core.messages import AIMessage

from planweave import BadInput
from planweave.memory import Answer, Fact, WorkingMemory
from planweave.nodes.shared.citation_check import CITATION, UNSUPPORTED
from planweave.nodes.support.briefing import source_text
from planweave.nodes.support.verdict import warning
from planweave.tools.result_text import FOR_PEOPLE, table_lines

_ROWS, _LETTERS = 40, 200


def speaker(state: WorkingMemory) -> WorkingMemory:
    """Add the answer to the chat as one message."""
    answer = state["answer"]
    if answer is None:
        raise BadInput("There is no answer to speak.", fix="Begin at a node that answers.")
    return {"messages": [AIMessage(_joined(_parts(answer, state["facts"])))]}


def said_after(draft: str, answer: Answer, facts: Sequence[Fact]) -> str:
    """What is left to say where the reasons, in ``draft``, were said while they were written.

    A text that was sent cannot be taken back: where the check has found no source for a sentence,
    that sentence is named; where it has changed the text otherwise, the message follows again.
    """
    parts = _parts(answer, facts)
    why = parts.pop("why")
    if why.startswith(draft.strip()):
        return f"{why[len(draft.strip()) :]}\n\n{_joined(parts)}".rstrip()
    if _unmarked(why) == _unmarked(draft):
        marks = "\n".join(f"No source for: {sentence}" for sentence in _unsupported(why))
        return f"\n\nAfter the check:\n\n{_joined({'marks': marks, **parts})}".rstrip()
    return f"\n\nAfter the check:\n\n{_joined(_parts(answer, facts))}"


def _unmarked(text: str) -> str:
    """A text without the marks of the check and without citations."""
    return re.sub(rf"\s*(?:{re.escape(UNSUPPORTED)}|\[\d+\])", "", text).strip()


def _unsupported(text: str) -> list[str]:
    """The sentences that the check has marked."""
    before = text.split(UNSUPPORTED)[:-1]
    return [_unmarked(re.split(r"(?<=[.!?])\s+(?!\[)", part.strip())[-1]) for part in before]


def _parts(answer: Answer, facts: Sequence[Fact]) -> dict[str, str]:
    cited = [fact for fact in facts if fact["number"] in answer["facts"]]
    shown = [source_text(fact) for fact in cited if fact["quote"] or "working" in fact]
    return {
        "decision": _rows(answer, cited) or _decision(answer),
        "warning": f"⚠ {warning(answer)}" if warning(answer) else "",
        "why": _why(answer),
        "unknown": f"Not known: {answer['unknown']}" if answer["unknown"] else "",
        "sources": "\n".join(["Sources:", *shown]) if shown else "",
    }


def _joined(parts: Mapping[str, str]) -> str:
    return "\n\n".join(part for part in parts.values() if part)


def _decision(answer: Answer) -> str:
    if answer["decision"] and "\n" in answer["decision"]:  # a program, a plan or a longer text
        return answer["decision"]
    if answer["decision"]:
        return f"**{answer['decision']}**"
    return "" if CITATION.search(answer["why"]) else "I cannot decide this."


def _rows(answer: Answer, cited: Sequence[Fact]) -> str:
    """Rows that are the answer, as a table; nothing for one row or one column."""
    table = cited[0].get("table") if cited else None
    if table is None or answer.get("basis", {"how": ""})["how"] != "rows":
        return ""
    if len(table["rows"]) < 2 or len(table["columns"]) < 2:
        return ""
    head, *rows = table_lines(table["columns"], table["rows"][:_ROWS], _LETTERS, FOR_PEOPLE)
    left = len(table["rows"]) - _ROWS
    lines = [head, " | ".join("---" for _ in table["columns"]), *rows]
    text = "\n".join(f"| {line} |" for line in lines)
    return f"{text}\n\n{left} more rows." if left > 0 else text


def _why(answer: Answer) -> str:
    """The reasons; facts that are not cited in their text are cited at its end."""
    left = [f"[{n}]" for n in answer["facts"] if f"[{n}]" not in answer["why"]]
    return f"{answer['why']} {''.join(left)}".strip()
