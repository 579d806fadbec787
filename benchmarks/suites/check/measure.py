"""Precision and recall of the check of decisions, sentences, rankings and rows."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from planweave.benchmarks.core.metrics import Estimate, group_by, rate
from planweave.benchmarks.core.table import ReportTable, Rows, table_of_rows
from planweave.benchmarks.suites.check.pairs import Pair, query_fact, quote_fact
from planweave.memory import Fact
from planweave.tools.checking import check_decision, judge

NAME = "check"


class Checked(NamedTuple):
    """A pair, whether the check passes it as supported, and the reason."""

    pair: Pair
    passed: bool
    reason: str

    @property
    def wrong(self) -> bool:
        """Whether the check and the label differ."""
        return self.passed != self.pair.supported


def check_pairs(pairs: Iterable[Pair]) -> list[Checked]:
    """Check each pair."""
    return [_check_pair(pair) for pair in pairs]


def _check_pair(pair: Pair) -> Checked:
    if pair.kind == "decision":
        found = check_decision(pair.text, pair.facts, question=pair.question, rules=pair.rules)
        return Checked(pair, found.kind == "supported", found.reason)
    judged = judge(pair.text, pair.facts, question=pair.question, rules=pair.rules)
    return Checked(pair, judged.truth is True, judged.reason)


def precision(found: Sequence[Checked]) -> Estimate | None:
    """The share of the passed pairs that are right."""
    return rate([one.pair.supported for one in found if one.passed])


def recall(found: Sequence[Checked]) -> Estimate | None:
    """The share of the right pairs that pass."""
    return rate([one.passed for one in found if one.pair.supported])


def check_tables(found: Sequence[Checked]) -> list[ReportTable]:
    """Precision and recall by kind, and passed pairs by case."""
    return [_by_kind(found), _by_case(found)]


@table_of_rows(
    "Check of decisions, sentences, rankings and rows",
    "kind | pairs | precision | recall | wrong ones passed",
    note="Precision: of what passes as supported, the share that is. Recall: of what is "
    "supported, the share that passes. 95 % intervals; each pair counts once.",
)
def _by_kind(found: Sequence[Checked]) -> Rows:
    for kind, own in sorted(group_by(found, lambda one: one.pair.kind).items()):
        wrong = sum(one.passed and not one.pair.supported for one in own)
        yield kind, len(own), precision(own), recall(own), wrong


@table_of_rows("Case by case", "kind | case | label | pairs | passed")
def _by_case(found: Sequence[Checked]) -> Rows:
    cases = group_by(found, lambda one: (one.pair.kind, not one.pair.supported, one.pair.case))
    for (kind, wrong, case), own in sorted(cases.items()):
        label = "not supported" if wrong else "supported"
        yield kind, case, label, len(own), sum(one.passed for one in own)


_FILE = Path(__file__).with_name("check_pack.json")


def load_pack() -> list[Pair]:
    """Load the pairs written by hand."""
    read = json.loads(_FILE.read_text(encoding="utf-8"))
    facts = {name: _parse_fact(given) for name, given in read["facts"].items()}
    return [
        Pair(**{"rules": "", **given, "facts": tuple(facts[name] for name in given["facts"])})
        for given in read["pairs"]
    ]


def _parse_fact(given: Mapping[str, Any]) -> Fact:
    if "quote" in given:
        return quote_fact(1, given["quote"])
    if "columns" in given:
        return query_fact(given["number"], given["columns"], given["rows"], given["query"])
    expression, _, result = given["calculation"].rpartition(" = ")
    return Fact(
        number=given["number"],
        text=given["calculation"],
        values={"value": float(result.split()[0])},
        source="calculator",
        query=expression,
        quote=None,
    )
