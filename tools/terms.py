"""Rules as definitions of terms: which of them matter to a question, and which a query carries out.

:mod:`planweave.tools.rules` chooses what a model reads; it leaves out too little rather than too
much. Here a rule that defines a term counts only if the question, or a rule that counts, speaks of
that term, so that what a query lacks can be told.
"""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from planweave.tools.checking.words import listed, stem, tokens
from planweave.tools.rules import needed, sentences

_VERB = re.compile(r"\b(?:is|are|was|were|has|have|costs|equals?|means)\b", re.I)
_COMPUTES = re.compile(r"[*/+]|\bminus\b|\bdivided\b|\bsum of\b|\bnumber of\b|\d", re.I)
_PART = r"(?:\w+(?:\.\w+)?|\([^()]*\))"
_FORMULA = re.compile(rf"{_PART}(?:\s*[*/+-]\s*{_PART})+")
_IF = re.compile(
    r".+?\b(?:is|are|was|were|has|have) (?P<term>.+?) (?:if|when) (?P<body>[^;]+)"
    r"(?:; the others are (?P<others>.+))?",
    re.I,
)
_WITHOUT = re.compile(
    r".+?\b(?P<body>with(?:out)? .+?) (?:is|are|was|were|has|have) (?P<term>.+)", re.I
)
_MARKED = re.compile(
    r".+?\b(?P<body>with(?:out)? (?:a |an )?(?:date|value|number|entry) in (?P<column>\w+))", re.I
)
_EXCLUDES = re.compile(
    r"\b(?:do|does) not count\b|\bnever\b|\bignored\b|\bexcluded\b|\bleft out\b", re.I
)
_ONLY = re.compile(r"only\b", re.I)
_GAPS = re.compile(r"\bwithout\b.*(?:\bnot count\b|\b(?:has|have) no\b)", re.I)
_PLAIN = listed(
    "a an the of its their it is are was has have been no not by in on for to each never time "
    "number total average yearly monthly"
)


class Rule(NamedTuple):
    """A sentence of the rules.

    Attributes:
        term: The words of what it defines; none if it defines nothing.
        body: By what it defines it; else all of it.
        excludes: Whether it leaves something out.
        leaves_out_gaps: Whether it only says that missing values do not count.
        others: What it calls those that are not of its term.
        computes: Whether its term is a number.
    """

    text: str
    term: tuple[str, ...]
    body: str
    excludes: bool = False
    leaves_out_gaps: bool = False
    others: str = ""
    computes: bool = False

    @property
    def formulas(self) -> list[str]:
        """Arithmetic that it gives in signs."""
        return [found.strip() for found in _FORMULA.findall(self.body)]


def stems(words: Iterable[str]) -> frozenset[str]:
    """The stems of words."""
    return frozenset(map(stem, words))


MONEY = stems(listed("owe owes owed spend spent pay pays paid cost costs earn earns money lent"))
"""Words for sums of money that change hands."""
PIECES = stems(("units", "pieces", "items", "quantity"))
"""Words for how many of a thing there are."""


def relevant(rules: str, question: str, things: Sequence[str]) -> tuple[list[Rule], str]:
    """The rules that matter to a question, and the sentence that names the present.

    ``things`` are names of tables or labels; they tell no rules apart.
    """
    chosen = needed(rules, question, things)
    general = stems(word for name in things for word in tokens(name))
    texts, present = sentences(rules, question, things)
    read = [_read(text, general) for text in texts]
    kept = {rule for rule in read if not rule.term and rule.text in chosen.sentences}
    left_out = [_head(r.text, general) for r in kept if r.excludes and not r.leaves_out_gaps]
    asked = stems(tokens(question))
    kept |= {
        rule
        for rule in read
        if (marked := _MARKED.match(rule.text))
        and (_head(rule.text, general) in left_out or stems(tokens(marked["column"])) & asked)
    }
    while True:
        scope = [*_words(question), *(word for rule in kept for word in _words(_about(rule)))]
        new = {rule for rule in read if _matters(rule, scope, question)} - kept
        if not new:
            return [rule for rule in read if rule in kept], present
        kept |= new


def _matters(rule: Rule, scope: Sequence[str], question: str) -> bool:
    if rule.others and rule.others in question:
        return True
    return bool(rule.term) and all(any(_is_form(w, other) for other in scope) for w in rule.term)


def _about(rule: Rule) -> str:
    """What a rule speaks of besides its term: of an exclusion, what is left out."""
    if _ONLY.match(rule.text):
        return ""
    found = _EXCLUDES.search(rule.body)
    return rule.body[: found.start()] if rule.excludes and found else rule.body


def _head(text: str, general: frozenset[str]) -> str:
    """The first thing that a sentence names."""
    return next((s for word in tokens(text) if (s := stem(word)) in general), "")


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W\d]\w*", text.lower())


def _read(text: str, general: frozenset[str]) -> Rule:
    excludes = _EXCLUDES.search(text) is not None
    if _GAPS.search(text):
        return Rule(text, (), text, excludes=True, leaves_out_gaps=True)
    for pattern in (_IF, _WITHOUT):
        if (found := pattern.match(text)) and not _COMPUTES.search(found["term"]):
            others = (found.groupdict().get("others") or "").strip(" .")
            term = _telling(found["term"], general)
            return Rule(text, term, found["body"], excludes=excludes, others=others)
    if excludes:
        return Rule(text, (), text, excludes=True)
    verb = _VERB.search(text)
    if verb and _COMPUTES.search(text[verb.end() :]):
        body = text[verb.end() :]
        name = text[: verb.start()].partition(" of ")[0]
        by = body.partition(" by ")[0] if " by " in body else ""
        term = _telling(name, general) or _telling(by, general) or _telling(name, frozenset())
        return Rule(text, term, body, computes=True)
    return Rule(text, (), text)


def _telling(text: str, general: frozenset[str]) -> tuple[str, ...]:
    return tuple(w for w in tokens(text) if w not in _PLAIN and stem(w) not in general)


def _is_form(word: str, other: str) -> bool:
    """Whether a word is a form of another; ``opened`` does not speak of ``open``."""
    if word == other or {stem(word), stem(other)} <= MONEY:
        return True
    return stem(word) == stem(other) and other not in (f"{word}ed", f"{word}d")
