"""Columns that a question asks for by name and that a query does not show.

"For each country" wants the country beside each number, and "return the name and the phone number"
wants both. The columns are searched for in the tables of the query.
"""

import re
from collections.abc import Iterable, Iterator, Mapping

from sqlglot import exp

from planweave.tools.linking import parts_of, plain, singular
from planweave.tools.sql.catalogue import Catalogue
from planweave.tools.sql.tree import get_outputs, get_sources, group_by

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
_SEPARATORS = re.compile(r",|\band\b|\(|\)|&", re.IGNORECASE)
_MOST_WORDS = 4
_ENDINGS = ((), ("name",), ("id",), ("code",))
"""What the name of a column may have after the words of the question, best first."""

_KEY_WORDS = {"id", "number", "code", "key", "reference"}
_PLAIN_NAME = re.compile(r"[a-z_][a-z0-9_]*")

_Names = Mapping[str, Mapping[str, str]]
"""For each alias of a query its columns, by the names that a question may use for them."""


def show_asked_columns(select: exp.Select, catalogue: Catalogue, question: str) -> list[str]:
    """Show the columns that a question names; group an aggregate by the column after "each".

    Returns:
        What was changed, in words; the corrections of other modules return the same.
    """
    shown = get_outputs(select)
    if select.args.get("group") or any(one.is_star for one in shown):
        return []
    are_aggregates = [bool(one.find(exp.AggFunc)) for one in shown]
    if len({*are_aggregates}) > 1 or any(one.find(exp.Window) for one in shown):
        return []
    names = _find_names(select, catalogue)
    groups = [one for one in _find_group_columns(question, names) if not _is_shown(one, select)]
    first = groups[:1]
    if any(are_aggregates):
        if not first:
            return []
        group_by(select, first)
        select.set("expressions", [*first, *select.expressions])
        return [f"groups by {first[0].sql()}"]
    asked = [one for one in _find_asked_columns(question, names) if not _is_shown(one, select)]
    added = {column.sql(): column for column in (*first, *asked)}
    if not added:
        return []
    after = [column for text, column in added.items() if not first or text != first[0].sql()]
    select.set("expressions", [*first, *select.expressions, *after])
    return [f"shows {text}" for text in added]


def show_names(select: exp.Select, catalogue: Catalogue, question: str) -> list[str]:
    """Show the names of rows if a query shows only what it sorts by, or only their key."""
    outputs, order = get_outputs(select), select.args.get("order")
    shown = [one for one in outputs if isinstance(one, exp.Column)]
    if any(map(select.args.get, ("group", "distinct", "with_"))) or len(shown) != len(outputs):
        return []
    sources = {one.alias_or_name: one for one in get_sources(select)}
    source = sources.get(shown[0].table or next(iter(sources), "")) if shown else None
    keys = [key.this for key in order.expressions] if order else []
    if not isinstance(source, exp.Table) or any(isinstance(key, exp.Literal) for key in keys):
        return []
    sorts = {key.sql().lower() for key in keys}
    shows_sorted = len(sources) == 1 and {one.sql().lower() for one in shown} <= sorts
    is_key = len(shown) == 1 and _is_unasked_key(shown[0], source, catalogue, question)
    name = catalogue.find_name_column(source.name) if shows_sorted or is_key else ""
    if not name or name.lower() in {one.name.lower() for one in shown}:
        return []
    select.set("expressions", [_name_beside(shown[0], name), *select.expressions])
    return [f"shows {name}"]


def show_names_of_keys(
    tree: exp.SetOperation, catalogue: Catalogue, question: str
) -> tuple[exp.Query, list[str]]:
    """Show the name beside each key that EXCEPT or INTERSECT leaves."""
    first = tree.left
    if not isinstance(tree, exp.Except | exp.Intersect) or not isinstance(first, exp.Select):
        return tree, []
    outputs, sources = get_outputs(first), get_sources(first)
    if (
        len(outputs) != 1
        or len(sources) != 1
        or any(map(tree.args.get, ("order", "limit", "with_")))
    ):
        return tree, []
    (key,), (source,) = outputs, sources
    if not isinstance(key, exp.Column) or not isinstance(source, exp.Table):
        return tree, []
    name = catalogue.find_name_column(source.name)
    if not name or not _is_unasked_key(key, source, catalogue, question):
        return tree, []
    named = exp.select(_name_beside(key, name), key.copy()).from_(source.copy())
    return named.where(exp.In(this=key.copy(), query=exp.Subquery(this=tree))), [f"shows {name}"]


def _name_beside(key: exp.Column, name: str) -> exp.Column:
    """The column that names rows, with the table of their key."""
    column = exp.column(name, quoted=not _PLAIN_NAME.fullmatch(name))
    column.set("table", key.args["table"].copy() if key.args.get("table") else None)
    return column


def _is_unasked_key(
    column: exp.Column, source: exp.Table, catalogue: Catalogue, question: str
) -> bool:
    """Whether a column is the key of a table and the question asks for no number or code."""
    name = column.name.lower()
    asked = {singular(word) for word in plain(question).split()} - {"no"}
    named = _KEY_WORDS | {singular(part.casefold()) for part in parts_of(column.name)[-1:]}
    is_named = asked & named or name in question.lower()
    return bool(question) and catalogue.keys.get(source.name.lower()) == {name} and not is_named


def _find_names(select: exp.Select, catalogue: Catalogue) -> _Names:
    """Find the names by which a question may call the columns of a query's tables.

    Apart from its own name, the key of a table ``users`` is a "user ID", and the column that names
    its rows a "user name".
    """
    found = {}
    for table in (one for one in get_sources(select) if isinstance(one, exp.Table)):
        name = table.name.lower()
        columns, keys = catalogue.columns.get(name, {}), catalogue.keys.get(name, set())
        names = {
            "_".join(parts_of(written)[skipped:]): written
            for skipped in range(_count_shared_words(columns.values()), -1, -1)
            for written in columns.values()
        }
        if name_column := catalogue.find_name_column(name):
            names[f"{name}_name"] = name_column
        if len(keys) == 1:
            names[f"{name}_id"] = columns[next(iter(keys))]
        found[table.alias_or_name] = names
    return found


def _count_shared_words(names: Iterable[str]) -> int:
    """Count the words with which all columns of a table begin: ``sbTickerId``, ``sbTickerType``."""
    parts = [parts_of(name)[:-1] for name in names]
    same = [len({*words}) == 1 for words in zip(*parts, strict=False)] if len(parts) > 1 else []
    return same.index(False) if False in same else len(same)


def _is_shown(column: exp.Column, select: exp.Select) -> bool:
    """Whether a query shows a column of that name, by itself or inside an expression."""
    names = {one.alias_or_name.lower() for one in select.expressions}
    used = {one.name.lower() for e in select.expressions for one in e.find_all(exp.Column)}
    return column.name.lower() in names | used


def _find_group_columns(question: str, names: _Names) -> Iterator[exp.Column]:
    """Find the columns after "each", "per" and "by"."""
    for found in _EACH.finditer(question):
        yield from _find_leading_column(found["words"], names)
    for found in _BY.finditer(question):  # "by customer 5" names one customer, not a group
        words = [singular(word) for word in plain(found["words"]).split()]
        if (column := _find_column(words, names)) is not None:
            yield column


def _find_asked_columns(question: str, names: _Names) -> Iterator[exp.Column]:
    """Find the columns that a question lists."""
    for found in (*_ASKED.finditer(question), *_WHAT.finditer(question)):
        for item in _SEPARATORS.split(found["items"]):
            yield from _find_leading_column(item, names)


def _find_leading_column(text: str, names: _Names) -> Iterator[exp.Column]:
    """Find the column that the most words at the beginning of a text name."""
    words = [singular(word) for word in plain(text).split() if word != "the"]
    for length in range(min(len(words), _MOST_WORDS), 0, -1):
        if (column := _find_column(words[:length], names)) is not None:
            yield column
            return


def _find_column(words: list[str], names: _Names) -> exp.Column | None:
    """Find the column whose name has these words, and perhaps a usual ending."""
    for ending in _ENDINGS:
        for alias, columns in names.items():
            for name, written in columns.items():
                if [singular(part.casefold()) for part in parts_of(name)] == [*words, *ending]:
                    return exp.column(written, table=alias)
    return None
