"""Units beside numbers: whether two texts use the same ones."""

import re

from planweave.tools.checking.words import NUMBER, root

_UNITS = (
    *(
        "eur euro euros €",
        "usd dollar dollars $ us$",
        "gbp pound pounds £",
        "% percent pct percentage",
    ),
    *("day days d", "hour hours h hrs hr", "minute minutes min mins", "second seconds sec secs s"),
    *("week weeks wk", "month months", "year years yr yrs", "kg kilogram kilograms kilo kilos"),
    *("g gram grams", "t ton tons tonne tonnes", "km kilometre kilometres kilometer kilometers"),
    *("m metre metres meter meters", "mile miles mi", "kwh", "mwh", "kw", "mw", "gwh", "gw"),
    *("million millions mn mio", "billion billions bn", "thousand thousands k", "chf", "jpy"),
)
_UNIT_OF = {form: line.split()[0] for line in _UNITS for form in line.split()}
_IMPLIED = {
    "age": "years",
    "tenure": "years",
    "population": "people persons inhabitants residents",
    "quantity": "pieces units items",
    "stock": "pieces units items",
    "rating": "points stars",
    "score": "points",
    "temperature": "degrees",
    "celsius": "degrees",
    "share": "percent",
    "rate": "percent",
    "interest": "percent",
}
"""Units that a word implies."""
_UNIT_FORMS = frozenset(_UNIT_OF.values())
_UNIT_ROOTS = frozenset(root(form) for form in _UNIT_OF if len(form) > 1)
_FAMILIES = (
    *(
        {"eur", "usd", "gbp", "chf", "jpy"},
        {"day", "hour", "minute", "second", "week", "month", "year"},
    ),
    *({"kg", "g", "t"}, {"km", "m", "mile"}, {"kwh", "mwh", "gwh"}, {"kw", "mw", "gw"}),
)


def find_foreign_unit(text: str, known_text: str, column: str = "") -> str:
    """Find the first unit or word of a text that is not in ``known_text`` in any form.

    A unit that rivals the one of ``column`` is foreign as well. Empty if there is none.
    """
    words = _unit_words(known_text)
    known = set(map(_unit, words))
    implied = " ".join(_IMPLIED.get(word.lower(), "") for word in words)
    known |= set(map(_unit, implied.split()))
    for word in _unit_words(text):
        if _unit(word) not in known or _is_rival_unit(word, column):
            return word
    return ""


def _is_rival_unit(unit: str, column: str) -> bool:
    """Whether a column has another unit of the same kind."""
    own = {_unit(word) for word in _unit_words(column)} & _UNIT_FORMS
    named = _unit(unit)
    return named not in own and any(named in family and own & family for family in _FAMILIES)


_BEHIND = re.compile(r"[\s-]?(?:(million|billion|thousand)\s)?([^\W\d_]+|[$€£%])")
_BEFORE = re.compile(r"(?<![^\W\d_])([^\W\d_]+|[$€£])\s?$")


def is_unit_word(word_root: str) -> bool:
    """Whether the root of a word is that of a unit."""
    return word_root in _UNIT_ROOTS


def _unit(word: str) -> str:
    return _UNIT_OF.get(word.lower(), root(word))


def _unit_words(text: str) -> list[str]:
    plain = re.sub(r"(?<=\d)(?=[^\W\d])", " ", text)
    return [
        word
        for word in re.findall(r"[^\W\d_]+|[$€£%]", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", plain))
        if word.lower() not in ("a", "an", "the", "of", "per", "in", "about", "around", "is", "it")
    ]


def may_share_unit(one: str, other: str) -> bool:
    """Whether the numbers of two texts may have the same unit; they may if one has none."""
    left, right = ({_unit(word) for word in find_units(text)} for text in (one, other))
    return not (left and right) or bool(left & right)


def find_units(text: str) -> list[str]:
    """Find the known units directly before or after the numbers of a text."""
    return [
        word
        for match in re.finditer(rf"(?<![\w.-])(?:{NUMBER})", text)
        for word in find_units_at(text, *match.span())
    ]


def find_units_at(text: str, begin: int, end: int) -> list[str]:
    """Find the known units directly before or after the number from ``begin`` to ``end``."""
    behind = _BEHIND.match(text, end)
    before = _BEFORE.search(text, 0, begin)
    words = [*(behind.groups() if behind else ()), *(before.groups() if before else ())]
    return [word for word in words if word and word.lower() in _UNIT_OF]
