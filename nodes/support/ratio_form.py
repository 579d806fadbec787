"""Ratios of two counts: a small model divides by the wrong one, so it is given the form."""

import re

from planweave.prompts import load
from planweave.tools import Database
from planweave.tools.linking import parts_of, plain, stem
from planweave.tools.sql import SqlDatabase

_RATIO = re.compile(r"\b(?:ratio|proportion) of (?P<sides>[^.?;]+)", re.IGNORECASE)
_NUMBER = re.compile(r"^(?:the )?(?:number|count) of (?:the )?|^the ", re.IGNORECASE)


def ratio_form(question: str, database: Database) -> str:
    """The form of a ratio of two counts that a question asks for; empty if it asks for none.

    "The ratio of papers from 2020 to papers from 2019" counts rows of one table, "of papers to
    authors" those of two. A ratio of two values of one row needs no form.
    """
    found = _RATIO.search(question)
    if not found or not isinstance(database, SqlDatabase):
        return ""
    tables = {_called(entity.name): entity.name for entity in database.schema().entities}
    parts = found["sides"].split(" to ")
    for cut in range(1, len(parts)):
        first, second = " to ".join(parts[:cut]), " to ".join(parts[cut:])
        (noun, *more), (other, *others) = _words(first), _words(second)
        if noun not in tables or other not in tables:
            continue
        if noun == other and more and others:
            return load("query_writer/ratio_of_groups").fill()
        if noun != other and not more:
            return load("query_writer/ratio_of_tables").fill(
                first=tables[noun], second=tables[other]
            )
    return ""


def _words(side: str) -> list[str]:
    """The words of what is counted, its noun first."""
    return [stem(word) for word in plain(_NUMBER.sub("", side.strip())).split()] or [""]


def _called(table: str) -> str:
    """What the rows of a table are called, in the singular."""
    return " ".join(stem(part.casefold()) for part in parts_of(table))
