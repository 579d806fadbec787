"""Questions that a database or a collection can answer, made from what it holds without a model.

A question about a database is given only if a query of ours finds one answer: no tie, no empty
result. So whoever tries one sees the product, and not the limits of the data.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from planweave.errors import PlanweaveError
from planweave.tools.database import Cell, Database, Entity, Limits

if TYPE_CHECKING:
    from planweave.tools.documents.collection import Collection

_MOST = 3
_TABLES = 8
"""Tables that are looked at, the longest first."""
_LIMITS = Limits(seconds=2.0, rows=2)
_NUMBERS = ("int", "real", "double", "float", "num", "dec")
_TEXTS = ("text", "char", "clob")
_PLAIN = re.compile(r"[A-Za-z_]\w*")  # needs no quotes in any dialect
_NO_MEASURE = re.compile(r"(^|_)(id|key|code|zip|year|month|phone|number|no|nr|lat|lon)$", re.I)
_NO_LABEL = re.compile(r"(^|_)(id|description|note|comment|text|url|e?mail|phone|address)s?$", re.I)
_NAMES = ("name", "title", "label")
_ABOVE = re.compile(r"^\[Section: .*\]\n")  # as pages begin that lie below another heading
_SECTION = 80  # characters below a heading that are worth a question
_FEW = 20  # values of a column that rows are grouped by


class _Example(NamedTuple):
    question: str
    query: str


@dataclass(frozen=True)
class _Table:
    """A table, and which of its columns name a row, group rows, or are measured."""

    name: str
    labels: list[str]
    groups: list[str]
    measures: list[str]


def about_database(database: Database) -> list[str]:
    """Up to three questions, each of another kind; fewer where there is little to ask."""
    entities = sorted(database.schema().entities, key=lambda one: -(one.count or 0))
    if database.kind == "graph":
        nodes = [one for one in entities if one.kind == "node" and one.count]
        return [f"How many {_words(node.name)} nodes are there?" for node in nodes[:_MOST]]
    plain = [one for one in entities if _PLAIN.fullmatch(one.name) and one.count]
    tables = [_table(database, entity) for entity in plain[:_TABLES]]
    highest = partial(_extremes, word="highest", order="DESC")
    lowest = partial(_extremes, word="lowest", order="ASC")
    kinds = (_sums, highest, _counts, lowest, _sizes)
    found = (_answerable(database, tables, kind) for kind in kinds)
    return [question for question in found if question][:_MOST]


def about_documents(collection: "Collection") -> list[str]:
    """Up to three questions about what the headings of documents announce, or about documents."""
    infos = {info.name: info for info in collection.documents()}
    asked: dict[str, str] = {}
    for document, _, text in collection.all_pages():
        heading, _, below = _ABOVE.sub("", text).strip().partition("\n")
        heading = heading.strip("# \t")
        is_section = infos[document].paging == "headings" and len(below) > _SECTION
        if is_section and 3 <= len(heading) <= 60:
            asked.setdefault(document, f"What does {document} say about {heading}?")
    for document in infos:
        asked.setdefault(document, f"What is {document} about?")
    return [*asked.values()][:_MOST]


def _table(database: Database, entity: Entity) -> _Table:
    fields = {one.name: one for one in entity.fields if _PLAIN.fullmatch(one.name)}
    texts = [name for name, one in fields.items() if _is(one.type, _TEXTS)]
    texts = [name for name in texts if not _NO_LABEL.search(name)]
    counted = ", ".join(f"COUNT(DISTINCT {name})" for name in texts)
    rows = _rows(database, f"SELECT COUNT(*), {counted} FROM {entity.name}") if texts else []  # noqa: S608 (plain names)
    total, *distinct = rows[0] if rows else [0]
    different = dict(zip(texts, distinct, strict=False))
    return _Table(
        entity.name,
        labels=[name for name, number in different.items() if number == total],
        groups=[
            name
            for name, number in different.items()
            if isinstance(number, int) and isinstance(total, int) and 1 < number < total
            if number <= _FEW
        ],
        measures=[
            name
            for name, one in fields.items()
            if _is(one.type, _NUMBERS) and not (one.key or one.references)
            if not _NO_MEASURE.search(name)
        ],
    )


_Kind: TypeAlias = Callable[[_Table], Iterator[_Example]]


def _answerable(database: Database, tables: list[_Table], kind: _Kind) -> str:
    """The first question of a kind that has one answer."""
    for example in (example for table in tables for example in kind(table)):
        rows = _rows(database, example.query)
        first = rows[0][-1] if rows else None
        if first not in (None, 0) and (len(rows) == 1 or rows[1][-1] != first):
            value = "" if len(rows[0]) == 1 else str(rows[0][0])
            return example.question.replace("{}", value)
    return ""


def _sums(table: _Table) -> Iterator[_Example]:
    """Such as: Which region has the highest total units?"""
    for group in table.groups:
        for measure in table.measures:
            yield _Example(
                f"Which {_words(group)} has the highest total {_words(measure)}?",
                f"SELECT {group}, SUM({measure}) FROM {table.name} "  # noqa: S608 (plain names)
                f"WHERE {group} IS NOT NULL GROUP BY {group} ORDER BY 2 DESC",
            )


def _extremes(table: _Table, word: str, order: str) -> Iterator[_Example]:
    """Such as: Which product has the highest price?"""
    for label in table.labels:
        for measure in table.measures:
            named = table.name if label.lower() in _NAMES and len(table.name) > 2 else label
            yield _Example(
                f"Which {_one(named)} has the {word} {_words(measure)}?",
                f"SELECT {label}, {measure} FROM {table.name} "  # noqa: S608 (plain names)
                f"WHERE {measure} IS NOT NULL ORDER BY 2 {order}",
            )


def _counts(table: _Table) -> Iterator[_Example]:
    """Such as: How many orders have the city Bonn?"""
    for group in table.groups:
        yield _Example(
            f"How many {_words(table.name)} rows have the {_words(group)} {{}}?",
            f"SELECT {group}, COUNT(*) FROM {table.name} "  # noqa: S608 (plain names)
            f"WHERE {group} IS NOT NULL GROUP BY {group} ORDER BY 2 DESC",
        )


def _sizes(table: _Table) -> Iterator[_Example]:
    """Such as: How many rows does offer have?"""
    yield _Example(
        f"How many rows does the table {_words(table.name)} have?",
        f"SELECT COUNT(*) FROM {table.name}",  # noqa: S608 (plain names)
    )


def _rows(database: Database, query: str) -> list[tuple[Cell, ...]]:
    try:
        return list(database.run(query, _LIMITS).rows)
    except PlanweaveError:  # such as a name that this dialect wants in quotes
        return []


def _is(type_: str, words: tuple[str, ...]) -> bool:
    return any(word in type_.lower() for word in words)


def _words(name: str) -> str:
    """A name as a person says it: ``unitPrice`` and ``unit_price`` are "unit price"."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).replace("_", " ").strip().lower()


def _one(name: str) -> str:
    """What one row of a table is called."""
    words = _words(name)
    return words[:-1] if words.endswith("s") and not words.endswith("ss") else words
