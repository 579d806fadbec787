"""Selects the sentences of a rule text that a question needs, as small models apply all they read.

Left out are a definition, a description of the data and an exclusion for something, if neither the
question nor a selected rule mentions it, and the current date, if nothing depends on it.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from typing import NamedTuple

from planweave.tools.checking.words import stem
from planweave.tools.linking import singular
from planweave.tools.suggest import shared_start

_SMALL_WORDS = """
    a an the of is are was were be been it its this that these those to in on at by for from
    with without and or not no if has have had do does did which what who whose where when how
    most least more less than first one we our us you your should would could must may can will
    there here they them he she his her as so because going go take takes took come comes came
    only others other each every any all into up out over s per goes another never longer
    question about unless missing empty
"""
_STOPS = frozenset(_SMALL_WORDS.split())
DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_PERIODS = {"year": "%Y-01-01", "month": "%Y-%m-01"}
_SENTENCES = re.compile(r"(?<=[.!?])\s+(?=[^\W_a-z])|\n+")
_PRESENT = re.compile(r"(?:today|the (?:present|current date)|now) is\b", re.I)
_TIME = re.compile(
    r"\b(today|now|past|years?|months?|weeks?|ago|since|recent\w*|last|yesterday|until|waited)\b",
    re.I,
)
_EXCLUSION = re.compile(
    r"\b(?:not? count|ignored?|excluded?|left out)\b(?: (?:for|from) (?P<of>[^.;]*?))?[.;]?$"
    r"|^Only\b.* counts? for (?P<only>[^.;]*)"
    r"|^Only\b(?:(?!\b(?:who|that|which)\b).)* (?:earns?|gets?|receives?|pays?) (?P<gets>[^.;]*)",
    re.I,
)
_UNLESS = re.compile(r",? unless the question is about (?P<what>[^.;]*)", re.I)
_CONDITION = re.compile(r"(?P<term>.+?) (?:if|when) (?P<body>.+)", re.S)
_VERB = re.compile(r"\b(?:is|are|was|were|has|have|costs|equals?|means|goes to)\b", re.I)
_FORMULA = re.compile(
    r"[*/+=]|\d|\b(?:sum|number|minus|plus|times|divided|average|share|total|count|days?|with the|"
    r"product of|difference)\b",
    re.I,
)
DEMANDS = re.compile(
    r"^only\b|\b(?:prefer\w*|choose|chosen|pick|avoid|skip\w*|reject\w*|omit\w*|disregard\w*"
    r"|ignore\w*|exclud\w*|must|should|may not|cannot|allowed|eligible|considered|disqualif\w+)\b",
    re.I,
)
"""Says what to do, so that it is no definition though it may be written as one."""
_DESCRIBES = re.compile(r"\bbelongs? to\b|\bwith(?:out)?\b.*\bworks\b", re.I)
"""Says what data mean, so that it matters only to a question that speaks of them."""
_QUALIFIED = re.compile(r"\bwith(?:out)?\b", re.I)
_LEAST_STEM = 4


def find_day(text: str) -> date | None:
    """Find the first date of a text; None if it has none or it is invalid, such as 2024-30-12."""
    found = DAY.search(text)
    try:
        return date.fromisoformat(found[0]) if found else None
    except ValueError:
        return None


def find_stated_present(text: str) -> date | None:
    """Find the current date that a text states ("Today is 2025-06-01."); None if it does not."""
    stated = (part.strip() for part in _SENTENCES.split(text))
    return next((day for part in stated if _PRESENT.match(part) and (day := find_day(part))), None)


def find_periods(text: str, today: date | None) -> Iterator[tuple[str, str]]:
    """Find "this year" and "this month" in a text, and the first day of each."""
    for period, start in _PERIODS.items():
        if today and re.search(rf"\bthis {period}\b", text, re.I):
            yield period, today.strftime(start)


class _Rule(NamedTuple):
    """A sentence, the words of its subject, whether all of them must occur, and its other text."""

    text: str
    about: tuple[str, ...]
    needs_all: bool
    body: str


class NeededRules(NamedTuple):
    """The sentences that a question needs, and the one with the current date if it matters."""

    sentences: tuple[str, ...]
    present: str


def select_needed(rules: str, question: str, things: Sequence[str]) -> NeededRules:
    """Select the sentences of ``rules`` that a question needs.

    ``things`` are names of tables or labels, which do not distinguish rules.
    """
    texts, present = split_rules(rules, question, things)
    general = _general(things)
    read = [_read(text, general) for text in texts]
    scope, kept = list(_words(question)), set[int]()
    grown = True
    while grown:
        grown = False
        for place, rule in enumerate(read):
            if place not in kept and _applies(rule, scope):
                kept.add(place)
                scope += _words(rule.body)
                grown = True
    chosen = tuple(rule.text for place, rule in enumerate(read) if place in kept)
    matters = _TIME.search(" ".join((question, *chosen)))
    return NeededRules(chosen, present if matters else "")


def split_rules(rules: str, question: str, things: Iterable[str]) -> tuple[list[str], str]:
    """Split rules into sentences without exceptions, and the sentence with the current date."""
    asked = _specific(_words(question), _general(things))
    texts = [
        text for part in _SENTENCES.split(rules) if (text := _cut_exception(part.strip(), asked))
    ]
    present = next((text for text in texts if _PRESENT.match(text)), "")
    return [text for text in texts if text != present], present


def _general(things: Iterable[str]) -> set[str]:
    return {form for name in things for word in _words(name) for form in _forms(word)}


def _cut_exception(text: str, asked: Sequence[str]) -> str:
    """A sentence without its exception; empty if the question is about the exception."""
    found = _UNLESS.search(text)
    about = _words(found["what"]) if found else ()
    if any(_is_form(word, other) or stem(word) == stem(other) for word in about for other in asked):
        return ""
    return _UNLESS.sub("", text)


def _read(text: str, general: set[str]) -> _Rule:
    if exclusion := _EXCLUSION.search(text):
        of = exclusion["of"] or exclusion["only"] or exclusion["gets"] or ""
        return _Rule(text, _words(of), needs_all=False, body="" if of else text)
    kept = _Rule(text, (), needs_all=False, body=text)
    if DEMANDS.search(text):
        return kept
    if (found := _CONDITION.match(text)) and not _FORMULA.search(_predicate(found["term"])):
        return _read_definition(text, _predicate(found["term"]), found["body"], general)
    if verb := _VERB.search(text):
        left, right = text[: verb.start()], text[verb.end() :]
        computes = _FORMULA.search(right)
        if computes or _QUALIFIED.search(left):
            term, body = (left.split(" of ")[0], right) if computes else (right, left)
            return _read_definition(text, term, body, general)
    if _DESCRIBES.search(text):
        return kept._replace(about=_specific(_words(text), general), body="")
    return kept


def _read_definition(text: str, term: str, body: str, general: set[str]) -> _Rule:
    """The definition of a term; if the term is only a thing, the rule is about its other words."""
    if about := _specific(_words(term), general):
        return _Rule(text, about, needs_all=True, body=body)
    return _Rule(text, _specific(_words(body), general), needs_all=False, body=body)


def _predicate(term: str) -> str:
    """The text after the verb: ``late`` in ``A delivery is late``."""
    verb = _VERB.search(term)
    return term[verb.end() :] if verb else term


def _applies(rule: _Rule, scope: list[str]) -> bool:
    if not rule.about:
        return True
    found = (any(_is_form(word, other) for other in scope) for word in rule.about)
    return all(found) if rule.needs_all else any(found)


def _specific(words: Iterable[str], general: set[str]) -> tuple[str, ...]:
    return tuple(word for word in words if word not in general)


def _words(text: str) -> tuple[str, ...]:
    found = re.findall(r"[^\W\d_]+", text.lower())
    return tuple(word for word in found if word not in _STOPS)


def _forms(word: str) -> tuple[str, ...]:
    """A word in singular and plural."""
    single = singular(word)
    return word, single, f"{single}s"


def _is_form(one: str, other: str) -> bool:
    """Whether two words are forms of one: ``late``, ``lateness`` or ``value``, ``valuable``."""
    if set(_forms(one)) & set(_forms(other)):
        return True
    shared = shared_start(one, other)
    return shared >= _LEAST_STEM and shared >= min(len(one), len(other)) - 1
