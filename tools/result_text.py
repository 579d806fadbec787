"""Writes a query result as compact text for a language model.

The lines above the header are ours (cuts, hint); those below it are data. A row is escaped to one
line, so that it cannot imitate other lines.
"""

import unicodedata
from collections.abc import Sequence

from planweave.texts import shorten
from planweave.tools.database import Cell, QueryResult

_DIGITS = (6, 9, 12, 17)  # significant digits; 17 distinguish any two doubles
FOR_PEOPLE = 12
"""Significant digits of a number for people, which hide the rounding errors of a double."""
_SHORTEST_CELL = 40
_NO_ROWS = "no rows"
_INVISIBLE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}  # Unicode categories


def one_line(text: str) -> str:
    r"""Escape characters that break lines or are invisible: controls, separators, zero-width marks.

    ``\n`` and ``\t`` keep their usual names; the rest becomes ``\u….``
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(map(_escape, text))


def _escape(character: str) -> str:
    if character in "\n\r\t":
        return repr(character)[1:-1]
    if unicodedata.category(character) in _INVISIBLE:
        code = ord(character)
        return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
    return character


def cell_text(cell: Cell, digits: int = 6) -> str:
    """A value on one line; floats have at least ``digits`` significant digits."""
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
        return f"{value:.0f}"  # models misread 1.23457e+06
    return f"{value:.{digits}g}"


def result_text(result: QueryResult, *, max_characters: int, digits: int = _DIGITS[0]) -> str:
    """Write a result: what was cut and the hint, then a header, then one row per line.

    Floats have ``digits`` significant digits (few in prompts), or more if a column would otherwise
    show different values as equal. Rows that do not fit into ``max_characters`` are left out and
    counted.
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


def to_sentences(text: str) -> str:
    """Write the text of a result without rows as sentences; any other text stays unchanged."""
    first, *others = text.splitlines() or [""]
    if first != _NO_ROWS:
        return text
    hints = [line.removeprefix("hint: ") for line in others if line.startswith("hint: ")]
    return " ".join(["The query found no rows.", *hints])


def _head(result: QueryResult, shown: int) -> list[str]:
    """The lines above the header: whether rows are missing, and the hint."""
    head = []
    if result.total_rows is None:
        head.append(f"the first {shown} of more than {len(result.rows)} rows")
    elif shown < result.total_rows:
        head.append(f"the first {shown} of {result.total_rows} rows")
    elif not shown:
        head.append(_NO_ROWS)
    if result.hint:
        head.append(f"hint: {one_line(result.hint)}")
    return head


def table_lines(
    columns: Sequence[str], rows: Sequence[Sequence[Cell]], longest_cell: int, digits: int
) -> list[str]:
    """The header and the rows, one line each."""
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
    """The fewest significant digits that distinguish the different floats of a column."""
    floats = {cell for cell in column if isinstance(cell, float)}
    differ = (d for d in _DIGITS if len({_float_text(one, d) for one in floats}) == len(floats))
    return next(differ, _DIGITS[-1])
