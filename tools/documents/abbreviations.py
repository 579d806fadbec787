"""Abbreviations that a text itself explains."""

import re
from collections.abc import Sequence

_PARENTHESES = re.compile(r"\(([^()]{2,200})\)")
_WORD = re.compile(r"\S+")
_SHORT = re.compile(r"[^\W_](?:[\w.&/+-]|\u2010|\u2011)*")
_EDGES = " \t\n\"'.,;:[]{}\u2018\u2019\u201c\u201d"
_POSSESSIVE = re.compile(r"['\u2019]s$")
_BROKEN_WORD = re.compile(r"\w[-\u2010](\s|$)")
_SENTENCE_END = re.compile(r"[.;:!?]\s|[()\n]\s*\n|[()]")


def abbreviations(text: str) -> dict[str, str]:
    """The abbreviations that ``text`` explains, with their long forms as in the text.

    It finds both "levelised cost of hydrogen (LCOH)" and "LCOH (levelised cost of hydrogen)" with
    the algorithm of Schwartz and Hearst (2003), "A simple algorithm for identifying abbreviation
    definitions in biomedical text": each letter and digit of the short form must occur in the long
    form, in order, and the first one at the beginning of a word. Four rules beyond the paper avoid
    false findings: a short form has two capital letters, two in five of its letters begin words, at
    most one longer word is unused, and no word is broken at the end of a line. The first
    explanation of an abbreviation counts.
    """
    found: dict[str, str] = {}
    for match in _PARENTHESES.finditer(text):
        inside = " ".join(match[1].split())
        before, first = _words_before(text, match.start()), _first_part(inside)
        last = before.rpartition(" ")[2].strip(_EDGES)
        for short, long in ((first, before), (last, inside)):
            expansion = _find_long_form(short, long) if _is_abbreviation(short) else None
            # A long form in parentheses fills them, or all of them before a comma.
            if expansion and (long is before or expansion == first):
                found.setdefault(short, expansion)
                break
    return found


def _words_before(text: str, place: int) -> str:
    """The words of the same sentence before ``place``."""
    window = text[max(0, place - 300) : place]
    start = max((match.end() for match in _SENTENCE_END.finditer(window)), default=0)
    return " ".join(window[start:].split())


def _first_part(inside: str) -> str:
    """The text in parentheses up to a comma or semicolon, as in (LCOH; USD/kg)."""
    return re.split(r"[,;]|\bor\b", inside)[0].strip(_EDGES)


def _is_abbreviation(short: str) -> bool:
    """Whether it is one word of two to ten characters with two capital letters."""
    capitals = sum(sign.isupper() for sign in short)
    return 2 <= len(short) <= 10 and capitals >= 2 and _SHORT.fullmatch(short) is not None


def _find_long_form(short: str, text: str) -> str | None:
    """The end of ``text`` that spells out ``short``, or a plural without its s."""
    forms = [short[:-1], short] if short.endswith("s") and short[:-1].isupper() else [short]
    for form in forms:
        letters = [sign.casefold() for sign in form if sign.isalnum()]
        words = text.split()
        window = " ".join(words[-min(len(letters) + 5, 2 * len(letters)) :])
        for places in (
            _match_letters(letters, window, initials=True),
            _match_letters(letters, window),
        ):
            if places and _is_plausible(form, window, places):
                return _POSSESSIVE.sub("", window[places[0] :].strip(_EDGES))
    return None


def _match_letters(letters: Sequence[str], text: str, *, initials: bool = False) -> list[int]:
    """The places of the letters in ``text``, as far right as possible; empty without a match.

    Args:
        letters: Letters and digits of the short form, in lower case.
        text: The text that may spell it out.
        initials: Whether each letter must begin a word, the last one the last word. This finds
            "combined-cycle gas turbine" for CCGT, where the shortest match lacks "combined".
    """
    places: list[int] = []
    end = len(text)
    for left, letter in reversed(list(enumerate(letters))):
        begins = initials or left == 0
        end = next(
            (
                place
                for place in range(end - 1, -1, -1)
                if text[place].casefold() == letter and (not begins or _begins_word(text, place))
            ),
            -1,
        )
        if end < 0 or (initials and not places and " " in text[end:].rstrip()):
            return []
        places.append(end)
    return places[::-1]


def _begins_word(text: str, place: int) -> bool:
    return place == 0 or not text[place - 1].isalnum()


def _is_plausible(short: str, text: str, places: Sequence[int]) -> bool:
    """Whether the match is better than chance."""
    expansion = text[places[0] :].strip(_EDGES)
    unused = [
        word
        for word in _WORD.finditer(text, places[0])
        if len(word[0]) > 3 and not any(word.start() <= place < word.end() for place in places)
    ]
    return (
        len(expansion) > len(short) + 2
        and short not in re.split(r"\W+", expansion)
        and sum(_begins_word(text, place) for place in places) >= 0.4 * len(places)
        and len(unused) <= 1
        and not _BROKEN_WORD.search(expansion)
    )
