"""Quotes: finds quoted words on a page, and compares the words and numbers of texts."""

import re
import unicodedata
from math import isclose

from planweave.tools.calculator import CURRENCIES

_MIN_CHARACTERS = 4
_WORD = re.compile(r"[^\W\d_]{4,}")
_MIN_SHARE = 0.5
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
    """The passage of ``text`` that matches ``quote``, unchanged; None if there is none.

    Case, blanks, line ends, hyphens in words, and punctuation do not count. Letters, digits with
    the signs between them, and their order do. ``…`` in a quote stands for omitted words; the parts
    around it must follow one another.
    """
    parts = [part for piece in re.split(r"\.\.\.|…", quote) if (part := _normalise(piece)[0])]
    if sum(map(len, parts)) < _MIN_CHARACTERS:
        return None
    there, places = _normalise(text)
    begin, end = -1, 0
    for part in parts:
        found = _find_words(part, there, places, text, end)
        if found < 0:
            return None
        begin = found if begin < 0 else begin
        end = found + len(part)
    return text[places[begin] : places[end - 1] + 1]


def numbers(text: str) -> frozenset[str]:
    """The numbers in a text, without thousands separators and trailing zeros.

    Digits in a name, as in CO2 and 45Q, are not a number; digits with a unit or a currency are, as
    in 10kg and USD0.8.
    """
    return frozenset(
        _plain_number(found["quantity"])
        for found in _NUMBER.finditer(text)
        if found["quantity"] and not found["code"]
    )


_NUMBER_WORDS = (
    *("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
)
_NUMBER_WORD = re.compile(rf"(?<![\w-])(?:{'|'.join(_NUMBER_WORDS)})(?![\w-])", re.IGNORECASE)


def write_in_digits(text: str) -> str:
    """A text with its small numbers in digits: "three months" is "3 months"."""
    return _NUMBER_WORD.sub(lambda found: str(_NUMBER_WORDS.index(found[0].lower()) + 2), text)


def missing_numbers(claim: str, text: str) -> str:
    """The numbers of a claim that are not in a text, even rounded; empty if there are none."""
    known = numbers(text) | numbers(write_in_digits(text))
    missing = [number for number in sorted(numbers(claim)) if not _is_known(number, known)]
    return ", ".join(missing)


def is_worded_like(claim: str, text: str) -> bool:
    """Whether half of a claim's longer words are in a text."""
    words = _words(claim)
    return len(words & _words(text)) >= _MIN_SHARE * len(words)


def is_new(claim: str, text: str, question: str) -> bool:
    """Whether a claim says more than the question, and some of that is in a text."""
    words = (_words(claim) - _words(question)) & _words(text)
    return bool(words or (numbers(claim) - numbers(question)) & numbers(text))


def has_number_of(claim: str, text: str) -> bool:
    """Whether a claim has a number of a text, to one per cent."""
    known = [float(number) for number in numbers(text)]
    return any(isclose(float(n), one, rel_tol=0.01) for n in numbers(claim) for one in known)


def has_content_of(text: str, claim: str) -> bool:
    """Whether all numbers and half of the longer words of a claim are in a text."""
    return not missing_numbers(claim, text) and is_worded_like(claim, text)


def has_sentences_of(text: str, claim: str) -> bool:
    """Whether each sentence of a claim has all its numbers and longer words in one of a text.

    A sentence with only one longer word never has.
    """
    return all(any(_has_all_of(one, part) for one in sentences(text)) for part in sentences(claim))


def sentences(text: str) -> list[str]:
    """The sentences and paragraphs of a page, unchanged."""
    return [sentence.strip() for sentence in _SENTENCE.split(text)]


def _has_all_of(text: str, claim: str) -> bool:
    words = _words(claim)
    return len(words) > 1 and words <= _words(text) and not missing_numbers(claim, text)


def _is_known(number: str, known: frozenset[str]) -> bool:
    """Whether a known number is equal to this one, or rounds to it."""
    digits = len(number.partition(".")[2])
    return number in known or any(
        round(float(other), digits) == float(number) for other in known if "." in other
    )


def _words(text: str) -> frozenset[str]:
    """The first letters of the longer words, so that endings do not count."""
    return frozenset(word[:5].casefold() for word in _WORD.findall(text))


def _plain_number(number: str) -> str:
    digits = re.sub(r"^0+(?=\d)", "", re.sub(r"[^\d.]", "", number))
    return digits.rstrip("0").rstrip(".") if "." in digits else digits


def _normalise(text: str) -> tuple[str, list[int]]:
    """The characters of a text that count in a comparison, and their places."""
    kept: list[str] = []
    places: list[int] = []
    for place, sign in enumerate(text):
        plain = unicodedata.normalize("NFKC", sign).casefold()
        if not plain.isalnum():
            plain = _number_sign(text, place)
        kept.extend(plain)
        places.extend([place] * len(plain))
    return "".join(kept), places


def _number_sign(text: str, place: int) -> str:
    """A sign between two digits, as in 1.5 and 6-20, or a percent sign; else empty."""
    sign = "-" if text[place] in _DASHES else text[place]
    if sign == "%":
        return sign
    around = text[place - 1 : place] + text[place + 1 : place + 2]
    return sign if sign in ".-/:" and len(around) == 2 and around.isdigit() else ""


def _find_words(part: str, there: str, places: list[int], text: str, start: int) -> int:
    """The place of ``part`` as whole words at or after ``start``; -1 if there is none."""
    found = there.find(part, start)
    while found >= 0:
        first, last = places[found], places[found + len(part) - 1]
        if not (text[first - 1 : first].isalnum() or text[last + 1 : last + 2].isalnum()):
            return found
        found = there.find(part, found + 1)
    return -1
