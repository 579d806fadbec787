"""Decisions as rankings: the model writes the expression for the value, the program the rest.

A small model applies every rule that it reads, forgets to group, sorts the wrong way, and reads
only the first of several rows. So the prompt has only the rules that the question needs, and a
query to fill in: one row for each option, with the value that decides.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

from planweave.prompts import load
from planweave.tools.checking import find_superlatives
from planweave.tools.database import Option
from planweave.tools.rules import NeededRules, find_day, find_periods, select_needed
from planweave.tools.sql import SqlDatabase

_SHARE = re.compile(
    r"\b(?:share|percentage|proportion|fraction)\b|number of [^.]* divided by [^.]*number of", re.I
)
_RANKING = re.compile(r"\b(?:first|next|going by|comes last)\b", re.I)
_MEAN = re.compile(r"\b(?:average|mean)\b", re.I)
_MISSING = re.compile(r"\bmissing (\w+) (?:is|counts as|means) (\d+(?:\.\d+)?)\b", re.I)


class Ranking(NamedTuple):
    """How the options are ranked.

    Attributes:
        missing: By column, the value that the rules give to a missing cell.
    """

    option: Option
    highest: bool
    rules: NeededRules
    missing: Mapping[str, float]


def find_ranking(
    question: str, rules: str, options: tuple[str, ...], database: object
) -> Ranking | None:
    """The ranking that a question asks for; None without one, or if no column has the options.

    Without ``options`` any value may be chosen. Only a relational database can be ranked.
    """
    if not rules.strip() or not isinstance(database, SqlDatabase):
        return None
    option = database.option(options, question)
    if option is None:
        return None
    names = [entity.name for entity in database.schema().entities]
    rules_needed = select_needed(rules, question, names)
    text = " ".join((question, *rules_needed.sentences))
    if not (find_superlatives(text) or _RANKING.search(question)):
        return None
    highest = _is_highest_best(text)
    missing = {column.lower(): float(number) for column, number in _MISSING.findall(rules)}
    return Ranking(option, highest, rules_needed, missing)


def fill_ranking_form(
    question: str, ranking: Ranking, links: str, language: str, present: str = ""
) -> str:
    """The task: the question, the rules that it needs, and the query to fill in.

    ``present`` describes the present if the rules do not.
    """
    option, rules = ranking.option, ranking.rules
    text = " ".join((question, *rules.sentences))
    name = f"{option.table}.{option.column}"
    kind = "share" if _SHARE.search(text) else "mean" if _MEAN.search(text) else "value"
    kind = "value" if option.is_key else kind
    listed = "\n".join(f"- {one}" for one in rules.sentences)
    return load("query_writer/ranking").fill(
        question=question,
        rules=load("query_writer/rules").fill(rules=listed) if listed else "",
        now=_describe_present(rules.present, text) or present,
        links=links,
        name=name,
        value=load(f"query_writer/{kind}").fill(),
        group=f"GROUP BY {name}\n" if not option.is_key else "",
        direction="DESC" if ranking.highest else "ASC",
        language=language,
    )


def _describe_present(present: str, text: str) -> str:
    """The present, and the first day of each period in the text."""
    begun = find_periods(text, find_day(present))
    return present + "".join(f" This {name} is from '{start}' on." for name, start in begun)


def _is_highest_best(text: str) -> bool:
    """Whether the highest value is best, by the first superlative with a direction."""
    for found in find_superlatives(text):
        if found.word in ("best", "worst"):
            return found.word == "best"
        if found.senses:
            return found.senses[0][0] == "highest"
    return True
