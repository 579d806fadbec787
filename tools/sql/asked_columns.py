"""Columns that a question asks for by name and that a query does not show.

"For each country" wants the country beside each number, and "return the name and the phone number"
wants both. What is read here are the words of the question; the tables are those of the query.
"""

import re
from collections.abc import Iterable, Iterator

from sqlglot import exp

from planweave.tools.linking import parts_of, plain, stem
from planweave.tools.sql.catalogue import Catalogue
from planweave.tools.sql.slips import sources_of

_EACH = re.compile(
    r"\b(?:(?:for|in|of|by|to) each|per)\b (?P<words>\w+(?: \w+){0,2})", re.IGNORECASE
)
_BY = re.compile(
    r"(?<!sorted )(?<!ordered )(?<!order )(?<!ranked )\bby (?P<words>\w+(?: \w+){0,2}?)"
    r"(?=[?.,;)]|$| in | for | and | with )",
    re.IGNORECASE,
)
_ASKED = re.compile(
    r"\b(?:return|show|give|list|display)(?: me)?(?: only)?(?: the| their| its| his| her| both)? "
    r"(?:(?:distinct |unique )?list of )?"
    r"(?P<items>[^.?!;:]+?)(?= of | for | who | that | where | whose | in | with |[.?!;:]|$)",
    re.IGNORECASE,
)
_WHAT = re.compile(
    r"\bwhat (?:is|are|was|were) the (?P<items>\w+(?: \w+){0,2}(?:, \w+(?: \w+){0,2})* and "
    r"\w+(?: \w+){0,2}?)(?= of | for )",
    re.IGNORECASE,
)
_BETWEEN = re.compile(r",|\band\b|\(|\)|&", re.IGNORECASE)
_MOST_WORDS = 4
_NAMING = ((), ("name",), ("id",), ("code",))
"""What the name of a column may have beside what the question calls it, the best first."""


def show_asked_columns(select: exp.Select, catalogue: Catalogue, question: str) -> list[str]:
    """Show the columns that a question names, and group by "each" of them where it adds up."""
    shown = [one.unalias() for one in select.expressions]
    if select.args.get("group") or any(one.is_star for one in shown):
        return []
    adds_up = [bool(one.find(exp.AggFunc)) for one in shown]
    if (any(adds_up) and not all(adds_up)) or any(one.find(exp.Window) for one in shown):
        return []
    tables = _tables(select, catalogue)
    each = [column for column in _each(question, tables) if not _is_there(column, select)]
    if any(adds_up):
        if not each:
            return []
        select.set("group", exp.Group(expressions=[each[0].copy()]))
        select.set("expressions", [each[0], *select.expressions])
        return [f"groups by {each[0].sql()}"]
    asked = [column for column in _asked(question, tables) if not _is_there(column, select)]
    found = {column.sql(): column for column in (*each[:1], *asked)}
    if not found:
        return []
    before, after = each[:1], [c for text, c in found.items() if not each or text != each[0].sql()]
    select.set("expressions", [*before, *select.expressions, *after])
    return [f"shows {text}" for text in found]


def _tables(select: exp.Select, catalogue: Catalogue) -> dict[str, dict[str, str]]:
    """For each alias the columns of its table, by what they may be called.

    Each is called by its name; of a table ``users`` the key is a "user ID", too, and what names
    its rows a "user name".
    """
    found = {}
    for table in (one for one in sources_of(select) if isinstance(one, exp.Table)):
        name = table.name.lower()
        columns, keys = catalogue.columns.get(name, {}), catalogue.keys.get(name, set())
        prefix = _shared_words(columns.values())
        called = {
            "_".join(parts_of(written)[left_out:]): written
            for left_out in range(prefix, -1, -1)
            for written in columns.values()
        }
        if naming := catalogue.naming(name):
            called[f"{name}_name"] = naming
        if len(keys) == 1:
            called[f"{name}_id"] = columns[next(iter(keys))]
        found[table.alias_or_name] = called
    return found


def _shared_words(names: Iterable[str]) -> int:
    """With how many same words all columns of a table begin: ``sbTickerId``, ``sbTickerType``."""
    parts = [parts_of(name)[:-1] for name in names]
    same = [len({*words}) == 1 for words in zip(*parts, strict=False)] if len(parts) > 1 else []
    return same.index(False) if False in same else len(same)


def _is_there(column: exp.Column, select: exp.Select) -> bool:
    """Whether a column of that name is shown already, by itself or inside an expression."""
    names = {one.alias_or_name.lower() for one in select.expressions}
    used = {one.name.lower() for e in select.expressions for one in e.find_all(exp.Column)}
    return column.name.lower() in names | used


def _each(question: str, tables: dict[str, dict[str, str]]) -> Iterator[exp.Column]:
    for found in _EACH.finditer(question):
        yield from _called(found["words"], tables)
    for found in _BY.finditer(question):  # "by customer 5" names one, and no group
        column = _column([stem(word) for word in plain(found["words"]).split()], tables)
        if column is not None:
            yield column


def _asked(question: str, tables: dict[str, dict[str, str]]) -> Iterator[exp.Column]:
    for found in (*_ASKED.finditer(question), *_WHAT.finditer(question)):
        for item in _BETWEEN.split(found["items"]):
            yield from _called(item, tables)


def _called(text: str, tables: dict[str, dict[str, str]]) -> Iterator[exp.Column]:
    """The column that the longest beginning of a text calls by its name."""
    words = [stem(word) for word in plain(text).split() if word != "the"]
    for length in range(min(len(words), _MOST_WORDS), 0, -1):
        column = _column(words[:length], tables)
        if column is not None:
            yield column
            return


def _column(words: list[str], tables: dict[str, dict[str, str]]) -> exp.Column | None:
    """The column of the query's tables that is called by these words; None if none is."""
    for more in _NAMING:
        for alias, columns in tables.items():
            for called, name in columns.items():
                if [stem(part.casefold()) for part in parts_of(called)] == [*words, *more]:
                    return exp.column(name, table=alias)
    return None
