"""A calculation: one expression, or several named ones, of which later ones use earlier ones."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from planweave.tools.calculator.evaluation import Given, WorkBudget, evaluate
from planweave.tools.calculator.quantities import KEYWORDS
from planweave.tools.calculator.units import CalculationFailed, plain

if TYPE_CHECKING:
    from planweave.tools.calculator.evaluation import Value

_MAX_CHARACTERS = 4_000
_MAX_STEPS = 60
_SHOWN = 12
_NO_FACTS: Mapping[str, Given] = MappingProxyType({})
_NAME = re.compile(r"\s*([^\W\d_]\w*)\s*=(?!=)")
_ASKED = re.compile(r"=\s*\??\s*$")  # ``… = ?``


@dataclass(frozen=True, kw_only=True)
class CalculationStep:
    """One evaluated expression of a calculation.

    Attributes:
        result: Number and unit as text, ``true`` or ``false``, or a list of them.
        note: The text after ``#``: the item that it is about, and its rule.
    """

    name: str
    expression: str
    result: str
    note: str

    @property
    def text(self) -> str:
        """The step as one line, for people and models."""
        parts = (self.name, self.expression, _shortened(self.result))
        equation = " = ".join(part for part in parts if part)
        return f"{self.note}: {equation}" if self.note else equation


@dataclass(frozen=True, kw_only=True)
class Calculation:
    """The result of a calculation.

    Attributes:
        value: The result of the last expression, in ``unit``; 1 for a true comparison.
        unit: The unit in short form, or an empty string for a plain number.
        steps: All expressions, evaluated.
        repeats: The source that the result only repeats: the name of a fact, or ``""`` for a
            number; None if it was computed.
    """

    value: float
    unit: str
    steps: tuple[CalculationStep, ...]
    repeats: str | None

    @property
    def text(self) -> str:
        """One line for each expression: ``name = expression = value unit``."""
        return "\n".join(step.text for step in self.steps)


def calculate(program: str, facts: Mapping[str, Given] = _NO_FACTS) -> Calculation:
    """Calculate an expression, or several that are separated by new lines or ``;``.

    It understands ``+ - * / // % **``, parentheses, ``min max sum count abs round sqrt log exp
    floor ceil``, units after numbers (``3 kWh``, ``3 * kWh``, ``10 USD/kWh``, ``10 USD per kWh``),
    money before them (``USD 10``, ``$10``), percentages (``5%``), thousands separators (``1,000``),
    ``thousand`` to ``trillion``, and a final ``to <unit>``; comparisons, ``and``, ``or``, ``not``,
    ``x if condition else y``; lists and ``[… for name in list if …]``. An expression may have a
    name (``cost = …``) that later ones use, and a note after ``#``. A final ``= ?`` is ignored. A
    program has at most 4 000 characters and 60 expressions.

    Raises:
        CalculationFailed: It cannot be calculated; the message gives the reason in one sentence.
    """
    if len(program) > _MAX_CHARACTERS:
        raise CalculationFailed(
            f"The calculation has {len(program)} characters, more than {_MAX_CHARACTERS}.",
            fix="Calculate it in parts.",
        )
    written = list(_split_program(program)) or [("", "", "")]
    if len(written) > _MAX_STEPS:
        raise CalculationFailed(
            f"The calculation has {len(written)} expressions, more than {_MAX_STEPS}.",
            fix="Calculate it in parts.",
        )
    work, steps = WorkBudget(), []
    known: dict[str, Value] = {}
    copies: dict[str, str | None] = {}
    value: Value = 0.0
    copied: str | None = None
    for name, expression, note in written:
        try:
            value, copied = evaluate(expression, facts, known, work)
            shown = _shown(value)
        except CalculationFailed as error:
            if len(written) == 1:
                raise
            where = (name or expression)[:60]
            raise CalculationFailed(f"In {where!r}: {error.problem}", fix=error.fix) from error
        copied = copies.get(copied, copied) if copied else copied
        steps.append(CalculationStep(name=name, expression=expression, result=shown, note=note))
        if name:
            known[name], copies[name] = value, copied
    number, unit = _result(value)
    return Calculation(value=number, unit=unit, steps=tuple(steps), repeats=copied)


def is_unit(text: str) -> bool:
    """Whether ``text`` is a unit that :func:`calculate` understands, such as ``USD/kg``."""
    try:
        return bool(calculate(f"1 {text}").unit)
    except CalculationFailed:
        return False


def _split_program(program: str) -> Iterator[tuple[str, str, str]]:
    """Name, expression and note of each expression; a new line in brackets does not separate."""
    for text, note in _split_lines(program):
        match = _NAME.match(text)
        name = match[1] if match else ""
        if name in KEYWORDS:
            raise CalculationFailed(f"{name!r} cannot be a name.", fix="Choose another one.")
        expression = _ASKED.sub("", text[match.end() :] if match else text)
        if text.strip():
            yield name, " ".join(expression.split()), note


def _split_lines(program: str) -> Iterator[tuple[str, str]]:
    """The texts between new lines and semicolons outside brackets, each with its note."""
    text, notes, depth, in_note = "", [""], 0, False
    for character in f"{program}\n":
        if character == "\n" and in_note:
            in_note = False
            notes.append("")
        if in_note:
            notes[-1] += character
        elif character == "#":
            in_note = True
        elif character in "\n;" and depth <= 0:
            yield text, " ".join(" ".join(notes).split())
            text, notes, depth = "", [""], 0
        else:
            depth += (character in "([") - (character in ")]")
            text += character
    if text.strip():
        yield text, " ".join(" ".join(notes).split())


def _result(value: "Value") -> tuple[float, str]:
    if isinstance(value, list):
        raise CalculationFailed(
            "The last expression is a list.", fix="End with one value, such as sum() of it."
        )
    return (float(value), "") if isinstance(value, bool) else plain(value)


def _shown(value: "Value") -> str:
    if isinstance(value, list):
        return f"[{', '.join(_shown(one) for one in value)}]"
    if isinstance(value, bool):
        return "true" if value else "false"
    number, unit = plain(value)
    return f"{number:.12g} {unit}".strip()


def _shortened(result: str) -> str:
    items = result.split(", ")
    if len(items) <= _SHOWN:
        return result
    return f"{', '.join(items[:_SHOWN])}, … ({len(items)} values)]"
