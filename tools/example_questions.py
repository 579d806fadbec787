"""Writes questions that a database or collection can answer, without a model.

A question about a database is used only if a query of ours finds one answer: no tie, no empty
result. So a new user sees the product and not the limits of the data.
"""

import re
from collections.abc import Iterator
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

from planweave.errors import PlanweaveError
from planweave.tools.database import Cell, Database, Entity, Limits

if TYPE_CHECKING:
    from planweave.tools.documents.collection import Collection

_MOST = 3
_MOST_TABLES = 8  # the largest ones
_LIMITS = Limits(seconds=2.0, rows=2)
_NUMBERS = ("int", "real", "double", "float", "num", "dec")
_TEXTS = ("text", "char", "clob")
_PLAIN = re.compile(r"[A-Za-z_]\w*")  # needs no quotes in any dialect
_NO_MEASURE = re.compile(r"(^|_)(id|key|code|zip|year|month|phone|number|no|nr|lat|lon)$", re.I)
_NO_LABEL = re.compile(r"(^|_)(id|description|note|comment|text|url|e?mail|phone|address)s?$", re.I)
_NAMES = ("name", "title", "label")
_ABOVE = re.compile(r"^\[Section: .*\]\n")  # the start of pages below another heading
_SECTION = 80  # least characters below a heading that are worth a question
_FEW = 20  # most values of a column that groups rows


class _Example(NamedTuple):
    question: str
    query: str


class _Table(NamedTuple):
    """A table, and its columns that name a row, group rows, or are measured."""

    name: str
    labels: list[str]
    groups: list[str]
    measures: list[str]


def about_database(database: Database) -> list[str]:
    """Write up to three questions of different kinds; fewer if there is little to ask."""
    entities = sorted(database.schema().entities, key=lambda one: -(one.count or 0))
    if database.kind == "graph":
        nodes = [one for one in entities if one.kind == "node" and one.count]
        return [f"How many {_words(node.name)} nodes are there?" for node in nodes[:_MOST]]
    plain = [one for one in entities if _PLAIN.fullmatch(one.name) and one.count]
    tables = [_read_table(database, entity) for entity in plain[:_MOST_TABLES]]
    kinds = zip(*map(_examples, tables), strict=True)
    found = (_first_answerable(database, [e for some in kind for e in some]) for kind in kinds)
    return [question for question in found if question][:_MOST]


def about_documents(collection: "Collection") -> list[str]:
    """Write up to three questions about the headings of documents, or about documents."""
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


def _read_table(database: Database, entity: Entity) -> _Table:
    fields = {one.name: one for one in entity.fields if _PLAIN.fullmatch(one.name)}
    texts = [n for n, one in fields.items() if _has(one.type, _TEXTS) and not _NO_LABEL.search(n)]
    counted = ", ".join(f"COUNT(DISTINCT {name})" for name in texts)
    rows = _rows(database, f"SELECT COUNT(*), {counted} FROM {entity.name}") if texts else []  # noqa: S608 (plain names)
    total, *distinct = rows[0] if rows else [0]
    different = {
        name: number
        for name, number in zip(texts, distinct, strict=False)
        if isinstance(number, int) and isinstance(total, int)
    }
    return _Table(
        entity.name,
        labels=[name for name, number in different.items() if number == total],
        groups=[n for n, number in different.items() if 1 < number <= _FEW and number != total],
        measures=[
            name
            for name, one in fields.items()
            if _has(one.type, _NUMBERS) and not (one.key or one.references)
            if not _NO_MEASURE.search(name)
        ],
    )


def _first_answerable(database: Database, examples: list[_Example]) -> str:
    """The first question with one answer; ``{}`` in it is replaced by the first cell."""
    for example in examples:
        rows = _rows(database, example.query)
        first = rows[0][-1] if rows else None
        if first not in (None, 0) and (len(rows) == 1 or rows[1][-1] != first):
            value = "" if len(rows[0]) == 1 else str(rows[0][0])
            return example.question.replace("{}", value)
    return ""


def _examples(table: _Table) -> Iterator[list[_Example]]:
    """The examples of each kind: sums, highest values, counts, lowest values, sizes."""
    name = table.name

    def ranked(column: str, value: str, order: str, *, group: bool) -> str:
        grouped = f" GROUP BY {column}" if group else ""
        return (
            f"SELECT {column}, {value} FROM {name} "  # noqa: S608 (plain names)
            f"WHERE {column if group else value} IS NOT NULL{grouped} ORDER BY 2 {order}"
        )

    def extremes(word: str, order: str) -> list[_Example]:
        return [
            _Example(
                f"Which {_one(name if label.lower() in _NAMES and len(name) > 2 else label)} "
                f"has the {word} {_words(measure)}?",
                ranked(label, measure, order, group=False),
            )
            for label, measure in product(table.labels, table.measures)
        ]

    yield [
        _Example(
            f"Which {_words(group)} has the highest total {_words(measure)}?",
            ranked(group, f"SUM({measure})", "DESC", group=True),
        )
        for group, measure in product(table.groups, table.measures)
    ]
    yield extremes("highest", "DESC")
    yield [
        _Example(
            f"How many {_words(name)} rows have the {_words(group)} {{}}?",
            ranked(group, "COUNT(*)", "DESC", group=True),
        )
        for group in table.groups
    ]
    yield extremes("lowest", "ASC")
    count = f"SELECT COUNT(*) FROM {name}"  # noqa: S608 (plain names)
    yield [_Example(f"How many rows does the table {_words(name)} have?", count)]


def _rows(database: Database, query: str) -> list[tuple[Cell, ...]]:
    try:
        return list(database.run(query, _LIMITS).rows)
    except PlanweaveError:  # such as a name that needs quotes in this dialect
        return []


def _has(type_: str, words: tuple[str, ...]) -> bool:
    return any(word in type_.lower() for word in words)


def _words(name: str) -> str:
    """The words of a name: ``unitPrice`` and ``unit_price`` are "unit price"."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).replace("_", " ").strip().lower()


def _one(name: str) -> str:
    """The name of one row of a table."""
    words = _words(name)
    return words[:-1] if words.endswith("s") and not words.endswith("ss") else words
