"""SQL in a Cypher query, rewritten: BETWEEN, grouping, and sorting in the wrong place.

Small models know SQL better than Cypher. What has one meaning only is rewritten on the tokens; the
rest is left to the engine, whose message the model sees.
"""

import re
from collections.abc import Sequence
from itertools import pairwise

from planweave.tools.cypher.tokens import CypherToken, brackets, tokenize

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
        _between,
        _grouping,
        _late_condition,
        _early_sorting,
        _inner_match,
        _loose_direction,
        _hidden_sorting,
        _last,
        _repeated,
    ):
        query, change = rewrite(query)
        if change:
            changes.append(change)
    return query, tuple(changes)


def _between(query: str) -> tuple[str, str]:
    """``m.year BETWEEN 1 AND 2`` is ``1 <= m.year <= 2``."""
    tokens = tokenize(query)
    for at, token in enumerate(tokens):
        part = tokens[at + 1 : at + 4]
        if token.word != "BETWEEN" or at < 3 or len(part) < 3 or part[1].word != "AND":
            continue
        first, last = tokens[at - 3], part[2]
        written = query[first.start : token.start].strip()
        bounds = f"({written} >= {part[0].text} AND {written} <= {last.text})"
        rest = query[last.end :]
        return _between(query[: first.start] + bounds + rest)[0], "BETWEEN is two comparisons"
    return query, ""


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
        return f"{query[: group.start]}{query[end:]}".strip(), change
    having = following[0].start + len("HAVING")
    stop = following[1].start if len(following) > 1 else len(query)
    condition, rest = query[having:stop].strip(), query[stop:]
    returned = next((t for t in tokens if t.word == "RETURN" and t.start < group.start), None)
    if returned is not None:
        return _filtered(query, returned, group, condition, rest), change
    keys = query[group.start : following[0].start].split(None, 2)[2].strip()
    aggregate = _aggregate(condition)
    if not aggregate:
        return query, ""
    keys = ", ".join(dict.fromkeys(key.strip().partition(".")[0] for key in keys.split(",")))
    test, rest = condition.replace(aggregate, _NUMBER), rest.replace(aggregate, _NUMBER)
    moved, rest = _moved_aggregates(rest)
    head = f"{query[: group.start]}WITH {keys}, {aggregate} AS {_NUMBER}{moved} WHERE {test} "
    return head + rest, change


def _moved_aggregates(rest: str) -> tuple[str, str]:
    """What RETURN adds up of the rows before WITH, as items of WITH, and the rest without that."""
    words = clauses(tokenize(rest))
    if not words or words[0].word != "RETURN":
        return "", rest
    start, end = words[0].end, words[1].start if len(words) > 1 else len(rest)
    named = _named(items(rest[start:end]))
    moved = "".join(f", {text} AS {name}" for text, name in named if _aggregate(text))
    if not moved:
        return "", rest
    kept = [name if _aggregate(text) else f"{text} AS {name}" for text, name in named]
    return moved, f"RETURN {', '.join(kept)} {rest[end:]}"


def _late_condition(query: str) -> tuple[str, str]:
    """``RETURN a WHERE a.x > 1``: the condition goes before RETURN, one on an aggregate to WITH."""
    words = clauses(tokenize(query))
    pair = next((p for p in pairwise(words) if [t.word for t in p] == ["RETURN", "WHERE"]), None)
    if pair is None:
        return query, ""
    returned, where = pair
    following = [token for token in words if token.start > where.start]
    end = following[0].start if following else len(query)
    condition, rest = query[where.end : end].strip(), query[end:]
    if _aggregate(condition):
        return _filtered(query, returned, where, condition, rest), "filters by WITH"
    if "WHERE" in [token.word for token in words if token.start < returned.start]:
        return query, ""
    head, shown = query[: returned.start], query[returned.start : where.start]
    return f"{head}WHERE {condition} {shown}{rest}".strip(), "WHERE goes before RETURN"


def _early_sorting(query: str) -> tuple[str, str]:
    """``ORDER BY count(*) DESC LIMIT 1 RETURN p.name``: a sum is sorted by behind RETURN."""
    words = clauses(tokenize(query))
    place = next((at for at, one in enumerate(words) if one.word == "RETURN"), -1)
    sorting = [one for one in words[:place] if one.word in ("ORDER", "SKIP", "LIMIT")]
    if place < 0 or not sorting or [*words[place - len(sorting) : place]] != sorting:
        return query, ""
    start, returned = sorting[0].start, words[place].start
    if not _aggregate(query[start:returned]) or place + 1 < len(words):
        return query, ""
    moved = f"{query[:start]}{query[returned:].rstrip()} {query[start:returned].rstrip()}"
    return moved, "sorts behind RETURN"


def _inner_match(query: str) -> tuple[str, str]:
    """``WHERE p IN (MATCH (p)-[:WROTE]->(m) RETURN m)`` is a second pattern to match."""
    tokens = tokenize(query)
    closing = brackets(tokens).closing
    for at, token in enumerate(tokens[:-4]):
        opening = at + 3
        words = [one.word for one in tokens[at : opening + 2]]
        if words[0] != "WHERE" or words[2] != "IN" or words[4] != "MATCH" or opening not in closing:
            continue
        end = closing[opening]
        after = tokens[end + 1].word if end + 1 < len(tokens) else ""
        if tokens[end - 2].word != "RETURN" or after not in ("RETURN", "WITH", "AND"):
            continue
        pattern = query[tokens[opening + 1].start : tokens[end - 2].start]
        rest = query[tokens[end].end :].lstrip()
        rest = f"WHERE {rest[3:].lstrip()}" if after == "AND" else rest
        return f"{query[: token.start]}{pattern}{rest}", "matches one pattern after another"
    return query, ""


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


def _last(query: str) -> tuple[str, str]:
    """A query that ends with WITH … ORDER BY means to return that."""
    words = clauses(tokenize(query))
    if any(token.word == "RETURN" for token in words):
        return query, ""
    rest = [token for token in words if token.word not in ("ORDER", "SKIP", "LIMIT")]
    if not rest or rest[-1].word != "WITH":
        return query, ""
    start = rest[-1].start
    return f"{query[:start]}RETURN{query[start + len('WITH') :]}", "returns what it has last"


def _repeated(query: str) -> tuple[str, str]:
    """``RETURN m.title, m.title``: Cypher has each column once."""
    words = clauses(tokenize(query))
    place = next((at for at, one in enumerate(words) if one.word == "RETURN"), -1)
    if place < 0:
        return query, ""
    start = words[place].end
    end = words[place + 1].start if place + 1 < len(words) else len(query)
    shown = items(query[start:end])
    once = [*dict.fromkeys(shown)]
    if len(once) == len(shown):
        return query, ""
    return f"{query[:start]} {', '.join(once)} {query[end:]}".strip(), "each column once"


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


def clauses(tokens: Sequence[CypherToken]) -> list[CypherToken]:
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
