"""The form for a ratio of two counts; small models divide by the wrong one."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from planweave.prompts import load
from planweave.tools import Database
from planweave.tools.linking import parts_of, plain, stem
from planweave.tools.sql import SqlDatabase

_RATIO = re.compile(r"\b(?:ratio|proportion) of (?P<sides>[^.?;]+)", re.IGNORECASE)
_ALL = re.compile(
    r"^(?:the )?(?:total (?:number|count) of|number of all|all)(?: the| of the)? (?P<noun>\w+)\W*$",
    re.I,
)
_NUMBER = re.compile(r"^(?:the )?(?:number|count) of (?:the )?|^the ", re.IGNORECASE)
_AMOUNTS = frozenset({"cost", "expense", "payment", "sale", "spending"})
"""Words that may mean the rows of a table or their sum."""


def ratio_form(question: str, database: Database) -> str:
    """The form for the ratio of two counts that a question asks for; empty if it asks for none.

    "The ratio of papers from 2020 to papers from 2019" counts rows of one table, "of papers to
    authors" those of two, "of papers from 2020 to all papers" is a share. A ratio of two values of
    one row needs no form.
    """
    found = _RATIO.search(question)
    if not found or not isinstance(database, SqlDatabase):
        return ""
    tables = {_singular_name(entity.name): entity.name for entity in database.schema().entities}
    parts = found["sides"].split(" to ")
    whole = _ALL.search(parts[-1])
    if whole and (group := _find_counted(parts[0], tables)) and group.is_bound:
        same = stem(whole["noun"].casefold()) == group.noun
        return load("query_writer/ratio_of_all").fill() if same else ""
    for cut in range(1, len(parts)):
        first = _find_counted(" to ".join(parts[:cut]), tables)
        second = _find_counted(" to ".join(parts[cut:]), tables)
        if not first or not second:
            continue
        if first.noun == second.noun and first.is_bound and second.is_bound:
            return load("query_writer/ratio_of_groups").fill()
        if first.noun != second.noun and not first.is_bound:
            return load("query_writer/ratio_of_tables").fill(
                first=tables[first.noun], second=tables[second.noun]
            )
    return ""


class _Counted(NamedTuple):
    """What one side of a ratio counts, and whether it limits the kind."""

    noun: str
    is_bound: bool


def _find_counted(side: str, tables: Iterable[str]) -> _Counted | None:
    """The rows of a table that a side of a ratio counts; None if it is something else.

    "Core courses" and "courses that have exams" are courses; "the area of all lakes" is an area.
    """
    words = [stem(word) for word in plain(_NUMBER.sub("", side.strip())).split()]
    place = next((i for i, word in enumerate(words) if word in tables), None)
    if (
        place is None
        or words[place] in _AMOUNTS
        or {"of", "all", "its", "their", "each", "per"} & {*words[:place]}
    ):
        return None
    return _Counted(words[place], len(words) > 1)


def _singular_name(table: str) -> str:
    """The name of a row of a table, in the singular."""
    return " ".join(stem(part.casefold()) for part in parts_of(table))
