"""Amounts in the unit that is asked for: kilos where a column holds grams."""

import re

from sqlglot import exp

from planweave.tools.linking import parts_of

_SMALLER = {
    ("kg", "kilo", "kilos", "kilogram", "kilograms"): {"g gram grams": 1000},
    ("tonne", "tonnes", "tons"): {"kg kilo kilos kilograms": 1000},
    ("hour", "hours"): {
        "min mins minute minutes": 60,
        "s sec secs second seconds": 3600,
    },
    ("minute", "minutes"): {"s sec secs second seconds": 60, "ms millis milliseconds": 60_000},
    ("second", "seconds"): {"ms millis milliseconds": 1000},
    ("km", "kilometre", "kilometres", "kilometer", "kilometers"): {"m metres meters": 1000},
    ("metre", "metres", "meter", "meters"): {"cm centimetres centimeters": 100},
    ("litre", "litres", "liter", "liters"): {"ml millilitres milliliters": 1000},
    ("euro", "euros", "dollar", "dollars", "pounds"): {"cent cents pence": 100},
}
_ASKED = re.compile(
    r"\b(?:how many|number of|amount in|in|total|average) (?P<unit>{})\b".format(
        "|".join(word for words in _SMALLER for word in words)
    ),
    re.IGNORECASE,
)


def show_in_the_unit_asked(select: exp.Select, question: str) -> list[str]:
    """Divide what a column holds in a smaller unit, if its name ends with that unit."""
    asked = _ASKED.search(question)
    if asked is None or select.find(exp.Div, exp.Mul):
        return []
    unit = asked["unit"].lower()
    smaller = next(parts for words, parts in _SMALLER.items() if unit in words)
    sizes = {name: size for names, size in smaller.items() for name in names.split()}
    changes = []
    for shown in select.expressions:
        amount = shown.unalias()
        column = amount if isinstance(amount, exp.Column) else amount.this
        is_amount = isinstance(amount, exp.Column | exp.Sum | exp.Avg | exp.Max | exp.Min)
        if not is_amount or not isinstance(column, exp.Column):
            continue
        size = sizes.get(parts_of(column.name)[-1].lower()) if parts_of(column.name) else None
        if size is not None:
            whole = exp.Literal.number(f"{size}.0")
            amount.replace(exp.Div(this=amount.copy(), expression=whole))
            changes.append(f"shows {column.name} in {unit}")
    return changes
