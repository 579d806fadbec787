"""Slots for the values that a query shares with its question, so that it fits other questions.

An action of a run, such as ``sql[SELECT … WHERE country_name = 'Brunswick']``, answers only its own
question. A value that the question names and the query compares with a column is replaced by the
slot of that column (see :mod:`planweave.learning.queries.slots`). For another question, the one
value of that column that it names is looked up and fills the slot.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from planweave import PlanweaveError
from planweave.learning.paths import TaskPath
from planweave.learning.queries.memory import parse_instruction
from planweave.learning.queries.slots import (
    Place,
    fill_slots,
    find_named,
    find_phrases,
    find_slots,
    quoted,
    select_safe,
)

if TYPE_CHECKING:
    from sqlglot import exp

LookUp: TypeAlias = Callable[[str, str], Iterable[str]]
"""Returns the texts that a query of a tool, such as ``sql``, finds; may raise a PlanweaveError."""

_ESCAPES = {"sql": "'", "cypher": "\\"}
_NODE = re.compile(r"\(\s*(\w*)\s*:\s*(\w+)\s*(?:\{([^{}]*)\})?")
_TEXT = r"('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")"
_PROPERTY = re.compile(rf"(\w+)\s*:\s*{_TEXT}")
_COMPARISON = re.compile(rf"\b(\w+)\.(\w+)\s*=\s*{_TEXT}")
_MAX_LENGTH = 20_000


def add_slots(path: TaskPath) -> TaskPath:
    """Add slots to the queries of a path; other instructions do not change.

    A value becomes a slot if the question names it, the query compares it with only one column, and
    no other value with that column. Names with blanks have no slots. A query that cannot be parsed
    keeps its values.
    """
    instructions = tuple(_add_slots(text, path.question) for text in path.instructions)
    return replace(path, instructions=instructions)


def fill_for_question(
    instructions: Sequence[str], question: str, look_up: LookUp
) -> tuple[str, ...] | None:
    """Fill the slots of the instructions with the values that a question names.

    None if a slot cannot be filled: the question names no value of its column or several, or there
    is no such column.
    """
    try:
        return tuple(_fill_instruction(text, question, look_up) for text in instructions)
    except (PlanweaveError, LookupError):
        return None


def _fill_instruction(instruction: str, question: str, look_up: LookUp) -> str:
    found = parse_instruction(instruction)
    if found is None or not (slots := find_slots(instruction)):
        return instruction
    tool = found[0]
    values = {slot: _find_value(slot, tool, question, look_up) for slot in slots}
    return fill_slots(instruction, values, escape=_ESCAPES[tool])


def _find_value(slot: Place, tool: str, question: str, look_up: LookUp) -> str:
    """The one value of the slot's column that the question names."""
    asked = (quoted(text, escape=_ESCAPES[tool]) for text in select_safe(find_phrases(question)))
    listed = ", ".join(asked)
    query = (
        f"SELECT DISTINCT {slot.column} FROM {slot.owner} WHERE {slot.column} IN ({listed})"  # noqa: S608 - the guard checks it, literals are quoted
        if tool == "sql"
        else f"MATCH (n:{slot.owner}) WHERE n.{slot.column} IN [{listed}] "
        f"RETURN DISTINCT n.{slot.column}"
    )
    value = find_named(question, look_up(tool, query))
    if value is None:
        raise LookupError(str(slot))
    return value


def _add_slots(instruction: str, question: str) -> str:
    found = parse_instruction(instruction)
    if found is None or found[0] == "finish" or len(found[1]) > _MAX_LENGTH:
        return instruction
    tool, query = found
    compared = defaultdict(set)
    for text, place in _literals_in_sql(query) if tool == "sql" else _literals_in_cypher(query):
        compared[text].add(place)
    places = Counter(place for found in compared.values() for place in found)
    for text, (place, *others) in compared.items():
        value = _unquote(text)
        is_only = place is not None and not others and places[place] == 1
        if is_only and find_named(question, [value]) == value and find_slots(str(place)):
            query = query.replace(text, str(place))
    return f"{tool}[{query}]"


def _unquote(text: str) -> str:
    """The value of a literal; a quote in it may be doubled or escaped."""
    inner = text[1:-1].replace("''", "'") if text[0] == "'" else text[1:-1]
    return re.sub(r"\\(.)", r"\1", inner)


def _literals_in_sql(query: str) -> Iterator[tuple[str, Place | None]]:
    """Each text literal, as written, with the column that it is compared with, if there is one."""
    import sqlglot
    from sqlglot import exp

    try:
        tree = sqlglot.parse_one(query)
    except (sqlglot.errors.SqlglotError, RecursionError):
        return
    for found in tree.find_all(exp.Literal):
        if found.is_string:
            yield quoted(found.this, escape="'"), _compared_place(found)


def _compared_place(found: "exp.Literal") -> Place | None:
    from sqlglot import exp

    comparison = found.parent
    if isinstance(comparison, exp.EQ):
        column = comparison.left if found is comparison.right else comparison.right
    elif isinstance(comparison, exp.In) and len(comparison.expressions) == 1:
        column = comparison.this
    else:
        return None
    table = _table_of(column) if isinstance(column, exp.Column) else None
    return Place(table, column.name) if table else None


def _table_of(column: "exp.Column") -> str | None:
    """The table of a column; None if the query alone does not show it."""
    from sqlglot import exp

    select = column.find_ancestor(exp.Select)
    while select is not None:
        clauses = [select.args.get("from_") or select.args.get("from")]
        sources = [c.this for c in [*clauses, *(select.args.get("joins") or [])] if c is not None]
        for source in sources:
            if column.table == source.alias_or_name or (not column.table and len(sources) == 1):
                return source.name if isinstance(source, exp.Table) else None
        select = select.find_ancestor(exp.Select) if column.table else None
    return None


def _literals_in_cypher(query: str) -> Iterator[tuple[str, Place | None]]:
    """As :func:`_literals_in_sql`; a literal without such a column comes as well."""
    labels = {match[1]: match[2] for match in _NODE.finditer(query)}
    literals = []
    for node in _NODE.finditer(query):
        literals += [(m[2], Place(node[2], m[1])) for m in _PROPERTY.finditer(node[3] or "")]
    for match in _COMPARISON.finditer(query):
        if match[1] in labels:
            literals.append((match[3], Place(labels[match[1]], match[2])))
    yield from literals
    for text in {text for text, _ in literals}:
        if query.count(text) > sum(text == one for one, _ in literals):
            yield text, None
