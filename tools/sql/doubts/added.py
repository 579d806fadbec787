"""What a query uses although neither the question nor its rules speak of it."""

import re
from collections.abc import Iterator

from sqlglot import exp

from planweave.tools.checking.words import KINDS, stem, tokens
from planweave.tools.rules import DAY
from planweave.tools.sql.doubts.asked import SchemaQuestion
from planweave.tools.sql.doubts.query import RankingQuery
from planweave.tools.terms import MONEY, PIECES, stems


def added(query: RankingQuery, asked: SchemaQuestion) -> Iterator[str]:
    """Columns of the value and literals that nothing speaks of."""
    said = stems(tokens(asked.said))
    for column in query.valued:
        words = stems(tokens(column.name))
        fine = (
            words & said
            or words <= PIECES
            or (stem("amount") in words and said & MONEY)
            or any(words & stems(kind) and said & stems(kind) for kind in KINDS.values())
        )
        is_plain = column.find_ancestor(exp.Count) is not None or asked.catalogue.is_date(column)
        # Texts that a column is compared with are looked at by themselves.
        is_tested = isinstance(column.parent, exp.EQ | exp.NEQ | exp.In | exp.Is)
        if not (fine or is_plain or is_tested):
            yield column.name
    for literal in query.literals:
        if literal.is_string and not _is_said(query, asked, literal):
            yield literal.name


def _is_said(query: RankingQuery, asked: SchemaQuestion, literal: exp.Literal) -> bool:
    """Whether a text of the query is one that is spoken of, or all others of its column are."""
    text = literal.name
    if not any(sign.isalpha() for sign in re.sub("%[A-Za-z]", "", text)):
        days = {*DAY.findall(asked.question), *(first for _, first in asked.starts())}
        if asked.today:
            days |= {asked.today.isoformat(), str(asked.today.year)}
        behind = asked.today and DAY.fullmatch(text) and text > asked.today.isoformat()
        return text in days or bool(behind) or not re.search(r"\d", text)
    if stems(tokens(text)) & stems(tokens(asked.said)):
        return True
    return any(
        text.casefold() in taken
        for table, column in query.tested()
        if (taken := query.taken(table, column))
        and any(value.casefold() not in taken for _, _, value in asked.spoken(asked.said))
    )
