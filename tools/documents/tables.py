"""Tables in the text of a page: which lines are rows, and which lines name them.

The meaning of a row's cells is in the column names and in the heading above the table. So these
lines are added to each chunk or quote of rows, and to each page that begins inside a table.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise, takewhile
from typing import Literal, NamedTuple, TypeAlias

_Kind: TypeAlias = Literal["cells", "columns", "figures"]

_FENCE = re.compile(r"\s*(?:```+[^`]*$|~~~)")
_HEADING = re.compile(r"(#{1,6})\s+(\S.*)")
_SECTION = re.compile(r"\[Section: (.*)\]")
_CAPTION = re.compile(r"(?:table|exhibit|schedule|box)\s+[\dA-Z]", re.IGNORECASE)
_RULE = re.compile(r"[|\s:+=]*+-[|\s:+=-]*+")
_GAP = re.compile(r"\t+| {2,}")
_CELL = re.compile(
    r"[-+(\u2212]?(?:[A-Z]{0,3}[$€£])?\d[\d.,\u2010-\u2013-]*[%)]{0,2}|\(?n/a\)?|[\u2013\u2014-]"
)
_SIGN = re.compile(r"[$€£%()]")
_YEAR = re.compile(r"(?:19|20)\d\d")
_DIGIT = re.compile(r"\d")
_AMOUNT = re.compile(r"[^\w|]*+\d[\d., ]*+[^\w|]*+")
"""A cell with only a number, perhaps with a sign, a currency or a footnote."""
_THOUSANDS = re.compile(r"\W*000\W*")  # "$'000" names a unit
_WITH_YEAR = re.compile(r"\b[12] ?[09] ?\d ?\d\b")
_MAX_FIGURES_LENGTH = 300
_MAX_NAME_LENGTH = 120
_MAX_CAPTION_LENGTH = 200
_MAX_NAME_LINES = 12
_MAX_NAMES = 6
_MAX_HEADINGS = 3
_MAX_GROUPED = 40
_MAX_CHARACTERS = 600
_PATH_SEPARATOR = " > "
_BLANK = "\n\n"

Span: TypeAlias = tuple[int, int]
"""Begin and end, in characters of the page."""


class TableLine(NamedTuple):
    """A line that is not blank."""

    begin: int
    end: int
    text: str


class PageTable(NamedTuple):
    """A table: the headings above it, the lines with its column names, and its rows.

    A row of several lines, such as one with a wrapped label, is one span.
    """

    kind: _Kind
    headings: tuple[TableLine, ...]
    header: tuple[TableLine, ...]
    rows: tuple[Span, ...]

    @property
    def begin(self) -> int:
        """The beginning of the column names, or else of the first row."""
        return self.header[0].begin if self.header else self.rows[0][0]

    @property
    def end(self) -> int:
        """The end of the last row."""
        return self.rows[-1][1]


@lru_cache(maxsize=64)
def tables(text: str) -> tuple[PageTable, ...]:
    """The tables of a page, in order."""
    lines = _lines(text)
    found: list[PageTable] = []
    headings: list[TableLine] = []
    seen = 0
    for kind, run in _find_runs(text, lines):
        found.append(_build_table(lines, kind, run, begins=seen))
        headings = _current_headings([*headings, *lines[seen : run[0]]])
        found[-1] = found[-1]._replace(headings=(*headings, *found[-1].headings))
        seen = run[1]
    return tuple(found)


def names_above(text: str, place: int) -> str:
    """The headings and column names of the table around ``place``, as lines.

    Empty outside tables; the headings alone inside the column names.
    """
    table = _find_table(tables(text), place)
    if table is None or not table.begin <= place < table.end:
        return ""
    named = [line.text for line in (*table.headings, *table.header) if line.end <= place]
    if group := _find_group_label(text, table, place):
        named.append(text[slice(*group)])
    return _shorten("\n".join(named))


def add_names(text: str, quoted: Span) -> str:
    """The words at ``quoted``; rows are whole and follow the names of their table.

    ``…`` marks omitted lines.
    """
    table = _find_table(tables(text), quoted[1] - 1)
    if table is None or not _has_overlap((table.begin, table.end), quoted):
        return text[slice(*quoted)]
    rows = [row for row in table.rows if _has_overlap(row, quoted)]
    spans = [
        *((line.begin, line.end) for line in (*table.headings, *table.header)),
        *([(min(rows[0][0], quoted[0]), max(rows[-1][1], quoted[1]))] if rows else [quoted]),
    ]
    if rows and (group := _find_group_label(text, table, rows[0][0])):
        spans.append(group)
    return _join_spans(text, spans)


def add_headings(text: str, quoted: Span) -> str:
    """As :func:`add_names`, after the current headings."""
    table = _find_table(tables(text), quoted[1] - 1)
    if table is not None and _has_overlap((table.begin, table.end), quoted):
        return add_names(text, quoted)
    held = _current_headings(_lines(text[: quoted[0]]))
    return _join_spans(text, [*((line.begin, line.end) for line in held), quoted])


def paragraph_span(text: str, quoted: Span) -> Span:
    """The span of the paragraph around some words, between two blank lines."""
    before, after = text.rfind(_BLANK, 0, quoted[0]), text.find(_BLANK, quoted[1])
    begin = before + len(_BLANK) if before >= 0 else 0
    return begin, after if after >= 0 else len(text)


def repeat_names(texts: Iterable[str]) -> Iterator[str]:
    """Repeat the names of a section or table on the page that begins inside it."""
    before: str | None = None
    for text in texts:
        page = text if before is None else _put_names_first(before, text)
        yield page
        before = page if page.strip() else before


def find_names_at_end(text: str, after: str) -> int:
    """The beginning of the headings and column names at the end of a piece.

    ``after`` is the text that follows. If it has no such end or nothing else, the length of the
    piece.
    """
    lines = _lines(text)
    kept = len(lines)
    while kept and _is_cells(lines[kept - 1].text):
        kept -= 1
    table_follows = _is_cells(after.lstrip().partition("\n")[0])
    if len(lines) - kept > 2 or not table_follows:
        kept = len(lines)  # these are rows, or nothing of their table follows
    if kept and table_follows and _is_caption(lines[kept - 1].text, "cells"):
        kept -= 1
    while kept and _is_heading(lines[kept - 1].text):
        kept -= 1
    return lines[kept].begin if 0 < kept < len(lines) else len(text)


# lines


def _lines(text: str) -> list[TableLine]:
    """The lines that are not blank, without comments in code, since these look like headings."""
    found: list[TableLine] = []
    begin, in_code = 0, False
    for line in text.splitlines(keepends=True):
        plain = line.strip()
        in_code ^= is_fence(plain)
        if plain and not (in_code and plain.startswith("#")):
            first = begin + line.index(plain[0])
            found.append(TableLine(first, first + len(plain), plain))
        begin += len(line)
    return found


def is_fence(line: str) -> bool:
    """Whether a line of Markdown begins or ends a block of code, unlike ```such a line```."""
    return _FENCE.match(line) is not None


def _is_cells(text: str) -> bool:
    return text.startswith("|") or " | " in text


def _row_kind(text: str) -> _Kind | None:
    """How the cells of a row are separated; None for a line that is not a row."""
    if _is_cells(text):
        return "cells"
    if len(text) > _MAX_FIGURES_LENGTH or _is_heading(text):
        return None
    cells = _GAP.split(text)
    if len(cells) > 2 or (len(cells) == 2 and _DIGIT.search(cells[1])):
        return "columns"
    figures = _last_figures(text)
    return "figures" if len(figures) > 1 and any(map(_DIGIT.search, figures)) else None


def _last_figures(text: str) -> list[str]:
    """The figures at the end of a line."""
    found: list[str] = []
    for token in reversed(text.split()):
        if _CELL.fullmatch(token):
            found.append(token)
        elif not _SIGN.fullmatch(token):
            break
    return found[::-1]


def _is_heading(text: str) -> bool:
    return bool(_HEADING.fullmatch(text) or _SECTION.fullmatch(text))


def _is_name(text: str) -> bool:
    """Whether a line may be a caption, a column name or the beginning of a label."""
    return (
        len(text) <= _MAX_NAME_LENGTH
        and not text.endswith((".", ";", ":"))
        and not _is_heading(text)
    )


def _is_caption(text: str, kind: _Kind) -> bool:
    """Whether a line above a table is its caption; above cells it may be a sentence."""
    if kind != "cells":
        return _is_name(text)
    return len(text) <= _MAX_CAPTION_LENGTH and not (_is_heading(text) or _is_cells(text))


def _cells(text: str, *, bordered: bool) -> list[str]:
    """The cells of a row; a bordered table has ``|`` before the first and after the last."""
    if not _is_cells(text):
        return _GAP.split(text)
    plain = text.removeprefix("|").removesuffix("|") if bordered else text
    return [cell.strip() for cell in plain.split("|")]


# tables


def _find_runs(text: str, lines: Sequence[TableLine]) -> Iterator[tuple[_Kind, tuple[int, int]]]:
    """The kind of rows of each table, its first line, and the line after its last."""
    kinds = [_row_kind(line.text) for line in lines]
    first = 0
    while first < len(lines):
        kind = kinds[first]
        last, rows, at = first, 1, first + 1
        while kind and at < len(lines):
            if kinds[at] == kind and _is_next_row(text, lines, last, at, kind):
                last, rows = at, rows + 1
            elif kind != "figures" or at - last > 2 or not _is_name(lines[at].text):
                break
            at += 1
        if kind and rows > 1:
            yield kind, (first, last + 1)
            first = last + 1
        else:
            first += 1


def _is_next_row(text: str, lines: Sequence[TableLine], last: int, at: int, kind: _Kind) -> bool:
    """Whether a row belongs to the table that ends with ``last``: no blank line is between."""
    between = text[lines[last].end : lines[at].begin]
    return kind == "figures" or between.count("\n") == 1


def _build_table(
    lines: Sequence[TableLine], kind: _Kind, run: tuple[int, int], *, begins: int
) -> PageTable:
    """Build a table without its headings; ``begins`` is the line after the table before."""
    first, end = run
    begin = first + _count_name_lines(lines, kind, run)
    header = [*lines[first:begin]]
    caption = first
    if kind != "cells":
        caption = _find_first_name(lines[begins:first], with_names=not header) + begins
        header = [*lines[caption:first], *header]
    captions: list[TableLine] = []
    if header and _CAPTION.match(header[0].text):
        captions = [header.pop(0)]
    elif caption > begins and _is_caption(lines[caption - 1].text, kind):
        captions = [lines[caption - 1]]
    return PageTable(
        kind, tuple(captions), tuple(header), tuple(_row_spans(lines[begin:end], kind))
    )


def _count_name_lines(lines: Sequence[TableLine], kind: _Kind, run: tuple[int, int]) -> int:
    """Count the lines with column names at the beginning of a table."""
    first, end = run
    texts = [line.text for line in lines[first : min(end - 1, first + _MAX_NAMES)]]
    if kind == "figures":
        years = (all(map(_YEAR.fullmatch, _last_figures(text))) for text in texts)
        return sum(takewhile(bool, years))
    ruled = next((at for at, text in enumerate(texts) if _RULE.fullmatch(text)), -1)
    bordered = all(text.startswith("|") and text.endswith("|") for text in texts)
    rows = [_cells(text, bordered=bordered) for text in texts[ruled + 1 :]]
    return ruled + 1 + _count_name_rows(rows, first=ruled < 0)


def _count_name_rows(rows: Sequence[Sequence[str]], *, first: bool) -> int:
    """Count the rows with column names: without amounts, and without a label unless with years."""
    count = 0
    opening = first
    for label, *cells in rows:
        if any(_is_amount(cell) for cell in cells) or not any((label, *cells)):
            break
        if label and not opening and not any(map(_WITH_YEAR.search, cells)):
            break
        opening = opening and (not label or not any(cells))
        count += 1
    while count > 1 and rows[count - 1][0] and not any(rows[count - 1][1:]):
        count -= 1  # the label of the first group of rows
    return count


def _is_amount(cell: str) -> bool:
    if _THOUSANDS.fullmatch(cell):
        return False
    return bool(_AMOUNT.fullmatch(cell)) and not _YEAR.fullmatch(re.sub(r"\W|_", "", cell)[:4])


def _find_first_name(lines: Sequence[TableLine], *, with_names: bool) -> int:
    """The first line with column names above the rows: after a caption, or just one line."""
    at = len(lines)
    while at and len(lines) - at < _MAX_NAME_LINES and _is_name(lines[at - 1].text):
        at -= 1
        if _CAPTION.match(lines[at].text):
            return at
    for caption in (at - 1, at - 2):  # a caption may be a sentence of two lines
        if caption >= 0 and _CAPTION.match(lines[caption].text):
            return caption
    near = bool(lines) and _is_name(lines[-1].text)
    return len(lines) - 1 if with_names and near else len(lines)


def _row_spans(lines: Sequence[TableLine], kind: _Kind) -> Iterator[Span]:
    """The spans of the rows; a wrapped label above its figures belongs to their row."""
    begin: int | None = None
    for line in lines:
        begin = line.begin if begin is None else begin
        if kind == "figures" and _row_kind(line.text) != kind:
            continue
        yield begin, line.end
        begin = None


def _current_headings(lines: Iterable[TableLine]) -> list[TableLine]:
    """The headings that are current after these lines, the highest level first.

    The line of a section counts as its lowest heading.
    """
    held: list[tuple[int, TableLine]] = []
    for line in lines:
        for level, _ in _read_headings(line.text)[-1:]:
            held = [(wider, one) for wider, one in held if wider < level]
            held.append((level, line))
    return [line for _, line in held][-_MAX_HEADINGS:]


def _read_headings(text: str) -> list[tuple[int, str]]:
    """The headings in a line with their levels; a section line has several."""
    section = _SECTION.fullmatch(text)
    parts = section[1].split(_PATH_SEPARATOR) if section else [text]
    return [(len(found[1]), part) for part in parts if (found := _HEADING.fullmatch(part))]


# pages


def _put_names_first(before: str, text: str) -> str:
    """Put the names that continue from the page before first on a page."""
    lines, earlier = _lines(text), _lines(before)
    if not lines or not earlier:
        return text
    left = _find_open_table(before, earlier, lines)
    path = _heading_path(earlier, lines[0].text)
    names = []
    shown = {line.text for line in lines[:4]}
    if left and not (left.header and left.header[0].text in shown):  # the page repeats them itself
        captions = [line for line in left.headings if not _is_heading(line.text)]
        names = [line.text for line in (*captions, *left.header)]
    section = [f"[Section: {path}]"] if path else []
    return "\n".join([*section, *names, text]) if section or names else text


def _find_open_table(
    before: str, earlier: Sequence[TableLine], lines: Sequence[TableLine]
) -> PageTable | None:
    """The table that continues from the page before, despite short lines at its foot and head."""
    last, first = tables(before)[-1:], _find_first_row(lines)
    if not last or first is None:
        return None
    foot = [line for line in earlier if line.begin >= last[0].end]
    parted = len(foot) > 2 or any(not _is_name(line.text) for line in foot)
    same = last[0].kind == first[0] and (
        first[0] == "figures"
        or len(_cells(before[slice(*last[0].rows[-1])], bordered=False)) == first[1]
    )
    return last[0] if same and not parted else None


def _find_first_row(lines: Sequence[TableLine]) -> tuple[_Kind, int] | None:
    """Kind and number of cells of the first row of a page."""
    for line in lines[:3]:
        if kind := _row_kind(line.text):
            return kind, len(_cells(line.text, bordered=False))
        if not _is_name(line.text) or _CAPTION.match(line.text):
            return None
    return None


def _heading_path(lines: Iterable[TableLine], first: str) -> str:
    """The headings that are current after these lines, without those that ``first`` replaces."""
    held: list[tuple[int, str]] = []
    for line in lines:
        titles = _read_headings(line.text)
        if titles:
            held = [(level, title) for level, title in held if level < titles[0][0]] + titles
    for level, _ in _read_headings(first)[:1]:
        held = [(wider, title) for wider, title in held if wider < level]
    return _PATH_SEPARATOR.join(title for _, title in held[-_MAX_HEADINGS:])


def _find_group_label(text: str, table: PageTable, place: int) -> Span | None:
    """The label row of the group of rows at ``place``, such as ``Assets | | |``."""
    at = bisect_right(table.rows, place, key=lambda row: row[0]) - 1
    if table.kind != "cells" or at < 1:
        return None
    nearest = table.rows[max(at - _MAX_GROUPED, 0) : at]
    return next((row for row in reversed(nearest) if _is_label(text[slice(*row)])), None)


def _is_label(row: str) -> bool:
    label, *others = _cells(row, bordered=row.startswith("|"))
    return bool(label) and not any(others)


def _find_table(found: Sequence[PageTable], place: int) -> PageTable | None:
    """The last table that begins at or before a place."""
    at = bisect_right(found, place, key=lambda table: table.begin)
    return found[at - 1] if at else None


def _has_overlap(one: Span, other: Span) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def _join_spans(text: str, spans: Sequence[Span]) -> str:
    """Passages of a page in order, with ``…`` for omitted text."""
    merged: list[Span] = []
    for begin, end in sorted(spans):
        if merged and begin <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((begin, end))
    pieces = [text[slice(*merged[0])]]
    for left, right in pairwise(merged):
        gap = "\n" if not text[left[1] : right[0]].strip() else "\n… "
        pieces += [gap, text[slice(*right)]]
    return "".join(pieces)


def _shorten(text: str) -> str:
    return text if len(text) <= _MAX_CHARACTERS else f"{text[:_MAX_CHARACTERS]} …"
