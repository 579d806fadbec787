"""Units beside numbers: whether what is said has the unit of what is known."""

import re

from tools.checking.words import root

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
_UNIT_FORMS = frozenset(_UNIT_OF.values())
_FAMILIES = (
    *(
        {"eur", "usd", "gbp", "chf", "jpy"},
        {"day", "hour", "minute", "second", "week", "month", "year"},
    ),
    *({"kg", "g", "t"}, {"km", "m", "mile"}, {"kwh", "mwh", "gwh"}, {"kw", "mw", "gw"}),
)


def foreign_unit(text: str, said: str, column: str = "") -> str:
    """The first word beside a number that is not said, in any of its forms."""
    known = {_unit(word) for word in _unit_words(said)}
    own = {_unit(word) for word in _unit_words(column)} & _UNIT_FORMS
    for word in _unit_words(text):
        unit = _unit(word)
        if unit not in known or (
            own and unit in _UNIT_FORMS and unit not in own and _rival(unit, own)
        ):
            return word
    return ""


def _rival(unit: str, own: set[str]) -> bool:
    return any(unit in family and own & family for family in _FAMILIES)


def _unit(word: str) -> str:
    return _UNIT_OF.get(word.lower(), root(word))


def _unit_words(text: str) -> list[str]:
    plain = re.sub(r"(?<=\d)(?=[^\W\d])", " ", text)
    return [
        word
        for word in re.findall(r"[^\W\d_]+|[$€£%]", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", plain))
        if word.lower() not in ("a", "an", "the", "of", "per", "in", "about", "around", "is", "it")
    ]


def units_beside(text: str) -> list[str]:
    """The known units that stand right beside a number of a text, before or behind it."""
    plain = re.sub(r"(?<=\d)(?=[^\W\d])", " ", text)
    behind = re.findall(r"\d[\s-]?([^\W\d_]+|[$€£%])", plain)
    scaled = re.findall(r"\d\s+(?:million|billion|thousand)\s+([^\W\d_]+|[$€£])", plain)
    before = re.findall(r"([^\W\d_]+|[$€£])\s?\d", plain)
    return [
        word
        for word in [*behind, *scaled, *before]
        if word.lower() in _UNIT_OF and (len(word) > 1 or not word.isalpha())
    ]
