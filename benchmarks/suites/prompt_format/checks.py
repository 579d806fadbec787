"""Checks by code whether a reply follows its instruction, and whether it repeats itself."""

import json
import re
import unicodedata
from collections.abc import Callable, Mapping

_LOOP_WORDS = 20
_PHRASE_WORDS = 8

_WORD = re.compile(r"\w+(?:(?:['’-]|(?<=\d)[.,](?=\d))\w+)*")  # noqa: RUF001 (an apostrophe)


def words(text: str) -> list[str]:
    """The words of a text in lower case, without punctuation."""
    return _WORD.findall(text.casefold())


def lines(text: str) -> list[str]:
    """The lines that are not blank."""
    return [line.strip() for line in text.splitlines() if line.strip()]


def one_word(text: str) -> bool:
    """One word; a full stop may follow it."""
    return len(words(text)) == 1 == len(text.split())


def three_bullets(text: str) -> bool:
    """Three lines, each a hyphen and a word."""
    found = lines(text)
    return len(found) == 3 and all(re.match(r"-\s*\w", line) for line in found)


def json_keys(text: str) -> bool:
    """A JSON object with the three keys, and nothing around it."""
    try:
        found = json.loads(text)
    except ValueError:
        return False
    return isinstance(found, dict) and found.keys() == {"city", "country", "river"}


_GERMAN = frozenset(
    words(
        "aber auch auf bei das dass den dem der die durch ein eine es für im ist mit nicht oder "
        "sich sie sind und von weil wenn werden wie wird zu zum zur"
    )
)
_ENGLISH = frozenset(
    words(
        "and are as because by for from is it of on that the their they this to turn when "
        "which with"
    )
)


def german(text: str) -> bool:
    """At least every tenth word is common German, and hardly any is common English."""
    found = words(text)
    counted = [sum(word in known for word in found) for known in (_GERMAN, _ENGLISH)]
    return counted[0] >= max(2, len(found) / 10) and counted[1] <= counted[0] / 10


def no_letter_e(text: str) -> bool:
    """At least two words, and no e with or without an accent."""
    plain = unicodedata.normalize("NFD", text.casefold())
    return len(words(text)) >= 2 and "e" not in plain


def capitals(text: str) -> bool:
    """Only capital letters, and at least one."""
    return text != text.lower() and text == text.upper()


def digits(text: str) -> bool:
    """Only ASCII digits."""
    return bool(re.fullmatch(r"[0-9]+", text))


def twelve_words(text: str) -> bool:
    """One sentence of three to twelve words."""
    return 3 <= len(words(text)) <= 12 and len(re.findall(r"[.!?]+(?:\s|$)", text)) <= 1


def word_twice(text: str) -> bool:
    """The word itself, twice; a plural is another word."""
    return words(text).count("harbour") == 2


def last_sentence(text: str) -> bool:
    """The sentence occurs once, at the end, after other words."""
    before, found, after = text.partition("That is all I know.")
    return bool(words(before) and found) and not after


def numbered_five(text: str) -> bool:
    """Five lines that begin with 1. to 5., none of them empty."""
    found = [re.match(r"(\d+)\.\s*\S", line) for line in lines(text)]
    return [match and match[1] for match in found] == list("12345")


def no_comma(text: str) -> bool:
    """At least four words, and no comma."""
    return len(words(text)) >= 4 and "," not in text


def one_question(text: str) -> bool:
    """One sentence of at least three words that ends with a question mark."""
    return len(words(text)) >= 3 and bool(re.fullmatch(r"(?:[^.!?\n]|\.(?=\w))+\?", text))


def tags(text: str) -> bool:
    """One pair of tags around everything."""
    found = re.fullmatch(r"<reply>(.+)</reply>", text, re.DOTALL)
    return bool(found and words(found[1])) and text.count("reply>") == 2


CHECKS: Mapping[str, Callable[[str], bool]] = {
    check.__name__: check
    for check in (
        one_word,
        three_bullets,
        json_keys,
        german,
        no_letter_e,
        capitals,
        digits,
        twelve_words,
        word_twice,
        last_sentence,
        numbered_five,
        no_comma,
        one_question,
        tags,
    )
}
"""The check of each instruction by the name of its prompt; it takes the stripped reply."""


def repeats(text: str) -> bool:
    """Whether a reply repeats itself.

    It does if a block of up to 20 words occurs three times in a row, or if any eight words in a
    row occur a second time further on.
    """
    found = words(text)
    return _repeats_block(found) or _repeats_phrase(found)


def _repeats_block(found: list[str]) -> bool:
    for size in range(1, min(_LOOP_WORDS, len(found) // 3) + 1):
        same = 0
        for word, later in zip(found, found[size:], strict=False):
            same = same + 1 if word == later else 0
            if same == 2 * size:
                return True
    return False


def _repeats_phrase(found: list[str]) -> bool:
    starts: dict[tuple[str, ...], int] = {}
    for at in range(len(found) - _PHRASE_WORDS + 1):
        first = starts.setdefault(tuple(found[at : at + _PHRASE_WORDS]), at)
        if at >= first + _PHRASE_WORDS:
            return True
    return False
