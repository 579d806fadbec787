"""Whether the value of a ranking is what the question ranks by."""

import re
from collections.abc import Iterator, Sequence

from planweave.tools.checking.words import KINDS, find_superlatives, stem, tokens, word_set
from planweave.tools.sql.doubts.asked import SchemaQuestion
from planweave.tools.sql.doubts.query import RankingQuery
from planweave.tools.terms import MONEY, PIECES, Rule, stems

_CLAUSES = re.compile(r"[,:;.?!]\s|\bwhere\b|\bbecause\b|\band should\b", re.I)
_OFTEN = stems(("often", "number", "many", "times", "count"))
_EMPTY = stems(
    word_set(
        "a an the of is are was were which what who whose where one first with its it he has have "
        "had we us our should do does did from by to in on at and or that there this all"
    )
)
_SHOWN = 4


def unused_measure(query: RankingQuery, asked: SchemaQuestion) -> Iterator[str]:
    """What is ranked by, if the value has nothing to do with it."""
    words = _measure(asked)
    terms = stems(w for r in _carried_out(query, asked) if r.computes for w in r.term)
    wanted = [n for n in _first_columns(asked, words) if asked.is_amount(n)]
    own = {column.name.lower() for column in query.valued}
    if wanted and not own & {*wanted} and not stems(wanted) & terms:
        yield wanted[0]
    elif not _speaks_of_value(query, asked, words, terms):
        yield " ".join([w for w in words if stem(w) not in _EMPTY][:_SHOWN])


def _speaks_of_value(
    query: RankingQuery, asked: SchemaQuestion, words: Sequence[str], terms: frozenset[str]
) -> bool:
    """Whether words are about what the value is: its columns, a rule's term, what it counts."""
    spoken = stems(words) - _EMPTY
    own = [word for column in query.valued for word in tokens(column.name)]
    kinds = {kind for s in find_superlatives(" ".join(asked.texts)) for _, kind in s.senses}
    if query.subtracts_days():
        own += KINDS["duration"]
        if kinds & {"duration", "length"}:
            return True
    pieces = any(stems(tokens(column.name)) <= PIECES for column in query.valued)
    if spoken & (stems(own) | terms) or (spoken & PIECES and pieces):
        return True
    if query.counts_rows() and _is_counted(query, asked, words):
        return True
    if spoken & MONEY:
        return "amount" in own or bool(stems(own) & stems(KINDS["cost"] | KINDS["pay"]))
    if query.counts_rows() and spoken & (_OFTEN | stems(tokens(query.grain()))):
        return True
    return any(spoken & stems(kind) and stems(own) & stems(kind) for kind in KINDS.values())


def _is_counted(query: RankingQuery, asked: SchemaQuestion, words: Sequence[str]) -> bool:
    """Whether "most" is before what the rows are."""
    text = " ".join(asked.texts)
    things = "|".join(
        re.escape(word) for word in words if stem(word) in stems(tokens(query.grain()))
    )
    return (
        bool(things)
        and re.search(rf"\b(?:most|fewest|least) (?:\w+ )?(?:{things})\b", text, re.I) is not None
    )


def _first_columns(asked: SchemaQuestion, words: Sequence[str]) -> Iterator[str]:
    """The first of each run of columns that are named one after the other."""
    before = ""
    for word in words:
        name = next(asked.named(word), "")
        if name and not before:
            yield name
        before = name


def _measure(asked: SchemaQuestion) -> list[str]:
    """The words around what ranks: of the question, else of a rule."""
    for text in asked.texts:
        clauses = [c for c in _CLAUSES.split(text) if find_superlatives(c) or " by " in f" {c} "]
        words = [w for c in clauses for w in tokens(c) if not find_superlatives(w)]
        if words:
            return words
    return tokens(asked.question)


def _carried_out(query: RankingQuery, asked: SchemaQuestion) -> list[Rule]:
    """Rules whose term the query computes."""
    found: list[Rule] = []
    while True:
        terms = stems(word for rule in found for word in rule.term)
        new = [r for r in asked.rules if r not in found and _carries_out(query, asked, r, terms)]
        if not new:
            return found
        found += new


def _carries_out(
    query: RankingQuery, asked: SchemaQuestion, rule: Rule, terms: frozenset[str]
) -> bool:
    """Whether the query uses all that a definition names: columns, values or other terms."""
    names = {*asked.named(rule.body)}
    values = {value.casefold() for _, _, value in asked.spoken(rule.body)}
    says = bool(names or values or stems(tokens(rule.body)) & terms)
    return bool(rule.term) and says and names <= query.used and values <= query.texts
