"""Facts as the nodes make them, and texts about them that are right or wrong."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from planweave.memory import Fact, Quote, Table, Value
from planweave.tools.checking import follow, judge


class Pair(NamedTuple):
    """A text, the facts that it cites, and whether they support it."""

    kind: Literal["decision", "claim"]
    case: str  # what is right or wrong with it
    text: str
    supported: bool
    facts: tuple[Fact, ...]
    question: str
    rules: str = ""

    @property
    def passes(self) -> bool:
        """Whether the check finds it supported."""
        if self.kind == "claim":
            judged = judge(self.text, self.facts, question=self.question, rules=self.rules)
            return judged.truth is True
        found = follow(self.text, self.facts, question=self.question, rules=self.rules)
        return found.kind == "supported"


def fact(number: int, columns: Sequence[str], rows: Sequence[Sequence[Value]], query: str) -> Fact:
    """A fact as a query node makes it."""
    lines = [" | ".join(columns), *(" | ".join(map(str, row)) for row in rows)]
    return Fact(
        number=number,
        text="\n".join(lines),
        values=dict(zip(columns, rows[0], strict=True)) if len(rows) == 1 else {},
        source="sql",
        query=query,
        quote=None,
        table=Table(columns=list(columns), rows=[list(row) for row in rows], complete=True),
    )


def quoted(number: int, text: str) -> Fact:
    """A fact as the reader makes it, from a page that says ``text``."""
    return Fact(
        number=number,
        text=text,
        values={},
        source="documents",
        query="",
        quote=Quote(document="contract.pdf", page=number, text=text),
    )


def pack() -> list[Pair]:
    """Pairs that were written by hand."""
    read = json.loads(Path(__file__).with_name("check_pack.json").read_text(encoding="utf-8"))
    facts = {name: _fact(given) for name, given in read["facts"].items()}
    return [
        Pair(**{**given, "facts": tuple(facts[name] for name in given["facts"])})
        for given in read["pairs"]
    ]


def _fact(given: Mapping[str, Any]) -> Fact:
    if "quote" in given:
        return quoted(1, given["quote"])
    if "columns" in given:
        return fact(given["number"], given["columns"], given["rows"], given["query"])
    expression, _, result = given["calculation"].rpartition(" = ")
    return Fact(
        number=given["number"],
        text=given["calculation"],
        values={"value": float(result.split()[0])},
        source="calculator",
        query=expression,
        quote=None,
    )
