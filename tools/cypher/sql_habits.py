"""Rewrite SQL in a Cypher query: grouping, and sorting in the wrong place.

Small models know SQL better than Cypher. Only unambiguous parts are rewritten; for the rest the
model gets the engine's message.
"""

import re
from collections.abc import Sequence
from itertools import pairwise

from planweave.tools.cypher.tokens import (
    CypherToken,
    find_brackets,
    find_clauses,
    lacks_return,
    split_items,
    tokenize,
)

_AGGREGATES = frozenset(("COUNT", "SUM", "AVG", "MIN", "MAX", "COLLECT"))
_ALIAS = "number"
"""The name of an aggregate by which the query filters or sorts."""


def rewrite_sql(query: str) -> tuple[str, tuple[str, ...]]:
    """The query without habits of SQL, and the changes.

    Raises:
        QueryRefused: It cannot be split into tokens.
    """
    changes = []
    for rewrite in (_rewrite_group_by, _add_order_by, _return_sorted_aggregate):
        query, change = rewrite(query)
        if change:
            changes.append(change)
    return query, tuple(changes)


def _rewrite_group_by(query: str) -> tuple[str, str]:
    """Remove GROUP BY, since Cypher groups by the other items; HAVING becomes WITH … WHERE."""
    tokens = tokenize(query)
    group = next((t for t, by in pairwise(tokens) if (t.word, by.word) == ("GROUP", "BY")), None)
    if group is None:
        return query, ""
    change = "Cypher groups by what stands beside an aggregate"
    following = [clause for clause in find_clauses(tokens) if clause.start > group.start]
    ends = [*(clause.start for clause in following), len(query), len(query)]
    keys = "".join(query[group.start : ends[0]].split(None, 2)[2:]).strip()
    head = query[: group.start]
    if not following or following[0].word != "HAVING":
        returned = f"RETURN {keys} " if keys and lacks_return(query) else ""
        return f"{head}{returned}{query[ends[0] :]}".strip(), change
    condition, rest = query[ends[0] + len("HAVING") : ends[1]].strip(), query[ends[1] :]
    returns = next((t for t in tokens if t.word == "RETURN" and t.start < group.start), None)
    if returns is not None:
        return _filter_returned(query, returns, group, condition, rest), change
    aggregate = _first_aggregate(condition)
    if not keys or not aggregate:
        return query, ""
    keys = ", ".join(dict.fromkeys(key.strip().partition(".")[0] for key in keys.split(",")))
    test, rest = condition.replace(aggregate, _ALIAS), rest.replace(aggregate, _ALIAS)
    if _first_aggregate(rest):  # it would aggregate the rows of WITH
        return query, ""
    return f"{head}WITH {keys}, {aggregate} AS {_ALIAS} WHERE {test} {rest}", change


def _filter_returned(
    query: str, returns: CypherToken, group: CypherToken, condition: str, rest: str
) -> str:
    """Write ``RETURN a, count(b) AS n GROUP BY a HAVING n > 1`` with WITH and WHERE."""
    named = _name_items(split_items(query[returns.end : group.start]))
    for text, name in named:
        whole = re.compile(rf"(?<![\w`.]){re.escape(text)}(?![\w`])")
        new = name.replace("\\", r"\\")
        condition, rest = whole.sub(new, condition), whole.sub(new, rest)
    listed = ", ".join(f"{text} AS {name}" for text, name in named)
    names = ", ".join(name for _, name in named)
    return f"{query[: returns.start]}WITH {listed} WHERE {condition} RETURN {names} {rest}".strip()


def _name_items(items: Sequence[str]) -> list[tuple[str, str]]:
    """The text and the name of each item; an item without a name gets its text as name."""
    named = []
    for item in items:
        own = item if item.isidentifier() else f"`{item}`"
        text, _, name = item.rpartition(" AS ") if " AS " in item else (item, "", own)
        named.append((text.strip(), name.strip()))
    return named


def _add_order_by(query: str) -> tuple[str, str]:
    """Add the ORDER BY that ``RETURN p.born DESC LIMIT 3`` lacks."""
    tokens = tokenize(query)
    clauses = find_clauses(tokens)
    returns = next((clause for clause in clauses if clause.word == "RETURN"), None)
    direction = next((token for token in tokens if token.word in ("DESC", "ASC")), None)
    if returns is None or direction is None or direction.start < returns.start:
        return query, ""
    if any(clause.word == "ORDER" for clause in clauses):
        return query, ""
    item = split_items(query[returns.end : direction.start])[-1]
    key = item.rpartition(" AS ")[2].strip()
    sorting = f"ORDER BY {key} {query[direction.start :]}"
    return f"{query[: direction.start]}{sorting}", "sorts by the last"


def _return_sorted_aggregate(query: str) -> tuple[str, str]:
    """Return the aggregate of ``RETURN p.name ORDER BY count(*)``: Cypher requires that."""
    clauses = find_clauses(tokenize(query))
    place = next((at for at, one in enumerate(clauses[:-1]) if one.word == "RETURN"), -1)
    if place < 0 or clauses[place + 1].word != "ORDER":
        return query, ""
    start, order = clauses[place].start, clauses[place + 1].start
    end = clauses[place + 2].start if place + 2 < len(clauses) else len(query)
    aggregate = _first_aggregate(query[order:end])
    if not aggregate or _first_aggregate(query[start:order]):
        return query, ""
    returned = f"{query[start:order].rstrip()}, {aggregate} AS {_ALIAS} "
    sorting = query[order:end].replace(aggregate, _ALIAS)
    return f"{query[:start]}{returned}{sorting}{query[end:]}", f"returns {aggregate}"


def _first_aggregate(text: str) -> str:
    """The first call of an aggregate; empty without one."""
    tokens = tokenize(text)
    for opening, closing in sorted(find_brackets(tokens).closing.items()):
        function = tokens[opening - 1] if opening else None
        if function and function.word in _AGGREGATES and tokens[opening].text == "(":
            return text[function.start : tokens[closing].end]
    return ""
