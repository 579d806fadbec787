"""Tables in the text of a page: which lines are rows, and which lines name them.

A row by itself says little: what its cells mean is in the column names and in the heading above
the table. So a chunk or a quote of rows goes with these lines, and a page that begins inside a
table begins with them.
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
"""A cell that is nothing but a number, with its sign, its currency or its footnote."""
_THOUSANDS = re.compile(r"\W*000\W*")  # "$'000" names a unit
_WITH_YEAR = re.compile(r"\b[12] ?[09] ?\d ?\d\b")
_LONGEST_FIGURES = 300
_LONGEST_NAME = 120
_LONGEST_CAPTION = 200
_MOST_NAME_LINES = 12
_MOST_NAMES = 6
_MOST_HEADINGS = 3
_MOST_GROUPED = 40
_MOST_CHARACTERS = 600
_PATH = " > "
_BLANK = "\n\n"

Span: TypeAlias = tuple[int, int]
"""Begin and end, in characters of the page."""


class TableLine(NamedTuple):
    """A line that is not blank."""

    begin: int
    end: int
    text: str


class PageTable(NamedTuple):
    """A table: the headings above it, the lines that name its columns, and its rows.

    A row of several lines, as where a long label is wrapped, is one span.
    """

    kind: _Kind
    headings: tuple[TableLine, ...]
    header: tuple[TableLine, ...]
    rows: tuple[Span, ...]

    @property
    def begin(self) -> int:
        """Where the first column name, or else the first row, is."""
        return self.header[0].begin if self.header else self.rows[0][0]

    @property
    def end(self) -> int:
        """Where the last row ends."""
        return self.rows[-1][1]


@lru_cache(maxsize=64)
def tables(text: str) -> tuple[PageTable, ...]:
    """The tables of a page, in their order."""
    lines = _lines(text)
    found: list[PageTable] = []
    headings: list[TableLine] = []
    seen = 0
    for kind, run in _runs(text, lines):
        found.append(_table(lines, kind, run, begins=seen))
        headings = _in_force([*headings, *lines[seen : run[0]]])
        found[-1] = found[-1]._replace(headings=(*headings, *found[-1].headings))
        seen = run[1]
    return tuple(found)


def above(text: str, place: int) -> str:
    """The headings and column names of the table in which ``place`` is, as lines.

    Empty outside tables; the headings alone inside the column names.
    """
    table = _at(tables(text), place)
    if table is None or not table.begin <= place < table.end:
        return ""
    named = [line.text for line in (*table.headings, *table.header) if line.end <= place]
    if group := _group(text, table, place):
        named.append(text[slice(*group)])
    return _cut("\n".join(named))


def with_names(text: str, quoted: Span) -> str:
    """The words at ``quoted``; rows are whole, behind the headings and column names of their table.

    ``…`` is where lines of the page are left out.
    """
    table = _at(tables(text), quoted[1] - 1)
    if table is None or not _overlap((table.begin, table.end), quoted):
        return text[slice(*quoted)]
    rows = [row for row in table.rows if _overlap(row, quoted)]
    spans = [
        *((line.begin, line.end) for line in (*table.headings, *table.header)),
        *([(min(rows[0][0], quoted[0]), max(rows[-1][1], quoted[1]))] if rows else [quoted]),
    ]
    if rows and (group := _group(text, table, rows[0][0])):
        spans.append(group)
    return _joined(text, spans)


def with_headings(text: str, quoted: Span) -> str:
    """As :func:`with_names`, behind the headings that hold there."""
    table = _at(tables(text), quoted[1] - 1)
    if table is not None and _overlap((table.begin, table.end), quoted):
        return with_names(text, quoted)
    held = _in_force(_lines(text[: quoted[0]]))
    return _joined(text, [*((line.begin, line.end) for line in held), quoted])


def paragraph(text: str, quoted: Span) -> Span:
    """The paragraph around some words: from a blank line to the next."""
    before, after = text.rfind(_BLANK, 0, quoted[0]), text.find(_BLANK, quoted[1])
    begin = before + len(_BLANK) if before >= 0 else 0
    return begin, after if after >= 0 else len(text)


def continued(texts: Iterable[str]) -> Iterator[str]:
    """The pages; one that begins inside a section or a table begins with the names of these."""
    before: str | None = None
    for text in texts:
        page = text if before is None else _names_first(before, text)
        yield page
        before = page if page.strip() else before


def names_at_end(text: str, after: str) -> int:
    """Where the headings and column names begin with which a piece ends that ``after`` follows.

    The length of the piece where it ends otherwise, or holds nothing else.
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
    while kept and _heading(lines[kept - 1].text):
        kept -= 1
    return lines[kept].begin if 0 < kept < len(lines) else len(text)


# lines


def _lines(text: str) -> list[TableLine]:
    """The lines that are not blank, without comments in code, which look like headings."""
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
    """Whether a line of Markdown begins or ends a block of code; ```such a line``` holds code."""
    return _FENCE.match(line) is not None


def _is_cells(text: str) -> bool:
    return text.startswith("|") or " | " in text


def _kind(text: str) -> _Kind | None:
    """How the cells of a row are parted; None for a line that is no row."""
    if _is_cells(text):
        return "cells"
    if len(text) > _LONGEST_FIGURES or _heading(text):
        return None
    cells = _GAP.split(text)
    if len(cells) > 2 or (len(cells) == 2 and _DIGIT.search(cells[1])):
        return "columns"
    figures = _figures(text)
    return "figures" if len(figures) > 1 and any(map(_DIGIT.search, figures)) else None


def _figures(text: str) -> list[str]:
    """The figures with which a line ends."""
    found: list[str] = []
    for token in reversed(text.split()):
        if _CELL.fullmatch(token):
            found.append(token)
        elif not _SIGN.fullmatch(token):
            break
    return found[::-1]


def _heading(text: str) -> bool:
    return bool(_HEADING.fullmatch(text) or _SECTION.fullmatch(text))


def _is_name(text: str) -> bool:
    """Whether a line may be a caption, a column name or the begin of a label."""
    return len(text) <= _LONGEST_NAME and not text.endswith((".", ";", ":")) and not _heading(text)


def _is_caption(text: str, kind: _Kind) -> bool:
    """Whether a line above a table says what it is; above one of cells it may be a sentence."""
    if kind != "cells":
        return _is_name(text)
    return len(text) <= _LONGEST_CAPTION and not (_heading(text) or _is_cells(text))


def _cells(text: str, *, bordered: bool) -> list[str]:
    """The cells of a row; in a bordered table ``|`` is before the first and after the last."""
    if not _is_cells(text):
        return _GAP.split(text)
    plain = text.removeprefix("|").removesuffix("|") if bordered else text
    return [cell.strip() for cell in plain.split("|")]


# tables


def _runs(text: str, lines: Sequence[TableLine]) -> Iterator[tuple[_Kind, tuple[int, int]]]:
    """The first line of each table and the one behind its last, with the kind of its rows."""
    kinds = [_kind(line.text) for line in lines]
    first = 0
    while first < len(lines):
        kind = kinds[first]
        last, rows, at = first, 1, first + 1
        while kind and at < len(lines):
            if kinds[at] == kind and _follows(text, lines, last, at, kind):
                last, rows = at, rows + 1
            elif kind != "figures" or at - last > 2 or not _is_name(lines[at].text):
                break
            at += 1
        if kind and rows > 1:
            yield kind, (first, last + 1)
            first = last + 1
        else:
            first += 1


def _follows(text: str, lines: Sequence[TableLine], last: int, at: int, kind: _Kind) -> bool:
    """Whether a row goes on the table that the line ``last`` ends: no blank line parts them."""
    between = text[lines[last].end : lines[at].begin]
    return kind == "figures" or between.count("\n") == 1


def _table(
    lines: Sequence[TableLine], kind: _Kind, run: tuple[int, int], *, begins: int
) -> PageTable:
    """A table without the headings that hold there; ``begins`` is behind the table before."""
    first, end = run
    begin = first + _names(lines, kind, run)
    header = [*lines[first:begin]]
    caption = first
    if kind != "cells":
        caption = _first_name(lines[begins:first], with_names=not header) + begins
        header = [*lines[caption:first], *header]
    captions: list[TableLine] = []
    if header and _CAPTION.match(header[0].text):
        captions = [header.pop(0)]
    elif caption > begins and _is_caption(lines[caption - 1].text, kind):
        captions = [lines[caption - 1]]
    return PageTable(kind, tuple(captions), tuple(header), tuple(_rows(lines[begin:end], kind)))


def _names(lines: Sequence[TableLine], kind: _Kind, run: tuple[int, int]) -> int:
    """How many lines at the begin of a table name its columns."""
    first, end = run
    texts = [line.text for line in lines[first : min(end - 1, first + _MOST_NAMES)]]
    if kind == "figures":
        years = (all(map(_YEAR.fullmatch, _figures(text))) for text in texts)
        return sum(takewhile(bool, years))
    ruled = next((at for at, text in enumerate(texts) if _RULE.fullmatch(text)), -1)
    bordered = all(text.startswith("|") and text.endswith("|") for text in texts)
    rows = [_cells(text, bordered=bordered) for text in texts[ruled + 1 :]]
    return ruled + 1 + _named(rows, first=ruled < 0)


def _named(rows: Sequence[Sequence[str]], *, first: bool) -> int:
    """How many rows name columns: no cell is an amount, and they have no label, or name years."""
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


def _first_name(lines: Sequence[TableLine], *, with_names: bool) -> int:
    """The first of the lines above rows that name the columns: up to a caption, or just one."""
    at = len(lines)
    while at and len(lines) - at < _MOST_NAME_LINES and _is_name(lines[at - 1].text):
        at -= 1
        if _CAPTION.match(lines[at].text):
            return at
    for caption in (at - 1, at - 2):  # of a sentence, perhaps of two lines
        if caption >= 0 and _CAPTION.match(lines[caption].text):
            return caption
    near = bool(lines) and _is_name(lines[-1].text)
    return len(lines) - 1 if with_names and near else len(lines)


def _rows(lines: Sequence[TableLine], kind: _Kind) -> Iterator[Span]:
    """The rows; a label that is wrapped above its figures belongs to their row."""
    begin: int | None = None
    for line in lines:
        begin = line.begin if begin is None else begin
        if kind == "figures" and _kind(line.text) != kind:
            continue
        yield begin, line.end
        begin = None


def _in_force(lines: Iterable[TableLine]) -> list[TableLine]:
    """The headings that hold behind these lines, the widest first.

    The line of a section counts as its narrowest heading: it falls with that.
    """
    held: list[tuple[int, TableLine]] = []
    for line in lines:
        for level, _ in _titles(line.text)[-1:]:
            held = [(wider, one) for wider, one in held if wider < level]
            held.append((level, line))
    return [line for _, line in held][-_MOST_HEADINGS:]


def _titles(text: str) -> list[tuple[int, str]]:
    """The headings that a line holds, with their levels: its own, or those of a section."""
    section = _SECTION.fullmatch(text)
    parts = section[1].split(_PATH) if section else [text]
    return [(len(found[1]), part) for part in parts if (found := _HEADING.fullmatch(part))]


# pages


def _names_first(before: str, text: str) -> str:
    """A page behind the names that the page before leaves to it."""
    lines, earlier = _lines(text), _lines(before)
    if not lines or not earlier:
        return text
    left = _left_open(before, earlier, lines)
    path = _path(earlier, lines[0].text)
    names = []
    shown = {line.text for line in lines[:4]}
    if left and not (left.header and left.header[0].text in shown):  # the page names them itself
        captions = [line for line in left.headings if not _heading(line.text)]
        names = [line.text for line in (*captions, *left.header)]
    section = [f"[Section: {path}]"] if path else []
    return "\n".join([*section, *names, text]) if section or names else text


def _left_open(
    before: str, earlier: Sequence[TableLine], lines: Sequence[TableLine]
) -> PageTable | None:
    """The table of the page before that goes on; short lines at foot and head do not part it."""
    last, first = tables(before)[-1:], _first_table(lines)
    if not last or first is None:
        return None
    foot = [line for line in earlier if line.begin >= last[0].end]
    parted = len(foot) > 2 or any(not _is_name(line.text) for line in foot)
    same = last[0].kind == first[0] and (
        first[0] == "figures"
        or len(_cells(before[slice(*last[0].rows[-1])], bordered=False)) == first[1]
    )
    return last[0] if same and not parted else None


def _first_table(lines: Sequence[TableLine]) -> tuple[_Kind, int] | None:
    """Kind and number of cells of the row with which a page begins."""
    for line in lines[:3]:
        if kind := _kind(line.text):
            return kind, len(_cells(line.text, bordered=False))
        if not _is_name(line.text) or _CAPTION.match(line.text):
            return None
    return None


def _path(lines: Iterable[TableLine], first: str) -> str:
    """The headings that hold behind these lines, but for those that ``first`` replaces."""
    held: list[tuple[int, str]] = []
    for line in lines:
        titles = _titles(line.text)
        if titles:
            held = [(level, title) for level, title in held if level < titles[0][0]] + titles
    for level, _ in _titles(first)[:1]:
        held = [(wider, title) for wider, title in held if wider < level]
    return _PATH.join(title for _, title in held[-_MOST_HEADINGS:])


def _group(text: str, table: PageTable, place: int) -> Span | None:
    """The row that by its label alone names the rows at ``place``, such as ``Assets | | |``."""
    at = bisect_right(table.rows, place, key=lambda row: row[0]) - 1
    if table.kind != "cells" or at < 1:
        return None
    nearest = table.rows[max(at - _MOST_GROUPED, 0) : at]
    return next((row for row in reversed(nearest) if _is_label(text[slice(*row)])), None)


def _is_label(row: str) -> bool:
    label, *others = _cells(row, bordered=row.startswith("|"))
    return bool(label) and not any(others)


def _at(found: Sequence[PageTable], place: int) -> PageTable | None:
    """The last table that begins at or before a place."""
    at = bisect_right(found, place, key=lambda table: table.begin)
    return found[at - 1] if at else None


def _overlap(one: Span, other: Span) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def _joined(text: str, spans: Sequence[Span]) -> str:
    """Passages of a page in their order, with ``…`` where something between them is left out."""
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


def _cut(text: str) -> str:
    return text if len(text) <= _MOST_CHARACTERS else f"{text[:_MOST_CHARACTERS]} …"
