"""Facts with decisions and sentences about them, written by hand in other words than the drawn."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from planweave.benchmarks.suites.check.pairs import Pair, fact, quoted
from planweave.memory import Fact

_FILE = Path(__file__).with_name("check_pack.json")


def pack() -> list[Pair]:
    """The pairs that were written by hand."""
    read = json.loads(_FILE.read_text(encoding="utf-8"))
    facts = {name: _fact(given) for name, given in read["facts"].items()}
    return [
        Pair(**{"rules": "", **given, "facts": tuple(facts[name] for name in given["facts"])})
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
