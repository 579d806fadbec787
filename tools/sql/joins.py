"""Put each column of a query where the schema has it, and join what it needs by keys.

A small model names the right columns more often than the right tables. So every column that its
table lacks is looked up, a table that was named in error gives way to the right one, and tables
are joined along the links of the schema. No model is asked.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from sqlglot import exp

from planweave.tools.linking import parts_of, plain, stem
from planweave.tools.sql.catalogue import Catalogue, Link
from planweave.tools.sql.slips import sources_of
from planweave.tools.suggest import nearest

_CLOSE = 0.75
"""Resemblance from which on a column counts as misspelled."""
_NUMBERS = re.compile(r"\d+")
_VAGUE = ("", "id", "code", "key", "name")
"""Last words of columns that do not tell one from another."""


def correct_joins(tree: exp.Query, catalogue: Catalogue, question: str = "") -> list[str] | None:
    """Correct columns and joins of every SELECT in a query, innermost first.

    Returns:
        What was changed; None if a column can stand for nothing in the schema.
    """
    changes: list[str] = []
    for select in reversed(list(tree.find_all(exp.Select))):
        found = _Scope(select, catalogue, question.casefold()).corrected()
        if found is None:
            return None
        changes += found
    return changes


def told_apart(select: exp.Select, catalogue: Catalogue, question: str = "") -> list[str]:
    """Name the table of a column that several have: one that is asked about, or the first."""
    outputs = {one.alias.lower() for one in select.expressions if one.alias}
    sources, changes = sources_of(select), []
    for column in _own_columns(select):
        name = column.name.lower()
        here = [one for one in sources if name in catalogue.columns.get(one.name.lower(), {})]
        if column.table or name in outputs or len(here) < 2:
            continue
        asked = [one for one in here if one.name.lower().removesuffix("s") in question]
        column.set("table", _identifier((asked or here)[0].alias_or_name))
        changes.append(f"{name} → {column.sql()}")
    return changes


def _own_columns(select: exp.Select) -> list[exp.Column]:
    """Columns of a SELECT, without those of its subqueries."""
    found = select.find_all(exp.Column)
    return [column for column in found if column.find_ancestor(exp.Select) is select]


class _Place(NamedTuple):
    """A column: what the query calls its table, and the column's name."""

    alias: str
    name: str


class _Scope:
    """One SELECT: the tables that it reads, and the columns that are its own.

    Tables are known by their aliases; all names are compared in lower case.
    """

    def __init__(self, select: exp.Select, catalogue: Catalogue, question: str) -> None:
        self._question = question
        self._select = select
        self._catalogue = catalogue
        self._tables: dict[str, str] = {}
        self._written: dict[str, str] = {}
        are_tables = [self._read(source) for source in sources_of(select)]
        self._is_plain = all(are_tables)

    def _read(self, source: exp.Expr) -> bool:
        """Note a table; an unknown one is taken for the nearest. False for anything else."""
        table = source.name.lower()
        ctes = {cte.alias.lower() for cte in self._select.root().find_all(exp.CTE)}
        if not isinstance(source, exp.Table) or table in ctes:
            return False
        if table not in self._catalogue.columns:
            close = _alike(table, self._catalogue.columns)
            if not close:
                return False
            source.set("alias", _alias(source.alias_or_name, close[0]))
            source.set("this", exp.to_identifier(self._catalogue.name(close[0])))
            table = close[0]
        alias = source.alias_or_name
        self._tables[alias.lower()] = table
        self._written[alias.lower()] = alias
        return True

    def corrected(self) -> list[str] | None:
        """Correct this SELECT; see :func:`correct_joins`."""
        if not self._tables or not self._is_plain:
            return []
        changes: list[str] = []
        blamed: dict[str, str] = {}
        before = set(self._tables)
        wrong = self._wrong_columns()
        for column in wrong:
            if self._is_in_join(column):
                continue  # the join is written again
            place = self._place(column)
            if place is None:
                return None
            self._tables.setdefault(place.alias, place.alias)
            believed = self._believed_table(column)
            if believed and believed != place.alias:
                blamed[believed] = place.alias
            written = column.sql()
            self._set(column, place)
            changes.append(f"{written} → {column.sql()}")
        dropped = {alias for alias, right in blamed.items() if self._gives_way(alias, right)}
        is_sound = all(map(self._is_sound, self._joins()))
        if dropped or wrong or set(self._tables) != before or not is_sound:
            joined = self._rejoined(dropped)
            if joined is None:
                return None
            changes += joined
        return changes + told_apart(self._select, self._catalogue, self._question)

    # Columns

    def _wrong_columns(self) -> list[exp.Column]:
        """Columns that the table before them, or no table of the query, has."""
        outputs = {one.alias.lower() for one in self._select.expressions if one.alias}
        own, outer = _own_columns(self._select), self._outer_names()
        return [column for column in own if not self._is_known(column, outputs, outer)]

    def _is_known(self, column: exp.Column, outputs: set[str], outer: set[str]) -> bool:
        name, alias = column.name.lower(), column.table.lower()
        if name == "*" or (alias and alias not in self._tables and alias in outer):
            return True
        if alias:
            return alias in self._tables and self._has(alias, name)
        # To SQLite a quoted name that no column bears is a text.
        is_text = bool(column.this.args.get("quoted"))
        return is_text or name in outputs or any(self._has(one, name) for one in self._tables)

    def _outer_names(self) -> set[str]:
        """What enclosing SELECTs call their tables."""
        names: set[str] = set()
        above = self._select.find_ancestor(exp.Select)
        while above is not None:
            names |= {source.alias_or_name.lower() for source in sources_of(above)}
            above = above.find_ancestor(exp.Select)
        return names

    def _has(self, alias: str, column: str) -> bool:
        return column in self._catalogue.columns[self._tables[alias]]

    def _place(self, column: exp.Column) -> _Place | None:
        """Where a wrong column is: in the query's tables, else in the schema, else a like name."""
        name, table = column.name.lower(), column.table.lower()
        if table not in self._tables:  # the real name of a table that has another here
            table = next((a for a, one in self._tables.items() if one == table), table)
        meant = self._tables.get(table, table)
        if name in self._catalogue.columns.get(meant, {}):
            return _Place(table, self._catalogue.columns[meant][name])
        if own := self._own_key(column):
            return own
        here = [alias for alias in self._tables if self._has(alias, name)]
        alike = [] if here else self._ending_alike(column)
        if asked := self._asked_for(alike, column.name):
            return _Place(self._believed_table(column), asked)
        alias = here[0] if here else self._nearest_home(name)
        if len(alike) == 1 and self._is_far(alias):
            return _Place(self._believed_table(column), alike[0])
        # A home may have the name of another table's alias: then it has no such column here.
        found = self._catalogue.columns.get(self._tables.get(alias, alias), {}).get(name)
        return _Place(alias, found) if found else self._similar(column)

    def _own_key(self, column: exp.Column) -> _Place | None:
        """The key of the believed table, by what it could be called: ``sale_id`` of ``sales``."""
        alias, name = self._believed_table(column), column.name.lower()
        table = self._tables.get(alias, "")
        keys = self._catalogue.keys.get(table, set())
        if len(keys) != 1 or name not in {f"{table}_id", f"{table.removesuffix('s')}_id"}:
            return None
        return _Place(alias, self._catalogue.columns[table][next(iter(keys))])

    def _asked_for(self, ends_alike: Sequence[str], written: str) -> str:
        """The column that the question names, of those that end like one that it does not name."""
        words = f" {' '.join(stem(word) for word in plain(self._question).split())} "

        def is_named(name: str) -> bool:
            parts = [stem(part.casefold()) for part in parts_of(name)]
            return len(parts) > 1 and f" {' '.join(parts)} " in words

        return "" if is_named(written) else next(filter(is_named, ends_alike), "")

    def _is_far(self, home: str) -> bool:
        """Whether it takes several joins to reach a table."""
        path = self._catalogue.path(set(self._tables.values()), home) if home else None
        return path is not None and len(path) > 1

    def _ending_alike(self, column: exp.Column) -> list[str]:
        """The columns of the believed table that end with the same word."""
        alias, end = self._believed_table(column), _end(column.name)
        if alias not in self._tables or end in _VAGUE:
            return []
        columns = self._catalogue.columns[self._tables[alias]].values()
        return [one for one in columns if _end(one) == end]

    def _nearest_home(self, column: str) -> str:
        """The table with the column that takes the fewest joins, or of those is asked about."""
        here = set(self._tables.values())
        paths = {home: self._catalogue.path(here, home) for home in self._catalogue.homes(column)}
        lengths = {home: len(path) for home, path in paths.items() if path is not None}
        best = [home for home, length in lengths.items() if length == min(lengths.values())]
        asked = [home for home in best if home.removesuffix("s") in self._question]
        found = best if len(best) == 1 else asked
        return found[0] if len(found) == 1 else ""

    def _similar(self, column: exp.Column) -> _Place | None:
        """The column of the query's tables whose name is most like the one written."""
        believed = self._believed_table(column)
        aliases = [believed, *self._tables] if believed in self._tables else [*self._tables]
        for alias in dict.fromkeys(aliases):
            columns = self._catalogue.columns[self._tables[alias]]
            if close := _alike(column.name.lower(), columns, close=_CLOSE):
                return _Place(alias, columns[close[0]])
        return None

    def _believed_table(self, column: exp.Column) -> str:
        """The table in which the query believes a column to be."""
        if column.table:
            return column.table.lower()
        return next(iter(self._tables)) if len(self._tables) == 1 else ""

    def _set(self, column: exp.Column, place: _Place) -> None:
        alias = self._written.get(place.alias) or self._catalogue.name(place.alias)
        column.set("this", _identifier(place.name))
        column.set("table", _identifier(alias))

    def _gives_way(self, alias: str, right: str) -> bool:
        """Move all columns of a table that was named in error, if the right one has them."""
        if alias not in self._tables:
            return False
        mine = [
            c
            for c in _own_columns(self._select)
            if self._is_of(c, alias) and not self._is_in_join(c)
        ]
        if not all(self._has(right, column.name.lower()) for column in mine):
            return False
        columns = self._catalogue.columns[self._tables[right]]
        for column in mine:
            self._set(column, _Place(right, columns[column.name.lower()]))
        return True

    def _is_of(self, column: exp.Column, alias: str) -> bool:
        return (
            column.table.lower() == alias if column.table else self._has(alias, column.name.lower())
        )

    def _is_in_join(self, column: exp.Column) -> bool:
        return column.find_ancestor(exp.Join, exp.Select) is not self._select

    # Joins

    def _joins(self) -> list[exp.Join]:
        return list(self._select.args.get("joins") or ())

    def _is_sound(self, join: exp.Join) -> bool:
        """Whether a join equates linked columns, or tables that no link leads between."""
        pairs = [
            (pair.this, pair.expression)
            for pair in join.find_all(exp.EQ)
            if isinstance(pair.this, exp.Column) and isinstance(pair.expression, exp.Column)
        ]
        if not pairs:
            return join.args.get("on") is not None or bool(join.args.get("using"))
        apart = [pair for pair in pairs if self._table_of(pair[0]) != self._table_of(pair[1])]
        if any(self._is_linked(left, right) for left, right in apart):
            return True
        tables = [(self._table_of(left), self._table_of(right)) for left, right in apart]
        known = [(one, other) for one, other in tables if one and other]
        return bool(known) and all(
            self._catalogue.path({one}, other) is None for one, other in known
        )

    def _table_of(self, column: exp.Column) -> str:
        return self._tables.get(column.table.lower(), "")

    def _is_linked(self, left: exp.Column, right: exp.Column) -> bool:
        one, other = self._table_of(left), self._table_of(right)
        if not (one and other):  # an alias that the query does not have
            return False
        return self._catalogue.is_link(one, left.name.lower(), other, right.name.lower())

    def _rejoined(self, dropped: set[str]) -> list[str] | None:
        """Write FROM and the joins again: sound joins stay, the others follow the links.

        Returns:
            What was changed; None if no links lead to a table.
        """
        kept = {alias: table for alias, table in self._tables.items() if alias not in dropped}
        if len(set(kept.values())) < len(kept):
            return []  # a table that is joined to itself
        written = {join.alias_or_name.lower(): join for join in self._joins()}
        first, *others = kept
        joined = {kept[first]: first}
        joins: list[exp.Join] = []
        for alias in others:
            if kept[alias] in joined:
                continue
            join = written.get(alias)
            if (
                join is not None
                and self._is_sound(join)
                and self._stands(join, {*joined.values(), alias})
            ):
                joined[kept[alias]] = alias
                joins.append(join)
                continue
            path = self._catalogue.path(set(joined), kept[alias])
            if path is None:
                return None
            side = join.side if join is not None else ""
            joins += [self._join(link, joined, kept, side) for link in path]
        self._select.set("from_", exp.From(this=self._source(first)))
        self._select.set("joins", joins)
        return [f"joined by keys: {', '.join(self._catalogue.name(table) for table in joined)}"]

    def _join(
        self, link: Link, joined: dict[str, str], kept: Mapping[str, str], side: str
    ) -> exp.Join:
        """A join along a link; the table it leads to counts as joined."""
        alias = next((one for one, table in kept.items() if table == link.right), link.right)
        ends = (
            (link.left, link.left_column, joined[link.left]),
            (link.right, link.right_column, alias),
        )
        left, right = (
            exp.Column(
                this=_identifier(self._catalogue.columns[table][column]),
                table=_identifier(self._written.get(name) or self._catalogue.name(table)),
            )
            for table, column, name in ends
        )
        joined[link.right] = alias
        return exp.Join(this=self._source(alias), side=side, on=exp.EQ(this=left, expression=right))

    def _source(self, alias: str) -> exp.Table:
        table = self._tables.get(alias, alias)
        name = self._catalogue.name(table)
        return exp.Table(
            this=_identifier(name), alias=_alias(self._written.get(alias, name), table)
        )

    def _stands(self, join: exp.Join, aliases: set[str]) -> bool:
        """Whether a join's condition speaks of known columns of tables that are joined by then."""
        columns: Sequence[exp.Column] = list((join.args.get("on") or join).find_all(exp.Column))
        names = [(column.table.lower(), column.name.lower()) for column in columns]
        return all(alias in aliases and self._has(alias, name) for alias, name in names if alias)


def _alike(name: str, known: Iterable[str], *, close: float = 0.6) -> tuple[str, ...]:
    """The name that is most like one that was written; numbers in names tell things apart."""
    numbers = _NUMBERS.findall(name)
    same = [one for one in known if _NUMBERS.findall(one) == numbers]
    return nearest(name, same, 1, close=close)


def _end(name: str) -> str:
    """The stem of the last word of a name; empty for a name without words, such as ``_``."""
    return stem("".join(parts_of(name)[-1:]).casefold())


def _alias(alias: str, table: str) -> exp.TableAlias | None:
    return None if alias.lower() == table else exp.TableAlias(this=_identifier(alias))


def _identifier(name: str) -> exp.Identifier:
    return exp.to_identifier(name, quoted=not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII))
