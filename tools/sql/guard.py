"""Accepts one plain read and nothing else, before an engine sees the query.

Only checked tokens are executed: comments are removed, because engines read some of them
differently (``/*! … */``, ``-- ``, nested comments). The engine adds its own bounds (read-only
connection, time limit).
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf

import sqlglot
from sqlglot import Dialect, TokenType, exp
from sqlglot.errors import ParseError, TokenError
from sqlglot.tokenizer_core import Token

from planweave.texts import listed, shorten
from planweave.tools.database import QueryEmpty, QueryFailed, QueryRefused
from planweave.tools.sql.fields import Tables, check_fields
from planweave.tools.sql.functions import BARE, FUNCTIONS, GRAMMAR, INSTEAD, TYPES
from planweave.tools.suggest import nearest

_LONGEST_QUERY = 20_000
_LONGEST_PADDING = 1_000
_NAMED_TABLES = 20
_FENCE = re.compile(r"\A```[a-zA-Z]*\s*\n?(.*?)\n?```\Z", re.DOTALL)
_LABEL = re.compile(r"\ASQL(?:Query)?\s*:\s*", re.IGNORECASE)
_SYSTEM_NAME = re.compile(
    r"(sqlite_|pg_|pragma_|information_schema|performance_schema|mysql$|sys$)"
)
_STARTS = (TokenType.SELECT, TokenType.WITH, TokenType.L_PAREN)
_MORE_STARTS = {
    "sqlite": (TokenType.VALUES,),
    "postgres": (TokenType.VALUES, TokenType.TABLE),
    "mysql": (TokenType.TABLE,),
}
_READ_ONLY = "Write one SELECT statement that only reads the tables of the schema."


@dataclass(frozen=True, kw_only=True)
class Statement:
    """A query that passed the guard.

    Attributes:
        text: What to execute: the query without code fence, comments and final semicolon.
        tree: The parsed query.
    """

    text: str
    tree: exp.Query


def check(query: str, *, dialect: str, tables: Tables, schema: str) -> Statement:
    """Check that ``query`` is one plain read of known tables by known functions.

    A code fence, a leading ``SQL:`` and a final semicolon are allowed: small models write them.

    Args:
        query: The text of a model or a person.
        dialect: sqlglot's name of the dialect: ``sqlite``, ``postgres`` or ``mysql``.
        tables: The tables and views that may be read, each with its columns.
        schema: The schema that they are in, which a query may write before their names.

    Raises:
        QueryRefused: It is more than one statement, does more than read, or accesses the system
            (files, catalogues, settings).
        QueryFailed: It is not valid SQL, or names a table or function that does not exist.
    """
    source = unwrap_query(query)
    tokens = _tokenize(source, dialect)
    _check_characters(source, tokens)
    _check_tokens(tokens, dialect)
    text = _normalise_spaces(source, tokens, dialect)
    tree = _parse(text, dialect, tokens)
    nodes = tuple(tree.walk())
    _check_nodes(nodes, dialect)
    _check_functions(nodes, tokens, dialect)
    _check_tables(nodes, list(tables), schema, dialect)
    if dialect == "postgres":
        check_fields(tree, tokens, tables, schema)
    return Statement(text=text, tree=tree)


def unwrap_query(query: str) -> str:
    """Remove the code fence, label and spaces that models put around a query.

    Raises:
        QueryEmpty: The query is empty.
        QueryRefused: It is too long.
    """
    text = query.strip()
    if fenced := _FENCE.match(text):
        text = fenced[1].strip()
    text = _LABEL.sub("", text)
    if not text:
        raise QueryEmpty("The query is empty.", fix=_READ_ONLY)
    if len(text) > _LONGEST_QUERY:
        raise QueryRefused(
            f"The query is {len(text)} characters long; {_LONGEST_QUERY} are allowed.",
            fix="Write a shorter query.",
        )
    return text


def _check_characters(source: str, tokens: Sequence[Token]) -> None:
    """Refuse control characters, and outside of texts, other invisible ones."""
    texts = {
        place
        for token in tokens
        if token.token_type.name.endswith("STRING")
        for place in range(token.start, token.end + 1)
    }
    for place, character in enumerate(source):
        category = unicodedata.category(character)
        is_control = category in ("Cc", "Cs") and character not in "\n\t\r"
        if is_control or (category in ("Cf", "Zl", "Zp") and place not in texts):
            raise QueryRefused(
                f"The query contains the invisible character U+{ord(character):04X}.",
                fix="Write the query without it.",
            )


def _tokenize(source: str, dialect: str) -> list[Token]:
    try:
        tokens = Dialect.get_or_raise(dialect).tokenize(source)
    except TokenError as error:
        raise QueryFailed(
            "The query is not valid SQL: a quotation mark or a comment is not closed.",
            fix="Close it; text stands between single quotes.",
        ) from error
    while tokens and tokens[-1].token_type == TokenType.SEMICOLON:
        tokens.pop()
    return tokens


def _check_tokens(tokens: Sequence[Token], dialect: str) -> None:
    if not tokens:
        raise QueryEmpty("The query is empty.", fix=_READ_ONLY)
    if any(token.token_type == TokenType.SEMICOLON for token in tokens):
        raise QueryRefused("The query holds more than one statement.", fix=_READ_ONLY)
    if tokens[0].token_type not in (*_STARTS, *_MORE_STARTS[dialect]):
        word = shorten(tokens[0].text, 30)
        raise QueryRefused(f"The query starts with {word!r}, which is no read.", fix=_READ_ONLY)
    for token in tokens:
        if token.token_type in (TokenType.INTO, TokenType.HINT):
            word = "INTO" if token.token_type == TokenType.INTO else "an optimiser hint"
            raise QueryRefused(f"The query uses {word}, which is not allowed.", fix=_READ_ONLY)


def _normalise_spaces(source: str, tokens: Sequence[Token], dialect: str) -> str:
    """Replace comments, and spaces that engines read as part of a name (U+00A0), with a space.

    For MySQL and MariaDB, ``sum (x)`` would call a routine of the database: it becomes ``sum(x)``.
    """
    parts, end = [], tokens[0].start
    for token in tokens:
        gap = source[end : token.start]
        if dialect == "mysql" and token.token_type == TokenType.L_PAREN:
            gap = ""
        elif gap and not (gap.isspace() and gap.isascii()):
            gap = " "
        parts += [gap, source[token.start : token.end + 1]]
        end = token.end + 1
    return "".join(parts)


def _parse(text: str, dialect: str, tokens: Sequence[Token]) -> exp.Query:
    try:
        tree = sqlglot.parse_one(text, read=dialect)
    except (ParseError, TokenError) as error:  # sqlglot tokenises names of types again
        where = error.errors[0] if isinstance(error, ParseError) and error.errors else {}
        near = str(where.get("highlight") or tokens[-1].text)
        raise QueryFailed(
            f"The query is not valid SQL near {near!r}.",
            fix="Check the syntax there; text stands between single quotes.",
        ) from error
    except RecursionError as error:
        raise QueryRefused(
            "The query is nested too deeply.", fix="Write it with fewer parentheses."
        ) from error
    if isinstance(tree, exp.Values):
        return exp.select("*").from_(tree)
    if not isinstance(tree, exp.Select | exp.SetOperation | exp.Subquery):
        raise QueryRefused(f"A {tree.key.upper()} statement is no plain read.", fix=_READ_ONLY)
    return tree


def _check_nodes(nodes: Sequence[exp.Expr], dialect: str) -> None:
    writes = (exp.DML, exp.DDL, exp.Command, exp.Into, exp.Lock, exp.Drop, exp.Alter)
    variables = (exp.Parameter, exp.SessionParameter, exp.Placeholder, exp.PropertyEQ)
    for node in nodes:
        reads = isinstance(node, exp.Query) and not isinstance(node, exp.DML)
        if isinstance(node, writes + variables) and not reads:
            raise QueryRefused(
                f"The query contains {node.key.upper()}, which is not a plain read.", fix=_READ_ONLY
            )
        field = node.args.get("field") if isinstance(node, exp.In) else None
        if field is not None and not isinstance(field, exp.Func):  # SQLite reads a table
            raise QueryRefused(
                f"{field.sql()} comes after IN without a parenthesis.",
                fix="Write IN (SELECT column FROM table), or IN (value, value).",
            )
        if isinstance(node, exp.DataType) and dialect == "postgres":
            _check_type(node)


def _check_type(kind: exp.DataType) -> None:
    """Check a type: its input function may read the catalogue or XML, or be custom code."""
    is_interval = isinstance(kind.this, exp.Interval)
    if not is_interval and getattr(kind.this, "value", kind.this) not in TYPES:
        raise QueryRefused(
            f"The type {kind.sql('postgres')} is not among those that may be used.",
            fix="Cast to a number, text, date, time, boolean or JSON; compare others as text.",
        )


def _check_functions(nodes: Sequence[exp.Expr], tokens: Sequence[Token], dialect: str) -> None:
    """Check the names before parentheses in the text, not in the parsed tree."""
    # ``WITH r(n) AS …`` and ``… AS t(a)`` each write a new name before a parenthesis once.
    aliases = Counter(
        node.name.lower() for node in nodes if isinstance(node, exp.TableAlias) and node.columns
    )
    unknown_to_parser = {node.name.lower() for node in nodes if isinstance(node, exp.Anonymous)}
    written: Counter[str] = Counter()
    for place, (name, after) in enumerate(pairwise(tokens)):
        if after.token_type != TokenType.L_PAREN:
            continue
        is_quoted = name.token_type == TokenType.IDENTIFIER
        if is_quoted or (name.text.isidentifier() and name.text.lower() not in GRAMMAR):
            written[name.text.lower()] += 1
            if is_quoted and dialect == "mysql" and not aliases[name.text.lower()]:
                raise QueryRefused(  # this would call a routine of the database
                    f"The name {name.text} before a parenthesis is in backticks.",
                    fix="Write functions without them.",
                )
            if place and tokens[place - 1].token_type == TokenType.DOT and dialect != "postgres":
                raise _make_function_error(f"{tokens[place - 2].text}.{name.text}", dialect)
    called = unknown_to_parser | {name for name in written if written[name] > aliases[name]}
    called |= _find_bare_names(nodes) & BARE[dialect]
    _check_lengths(nodes, written)
    for function in sorted(called - FUNCTIONS[dialect]):
        raise _make_function_error(function, dialect)


def _check_lengths(nodes: Sequence[exp.Expr], written: Mapping[str, int]) -> None:
    """Bound LPAD, RPAD and REPEAT: they build a text of any length, which no time limit stops.

    The parser does not recognise a call with a schema; then the text has more calls than the tree.
    """
    pads = [node for node in nodes if isinstance(node, exp.Pad)]
    lengths = [_get_number(pad.expression) for pad in pads]
    if written["lpad"] + written["rpad"] > len(pads) or max(lengths, default=0) > _LONGEST_PADDING:
        raise QueryRefused(
            f"LPAD and RPAD need a plain number up to {_LONGEST_PADDING} as their length.",
            fix="Write that number.",
        )
    repeats = [node for node in nodes if isinstance(node, exp.Repeat)]
    if written["repeat"] > len(repeats) or not all(map(_is_short, repeats)):
        raise QueryRefused(
            f"REPEAT needs a text in quotes and a bound, together up to {_LONGEST_PADDING} "
            "characters.",
            fix="Write REPEAT('*', 20) or REPEAT('*', LEAST(number, 50)).",
        )


def _is_short(repeat: exp.Repeat) -> bool:
    """Whether REPEAT has a text and a literal bound, which may be in LEAST with a value."""
    text, times = repeat.this, repeat.args["times"]
    bounds = [times.this, *times.expressions] if isinstance(times, exp.Least) else [times]
    is_text = isinstance(text, exp.Literal) and text.is_string
    return is_text and (len(text.name) or 1) * min(map(_get_number, bounds)) <= _LONGEST_PADDING


def _get_number(number: exp.Expr) -> float:
    """Return a literal integer; infinity for anything else, such as ``- -5``."""
    is_plain = isinstance(number, exp.Literal) and number.is_int
    return int(number.name) if is_plain else inf


def _find_bare_names(nodes: Sequence[exp.Expr]) -> set[str]:
    """Find names that may be calls although they look like columns (``current_user``)."""
    columns = (node for node in nodes if isinstance(node, exp.Column) and not node.table)
    names = {node.name.lower() for node in columns if not getattr(node.this, "quoted", False)}
    return names | {node.sql_name().lower() for node in nodes if isinstance(node, exp.Func)}


def _make_function_error(function: str, dialect: str) -> QueryFailed | QueryRefused:
    """Make the error for a function off the list; one of another dialect is a failed query."""
    if instead := INSTEAD[dialect].get(function):
        return QueryFailed(f"There is no function {function.upper()} here.", fix=instead)
    close = ", ".join(name.upper() for name in nearest(function, FUNCTIONS[dialect]))
    return QueryRefused(
        f"The function {function.upper()} is not among those that may be used.",
        fix=f"Functions with a similar name: {close}." if close else "Write it without.",
    )


def _check_tables(
    nodes: Sequence[exp.Expr], tables: Sequence[str], schema: str, dialect: str
) -> None:
    """Check that every table is known, or a CTE in its scope.

    Outside of its scope, the name of a CTE means a table of the server.
    """
    known = {table.lower() for table in tables}
    readable = known | {f"{schema}.{table}".lower() for table in known}
    readable |= {"dual"} if dialect == "mysql" else set()  # of a SELECT without a table
    for table in nodes:
        if not isinstance(table, exp.Table) or isinstance(table.this, exp.Func):
            continue  # functions are checked elsewhere
        parts = [part.name for part in table.parts]
        if any(_SYSTEM_NAME.match(part.lower()) for part in parts if part.lower() not in known):
            raise QueryRefused(
                f"{'.'.join(parts)} belongs to the system and cannot be read.",
                fix=_list_tables(tables),
            )
        name = ".".join(parts).lower()
        if name not in readable and name not in _find_ctes_in_scope(table, dialect):
            close = nearest(parts[-1], tables)
            meant = f"Did you mean {' or '.join(close)}? " if close else ""
            problem = f"There is no table {'.'.join(parts)}."
            raise QueryFailed(problem, fix=meant + _list_tables(tables))


def _find_ctes_in_scope(table: exp.Table, dialect: str) -> set[str]:
    """Find the names of the CTEs that a table at this place may be.

    In SQLite every WITH is recursive.
    """
    names: set[str] = set()
    node: exp.Expr = table
    while (parent := node.parent) is not None:
        clause = parent if isinstance(parent, exp.With) else parent.args.get("with_")
        if clause is not None and clause is not node:
            ctes = [cte.alias.lower() for cte in clause.expressions]
            is_recursive = clause.args.get("recursive") or dialect == "sqlite"
            names.update(ctes[: node.index] if parent is clause and not is_recursive else ctes)
        node = parent
    return names


def _list_tables(tables: Sequence[str]) -> str:
    return f"The tables are: {listed(tables, _NAMED_TABLES) or 'none'}."
