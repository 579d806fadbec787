"""Let one plain read through and nothing else, before any engine sees it.

The tokens that were checked are the tokens that are executed: comments are removed, so that an
engine that reads them differently (``/*! … */``, ``-- ``, nested comments) finds none.
The engine's own bounds (read-only connection, time limit) come after this guard, not instead.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf

import sqlglot
from sqlglot import Dialect, TokenType, exp
from sqlglot.errors import ParseError, TokenError
from sqlglot.tokenizer_core import Token

from planweave.texts import listed, shorten
from planweave.tools.database import QueryFailed, QueryRefused
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
        text: What to execute: the query without fences, comments and final semicolon.
        tree: Its parsed form.
    """

    text: str
    tree: exp.Query


def check(query: str, *, dialect: str, tables: Tables, schema: str) -> Statement:
    """Check that ``query`` is one plain read of known tables by known functions.

    Tolerated, because small models write it: a code fence around the query, a leading ``SQL:``,
    a final semicolon.

    Args:
        query: What a model or a person wrote.
        dialect: sqlglot's name of the dialect: ``sqlite``, ``postgres`` or ``mysql``.
        tables: The tables and views that may be read, each with its columns.
        schema: The schema that they are in, which a query may write before their names.

    Raises:
        QueryRefused: It is more than one statement, or does more than read, or reaches for the
            system (files, catalogues, settings).
        QueryFailed: It is not valid SQL, or names a table or function that does not exist.
    """
    source = unwrapped(query)
    tokens = _tokens(source, dialect)
    _check_characters(source, tokens)
    _check_tokens(tokens, dialect)
    text = _spaced_plainly(source, tokens, dialect)
    tree = _parsed(text, dialect, tokens)
    nodes = tuple(tree.walk())
    _check_nodes(nodes, dialect)
    _check_functions(nodes, tokens, dialect)
    _check_tables(nodes, list(tables), schema, dialect)
    if dialect == "postgres":
        check_fields(tree, tokens, tables, schema)
    return Statement(text=text, tree=tree)


def unwrapped(query: str) -> str:
    """The query without the fence, label and spaces that models put around it.

    Raises:
        QueryFailed: Nothing is left.
        QueryRefused: It is too long.
    """
    text = query.strip()
    if fenced := _FENCE.match(text):
        text = fenced[1].strip()
    text = _LABEL.sub("", text)
    if not text:
        raise QueryFailed("The query is empty.", fix=_READ_ONLY)
    if len(text) > _LONGEST_QUERY:
        raise QueryRefused(
            f"The query is {len(text)} characters long; {_LONGEST_QUERY} are allowed.",
            fix="Write a shorter query.",
        )
    return text


def _check_characters(source: str, tokens: Sequence[Token]) -> None:
    """Refuse control characters anywhere, and other invisible ones outside of texts."""
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


def _tokens(source: str, dialect: str) -> list[Token]:
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
        raise QueryFailed("The query is empty.", fix=_READ_ONLY)
    if any(token.token_type == TokenType.SEMICOLON for token in tokens):
        raise QueryRefused("The query holds more than one statement.", fix=_READ_ONLY)
    if tokens[0].token_type not in (*_STARTS, *_MORE_STARTS[dialect]):
        word = shorten(tokens[0].text, 30)
        raise QueryRefused(f"The query starts with {word!r}, which is no read.", fix=_READ_ONLY)
    for token in tokens:
        if token.token_type in (TokenType.INTO, TokenType.HINT):
            word = "INTO" if token.token_type == TokenType.INTO else "an optimiser hint"
            raise QueryRefused(f"The query uses {word}, which is not allowed.", fix=_READ_ONLY)


def _spaced_plainly(source: str, tokens: Sequence[Token], dialect: str) -> str:
    """The tokens as they were written, and between them only spaces that every engine knows.

    A comment becomes a space, and so does a space that is none to the engine, which would take it
    for a part of a name (U+00A0). To MySQL and MariaDB ``sum (x)`` is a routine of the database.
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


def _parsed(text: str, dialect: str, tokens: Sequence[Token]) -> exp.Query:
    try:
        tree = sqlglot.parse_one(text, read=dialect)
    except (ParseError, TokenError) as error:  # the name of a type is cut into tokens again
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
    forbidden = (
        exp.DML,
        exp.DDL,
        exp.Command,
        exp.Into,
        exp.Lock,
        exp.Drop,
        exp.Alter,
        exp.Parameter,
        exp.SessionParameter,
        exp.Placeholder,
        exp.PropertyEQ,
    )
    for node in nodes:
        reads = isinstance(node, exp.Query) and not isinstance(node, exp.DML)
        if isinstance(node, forbidden) and not reads:
            raise QueryRefused(
                f"The query contains {node.key.upper()}, which is not a plain read.",
                fix=_READ_ONLY,
            )
        field = node.args.get("field") if isinstance(node, exp.In) else None
        if field is not None and not isinstance(field, exp.Func):  # to SQLite, a table
            raise QueryRefused(
                f"{field.sql()} comes after IN without a parenthesis.",
                fix="Write IN (SELECT column FROM table), or IN (value, value).",
            )
        if isinstance(node, exp.Pad):
            _check_padding(node)
        if isinstance(node, exp.Repeat):
            _check_repetition(node)
        if isinstance(node, exp.DataType) and dialect == "postgres":
            _check_type(node)


def _check_padding(pad: exp.Pad) -> None:
    """LPAD and RPAD make a text of any length at once, which no time limit stops."""
    if _plain(pad.expression) > _LONGEST_PADDING:
        raise _too_wide()


def _too_wide() -> QueryRefused:
    return QueryRefused(
        f"LPAD and RPAD need a plain number up to {_LONGEST_PADDING} as their length.",
        fix="Write that number.",
    )


def _check_repetition(repeat: exp.Repeat) -> None:
    """Like LPAD; LEAST bounds the number of a bar that is as long as a value says."""
    text, times = repeat.this, repeat.args["times"]
    bounds = [times.this, *times.expressions] if isinstance(times, exp.Least) else [times]
    is_text = isinstance(text, exp.Literal) and text.is_string
    if not is_text or (len(text.name) or 1) * min(map(_plain, bounds)) > _LONGEST_PADDING:
        raise _too_often()


def _too_often() -> QueryRefused:
    return QueryRefused(
        f"REPEAT needs a text in quotes and a bound, together up to {_LONGEST_PADDING} characters.",
        fix="Write REPEAT('*', 20) or REPEAT('*', LEAST(number, 50)).",
    )


def _plain(number: exp.Expr) -> float:
    """A number of digits alone: ``- -5`` is one to the parser, too; anything else is endless."""
    is_plain = isinstance(number, exp.Literal) and number.is_int
    return int(number.name) if is_plain else inf


def _check_type(kind: exp.DataType) -> None:
    """A type reads its text by a function: of the catalogue, of XML, or of the owner's own."""
    is_interval = isinstance(kind.this, exp.Interval)
    if not is_interval and getattr(kind.this, "value", kind.this) not in TYPES:
        raise QueryRefused(
            f"The type {kind.sql('postgres')} is not among those that may be used.",
            fix="Cast to a number, text, date, time, boolean or JSON; compare others as text.",
        )


def _check_functions(nodes: Sequence[exp.Expr], tokens: Sequence[Token], dialect: str) -> None:
    """Check the names before parentheses as written, whatever the parser made of them."""
    # ``WITH r(n) AS …`` and ``… AS t(a)`` put a name of their own before a parenthesis, once each.
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
                raise QueryRefused(  # it would be a routine of the database, not the function
                    f"The name {name.text} before a parenthesis is in backticks.",
                    fix="Write functions without them.",
                )
            if place and tokens[place - 1].token_type == TokenType.DOT and dialect != "postgres":
                raise _unavailable(f"{tokens[place - 2].text}.{name.text}", dialect)
    called = unknown_to_parser | {name for name in written if written[name] > aliases[name]}
    called |= _without_parenthesis(nodes) & BARE[dialect]
    if written["lpad"] + written["rpad"] > sum(isinstance(node, exp.Pad) for node in nodes):
        raise _too_wide()  # with a schema before its name the parser takes it for a stranger
    if written["repeat"] > sum(isinstance(node, exp.Repeat) for node in nodes):
        raise _too_often()
    for function in sorted(called - FUNCTIONS[dialect]):
        raise _unavailable(function, dialect)


def _without_parenthesis(nodes: Sequence[exp.Expr]) -> set[str]:
    """Names that may be calls although they look like columns (``current_user``)."""
    columns = (node for node in nodes if isinstance(node, exp.Column) and not node.table)
    names = {node.name.lower() for node in columns if not getattr(node.this, "quoted", False)}
    return names | {node.sql_name().lower() for node in nodes if isinstance(node, exp.Func)}


def _unavailable(function: str, dialect: str) -> QueryFailed | QueryRefused:
    """A slip of the dialect is a failed query; any other function off the list is refused."""
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
    """Check every table, in whatever clause it appears, against the known ones and the CTEs.

    Outside of the scope of a CTE its name means a table of the server.
    """
    known = {table.lower() for table in tables}
    readable = known | {f"{schema}.{table}".lower() for table in known}
    readable |= {"dual"} if dialect == "mysql" else set()  # no table: what a SELECT of none reads
    for table in nodes:
        if not isinstance(table, exp.Table) or isinstance(table.this, exp.Func):
            continue  # the name of a function has been checked
        parts = [part.name for part in table.parts]
        if any(_SYSTEM_NAME.match(part.lower()) for part in parts if part.lower() not in known):
            raise QueryRefused(
                f"{'.'.join(parts)} belongs to the system and cannot be read.",
                fix=_tables_are(tables),
            )
        name = ".".join(parts).lower()
        if name not in readable and name not in _ctes_in_scope(table, dialect):
            close = nearest(parts[-1], tables)
            meant = f"Did you mean {' or '.join(close)}? " if close else ""
            problem = f"There is no table {'.'.join(parts)}."
            raise QueryFailed(problem, fix=meant + _tables_are(tables))


def _ctes_in_scope(table: exp.Table, dialect: str) -> set[str]:
    """Names of the CTEs that a table of this place may be.

    To SQLite every WITH is a recursive one.
    """
    names: set[str] = set()
    node: exp.Expr = table
    while (parent := node.parent) is not None:
        clause = parent if isinstance(parent, exp.With) else parent.args.get("with_")
        if clause is not None and clause is not node:
            ctes = [cte.alias.lower() for cte in clause.expressions]
            is_in_order = (
                parent is clause and not clause.args.get("recursive") and dialect != "sqlite"
            )
            names.update(ctes[: node.index] if is_in_order else ctes)
        node = parent
    return names


def _tables_are(tables: Sequence[str]) -> str:
    return f"The tables are: {listed(tables, _NAMED_TABLES) or 'none'}."
