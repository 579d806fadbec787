"""Quotes: whether words really stand on a page, and how they are there."""

import re
import unicodedata
from math import isclose

from planweave.tools.calculator import CURRENCIES

_FEWEST_CHARACTERS = 4
_WORD = re.compile(r"[^\W\d_]{4,}")
_ENOUGH = 0.5
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[\"'(\[\u201c\u2018]?[A-ZÀ-Þ0-9])|\n\s*\n")
_NUMBER = re.compile(
    rf"""(?<![^\W\d_])
    (?: (?:{"|".join(CURRENCIES)})?
        (?P<quantity> (?: \d{{1,3}}(?:[,\u00a0\u202f ]\d{{3}})+(?!\d) | \d+ ) (?:\.\d+)? )
        (?P<code> [DEHIO-SUX-Z]\b )?  # a single capital that is no unit and no "million"
      | [^\W\d_]+ \d+ (?:\.\d+)?
    )""",
    re.VERBOSE,
)
_DASHES = frozenset("-\u2010\u2011\u2012\u2013\u2014\u2212")


def locate(quote: str, text: str) -> str | None:
    """The passage of ``text`` that says ``quote``, as it is there; None if there is none.

    Letter case, blanks, line ends, hyphens in words, and punctuation do not count; the letters,
    the figures with what is between them, and their order do. ``…`` in a quote leaves words
    out: its parts must follow one another.
    """
    parts = [part for piece in re.split(r"\.\.\.|…", quote) if (part := _essence(piece)[0])]
    if sum(map(len, parts)) < _FEWEST_CHARACTERS:
        return None
    there, places = _essence(text)
    begin, end = -1, 0
    for part in parts:
        found = _find(part, there, places, text, end)
        if found < 0:
            return None
        begin = found if begin < 0 else begin
        end = found + len(part)
    return text[places[begin] : places[end - 1] + 1]


def numbers(text: str) -> frozenset[str]:
    """The numbers in a text, without thousands separators and closing zeros.

    A figure that is part of a name, as in CO2 and 45Q, is no number; one with a unit or a currency
    is, as in 10kg and USD0.8.
    """
    return frozenset(
        _plain_number(found["quantity"])
        for found in _NUMBER.finditer(text)
        if found["quantity"] and not found["code"]
    )


_IN_WORDS = (
    *("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
)
_WORDED = re.compile(rf"(?<![\w-])(?:{'|'.join(_IN_WORDS)})(?![\w-])", re.IGNORECASE)


def in_digits(text: str) -> str:
    """A text with its small numbers in digits: "three months" is "3 months"."""
    return _WORDED.sub(lambda found: str(_IN_WORDS.index(found[0].lower()) + 2), text)


def unsaid(claim: str, said: str) -> str:
    """Which of a claim's numbers are missing in what is said, even rounded; empty if none."""
    known = numbers(said) | numbers(in_digits(said))
    missing = [number for number in sorted(numbers(claim)) if not _stands(number, known)]
    return ", ".join(missing)


def alike(claim: str, said: str) -> bool:
    """Whether half of a claim's longer words are in what is said."""
    words = _words(claim)
    return len(words & _words(said)) >= _ENOUGH * len(words)


def adds(claim: str, said: str, asked: str) -> bool:
    """Whether a claim says more than was asked, and some of that is in what is said."""
    words = (_words(claim) - _words(asked)) & _words(said)
    return bool(words or (numbers(claim) - numbers(asked)) & numbers(said))


def gives(claim: str, said: str) -> bool:
    """Whether a claim holds a number of what is said, to one per cent."""
    known = [float(number) for number in numbers(said)]
    return any(isclose(float(n), one, rel_tol=0.01) for n in numbers(claim) for one in known)


def says(said: str, claim: str) -> bool:
    """Whether the numbers of a claim and half of its longer words are in what is said."""
    return not unsaid(claim, said) and alike(claim, said)


def states(text: str, claim: str) -> bool:
    """Whether each sentence of a claim is in one of a text, with all numbers and longer words.

    A sentence of a single longer word says too little to tell.
    """
    return all(any(_holds(one, part) for one in sentences(text)) for part in sentences(claim))


def sentences(text: str) -> list[str]:
    """The sentences and paragraphs of a page, as they are there."""
    return [sentence.strip() for sentence in _SENTENCE.split(text)]


def _holds(said: str, claim: str) -> bool:
    words = _words(claim)
    return len(words) > 1 and words <= _words(said) and not unsaid(claim, said)


def _stands(number: str, known: frozenset[str]) -> bool:
    """Whether a known number is this one, or is rounded to it."""
    digits = len(number.partition(".")[2])
    return number in known or any(
        round(float(other), digits) == float(number) for other in known if "." in other
    )


def _words(text: str) -> frozenset[str]:
    """Longer words by their first letters, so that endings do not count."""
    return frozenset(word[:5].casefold() for word in _WORD.findall(text))


def _plain_number(number: str) -> str:
    digits = re.sub(r"^0+(?=\d)", "", re.sub(r"[^\d.]", "", number))
    return digits.rstrip("0").rstrip(".") if "." in digits else digits


def _essence(text: str) -> tuple[str, list[int]]:
    """What counts of a text, and the place of each of its characters in it."""
    kept: list[str] = []
    places: list[int] = []
    for place, sign in enumerate(text):
        plain = unicodedata.normalize("NFKC", sign).casefold()
        if not plain.isalnum():
            plain = _between_figures(text, place)
        kept.extend(plain)
        places.extend([place] * len(plain))
    return "".join(kept), places


def _between_figures(text: str, place: int) -> str:
    """A sign that parts two figures, as in 1.5 and 6-20, or belongs to one, as in 5%."""
    sign = "-" if text[place] in _DASHES else text[place]
    if sign == "%":
        return sign
    around = text[place - 1 : place] + text[place + 1 : place + 2]
    return sign if sign in ".-/:" and len(around) == 2 and around.isdigit() else ""


def _find(part: str, there: str, places: list[int], text: str, start: int) -> int:
    """Where ``part`` stands as whole words at or after ``start``; -1 if nowhere."""
    found = there.find(part, start)
    while found >= 0:
        first, last = places[found], places[found + len(part) - 1]
        if not (text[first - 1 : first].isalnum() or text[last + 1 : last + 2].isalnum()):
            return found
        found = there.find(part, found + 1)
    return -1
