"""Checks names with a dot in PostgreSQL queries: each must be a column that the query can see.

PostgreSQL reads ``x.f`` and ``(x).f`` as calls of the function ``f`` if ``x`` has no such column,
and it has thousands of functions. So every dot of a query must belong to a number, to a known
table, or to a known column of a table, a subquery or a CTE.

The check ignores scopes. This is safe: a name passes only if it is a column of every subquery and
CTE that its qualifier may mean, and a table of the catalogue has real columns.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from sqlglot import TokenType, exp
from sqlglot.tokenizer_core import Token

from planweave.texts import listed
from planweave.tools.database import QueryFailed, QueryRefused
from planweave.tools.sql.functions import FUNCTIONS, GRAMMAR
from planweave.tools.sql.tree import get_sources
from planweave.tools.suggest import nearest

Tables: TypeAlias = Mapping[str, Sequence[str]]
"""Tables and views that may be read, each with its columns."""

# A column may have the name of the function that computes it; calls of these are allowed anyway.
_HARMLESS = FUNCTIONS["postgres"] | GRAMMAR

_OUTPUT_COLUMNS = {"json_each": ("key", "value"), "json_array_elements": ("value",)}


class _Rows(NamedTuple):
    """The rows that a qualifier means at one place of the query."""

    columns: frozenset[str]
    is_table: bool


class _Chain(NamedTuple):
    """Names joined by dots, in lower case, and the next token."""

    names: tuple[str, ...]
    after: Token | None


def check_fields(tree: exp.Query, tokens: Sequence[Token], tables: Tables, schema: str) -> None:
    """Check that every dot in a query leads to a known table or column.

    Raises:
        QueryRefused: A dot follows an expression, or precedes a parenthesis.
        QueryFailed: A name is not a column of its qualifier.
    """
    known = {
        name: frozenset(column.lower() for column in columns)
        for table, columns in tables.items()
        for name in (table.lower(), f"{schema}.{table}".lower())
    }
    rows = _RowsFinder(tree, known).find_all()
    for chain in _find_chains(tokens):
        _check_chain(chain, rows, known)


def _find_chains(tokens: Sequence[Token]) -> Iterator[_Chain]:
    names: list[str] = []
    for place, token in enumerate(tokens):
        _refuse_escaped_name(tokens, place)
        after = tokens[place + 1] if place + 1 < len(tokens) else None
        if token.token_type != TokenType.DOT or after is None:
            continue
        if after.token_type == TokenType.NUMBER:  # .5
            continue
        if not _is_name(tokens[place - 1]) or not (_is_name(after) or after.text == "*"):
            raise QueryRefused(
                f"A dot stands before {after.text!r}, behind something that is not a name.",
                fix="Write table.column; take parts of a value with the listed functions.",
            )
        names = names or [tokens[place - 1].text.lower()]
        names.append(after.text.lower())
        end = tokens[place + 2] if place + 2 < len(tokens) else None
        if end is None or end.token_type != TokenType.DOT:
            yield _Chain(tuple(names), end)
            names = []


def _is_name(token: Token) -> bool:
    return token.token_type in (TokenType.IDENTIFIER, TokenType.VAR) or token.text.isidentifier()


def _refuse_escaped_name(tokens: Sequence[Token], place: int) -> None:
    """PostgreSQL reads ``U&"…"`` as a name with escapes, the guard as an operation on bits."""
    letter, *rest = tokens[place : place + 3]
    if letter.text.lower() != "u" or len(rest) < 2 or rest[0].text != "&":
        return
    is_joined = letter.end + 1 == rest[0].start and rest[0].end + 1 == rest[1].start
    if is_joined and rest[1].token_type in (TokenType.IDENTIFIER, TokenType.STRING):
        raise QueryRefused(
            "The query holds a name or text with Unicode escapes.",
            fix="Write its characters themselves.",
        )


def _check_chain(
    chain: _Chain, rows: Mapping[str, list[_Rows]], known: Mapping[str, frozenset[str]]
) -> None:
    *before, name = chain.names
    qualifier = ".".join(before)
    if chain.after is not None and chain.after.token_type == TokenType.L_PAREN:
        if qualifier == "pg_catalog":
            return  # the guard has checked the function
        raise QueryRefused(
            f"The function {'.'.join(chain.names)} is not among those that may be used.",
            fix="Write listed functions without a schema.",
        )
    if ".".join(chain.names) in known or name == "*" or name in _HARMLESS:
        return
    found = rows.get(qualifier) or ([_Rows(known[qualifier], True)] if qualifier in known else [])
    if not found:
        names = ", ".join(nearest(qualifier, rows) or sorted(rows))
        raise QueryFailed(
            f"No table of the query is called {qualifier}.",
            fix=f"Write one of: {names}." if names else "Add the table to FROM.",
        )
    if not any(name in one.columns for one in found):
        columns = sorted(set().union(*(one.columns for one in found)))
        close = [f"{qualifier}.{one}" for one in nearest(name, columns)]
        homes = [f"{table}.{name}" for table in known if "." not in table and name in known[table]]
        fix = f"Did you mean {' or '.join(close)}?" if close else ""
        fix = f"{fix} The column is in {' and '.join(homes)}." if homes else fix
        raise QueryFailed(
            f"There is no column {qualifier}.{name}.",
            fix=fix.strip() or f"The columns of {qualifier} are: {listed(columns, 30)}.",
        )
    if not all(name in one.columns or one.is_table for one in found):
        raise QueryFailed(
            f"{qualifier} stands for several subqueries, and not all have a column {name}.",
            fix="Give each subquery a name of its own.",
        )


class _RowsFinder:
    """Finds the columns of everything that a query reads from."""

    def __init__(self, tree: exp.Query, known: Mapping[str, frozenset[str]]) -> None:
        self._tree = tree
        self._known = known
        self._ctes: dict[str, list[exp.CTE]] = {}
        for cte in tree.find_all(exp.CTE):
            self._ctes.setdefault(cte.alias.lower(), []).append(cte)
        self._seen: set[int] = set()

    def find_all(self) -> dict[str, list[_Rows]]:
        """Find the rows that each name before a dot may mean."""
        found: dict[str, list[_Rows]] = {}
        for source in self._tree.find_all(exp.Table, exp.Subquery, exp.UDTF):
            if alias := source.alias_or_name.lower():
                found.setdefault(alias, []).append(self._get_rows(source))
        return found

    def _get_rows(self, source: exp.Expr) -> _Rows:
        is_table, columns = False, frozenset[str]()
        if isinstance(source, exp.Table) and not isinstance(source.this, exp.Func):
            name = ".".join(part.name for part in source.parts).lower()
            is_table = name not in self._ctes
            columns = self._known.get(name, frozenset()) | self._get_cte_columns(name)
        elif isinstance(source, exp.Subquery | exp.Lateral) and isinstance(source.this, exp.Query):
            columns = self._get_query_columns(source.this)
        elif isinstance(source, exp.Values):
            width = max((len(row.expressions) for row in source.expressions[:1]), default=0)
            columns = frozenset(f"column{n + 1}" for n in range(width))
        elif not isinstance(source, exp.Subquery):  # a function
            columns = frozenset(
                (source.alias.lower(), "ordinality", *_get_function_columns(source))
            )
        return _Rows(_apply_alias(source, columns), is_table)

    def _get_cte_columns(self, name: str) -> frozenset[str]:
        """Return the columns that all CTEs of the name have."""
        parts = [
            _apply_alias(cte, self._get_query_columns(cte.this)) for cte in self._ctes.get(name, ())
        ]
        return frozenset.intersection(*parts) if parts else frozenset()

    def _get_query_columns(self, query: exp.Expr) -> frozenset[str]:
        """Return the names of a query's output columns; of a union those of its first part."""
        while isinstance(query, exp.Subquery | exp.SetOperation):
            query = query.this
        if not isinstance(query, exp.Select) or id(query) in self._seen:
            return frozenset()
        self._seen.add(id(query))
        names: set[str] = set()
        for output in query.expressions:
            if output.is_star:
                names.update(*(self._get_rows(one).columns for one in _get_all_sources(query)))
            else:
                names.add(_get_output_name(output))
        self._seen.discard(id(query))
        return frozenset(names)


def _get_function_columns(function: exp.Expr) -> tuple[str, ...]:
    """Return the columns that a function names itself, whatever its alias."""
    called = function.args.get("this")
    name = called.name.lower() if isinstance(called, exp.Anonymous) else ""
    return _OUTPUT_COLUMNS.get(name.replace("jsonb", "json").removesuffix("_text"), ())


def _get_output_name(output: exp.Expr) -> str:
    """Return the name of an output: its alias, or that of the column that it shows."""
    while isinstance(output, exp.Cast | exp.Paren):
        output = output.this
    return output.alias_or_name.lower() if isinstance(output, exp.Alias | exp.Column) else ""


def _apply_alias(source: exp.Expr, columns: frozenset[str]) -> frozenset[str]:
    """Return the columns under the names that the alias lists, if it lists any."""
    alias = source.args.get("alias")
    names = alias.columns if isinstance(alias, exp.TableAlias) else []
    if names and isinstance(ordinality := source.args.get("offset"), exp.Expr):
        names = [*names, ordinality]  # of UNNEST … WITH ORDINALITY
    return frozenset(one.name.lower() for one in names) or columns - {""}


def _get_all_sources(query: exp.Select) -> list[exp.Expr]:
    """Return what a SELECT reads from directly: its FROM, joins and laterals."""
    return [*get_sources(query), *query.args.get("laterals", ())]
