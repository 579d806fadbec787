"""Quantities in answers: reads numbers with scale, unit and currency, and compares them."""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

_SCALES = {
    "thousand": 1e3,
    "million": 1e6,
    "billion": 1e9,
    "trillion": 1e12,
    "k": 1e3,
    "m": 1e6,
    "mn": 1e6,
    "bn": 1e9,
}
_CURRENCIES = {"$": "USD", "US$": "USD", "€": "EUR", "£": "GBP"}
_KINDS = {
    "mass": {"g": 1e-3, "kg": 1, "t": 1e3, "tonne": 1e3, "tonnes": 1e3, "kt": 1e6, "Mt": 1e9}
    | {"Mtpa": 1e9, "Gt": 1e12},
    "energy": {"MJ": 1, "kWh": 3.6, "GJ": 1e3, "MBtu": 1055.06, "Mbtu": 1055.06, "MWh": 3.6e3}
    | {"GWh": 3.6e6, "TWh": 3.6e9},
    "power": {"kW": 1, "MW": 1e3, "GW": 1e6},
}
_UNITS = {unit: (kind, size) for kind, units in _KINDS.items() for unit, size in units.items()}
_WORDS = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve"),
)

_MONEY = r"(?:US\$|[$€£]|\b(?:USD|EUR|GBP|DKK)\b)"
_UNIT = "|".join(sorted(_UNITS, key=len, reverse=True))
_QUANTITY = re.compile(
    rf"""(?<![\w.])(?P<minus>-\s?)?(?P<before>{_MONEY})?\s*(?P<inner>-)?
    (?<![A-Za-z\d.])(?P<number>\d{{1,3}}(?:[,\u00a0\u202f]\d{{3}})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)
    (?:\s*(?P<percent>%|per\s?cent\b)
      |\s*(?P<scale>thousand|million|billion|trillion)s?\b|(?P<short>k|mn|m|bn)\b|(?![A-Za-z\d]))
    (?:\s*(?P<after>{_MONEY}))?(?:\s*(?P<unit>{_UNIT})\b)?
    (?:\s*(?:/|per\s)\s*(?P<per>{_UNIT})\b)?""",
    re.VERBOSE,
)
_RANGE = re.compile(r"(?<=[\d%])\s*[-\u2010-\u2015]\s*(?=[$€£]?\d)")
_NEGATIVE = re.compile(rf"\(\s*(?!(?:19|20)\d\d\s*\))({_MONEY}?\s*[\d,]*\.?\d+\s*%?)\s*\)")
_JOIN = re.compile(r"\s*(to|and|or|,)\s*")
_REMARK = re.compile(r"\(([^()]*[A-Za-z][^()]*)\)")
_YEARS = range(1900, 2101)


class Quantity(NamedTuple):
    """A number as written."""

    value: float  # with its sign, before the scale
    digits: int = 0
    scale: float = 1.0  # 1 unless the text names a scale such as million
    percent: bool = False
    currency: str = ""
    unit: str = ""
    per: str = ""  # the unit after "per"
    joined: bool = False  # it ends the range that the previous quantity begins


def quantities(text: str) -> list[Quantity]:
    """The quantities in a text, in order; a range gives both ends.

    A scale, unit or currency written once in a range or list holds for each of its numbers. A
    number alone in round brackets is negative, as in accounts. Digits in a word (CO2, 45Q) are not
    a quantity. Number words count only in a text without digits.
    """
    plain = _normalise(text)
    matches = list(_QUANTITY.finditer(plain))
    found = [_parse_quantity(match) for match in matches]
    joins = [_JOIN.fullmatch(plain[a.end() : b.start()]) for a, b in pairwise(matches)]
    for place in range(len(joins) - 1, -1, -1):  # from the end, where the unit is written
        if joins[place]:
            found[place] = _complete(found[place], found[place + 1])
    for place, join in enumerate(joins):
        if join:
            is_range = join[1] == "to"
            alike = _complete(found[place + 1], found[place], whole=False)
            found[place + 1] = alike._replace(joined=is_range)
    return found


def split_result(text: str) -> tuple[str, list[str]]:
    """Split the result in a text from the remarks in brackets, which may restate it.

    The result of a calculation follows its last equals sign.
    """
    last = re.split(r"[=\u2248]", text)[-1]
    return _REMARK.sub(" ", last), _REMARK.findall(last)


def quantities_agree(gold: Quantity, given: Quantity) -> bool:
    """Whether a quantity equals the gold one, rounded to the gold's digits.

    A currency, unit or scale must match if both name it (units of one kind are converted). If only
    one names it, it is implied. 0.14 equals 14 per cent.
    """
    factor = _unit_factor(gold.unit, given.unit) / (_unit_factor(gold.per, given.per) or 1e-300)
    if not factor or (gold.currency and given.currency and gold.currency != given.currency):
        return False
    tolerance = 0.5 * 10.0**-gold.digits * (1 + 1e-9) + 1e-12
    return any(abs(value * factor - gold.value) <= tolerance for value in _readings(gold, given))


def same_quantities(gold: Sequence[Quantity], given: Sequence[Quantity], question: str) -> bool:
    """Whether an answer gives the gold quantities and no others.

    It may repeat quantities of the question, and name years if none is asked for.
    """
    left = list(given)
    for one in gold:
        match = next((other for other in left if quantities_agree(one, other)), None)
        if match is None:
            return False
        left.remove(match)
    asked = quantities(question)
    if not any(map(_is_year, gold)):
        left = [one for one in left if not _is_year(one)]
    return all(any(quantities_agree(known, one) for known in (*asked, *gold)) for one in left)


def is_number(text: str) -> bool:
    """Whether a text is exactly one quantity."""
    return _QUANTITY.fullmatch(_normalise(text).strip()) is not None


def _normalise(text: str) -> str:
    """The text with ASCII minus signs, ranges in words, and number words as digits."""
    plain = _NEGATIVE.sub(r"-\1", text.replace("\u2212", "-"))
    if re.search(r"\d", plain):
        return _RANGE.sub(" to ", plain)
    words = rf"\b({'|'.join(_WORDS)})\b"
    return re.sub(words, lambda m: str(_WORDS.index(m[1].lower())), plain, flags=re.IGNORECASE)


def _parse_quantity(match: re.Match[str]) -> Quantity:
    number = re.sub(r"[,\u00a0\u202f]", "", match["number"])
    negative = bool(match["minus"] or match["inner"])
    money = match["before"] or match["after"] or ""
    return Quantity(
        value=-float(number) if negative else float(number),
        digits=len(number.partition(".")[2]),
        scale=_SCALES.get(match["scale"] or match["short"] or "", 1.0),
        percent=bool(match["percent"]),
        currency=_CURRENCIES.get(money, money),
        unit=match["unit"] or "",
        per=match["per"] or "",
    )


def _complete(one: Quantity, other: Quantity, *, whole: bool = True) -> Quantity:
    """Complete a quantity with its neighbour's scale, unit and currency, or only the currency."""
    currency = one.currency or other.currency
    if _is_year(one):
        return one
    if not whole or one.percent or one.scale != 1 or one.unit or one.per:
        return one._replace(currency=currency)
    return one._replace(
        currency=currency, percent=other.percent, scale=other.scale, unit=other.unit, per=other.per
    )


def _unit_factor(gold: str, given: str) -> float:
    """The factor from the given unit to the gold's; 0 if their kinds differ."""
    if not gold or not given:
        return 1.0
    (kind, one), (other_kind, other) = _UNITS[gold], _UNITS[given]
    return other / one if kind == other_kind else 0.0


def _readings(gold: Quantity, given: Quantity) -> list[float]:
    """The possible values of a quantity in the gold's scale."""
    if gold.percent != given.percent:
        plain = not (gold.unit or given.unit or gold.currency or given.currency)
        fraction = [given.value / 100] if given.percent else [given.value * 100]
        understood = [] if given.percent else [given.value]
        return understood + (fraction if plain else [])
    if given.scale != 1:
        return [given.value * given.scale / gold.scale]
    return [given.value, given.value / gold.scale]


def _is_year(one: Quantity) -> bool:
    bare = one == Quantity(one.value, joined=one.joined)
    return bare and one.value in _YEARS
