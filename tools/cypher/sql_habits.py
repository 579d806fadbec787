"""SQL in a Cypher query, rewritten: grouping, and sorting in the wrong place.

Small models know SQL better than Cypher. What has one meaning only is rewritten on the tokens; the
rest is left to the engine, whose message the model sees.
"""

import re
from collections.abc import Sequence
from itertools import pairwise

from planweave.tools.cypher.tokens import CypherToken, Tokens, brackets, tokenize

_CLAUSES = frozenset(
    (
        *("MATCH", "OPTIONAL", "UNWIND", "CALL", "WITH", "WHERE", "RETURN"),
        *("ORDER", "SKIP", "LIMIT", "UNION", "GROUP", "HAVING"),
    )
)
_BEFORE_NAMES = (":", ".", "|", "STARTS", "ENDS")
_AGGREGATES = frozenset(("COUNT", "SUM", "AVG", "MIN", "MAX", "COLLECT"))
_NUMBER = "number"
"""What an aggregate is called by which the query filters."""


def without_sql(query: str) -> tuple[str, tuple[str, ...]]:
    """The query without habits of SQL, and what was changed.

    Raises:
        QueryRefused: It cannot be cut into tokens.
    """
    changes = []
    for rewrite in (
        _grouping,
        _loose_direction,
        _hidden_sorting,
    ):
        query, change = rewrite(query)
        if change:
            changes.append(change)
    return query, tuple(changes)


def _grouping(query: str) -> tuple[str, str]:
    """Cypher groups by what is beside an aggregate; HAVING is WITH … WHERE."""
    tokens = tokenize(query)
    group = next((t for t, by in pairwise(tokens) if (t.word, by.word) == ("GROUP", "BY")), None)
    if group is None:
        return query, ""
    change = "Cypher groups by what stands beside an aggregate"
    following = [t for t in clauses(tokens) if t.start > group.start]
    end = following[0].start if following else len(query)
    if not following or following[0].word != "HAVING":
        keys = _keys(query[group.start : end]) if lacks_return(query) else ""
        shown = f"RETURN {keys} " if keys else ""
        return f"{query[: group.start]}{shown}{query[end:]}".strip(), change
    having = following[0].start + len("HAVING")
    stop = following[1].start if len(following) > 1 else len(query)
    condition, rest = query[having:stop].strip(), query[stop:]
    returned = next((t for t in tokens if t.word == "RETURN" and t.start < group.start), None)
    if returned is not None:
        return _filtered(query, returned, group, condition, rest), change
    keys = _keys(query[group.start : following[0].start])
    aggregate = _aggregate(condition)
    if not keys or not aggregate:
        return query, ""
    keys = ", ".join(dict.fromkeys(key.strip().partition(".")[0] for key in keys.split(",")))
    test, rest = condition.replace(aggregate, _NUMBER), rest.replace(aggregate, _NUMBER)
    if _aggregate(rest):  # it would add up what WITH leaves
        return query, ""
    head = f"{query[: group.start]}WITH {keys}, {aggregate} AS {_NUMBER} WHERE {test} "
    return head + rest, change


def _keys(grouping: str) -> str:
    """What stands behind GROUP BY; empty where a reply ends with it."""
    return "".join(grouping.split(None, 2)[2:]).strip()


def _filtered(
    query: str, returned: CypherToken, group: CypherToken, condition: str, rest: str
) -> str:
    """``RETURN a, count(b) AS n GROUP BY a HAVING n > 1`` with WITH and WHERE."""
    named = _named(items(query[returned.start + len("RETURN") : group.start]))
    for text, name in named:
        whole = re.compile(rf"(?<![\w`.]){re.escape(text)}(?![\w`])")
        new = name.replace("\\", r"\\")
        condition, rest = whole.sub(new, condition), whole.sub(new, rest)
    listed = ", ".join(f"{text} AS {name}" for text, name in named)
    names = ", ".join(name for _, name in named)
    return f"{query[: returned.start]}WITH {listed} WHERE {condition} RETURN {names} {rest}".strip()


def _named(shown: Sequence[str]) -> list[tuple[str, str]]:
    """Each item of a list, and the name that it has or gets."""
    named = []
    for item in shown:
        own = item if item.isidentifier() else f"`{item}`"
        text, _, name = item.rpartition(" AS ") if " AS " in item else (item, "", own)
        named.append((text.strip(), name.strip()))
    return named


def _loose_direction(query: str) -> tuple[str, str]:
    """``RETURN p.born DESC LIMIT 3`` lacks its ORDER BY."""
    tokens = tokenize(query)
    words = [token.word for token in clauses(tokens)]
    if "ORDER" in words or "RETURN" not in words:
        return query, ""
    direction = next((t for t in tokens if t.word in ("DESC", "ASC")), None)
    if direction is None:
        return query, ""
    start = clauses(tokens)[words.index("RETURN")]
    if direction.start < start.start:
        return query, ""
    item = items(query[start.start + len("RETURN") : direction.start])[-1]
    key = item.rpartition(" AS ")[2].strip()
    return (
        f"{query[: direction.start]}ORDER BY {key} {query[direction.start :]}",
        "sorts by the last",
    )


def _hidden_sorting(query: str) -> tuple[str, str]:
    """``RETURN p.name ORDER BY count(*)``: Cypher sorts by an aggregate that is returned."""
    words = clauses(tokenize(query))
    place = next((at for at, one in enumerate(words[:-1]) if one.word == "RETURN"), -1)
    if place < 0 or words[place + 1].word != "ORDER":
        return query, ""
    start, order = words[place].start, words[place + 1].start
    end = words[place + 2].start if place + 2 < len(words) else len(query)
    aggregate = _aggregate(query[order:end])
    if not aggregate or _aggregate(query[start:order]):
        return query, ""
    shown = f"{query[start:order].rstrip()}, {aggregate} AS {_NUMBER} "
    sorting = query[order:end].replace(aggregate, _NUMBER)
    return f"{query[:start]}{shown}{sorting}{query[end:]}", f"returns {aggregate}"


def _aggregate(text: str) -> str:
    """The first call of an aggregate."""
    tokens = tokenize(text)
    for opening, closing in sorted(brackets(tokens).closing.items()):
        called = tokens[opening - 1] if opening else None
        if called and called.word in _AGGREGATES and tokens[opening].text == "(":
            return text[called.start : tokens[closing].end]
    return ""


def items(text: str) -> list[str]:
    """What a list of expressions holds, by its outer commas."""
    depth, start, found = 0, 0, []
    for token in tokenize(text):
        depth += (token.text in ("(", "[", "{")) - (token.text in (")", "]", "}"))
        if token.text == "," and depth == 0:
            found.append(text[start : token.start].strip())
            start = token.start + 1
    return [*found, text[start:].strip()]


def clauses(tokens: Tokens) -> list[CypherToken]:
    """The words that begin a clause, and no label, property or operator of such a name."""
    found = []
    for at, token in enumerate(tokens):
        before = (tokens[at - 1].identifier.upper() or tokens[at - 1].text) if at else ""
        after = tokens[at + 1].word if at + 1 < len(tokens) else ""
        is_begun = token.word not in ("ORDER", "GROUP") or after == "BY"
        if token.word in _CLAUSES and before not in _BEFORE_NAMES and is_begun:
            found.append(token)
    return found


def lacks_return(query: str) -> bool:
    """Whether a query returns nothing; some engines then show what they matched.

    Raises:
        QueryRefused: It cannot be cut into tokens.
    """
    words = [token.word for token in clauses(tokenize(query))]
    return bool(words) and "RETURN" not in words
