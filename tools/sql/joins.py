"""Move each column of a query to its table in the schema, and join the tables by keys.

A small model names the right columns more often than the right tables. So every column that its
table lacks is looked up, a wrong table is replaced with the right one, and tables are joined along
the links of the schema. No model is needed.
"""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from sqlglot import exp

from planweave.tools.linking import parts_of, plain, singular
from planweave.tools.sql.catalogue import Catalogue, Link
from planweave.tools.sql.tree import find_column_pairs, get_own_columns, get_sources
from planweave.tools.suggest import nearest

_MISSPELT = 0.75
"""Least similarity of a misspelt column."""
_NUMBERS = re.compile(r"\d+")
_GENERAL_WORDS = ("", "id", "code", "key", "name")
"""Last words that columns of different meaning share."""


def correct_joins(tree: exp.Query, catalogue: Catalogue, question: str = "") -> list[str] | None:
    """Correct columns and joins of every SELECT in a query, innermost first.

    Returns:
        What was changed; None if the schema has nothing like a column.
    """
    changes: list[str] = []
    for select in reversed(list(tree.find_all(exp.Select))):
        found = _SelectCorrector(select, catalogue, question.casefold()).correct()
        if found is None:
            return None
        changes += found
    return changes


class _Place(NamedTuple):
    """Where a column is: the alias of its table in the query, and the column's name."""

    alias: str
    column: str


class _SelectCorrector:
    """Corrects one SELECT.

    Tables are known by their aliases; all names are compared in lower case.
    """

    def __init__(self, select: exp.Select, catalogue: Catalogue, question: str) -> None:
        self._question = question
        self._select = select
        self._catalogue = catalogue
        self._tables: dict[str, str] = {}
        self._written_aliases: dict[str, str] = {}
        self._renamed: list[str] = []
        are_tables = [self._add_table(source) for source in get_sources(select)]
        self._has_only_tables = all(are_tables)
        self._output_names = {one.alias.lower() for one in select.expressions if one.alias}

    def _add_table(self, source: exp.Expr) -> bool:
        """Note a table, an unknown one as the most similar; False for any other source."""
        written = source.name
        table = written.lower()
        ctes = {cte.alias.lower() for cte in self._select.root().find_all(exp.CTE)}
        if not isinstance(source, exp.Table) or table in ctes:
            return False
        if table not in self._catalogue.columns:
            similar = _find_similar(table, self._catalogue.columns)
            if not similar:
                return False
            source.set("alias", _build_alias(source.alias_or_name, similar[0]))
            source.set("this", exp.to_identifier(self._catalogue.get_written_name(similar[0])))
            table = similar[0]
            self._renamed.append(f"{written} → {source.name}")
        alias = source.alias_or_name
        self._tables[alias.lower()] = table
        self._written_aliases[alias.lower()] = alias
        return True

    def correct(self) -> list[str] | None:
        """Correct this SELECT; see :func:`correct_joins`."""
        if not self._tables or not self._has_only_tables:
            return []
        changes: list[str] = []
        replacements: dict[str, str] = {}
        before = set(self._tables)
        wrong = self._find_wrong_columns()
        for column in wrong:
            if self._is_in_join(column):
                continue  # the join is written again
            place = self._find_place(column)
            if place is None:
                return None
            self._tables.setdefault(place.alias, place.alias)
            stated = self._get_stated_table(column)
            if stated and stated != place.alias:
                replacements[stated] = place.alias
            written = column.sql()
            self._move(column, place)
            changes.append(f"{written} → {column.sql()}")
        replaced = {alias for alias, new in replacements.items() if self._replace_table(alias, new)}
        are_valid = all(map(self._is_valid_join, self._select.args.get("joins") or ()))
        if replaced or wrong or set(self._tables) != before or not are_valid:
            joined = self._rewrite_joins(replaced)
            if joined is None:
                return None
            changes += joined
        changes += self._qualify_ambiguous_columns()
        return self._renamed + changes if changes else []

    # Columns

    def _find_wrong_columns(self) -> list[exp.Column]:
        """Find columns that the stated table, or every table of the query, lacks."""
        outer_aliases: set[str] = set()
        outer = self._select.find_ancestor(exp.Select)
        while outer is not None:
            outer_aliases |= {source.alias_or_name.lower() for source in get_sources(outer)}
            outer = outer.find_ancestor(exp.Select)
        own = get_own_columns(self._select)
        return [column for column in own if not self._is_known(column, outer_aliases)]

    def _is_known(self, column: exp.Column, outer_aliases: set[str]) -> bool:
        name, alias = column.name.lower(), column.table.lower()
        if name == "*" or (alias and alias not in self._tables and alias in outer_aliases):
            return True
        if alias:
            return alias in self._tables and self._has_column(alias, name)
        # SQLite reads a quoted name that no column has as a text.
        is_text = bool(column.this.args.get("quoted"))
        return is_text or name in self._output_names or bool(self._find_aliases(name))

    def _has_column(self, alias: str, column: str) -> bool:
        return column in self._catalogue.columns[self._tables[alias]]

    def _find_aliases(self, column: str) -> list[str]:
        """Find the tables of the query that have a column."""
        return [alias for alias in self._tables if self._has_column(alias, column)]

    def _find_place(self, column: exp.Column) -> _Place | None:
        """Find a wrong column in the query's tables, else in the schema, else a similar one."""
        name, table = column.name.lower(), column.table.lower()
        if table not in self._tables:  # the name of a table that has an alias
            table = next((a for a, one in self._tables.items() if one == table), table)
        meant = self._tables.get(table, table)
        if name in self._catalogue.columns.get(meant, {}):
            return _Place(table, self._catalogue.columns[meant][name])
        stated = self._get_stated_table(column)
        if key := self._find_key(stated, name):
            return _Place(stated, key)
        aliases = self._find_aliases(name)
        same_ending = [] if aliases else self._find_same_ending(stated, column.name)
        if asked := self._find_asked(same_ending, column.name):
            return _Place(stated, asked)
        alias = aliases[0] if aliases else self._find_nearest_table(name)
        if len(same_ending) == 1 and self._is_far(alias):
            return _Place(stated, same_ending[0])
        # The found table may have the name of another table's alias, which lacks the column.
        found = self._catalogue.columns.get(self._tables.get(alias, alias), {}).get(name)
        return _Place(alias, found) if found else self._find_similar_column(column)

    def _find_key(self, alias: str, name: str) -> str:
        """Find the key of a table by a usual name: ``sale_id`` of ``sales``."""
        table = self._tables.get(alias, "")
        keys = self._catalogue.keys.get(table, set())
        if len(keys) != 1 or name not in {f"{table}_id", f"{table.removesuffix('s')}_id"}:
            return ""
        return self._catalogue.columns[table][next(iter(keys))]

    def _find_asked(self, columns: Sequence[str], written: str) -> str:
        """Find the column that the question names, unless it names the one that is written."""
        words = f" {' '.join(singular(word) for word in plain(self._question).split())} "

        def is_named(name: str) -> bool:
            parts = [singular(part.casefold()) for part in parts_of(name)]
            return len(parts) > 1 and f" {' '.join(parts)} " in words

        return "" if is_named(written) else next(filter(is_named, columns), "")

    def _is_far(self, table: str) -> bool:
        """Whether it takes several joins to reach a table."""
        path = self._catalogue.find_path(set(self._tables.values()), table) if table else None
        return path is not None and len(path) > 1

    def _find_same_ending(self, alias: str, name: str) -> list[str]:
        """Find the columns of a table that end with the same word as a name."""
        ending = _get_ending(name)
        if alias not in self._tables or ending in _GENERAL_WORDS:
            return []
        columns = self._catalogue.columns[self._tables[alias]].values()
        return [one for one in columns if _get_ending(one) == ending]

    def _find_nearest_table(self, column: str) -> str:
        """Find the table with a column that takes the fewest joins, or that the question names."""
        own = set(self._tables.values())
        tables = self._catalogue.find_tables(column)
        paths = {table: self._catalogue.find_path(own, table) for table in tables}
        lengths = {table: len(path) for table, path in paths.items() if path is not None}
        closest = [table for table, length in lengths.items() if length == min(lengths.values())]
        if len(closest) > 1:
            closest = [table for table in closest if table.removesuffix("s") in self._question]
        return closest[0] if len(closest) == 1 else ""

    def _find_similar_column(self, column: exp.Column) -> _Place | None:
        """Find the column of the query's tables with the most similar name."""
        stated = self._get_stated_table(column)
        aliases = [stated, *self._tables] if stated in self._tables else [*self._tables]
        for alias in dict.fromkeys(aliases):
            columns = self._catalogue.columns[self._tables[alias]]
            if similar := _find_similar(column.name.lower(), columns, close=_MISSPELT):
                return _Place(alias, columns[similar[0]])
        return None

    def _get_stated_table(self, column: exp.Column) -> str:
        """Return the table that the query states for a column, or its only one."""
        if column.table:
            return column.table.lower()
        return next(iter(self._tables)) if len(self._tables) == 1 else ""

    def _move(self, column: exp.Column, place: _Place) -> None:
        column.set("this", _build_identifier(place.column))
        column.set("table", _build_identifier(self._get_written_alias(place.alias)))

    def _get_written_alias(self, alias: str) -> str:
        return self._written_aliases.get(alias) or self._catalogue.get_written_name(alias)

    def _replace_table(self, alias: str, new: str) -> bool:
        """Move all columns of a wrong table to another, if that has them."""
        if alias not in self._tables:
            return False
        columns = [
            column
            for column in get_own_columns(self._select)
            if self._is_of(column, alias) and not self._is_in_join(column)
        ]
        if not all(self._has_column(new, column.name.lower()) for column in columns):
            return False
        names = self._catalogue.columns[self._tables[new]]
        for column in columns:
            self._move(column, _Place(new, names[column.name.lower()]))
        return True

    def _is_of(self, column: exp.Column, alias: str) -> bool:
        if column.table:
            return column.table.lower() == alias
        return self._has_column(alias, column.name.lower())

    def _is_in_join(self, column: exp.Column) -> bool:
        return column.find_ancestor(exp.Join, exp.Select) is not self._select

    def _qualify_ambiguous_columns(self) -> list[str]:
        """Name the table of a column that several have: the first, or one that is asked about."""
        sources, changes = get_sources(self._select), []
        for column in get_own_columns(self._select):
            name = column.name.lower()
            tables = [
                one for one in sources if name in self._catalogue.columns.get(one.name.lower(), {})
            ]
            if column.table or name in self._output_names or len(tables) < 2:
                continue
            asked = [one for one in tables if one.name.lower().removesuffix("s") in self._question]
            column.set("table", _build_identifier((asked or tables)[0].alias_or_name))
            changes.append(f"{name} → {column.sql()}")
        return changes

    # Joins

    def _is_valid_join(self, join: exp.Join) -> bool:
        """Whether a join equates joinable columns, or tables that no link connects."""
        pairs = find_column_pairs(join)
        if not pairs:
            return join.args.get("on") is not None or bool(join.args.get("using"))
        # An alias that the query lacks is not a table.
        tables = self._tables
        ends = [[(tables.get(c.table.lower(), ""), c.name.lower()) for c in pair] for pair in pairs]
        known = [(one, other) for one, other in ends if one[0] and other[0] and one[0] != other[0]]
        if any(self._catalogue.are_joinable(*one, *other) for one, other in known):
            return True
        paths = [self._catalogue.find_path({one}, other) for (one, _), (other, _) in known]
        return bool(paths) and all(path is None for path in paths)

    def _rewrite_joins(self, replaced: set[str]) -> list[str] | None:
        """Write FROM and the joins again: valid joins stay, the others follow the links.

        Returns:
            What was changed; None if no links lead to a table.
        """
        kept = {alias: table for alias, table in self._tables.items() if alias not in replaced}
        if len(set(kept.values())) < len(kept):
            return []  # a table is joined to itself
        aliases = {table: alias for alias, table in kept.items()}
        written = {
            join.alias_or_name.lower(): join for join in self._select.args.get("joins") or ()
        }
        first, *others = kept
        joined = {kept[first]: first}
        joins: list[exp.Join] = []
        for alias in others:
            table, join = kept[alias], written.get(alias)
            if table in joined:
                continue
            if join is not None and self._can_stay(join, {*joined.values(), alias}):
                joined[table] = alias
                joins.append(join)
                continue
            path = self._catalogue.find_path(set(joined), table)
            if path is None:
                return None
            side = join.side if join is not None else ""
            for link in path:
                left_alias = joined[link.left]
                joined[link.right] = aliases.get(link.right, link.right)
                joins.append(self._build_join(link, left_alias, joined[link.right], side))
        self._select.set("from_", exp.From(this=self._build_source(first)))
        self._select.set("joins", joins)
        if not joins and not written:
            return []
        names = map(self._catalogue.get_written_name, joined)
        return [f"joined by keys: {', '.join(names)}"]

    def _can_stay(self, join: exp.Join, aliases: set[str]) -> bool:
        """Whether a valid join has only known columns of tables that are joined by then."""
        columns: Sequence[exp.Column] = list((join.args.get("on") or join).find_all(exp.Column))
        names = [(column.table.lower(), column.name.lower()) for column in columns]
        return self._is_valid_join(join) and all(
            alias in aliases and self._has_column(alias, name) for alias, name in names if alias
        )

    def _build_join(self, link: Link, left_alias: str, right_alias: str, side: str) -> exp.Join:
        """Build a join along a link, to the table on its right side."""
        left, right = (
            exp.Column(
                this=_build_identifier(self._catalogue.columns[table][column]),
                table=_build_identifier(self._get_written_alias(alias)),
            )
            for table, column, alias in (
                (link.left, link.left_column, left_alias),
                (link.right, link.right_column, right_alias),
            )
        )
        condition = exp.EQ(this=left, expression=right)
        return exp.Join(this=self._build_source(right_alias), side=side, on=condition)

    def _build_source(self, alias: str) -> exp.Table:
        table = self._tables.get(alias, alias)
        name = self._catalogue.get_written_name(table)
        written_alias = _build_alias(self._written_aliases.get(alias, name), table)
        return exp.Table(this=_build_identifier(name), alias=written_alias)


def _find_similar(name: str, known: Iterable[str], *, close: float = 0.6) -> tuple[str, ...]:
    """Find the most similar name with the same numbers: ``metric_1`` is not ``metric_2``."""
    numbers = _NUMBERS.findall(name)
    same = [one for one in known if _NUMBERS.findall(one) == numbers]
    return nearest(name, same, 1, close=close)


def _get_ending(name: str) -> str:
    """Return the singular of the last word of a name; empty if it has none, as ``_``."""
    return singular("".join(parts_of(name)[-1:]).casefold())


def _build_alias(alias: str, table: str) -> exp.TableAlias | None:
    return None if alias.lower() == table else exp.TableAlias(this=_build_identifier(alias))


def _build_identifier(name: str) -> exp.Identifier:
    return exp.to_identifier(name, quoted=not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII))
