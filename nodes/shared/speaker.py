"""Speaker: writes the answer into the chat, with the sources that it cites."""

import re
from collections.abc import Mapping, Sequence

from langchain_core.messages import AIMessage

from planweave import BadInput
from planweave.memory import Answer, Fact, WorkingMemory
from planweave.nodes.shared.citation_check import CITATION, UNSUPPORTED
from planweave.nodes.support.briefing import source_text
from planweave.nodes.support.verdict import find_warning, other_reading_text
from planweave.tools.result_text import FOR_PEOPLE, table_lines

_MAX_ROWS, _CHARACTERS = 40, 200


def speaker(state: WorkingMemory) -> WorkingMemory:
    """Add the answer to the chat as one message."""
    answer = state["answer"]
    if answer is None:
        raise BadInput("There is no answer to show.", fix="Begin at a node that answers.")
    return {"messages": [AIMessage(_join(_answer_parts(answer, state["facts"])))]}


def complete_streamed(draft: str, answer: Answer, facts: Sequence[Fact]) -> str:
    """The rest of a message whose reasons, in ``draft``, were streamed while they were written.

    A streamed text cannot be changed. So the rest names each sentence for which the check has
    found no source. If the check has changed the text in another way, the whole message follows.
    """
    parts = _answer_parts(answer, facts)
    why = parts.pop("why")
    if why.startswith(draft.strip()):
        return f"{why[len(draft.strip()) :]}\n\n{_join(parts)}".rstrip()
    if _without_marks(why) == _without_marks(draft):
        marks = "\n".join(f"No source for: {sentence}" for sentence in _unsupported_sentences(why))
        return f"\n\nAfter the check:\n\n{_join({'marks': marks, **parts})}".rstrip()
    return f"\n\nAfter the check:\n\n{_join(_answer_parts(answer, facts))}"


def _without_marks(text: str) -> str:
    """A text without the marks of the check and without citations."""
    return re.sub(rf"\s*(?:{re.escape(UNSUPPORTED)}|\[\d+\])", "", text).strip()


def _unsupported_sentences(text: str) -> list[str]:
    before = text.split(UNSUPPORTED)[:-1]
    return [_without_marks(re.split(r"(?<=[.!?])\s+(?!\[)", part.strip())[-1]) for part in before]


def _answer_parts(answer: Answer, facts: Sequence[Fact]) -> dict[str, str]:
    cited = [fact for fact in facts if fact["number"] in answer["facts"]]
    shown = [source_text(fact) for fact in cited if fact["quote"] or "working" in fact]
    return {
        "decision": _rows_text(answer, cited) or _decision_text(answer),
        "warning": f"⚠ {find_warning(answer)}" if find_warning(answer) else "",
        "other": other_reading_text(answer, "`"),
        "why": _reasons_text(answer),
        "unknown": f"Not known: {answer['unknown']}" if answer["unknown"] else "",
        "sources": "\n".join(["Sources:", *shown]) if shown else "",
    }


def _join(parts: Mapping[str, str]) -> str:
    return "\n\n".join(part for part in parts.values() if part)


def _decision_text(answer: Answer) -> str:
    if answer["decision"] and "\n" in answer["decision"]:  # a program, a plan or a longer text
        return answer["decision"]
    if answer["decision"]:
        return f"**{answer['decision']}**"
    return "" if CITATION.search(answer["why"]) else "I cannot decide this."


def _rows_text(answer: Answer, cited: Sequence[Fact]) -> str:
    """The rows of the answer as a table; empty for one row or one column."""
    table = cited[0].get("table") if cited else None
    if table is None or answer.get("basis", {"how": ""})["how"] != "rows":
        return ""
    if len(table["rows"]) < 2 or len(table["columns"]) < 2:
        return ""
    head, *rows = table_lines(table["columns"], table["rows"][:_MAX_ROWS], _CHARACTERS, FOR_PEOPLE)
    left = len(table["rows"]) - _MAX_ROWS
    lines = [head, " | ".join("---" for _ in table["columns"]), *rows]
    text = "\n".join(f"| {line} |" for line in lines)
    return f"{text}\n\n{left} more rows." if left > 0 else text


def _reasons_text(answer: Answer) -> str:
    """The reasons; facts that they do not cite are cited at the end."""
    left = [f"[{n}]" for n in answer["facts"] if f"[{n}]" not in answer["why"]]
    return f"{answer['why']} {''.join(left)}".strip()
