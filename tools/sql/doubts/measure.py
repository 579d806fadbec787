"""Checks that a ranking sorts by the measure that the question asks for."""

import re
from collections.abc import Iterator, Sequence

from planweave.tools.checking.words import KINDS, find_superlatives, stem, tokens, word_set
from planweave.tools.sql.doubts.query import RankingQuery
from planweave.tools.sql.doubts.question import SchemaQuestion
from planweave.tools.terms import MONEY, PIECES, Rule, stems

_CLAUSES = re.compile(r"[,:;.?!]\s|\bwhere\b|\bbecause\b|\band should\b", re.I)
_OFTEN = stems(("often", "number", "many", "times", "count"))
_STOP_WORDS = stems(
    word_set(
        "a an the of is are was were which what who whose where one first with its it he has have "
        "had we us our should do does did from by to in on at and or that there this all"
    )
)
_SHOWN = 4


def find_unused_measure(query: RankingQuery, asked: SchemaQuestion) -> Iterator[str]:
    """Find the measure of the question if the value of the query has nothing to do with it."""
    words = _find_measure_words(asked)
    terms = _find_computed_terms(query, asked)
    wanted = [name for name in _find_first_columns(asked, words) if asked.is_amount(name)]
    own = {column.name.lower() for column in query.value_columns}
    if wanted and not own & {*wanted} and not stems(wanted) & terms:
        yield wanted[0]
    elif not _describe_value(words, query, asked, terms):
        yield " ".join([word for word in words if stem(word) not in _STOP_WORDS][:_SHOWN])


def _find_measure_words(asked: SchemaQuestion) -> list[str]:
    """Find the words around the superlative of the question, else of a rule."""
    for text in asked.texts:
        clauses = [c for c in _CLAUSES.split(text) if find_superlatives(c) or " by " in f" {c} "]
        words = [w for clause in clauses for w in tokens(clause) if not find_superlatives(w)]
        if words:
            return words
    return tokens(asked.question)


def _find_first_columns(asked: SchemaQuestion, words: Sequence[str]) -> Iterator[str]:
    """Find the first column of each run of words that name columns."""
    before = ""
    for word in words:
        name = next(asked.find_columns(word), "")
        if name and not before:
            yield name
        before = name


def _describe_value(
    words: Sequence[str], query: RankingQuery, asked: SchemaQuestion, terms: frozenset[str]
) -> bool:
    """Whether words describe the value: its columns, a term of the rules, or what it counts."""
    named = stems(words) - _STOP_WORDS
    own = [word for column in query.value_columns for word in tokens(column.name)]
    if query.subtracts_days():
        own += KINDS["duration"]
        kinds = {kind for one in find_superlatives(asked.text) for _, kind in one.senses}
        if kinds & {"duration", "length"}:
            return True
    counts_pieces = any(stems(tokens(column.name)) <= PIECES for column in query.value_columns)
    if named & (stems(own) | terms) or (named & PIECES and counts_pieces):
        return True
    rows = stems(tokens(query.find_main_table()))
    if query.counts_rows():
        things = "|".join(re.escape(word) for word in words if stem(word) in rows)
        pattern = rf"\b(?:most|fewest|least) (?:\w+ )?(?:{things})\b"
        if things and re.search(pattern, asked.text, re.I):
            return True
    if named & MONEY:
        return "amount" in own or bool(stems(own) & stems(KINDS["cost"] | KINDS["pay"]))
    if query.counts_rows() and named & (_OFTEN | rows):
        return True
    return any(named & stems(kind) and stems(own) & stems(kind) for kind in KINDS.values())


def _find_computed_terms(query: RankingQuery, asked: SchemaQuestion) -> frozenset[str]:
    """Find the words of numeric terms of the rules that the query computes.

    It computes a term if it uses the columns, values or other terms that define it.
    """
    computed: set[Rule] = set()
    terms, before = frozenset[str](), -1
    while len(computed) > before:
        before = len(computed)
        for rule in asked.rules:
            names = {*asked.find_columns(rule.body)}
            values = [value for _, _, value in asked.find_values(rule.body)]
            is_defined = bool(names or values or stems(tokens(rule.body)) & terms)
            has_all = names <= query.column_names and all(map(query.has_text, values))
            if rule.term and is_defined and has_all:
                computed.add(rule)
        terms = stems(word for rule in computed for word in rule.term)
    return stems(word for rule in computed if rule.computes for word in rule.term)
