"""A query result as compact text for a language model.

Everything above the header line is ours (what was cut, the hint); everything below it is data.
Row text is escaped to one line, so that no row can fake a line of its own.
"""

import unicodedata
from collections.abc import Sequence

from planweave.texts import shorten
from planweave.tools.database import Cell, QueryResult

_DIGITS = (6, 9, 12, 17)  # significant digits; 17 tell any two doubles apart
FOR_PEOPLE = 12
"""Significant digits of a number as a person has written it, without the noise of a double."""
_SHORTEST_CELL = 40
_NO_ROWS = "no rows"
_INVISIBLE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}  # Unicode categories


def one_line(text: str) -> str:
    r"""Escape what could break a line or hide in one: controls, line separators, zero-width marks.

    ``\n`` and ``\t`` keep their usual names; the rest becomes ``\u….``
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(_escaped(character) for character in text)


def _escaped(character: str) -> str:
    if character in "\n\r\t":
        return repr(character)[1:-1]
    if unicodedata.category(character) in _INVISIBLE:
        code = ord(character)
        return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
    return character


def cell_text(cell: Cell, digits: int = 6) -> str:
    """One value on one line; floats with ``digits`` significant digits at least."""
    if cell is None:
        return "null"
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float):
        return _float_text(cell, digits)
    if isinstance(cell, list):
        return f"[{', '.join(cell_text(item, digits) for item in cell)}]"
    if isinstance(cell, dict):
        items = (f"{one_line(key)}: {cell_text(value, digits)}" for key, value in cell.items())
        return f"{{{', '.join(items)}}}"
    return one_line(str(cell))


def _float_text(value: float, digits: int) -> str:
    if value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    if 10**digits <= abs(value) < 1e15:
        return f"{value:.0f}"  # a plain number is read more surely than 1.23457e+06
    return f"{value:.{digits}g}"


def result_text(result: QueryResult, *, max_characters: int, digits: int = _DIGITS[0]) -> str:
    """Render a result: what was cut and the hint, then a header, then one row a line.

    A column of floats is shown with so many significant digits (few for a model, whose prompts they
    make longer), or more where these would make two different values look equal. Rows that do not
    fit into ``max_characters`` are left out and counted.
    """
    columns, *lines = table_lines(
        result.columns, result.rows, max(max_characters // 2, _SHORTEST_CELL), digits
    )
    shown = len(lines)
    while True:
        head = _head(result, shown)
        text = "\n".join([*head, columns, *lines[:shown]])
        if len(text) <= max_characters or shown == 0:
            return shorten(text, max_characters)
        # Each pass drops what cannot fit, so few passes are needed.
        excess = len(text) - max_characters
        while shown > 0 and excess > 0:
            shown -= 1
            excess -= len(lines[shown]) + 1


def in_a_sentence(text: str) -> str:
    """The text of a result without rows as sentences; any other text as it is."""
    first, *others = text.splitlines() or [""]
    if first != _NO_ROWS:
        return text
    hints = [line.removeprefix("hint: ") for line in others if line.startswith("hint: ")]
    return " ".join(["The query found no rows.", *hints])


def _head(result: QueryResult, shown: int) -> list[str]:
    """The lines above the header: the marker of a cut or empty result, and the hint."""
    head = []
    if result.total_rows is None:
        head.append(f"truncated: {shown} of more than {len(result.rows)} rows")
    elif shown < result.total_rows:
        head.append(f"truncated: {shown} of {result.total_rows} rows")
    elif not shown:
        head.append(_NO_ROWS)
    if result.hint:
        head.append(f"hint: {one_line(result.hint)}")
    return head


def table_lines(
    columns: Sequence[str], rows: Sequence[Sequence[Cell]], longest_cell: int, digits: int
) -> list[str]:
    """The header and the rows, a line each."""
    wanted = [max(digits, _digits(column)) for column in zip(*rows, strict=True)]
    return [
        " | ".join(map(_cell, columns)),
        *(
            " | ".join(
                shorten(_cell(cell, digits), longest_cell)
                for cell, digits in zip(row, wanted, strict=True)
            )
            for row in rows
        ),
    ]


def _cell(cell: Cell, digits: int = 6) -> str:
    return cell_text(cell, digits).replace("|", "\\|")


def _digits(column: Sequence[Cell]) -> int:
    """Fewest significant digits that keep different floats of a column different."""
    floats = {cell for cell in column if isinstance(cell, float)}
    differ = (d for d in _DIGITS if len({_float_text(one, d) for one in floats}) == len(floats))
    return next(differ, _DIGITS[-1])
