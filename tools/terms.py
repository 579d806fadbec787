"""Reads rules as definitions of terms, and selects those that matter to a question.

:mod:`planweave.tools.rules` selects the rules that a model reads, and keeps a rule in doubt. Here a
definition counts only if the question, or a rule that counts, mentions its term, so that doubts can
name what a query lacks.
"""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from planweave.tools.checking.words import stem, tokens, word_set
from planweave.tools.rules import DEMANDS, select_needed, split_rules

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
MARKED = re.compile(
    r".+?\b(?P<body>with(?:out)? (?:a |an )?(?:date|value|number|entry) in (?P<column>\w+))", re.I
)
"""Names the column that marks the rows in question."""
_EXCLUDES = re.compile(
    r"\b(?:do|does) not count\b|\bnever\b|\bignored\b|\bexcluded\b|\bleft out\b", re.I
)
_ONLY = re.compile(r"only\b", re.I)
_GAPS = re.compile(r"\bwithout\b.*(?:\bnot count\b|\b(?:has|have) no\b)", re.I)
_PLAIN = word_set(
    "a an the of its their it is are was has have been no not by in on for to each never time "
    "number total average yearly monthly"
)


class Rule(NamedTuple):
    """A sentence of the rules.

    Attributes:
        term: The words of the term that it defines; empty if it defines none.
        body: The definition, or else the whole sentence.
        excludes: Whether it excludes something.
        leaves_out_gaps: Whether it only excludes missing values.
        others: Its name for things that do not meet the definition.
        computes: Whether the term is a number.
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
        """The arithmetic expressions of the definition."""
        return [found.strip() for found in _FORMULA.findall(self.body)]


def stems(words: Iterable[str]) -> frozenset[str]:
    """The stems of words."""
    return frozenset(map(stem, words))


MONEY = stems(word_set("owe owes owed spend spent pay pays paid cost costs earn earns money lent"))
"""Words for payments."""
PIECES = stems(("units", "pieces", "items", "quantity"))
"""Words for quantities of a thing."""


def select_relevant(rules: str, question: str, things: Sequence[str]) -> tuple[list[Rule], str]:
    """Select the rules that matter to a question, and the sentence with the current date.

    ``things`` are names of tables or labels, which do not distinguish rules.
    """
    chosen = select_needed(rules, question, things)
    general = stems(word for name in things for word in tokens(name))
    texts, present = split_rules(rules, question, things)
    read = [_read(text, general) for text in texts]
    kept = {rule for rule in read if not rule.term and rule.text in chosen.sentences}
    left_out = [_head(r.text, general) for r in kept if r.excludes and not r.leaves_out_gaps]
    asked = stems(tokens(question))
    kept |= {
        rule
        for rule in read
        if (marked := MARKED.match(rule.text))
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
    """The text of a rule without its term; for an exclusion, what it excludes."""
    if _ONLY.match(rule.text):
        return ""
    found = _EXCLUDES.search(rule.body)
    return rule.body[: found.start()] if rule.excludes and found else rule.body


def _head(text: str, general: frozenset[str]) -> str:
    """The first thing that a sentence mentions."""
    return next((s for word in tokens(text) if (s := stem(word)) in general), "")


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W\d]\w*", text.lower())


def _read(text: str, general: frozenset[str]) -> Rule:
    excludes = _EXCLUDES.search(text) is not None
    if _GAPS.search(text):
        return Rule(text, (), text, excludes=True, leaves_out_gaps=True)
    if DEMANDS.search(text):
        return Rule(text, (), text, excludes=excludes)
    for pattern in (_IF, _WITHOUT):
        if (found := pattern.match(text)) and not _COMPUTES.search(found["term"]):
            others = (found.groupdict().get("others") or "").strip(" .")
            term = _specific(found["term"], general)
            return Rule(text, term, found["body"], excludes=excludes, others=others)
    if excludes:
        return Rule(text, (), text, excludes=True)
    verb = _VERB.search(text)
    if verb and _COMPUTES.search(text[verb.end() :]):
        body = text[verb.end() :]
        name = text[: verb.start()].partition(" of ")[0]
        by = body.partition(" by ")[0] if " by " in body else ""
        term = _specific(name, general) or _specific(by, general) or _specific(name, frozenset())
        return Rule(text, term, body, computes=True)
    return Rule(text, (), text)


def _specific(text: str, general: frozenset[str]) -> tuple[str, ...]:
    return tuple(w for w in tokens(text) if w not in _PLAIN and stem(w) not in general)


def _is_form(word: str, other: str) -> bool:
    """Whether a word is a form of another; ``opened`` is not a form of ``open``."""
    if word == other or {stem(word), stem(other)} <= MONEY:
        return True
    return stem(word) == stem(other) and other not in (f"{word}ed", f"{word}d")
