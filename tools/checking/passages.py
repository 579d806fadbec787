"""Compares claims with the words of documents: names, numbers with units, and clauses."""

import re

from planweave.tools.checking.units import (
    find_foreign_unit,
    find_units,
    find_units_at,
    may_share_unit,
)
from planweave.tools.checking.words import (
    NUMBER,
    count_negations,
    find_numbers,
    find_superlatives,
    root,
    roots,
    tokens,
    word_set,
)
from planweave.tools.documents.quotes import is_worded_like, missing_numbers, write_in_digits

_CLAUSE = re.compile(
    r"[;:]\s|,\s(?!\d)|[.!?]\s+(?=[\"'(\[*A-ZÀ-Þ0-9])|\s(?:while|whereas|but)\s|\n+"
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[\"'(\[*A-ZÀ-Þ0-9])|\n+")
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d")
_NAME = re.compile(r"(?<![\w'-])([^\W\d_][\w'-]*[\w])")
_AND = re.compile(r"\s(?:and|or|to)\s")
_AMOUNT_SUFFIX = re.compile(
    r"\s?(?:million|billion|thousand)\b|\s?(?:percentage|%)[\s-]points?", re.IGNORECASE
)
"""A word after a number that changes its amount."""
_PERIOD = re.compile(
    r"[^\d.;,]{0,12}?\b(?:a|per|each|every)\s(hour|day|week|month|quarter|year)\b", re.IGNORECASE
)
_DIRECTION = re.compile(r"\b(by|to)\s(?:about\s)?[$€£]?$", re.IGNORECASE)
_PERCENT = re.compile(r"%|\bper ?cent|\bpct\b", re.IGNORECASE)
_OPPOSITES = tuple(
    (roots(one), roots(other))
    for one, other in (
        (
            "rose rise risen grew grow grown increase climb gain improve",
            "fell fall fallen shrank shrink decrease decline drop lose worsen",
        ),
        ("buy bought buyer purchase", "sell sold seller"),
        ("pay paid", "receive"),
        ("import", "export"),
        ("before", "after"),
        ("minimum", "maximum"),
        ("win won winner", "lose lost loser"),
        ("allow permit", "forbid forbidden prohibit ban"),
        ("include", "exclude"),
    )
)
_SMALL_WORDS = word_set(
    "the a an of in on at to for from by with and or is are was were be been has have had it "
    "its this that these those he she they his her their as not no what which who whom whose "
    "when where how much many does do did must may can should will would shall"
)


def find_clause_problem(decision: str, text: str, question: str) -> str:
    """Why the clause of a text about the question does not give a decision; empty if it does.

    Among several clauses with such a value, the one with most words of the question counts.
    """
    decision, text = write_in_digits(decision), write_in_digits(text)
    if missing := missing_numbers(decision, text):
        return f"{missing} is in no fact that is cited."
    if not find_numbers(decision) and not _has_words(text, decision):
        return "It is not in the fact that is cited."
    unit = _find_wrong_unit(decision, text, question) or find_changed_amount(
        decision, text, question
    )
    if unit:
        return f"The fact does not say {unit}."
    name = find_unknown_name(question, f"{text} {decision}") or find_misplaced_name(question, text)
    if name:
        return f"No cited fact says it of {name}."
    if count_negations(question) == 0 and _is_denied(decision, text):
        return "The fact denies something there."
    return _find_other_clause(decision, text, question)


def find_wrong_clause(claim: str, text: str) -> str:
    """Why the numbers of a claim belong to another clause; empty if they do not."""
    for clause in _clauses(claim):
        found = list(re.finditer(NUMBER, clause))
        for match in found:
            units = find_units_at(clause, *match.span())
            if len(found) > 1 and not units and _YEAR.fullmatch(match[0]):
                continue  # a date, not an amount
            value = f"{match[0]} {' '.join(units)}"
            if problem := _find_other_clause(value, text, clause.replace(match[0], " ")):
                return problem
    return ""


def is_negated_differently(claim: str, text: str) -> bool:
    """Whether only one of a claim and the nearest sentence of a text is a denial."""
    best = max(_SENTENCE.split(text), key=lambda one: _share(_content(claim), _content(one)))
    return (count_negations(claim) > 0) != (count_negations(best) > 0)


def is_opposite(claim: str, text: str) -> bool:
    """Whether a claim says the opposite of the nearest sentence, as "rose" for "fell"."""
    words = roots(claim)
    about = words.difference(*(side for pair in _OPPOSITES for side in pair))
    best = max(_SENTENCE.split(text), key=lambda one: _share(about, _content(one)))
    found = roots(best)
    return any(
        words & own and words.isdisjoint(rival) and found & rival and found.isdisjoint(own)
        for pair in _OPPOSITES
        for own, rival in (pair, pair[::-1])
    )


def find_misplaced_name(claim: str, text: str) -> str:
    """A name of a claim that is in the text, but not beside the rest; empty if there is none.

    If the nearest sentences have no name at all, they may be about any.
    """
    parts = _SENTENCE.split(text)
    names = {root(w) for part in parts for name in _capitalised_words(part) for w in tokens(name)}
    own = [name for name in _NAME.findall(claim) if name[0].isupper() and root(name) in names]
    about = _content(claim) - names
    shares = [(_share(about, _content(part)), part) for part in parts]
    best = max(share for share, _ in shares)
    nearest = [roots(part) & names for share, part in shares if share == best]
    mine = {root(name) for name in own}
    is_there = any(not named or named & mine for named in nearest)
    return own[0] if own and best and not is_there else ""


def _capitalised_words(sentence: str) -> list[str]:
    """The capitalised words of a sentence, without its first word."""
    return [name for name in _NAME.findall(sentence)[1:] if name[0].isupper()]


def find_changed_amount(claim: str, text: str, question: str) -> str:
    """A number that a text has in millions, per month or after "to", unlike the claim; or empty."""
    for match in re.finditer(NUMBER, claim):
        matches = [
            one for one in re.finditer(NUMBER, text) if not missing_numbers(match[0], one[0])
        ]
        if not matches:
            continue
        own, others = _amount_suffix(match, claim), {_amount_suffix(one, text) for one in matches}
        if own not in others and not (own or any(one in question for one in others)):
            return f"{match[0]} without {min(others)}"
        if own not in others and own and own not in question:
            return f"{match[0]} {own}"
        for read in (_period, _direction):
            mine, known = read(match, claim), {read(one, text) for one in matches}
            if mine and mine not in known and "" not in known:
                return f"{mine} for {match[0]}"
    return ""


def _amount_suffix(number: re.Match[str], text: str) -> str:
    found = _AMOUNT_SUFFIX.match(text, number.end())
    return " ".join(tokens(found[0])) if found else ""


def _period(number: re.Match[str], text: str) -> str:
    found = _PERIOD.match(text, number.end())
    return f"a {found[1].lower()}" if found else ""


def _direction(number: re.Match[str], text: str) -> str:
    found = _DIRECTION.search(text, 0, number.start())
    return f'"{found[1].lower()}"' if found else ""


def find_unknown_name(text: str, known_text: str) -> str:
    """The first name of a text that is not in ``known_text``; first words do not count as names."""
    known = {root(word) for word in tokens(known_text)}
    for found in _NAME.finditer(text):
        if not found[1][0].isupper():
            continue
        before = text[: found.start()].rstrip()
        is_opening = not before or before[-1] in ".!?:\"'(*"
        if re.search(r"\d", found[1]) and not is_opening:
            if not re.search(rf"(?<![\w-]){re.escape(found[1])}(?![\w-])", known_text, re.I):
                return found[1]
            continue
        words = [w for w in tokens(found[1]) if not w[0].isdigit()]
        if is_opening or not words or all(w in _SMALL_WORDS for w in words):
            continue
        if find_superlatives(found[1]) or not {root(w) for w in words}.isdisjoint(known):
            continue
        return found[1]
    return ""


def _find_wrong_unit(claim: str, text: str, question: str) -> str:
    """A unit of ``claim`` that the text does not have beside the same number."""
    own = find_units(claim)
    if not own:
        return find_foreign_unit(claim, f"{text} {question}") if find_numbers(claim) else ""
    surroundings = " ".join(
        text[max(0, match.start() - 12) : match.end() + 16]
        for match in re.finditer(NUMBER, text)
        if any(not missing_numbers(number, match[0]) for number in re.findall(NUMBER, claim))
    )
    if surroundings and any(map(_PERCENT.match, own)) and not _PERCENT.search(surroundings):
        return own[0]
    return find_foreign_unit(" ".join(own), f"{surroundings} {question}")


def find_changed_unit(claim: str, text: str, question: str) -> str:
    """A unit of a claim that the text does not have beside the same number; empty if all agree."""
    claim, text = write_in_digits(claim), write_in_digits(text)
    for match in re.finditer(NUMBER, claim):
        own = find_units_at(claim, *match.span())
        if own and (unit := _find_wrong_unit(f"{match[0]} {' '.join(own)}", text, question)):
            return unit
    return ""


def _has_words(text: str, words: str) -> bool:
    plain, wanted = " ".join(tokens(text)), " ".join(tokens(words))
    if wanted and f" {wanted} " in f" {plain} ":
        return True
    return (
        len(tokens(words)) > 3
        and is_worded_like(words, text)
        and not find_unknown_name(f". {words}", text)
    )


def _is_denied(decision: str, text: str) -> bool:
    clauses = [clause for clause in _clauses(text) if _has_value(clause, decision)]
    return bool(clauses) and all(count_negations(clause) > 0 for clause in clauses)


def _find_other_clause(value: str, text: str, about: str) -> str:
    """Why a value is in a clause that is not about ``about``; empty if it is."""
    numeric = bool(re.search(NUMBER, value))
    topic = _content(about)
    scores: list[tuple[tuple[float, int], bool]] = []
    for clause in _clauses(text):
        holds = _has_value(clause, value)
        if not holds and bool(re.search(NUMBER, clause)) != numeric:
            continue
        if not holds and not may_share_unit(value, clause):
            continue  # an amount of another kind is no alternative
        named = (name for name in _NAME.findall(clause) if name[0].isupper())
        names = {root(w) for name in named for w in tokens(name)}
        words = _content(clause) - (names - topic if not numeric else set())
        words -= _content(value)
        scores.append(((_share(words, topic), len(words & topic)), holds))
    right = max((score for score, holds in scores if holds), default=None)
    wrong = max((score for score, holds in scores if not holds), default=(-1.0, 0))
    if right is not None and wrong > right:
        return "In the fact that is cited, it belongs to something else."
    return ""


def _has_value(clause: str, value: str) -> bool:
    if re.search(NUMBER, value):
        return not missing_numbers(value, clause)
    return _has_words(clause, value)


def _clauses(text: str) -> list[str]:
    """The clauses of a text; amounts joined by "and" count as separate clauses."""
    parts = [clause for part in _CLAUSE.split(text) if (clause := part.strip())]
    clauses: list[str] = []
    for part in parts:
        pieces = _AND.split(part)
        is_list_of_amounts = len(pieces) > 1 and all(re.search(NUMBER, piece) for piece in pieces)
        clauses += pieces if is_list_of_amounts else [part]
    return clauses


def _content(text: str) -> frozenset[str]:
    """The words of a text that carry its meaning, including years."""
    return frozenset(
        root(word)
        for word in tokens(text)
        if (not word[0].isdigit() or _YEAR.fullmatch(word)) and word not in _SMALL_WORDS
    )


def _share(words: frozenset[str], others: frozenset[str]) -> float:
    return len(words & others) / len(words) if words else 0.0
