"""Units of measurement and of money, and quantities in them."""

from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

from planweave import PlanweaveError
from planweave.tools.suggest import did_you_mean

if TYPE_CHECKING:
    from pint import UnitRegistry
    from pint.facets.plain import PlainQuantity, PlainUnit

    Quantity: TypeAlias = float | PlainQuantity[float]

CURRENCIES = (
    *("USD", "EUR", "GBP", "JPY", "CNY", "KRW", "INR", "CHF", "CAD", "AUD", "NZD", "DKK", "SEK"),
    *("NOK", "PLN", "CZK", "HUF", "TRY", "BRL", "MXN", "CLP", "ZAR", "SAR", "AED", "SGD", "HKD"),
)
"""Units of money, without exchange rates."""


class CalculationFailed(PlanweaveError):
    """The expression cannot be calculated: it is malformed, above a limit, or mixes dimensions."""

    exit_code = 4


@lru_cache(maxsize=1)
def registry() -> "UnitRegistry[float]":
    """Pint's units and a few currencies, which do not convert into each other."""
    from pint import UnitRegistry

    made: UnitRegistry[float] = UnitRegistry(autoconvert_offset_to_baseunit=False)
    for currency in CURRENCIES:
        made.define(f"{currency} = [{currency}]")
    made.define("unit = [] = _ = piece = item")  # else "units" would be micronits
    return made


def names_unit(word: str) -> bool:
    """Whether a single word names a unit."""
    try:
        return word in registry()
    except (ValueError, TypeError, AttributeError, AssertionError):  # pint fails on odd letters
        return False


def in_unit(number: float, unit: str) -> "Quantity":
    """A number with its unit."""
    quantity: Quantity = registry().Quantity(number, registry().Unit(unit))
    return quantity


def converted(quantity: "Quantity", unit: "str | PlainUnit") -> "Quantity":
    """The quantity in another unit."""
    made: Quantity = registry().Quantity(quantity).to(registry().Unit(unit))
    return made


def magnitude(quantity: "Quantity") -> float:
    """The number alone, in the unit of the quantity."""
    return quantity if isinstance(quantity, float) else float(quantity.magnitude)


def plain(quantity: "Quantity") -> tuple[float, str]:
    """Number and unit in short form; a ratio of like units (km/m) becomes a plain number."""
    if isinstance(quantity, float):
        return quantity, ""
    try:
        is_ratio = quantity.dimensionless
    except AttributeError:
        raise CalculationFailed(
            f"{quantity.units} joins a logarithmic unit with others.", fix="Use plain units."
        ) from None
    if is_ratio:
        return float(quantity.to("dimensionless").magnitude), ""
    if len(list(quantity.unit_items())) > 1:
        quantity = quantity.to_reduced_units()
    unit = f"{quantity.units:~C}".replace("**", "^").replace("*", "·")
    return float(quantity.magnitude), unit


def unknown_unit(text: str) -> str:
    """A sentence that suggests the intended unit."""
    known = ("kWh", "MWh", "km", "kg", "tonne", "hour", "day", "year", *CURRENCIES)
    return f"{text} is not a unit{did_you_mean(text, known)}"
