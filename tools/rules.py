"""Which sentences of a rule text a question needs: small models apply whatever they read.

A sentence that defines a term is left out where neither the question nor a rule that it needs
speaks of the term; the present is left out where nothing depends on it.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from typing import NamedTuple

from planweave.tools.checking.words import stem
from planweave.tools.suggest import shared_start

_SMALL_WORDS = """
    a an the of is are was were be been it its this that these those to in on at by for from with
    without and or not no if has have had do does did which what who whose where when how most
    least more less than first one we our us you your should would could must may can will there
    here they them he she his her as so because going go take takes took only others other each
    every any all into up out over s per goes another never longer question about unless missing
    empty
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
    r"\b(?:not? count|ignored?|excluded?|left out)\b(?: (?:for|from) (?P<of>[^.;]*?))?"
    r"[.;]?$|^Only\b.* count(?:s)? for (?P<only>[^.;]*)",
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
_DECIDING = re.compile(r"\b(?:decid\w+|prefer\w*|choose|pick|wins?|priority|ties?|must)\b", re.I)
_QUALIFIED = re.compile(r"\bwith(?:out)?\b", re.I)
_LEAST_STEM = 4


def day_in(text: str) -> date | None:
    """The first day that a text names; None for one that is none, such as 2024-30-12."""
    found = DAY.search(text)
    try:
        return date.fromisoformat(found[0]) if found else None
    except ValueError:
        return None


def stated_present(text: str) -> date | None:
    """The day that a text states as the present: "Today is 2025-06-01."; None if it does not."""
    stated = (part.strip() for part in _SENTENCES.split(text))
    return next((day for part in stated if _PRESENT.match(part) and (day := day_in(part))), None)


def periods(text: str, today: date | None) -> Iterator[tuple[str, str]]:
    """The present periods that a text speaks of, and the day on which each begins."""
    for period, start in _PERIODS.items():
        if today and re.search(rf"\bthis {period}\b", text, re.I):
            yield period, today.strftime(start)


class _Rule(NamedTuple):
    """A sentence, the words of what it is about, and what else it speaks of."""

    text: str
    about: tuple[str, ...]
    needs_all: bool
    body: str


class Needed(NamedTuple):
    """The sentences that a question needs, and whether the present matters to it."""

    sentences: tuple[str, ...]
    present: str


def needed(rules: str, question: str, things: Sequence[str]) -> Needed:
    """The sentences of ``rules`` that a question needs."""
    texts, present = sentences(rules, question, things)
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
    return Needed(chosen, present if matters else "")


def sentences(rules: str, question: str, things: Iterable[str]) -> tuple[list[str], str]:
    """The sentences of rules without their exceptions, and the one that names the present."""
    asked = _specific(_words(question), _general(things))
    texts = [text for part in _SENTENCES.split(rules) if (text := _unless(part.strip(), asked))]
    present = next((text for text in texts if _PRESENT.match(text)), "")
    return [text for text in texts if text != present], present


def _general(things: Iterable[str]) -> set[str]:
    return {form for name in things for word in _words(name) for form in _forms(word)}


def _unless(text: str, asked: Sequence[str]) -> str:
    """A sentence without its exception, or nothing where the question is that exception."""
    found = _UNLESS.search(text)
    about = _words(found["what"]) if found else ()
    if any(_kin(word, other) or stem(word) == stem(other) for word in about for other in asked):
        return ""
    return _UNLESS.sub("", text)


def _read(text: str, general: set[str]) -> _Rule:
    if exclusion := _EXCLUSION.search(text):
        of = exclusion["of"] or exclusion["only"] or ""
        return _Rule(text, _words(of), needs_all=False, body="" if of else text)
    if (found := _CONDITION.match(text)) and not _FORMULA.search(_tail(found["term"])):
        return _term(text, _tail(found["term"]), found["body"], general)
    if verb := _VERB.search(text):
        left, right = text[: verb.start()], text[verb.end() :]
        if _QUALIFIED.search(left) and not _FORMULA.search(right):
            return _term(text, right, left, general)
        if _FORMULA.search(right):
            return _term(text, left.split(" of ")[0], right, general)
    about = () if _DECIDING.search(text) else _specific(_words(text), general)
    return _Rule(text, about, needs_all=False, body="")


def _term(text: str, term: str, body: str, general: set[str]) -> _Rule:
    """The definition of a term; one that names no more than a thing is about all its words."""
    if about := _specific(_words(term), general):
        return _Rule(text, about, needs_all=True, body=body)
    return _Rule(text, _specific(_words(body), general), needs_all=False, body=body)


def _tail(term: str) -> str:
    """What is said of a thing: ``late`` of ``A delivery is late``."""
    verb = _VERB.search(term)
    return term[verb.end() :] if verb else term


def _applies(rule: _Rule, scope: list[str]) -> bool:
    if not rule.about:
        return True
    spoken = (any(_kin(word, other) for other in scope) for word in rule.about)
    return all(spoken) if rule.needs_all else any(spoken)


def _specific(words: Iterable[str], general: set[str]) -> tuple[str, ...]:
    return tuple(word for word in words if word not in general)


def _words(text: str) -> tuple[str, ...]:
    found = re.findall(r"[^\W\d_]+", text.lower())
    return tuple(word for word in found if word not in _STOPS)


def _forms(word: str) -> tuple[str, ...]:
    """A word in singular and plural."""
    single = f"{word[:-3]}y" if word.endswith("ies") else word.removesuffix("s")
    return word, single, f"{single}s"


def _kin(one: str, other: str) -> bool:
    """Whether two words are forms of one: ``late`` and ``lateness``, ``value`` and ``valuable``."""
    if set(_forms(one)) & set(_forms(other)):
        return True
    shared = shared_start(one, other)
    return shared >= _LEAST_STEM and shared >= min(len(one), len(other)) - 1
