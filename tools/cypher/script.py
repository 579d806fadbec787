"""Load a ``.cql`` script into the embedded engine.

Published scripts have two forms of statement, ``CREATE (v:Label {…})`` and
``MATCH (a:L {k: v}), (b:M {k: v}) CREATE (a)-[r:Type {…}]->(b)``. Consecutive statements of a form
are executed in bulk; each other statement is executed by itself, in its place.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TypeAlias

from kglite import KnowledgeGraph

from planweave.tools.cypher.guard import names_format
from planweave.tools.cypher.rewriting import restore_names, rewrite, stored_name
from planweave.tools.cypher.tokens import tokenize
from planweave.tools.database import DatabaseUnavailable

Scalar: TypeAlias = str | int | float | bool | None
Properties: TypeAlias = dict[str, Scalar]
Keys: TypeAlias = dict[str, list[str]]
"""By label, the properties by which relationships find their nodes."""

_NAME = r"[A-Za-z_]\w*"
_VALUE = (
    r"""(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)"""
)
_PAIR = rf"(?:{_NAME}|`[^`]+`)\s*:\s*{_VALUE}"
_MAP = rf"\{{\s*(?:{_PAIR}(?:\s*,\s*{_PAIR})*\s*)?\}}"


def _node_pattern(prefix: str) -> str:
    return (
        rf"\(\s*(?P<{prefix}>{_NAME})?\s*:\s*(?P<{prefix}_label>{_NAME})\s*"
        rf"(?P<{prefix}_map>{_MAP})?\s*\)"
    )


_FLAGS = re.ASCII | re.IGNORECASE
_NODE = re.compile(rf"CREATE\s*{_node_pattern('n')}", _FLAGS)
_RELATIONSHIP = re.compile(
    rf"MATCH\s*{_node_pattern('a')}\s*,\s*{_node_pattern('b')}\s*"
    rf"CREATE\s*\(\s*(?P<start>{_NAME})\s*\)\s*-\s*\[\s*(?:{_NAME})?\s*:\s*(?P<type>{_NAME})\s*"
    rf"(?P<r_map>{_MAP})?\s*\]\s*->\s*\(\s*(?P<end>{_NAME})\s*\)",
    _FLAGS,
)
_ENTRY = re.compile(rf"(?P<key>{_NAME}|`[^`]+`)\s*:\s*(?P<value>{_VALUE})", _FLAGS)
_PIECE = re.compile(
    r""""(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`[^`]*`|//[^\n]*|/\*.*?\*/|;""", re.DOTALL
)
_SEPARATOR = "\0;"
"""A semicolon between statements."""
_NEW_PROPERTY = re.compile(r"Unknown property '([^'`]+)' on (\w+)")
_MATCH_AND_CREATE = re.compile(r"\s*MATCH\b.*\bCREATE\b", re.DOTALL | re.IGNORECASE)
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}


@dataclass(frozen=True)
class _Statement:
    line: int
    text: str


@dataclass(frozen=True)
class _Node(_Statement):
    label: str
    properties: Properties


@dataclass(frozen=True)
class _Relationship(_Statement):
    start: tuple[str, Properties]
    end: tuple[str, Properties]
    type: str
    properties: Properties

    @property
    def shape(self) -> tuple[str, ...]:
        """What statements must have in common to be executed together."""
        (start, where_start), (end, where_end) = self.start, self.end
        return (start, *where_start, "", end, *where_end, "", self.type)


def load_script(text: str, engine: KnowledgeGraph) -> Keys:
    """Execute a script; the graph is as if each statement had been executed by itself.

    Returns:
        By label, the properties by which relationships find their nodes.

    Raises:
        DatabaseUnavailable: A statement fails, or would create nothing; the error names the line.
    """
    statements = [_parse(line, statement) for line, statement in split_script(text)]
    names = _property_names(statements)
    keys: Keys = defaultdict(list)
    for kind, run in groupby(statements, key=type):
        if kind is _Node:
            _create_nodes([s for s in run if isinstance(s, _Node)], names, engine)
        elif kind is _Relationship:
            _create_relationships([s for s in run if isinstance(s, _Relationship)], engine, keys)
        else:
            for statement in run:
                _execute(statement, engine)
    return keys


def split_script(text: str) -> Iterator[tuple[int, str]]:
    """Split a script at its semicolons; yield line number and statement, without comments."""

    def replace(match: re.Match[str]) -> str:
        piece = match.group()
        if piece == ";":
            return _SEPARATOR
        return " " + "\n" * piece.count("\n") if piece[0] == "/" else piece

    line = 1
    for raw in _PIECE.sub(replace, text).split(_SEPARATOR):
        if statement := raw.strip():
            yield line + raw.count("\n", 0, raw.index(statement)), statement
        line += raw.count("\n")


def _parse(line: int, text: str) -> _Statement:
    if match := _NODE.fullmatch(text):
        return _Node(line, text, match["n_label"], _properties(match["n_map"]))
    if match := _RELATIONSHIP.fullmatch(text):
        ends = {m: (match[f"{m}_label"], _properties(match[f"{m}_map"])) for m in ("a", "b")}
        names = {match["a"]: ends["a"], match["b"]: ends["b"]}
        known = len(names) == 2 and match["start"] in names and match["end"] in names
        if known and all(where for _, where in ends.values()):
            start, end = names[match["start"]], names[match["end"]]
            if match["start"] != match["end"]:
                properties = _properties(match["r_map"])
                return _Relationship(line, text, start, end, match["type"], properties)
    return _Statement(line, text)


def _properties(text: str | None) -> Properties:
    entries = ((m["key"].strip("`"), m["value"]) for m in _ENTRY.finditer(text or ""))
    return {stored_name(key): _read_literal(value) for key, value in entries}


def _read_literal(literal: str) -> Scalar:
    if literal[0] in "'\"":
        return _ESCAPE.sub(_unescape, literal[1:-1])
    constants: dict[str, Scalar] = {"true": True, "false": False, "null": None}
    if literal.lower() in constants:
        return constants[literal.lower()]
    return float(literal) if any(mark in literal for mark in ".eE") else int(literal)


def _unescape(match: re.Match[str]) -> str:
    code = match[1]
    return chr(int(code[1:], 16)) if len(code) == 5 else _ESCAPES.get(code, code)


def _property_names(statements: Sequence[_Statement]) -> dict[str, list[str]]:
    """By label, every property that a simple ``CREATE`` of the whole script gives it.

    The first node of a label must have all of them: the engine permits no others afterwards.
    """
    names: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for statement in statements:
        if isinstance(statement, _Node):
            names[statement.label] |= dict.fromkeys(statement.properties)
    return {label: list(keys) for label, keys in names.items()}


def _create_nodes(
    nodes: Sequence[_Node], names: Mapping[str, Sequence[str]], engine: KnowledgeGraph
) -> None:
    by_label: defaultdict[str, list[_Node]] = defaultdict(list)
    for node in nodes:
        by_label[node.label].append(node)
    for label, group in by_label.items():
        rows = [{"line": node.line, "p": node.properties} for node in group]
        query = f"UNWIND $rows AS row CREATE (n:`{label}` {_row_map('p', names[label])})"
        _run_in_bulk(query, rows, engine)


def _create_relationships(
    relationships: Sequence[_Relationship], engine: KnowledgeGraph, keys: Keys
) -> None:
    by_shape: defaultdict[tuple[str, ...], list[_Relationship]] = defaultdict(list)
    for relationship in relationships:
        by_shape[relationship.shape].append(relationship)
    for group in by_shape.values():
        (start, where_start), (end, where_end) = group[0].start, group[0].end
        for label, where in ((start, where_start), (end, where_end)):
            _create_indices(label, where, engine, keys)
        names = dict.fromkeys(name for one in group for name in one.properties)
        query = (
            "UNWIND $rows AS row "
            f"MATCH (a:`{start}` {_row_map('a', where_start)}), "
            f"(b:`{end}` {_row_map('b', where_end)}) "
            f"CREATE (a)-[r:`{group[0].type}` {_row_map('p', names)}]->(b) "
            "RETURN row.line AS line"
        )
        rows = [
            {"line": one.line, "a": one.start[1], "b": one.end[1], "p": one.properties}
            for one in group
        ]
        made = {row["line"] for row in _run_in_bulk(query, rows, engine)}
        for one in group:
            if one.line not in made:
                raise _line_error(one.line, "one of the nodes it joins does not exist")


def _row_map(part: str, names: Iterable[str]) -> str:
    """A Cypher map of properties, read from a part of a row."""
    return "{" + ", ".join(f"`{name}`: row.{part}.`{name}`" for name in names) + "}"


def _create_indices(label: str, names: Iterable[str], engine: KnowledgeGraph, keys: Keys) -> None:
    """Index the properties that find nodes: without an index, that takes quadratic time."""
    for name in names:
        if restore_names(name) not in keys[label]:
            keys[label].append(restore_names(name))
            engine.create_index(label, name)


def _run_in_bulk(
    query: str, rows: Sequence[Mapping[str, object]], engine: KnowledgeGraph
) -> Sequence[Mapping[str, object]]:
    try:
        return _run(query, engine, rows)
    except Exception as error:  # the engine's errors share no other base class
        if len(rows) > 1:  # one by one, to find the line
            return [made for row in rows for made in _run_in_bulk(query, [row], engine)]
        raise _line_error(int(str(rows[0]["line"])), _reason(error)) from error


def _execute(statement: _Statement, engine: KnowledgeGraph) -> None:
    text = statement.text
    try:
        tokens = tokenize(text)
        if any(token.word == "CALL" or names_format(tokens, at) for at, token in enumerate(tokens)):
            raise ValueError("a script may not read files or call procedures")
        _run_with_new_properties(rewrite(text, tokens), engine)
        made = engine.last_mutation_stats or {}
        if _MATCH_AND_CREATE.match(text) and not any(made.values()):
            raise ValueError("what it matches does not exist, so it would make nothing")
    except Exception as error:  # as above
        raise _line_error(statement.line, _reason(error)) from error


def _run_with_new_properties(query: str, engine: KnowledgeGraph) -> None:
    """Run a query that may give nodes properties that the first node of their label lacks.

    The engine refuses these in CREATE; SET on any node of the label permits them.
    """
    added: set[str] = set()
    while True:
        try:
            _run(query, engine)
        except Exception as error:
            new = _NEW_PROPERTY.search(str(error))
            if not new or new[0] in added:
                raise
            added.add(new[0])
            node = f"MATCH (n:`{new[2]}`) WITH n LIMIT 1"
            _run(f"{node} SET n.`{new[1]}` = 0 REMOVE n.`{new[1]}`", engine)
        else:
            return


def _line_error(line: int, reason: str) -> DatabaseUnavailable:
    return DatabaseUnavailable(f"Line {line} fails: {reason}.", fix="Fix the line.")


def _reason(error: Exception) -> str:
    return restore_names(str(error).split("\n", 1)[0].rstrip(". "))


def _run(
    query: str, engine: KnowledgeGraph, rows: Sequence[Mapping[str, object]] = ()
) -> list[Mapping[str, object]]:
    view = engine.cypher(query, params={"rows": list(rows)}, timeout_ms=0)
    return [] if isinstance(view, str) else list(view.to_list())
