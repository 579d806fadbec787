"""The names of a schema without regard to case, and the columns that join its tables."""

import re
from collections.abc import Callable
from functools import cached_property
from itertools import combinations
from typing import NamedTuple, TypeAlias

from sqlglot import exp

from planweave.tools.database import Field, Schema

ColumnTest: TypeAlias = Callable[[exp.Column], bool]
"""Tests a column: whether it has dates, or rows without a value."""

_MOST_JOINS = 4
_NUMBER_TYPES = ("int", "bigint", "smallint", "num", "dec", "real", "float", "double")
_DATE_TYPES, _MOMENT_TYPES = ("date", "timestamp"), ("datetime", "timestamp")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}(?:[ T]\d{2}:\d{2}.*)?")
_MOMENT = re.compile(r"\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}.*")
_KEY_ENDINGS = ("id", "code", "key", "_no", "_name")
_GENERAL_NAMES = ("id", "code", "key", "name", "first_name", "last_name", "user_name", "full_name")


class Link(NamedTuple):
    """Two columns whose equality joins their tables."""

    left: str
    left_column: str
    right: str
    right_column: str

    def reverse(self) -> "Link":
        """Return the same link from the other side."""
        return Link(self.right, self.right_column, self.left, self.left_column)


class Catalogue:
    """Names of a schema without regard to case, and the links between its tables."""

    def __init__(self, schema: Schema) -> None:
        self._entities = {entity.name.lower(): entity for entity in schema.entities}
        self.columns: dict[str, dict[str, str]] = {
            name: {field.name.lower(): field.name for field in entity.fields}
            for name, entity in self._entities.items()
        }
        """For each table its columns, as written, by their names in lower case."""
        self.keys: dict[str, set[str]] = {
            name: {field.name.lower() for field in entity.fields if field.key}
            for name, entity in self._entities.items()
        }
        """For each table the columns of its primary key."""
        fields = [field for entity in schema.entities for field in entity.fields]
        self._moments = {f.name.lower() for f in fields if _has_type(f, _MOMENT_TYPES, _MOMENT)}
        self._dates = {f.name.lower() for f in fields if _has_type(f, _DATE_TYPES, _DATE)}
        self._numbers = {f.name.lower() for f in fields if f.type.lower().startswith(_NUMBER_TYPES)}

    def get_written_name(self, table: str) -> str:
        """Return the name of a table as the schema writes it."""
        return self._entities[table].name

    def is_date(self, column: exp.Column) -> bool:
        """Whether a column of that name has dates."""
        return column.name.lower() in self._dates

    def is_moment(self, column: exp.Column) -> bool:
        """Whether a column of that name has dates with a time."""
        return column.name.lower() in self._moments

    def is_number(self, column: exp.Column) -> bool:
        """Whether a column of that name has numbers."""
        return column.name.lower() in self._numbers

    def find_name_column(self, table: str) -> str:
        """Find the column that names the rows of a table; empty if several could."""
        columns, stem = self.columns.get(table.lower(), {}), table.lower().removesuffix("s")
        for name in ("name", f"{stem}_name", f"{stem}name"):
            if name in columns:
                return columns[name]
        called = [written for name, written in columns.items() if name.endswith("name")]
        found = called or [written for name, written in columns.items() if name.endswith("title")]
        return found[0] if len(found) == 1 else ""

    def find_tables(self, column: str) -> list[str]:
        """Find the tables that have a column of this name, in lower case."""
        return [table for table, columns in self.columns.items() if column in columns]

    @cached_property
    def links(self) -> tuple[Link, ...]:
        """References of the schema; between other tables, columns with the same key-like name."""
        links = []
        for name, entity in self._entities.items():
            for field in entity.fields:
                table, _, key = field.references.lower().rpartition(".")
                links += [Link(name, field.name.lower(), table, key)] if table else []
        joined = {frozenset((link.left, link.right)) for link in links}
        for left, right in combinations(self.columns, 2):
            if frozenset((left, right)) not in joined:
                links += self._link_by_name(left, right)
        return tuple(links)

    def _link_by_name(self, left: str, right: str) -> list[Link]:
        for one, other in ((left, right), (right, left)):
            for stem in (one, one.removesuffix("s")):
                if "id" in self.columns[one] and f"{stem}_id" in self.columns[other]:
                    return [Link(other, f"{stem}_id", one, "id")]
        shared = [column for column in self.columns[left] if column in self.columns[right]]
        keys = self.keys[left] ^ self.keys[right]
        tables = tuple(table.removesuffix("s") for table in self.columns)
        found = [
            column
            for column in shared
            if column not in _GENERAL_NAMES
            and (column in keys or column.endswith(_KEY_ENDINGS) or column.startswith(tables))
        ]
        return [Link(left, found[0], right, found[0])] if found else []

    def find_path(self, start: set[str], goal: str) -> list[Link] | None:
        """Find the fewest links from any table of ``start`` to ``goal``; None if there are none."""
        reached: dict[str, list[Link]] = {table: [] for table in sorted(start)}
        edge = list(reached)
        for _ in range(_MOST_JOINS):
            following: list[str] = []
            for table in edge:
                for link in self.links:
                    step = link if link.left == table else link.reverse()
                    if step.left == table and step.right not in reached:
                        reached[step.right] = [*reached[table], step]
                        following.append(step.right)
            if goal in reached:
                break
            edge = following
        return reached.get(goal)

    def are_linked(self, one: tuple[str, str], other: tuple[str, str]) -> bool:
        """Whether a link joins two columns, each given with its table."""
        return any({one, other} == {link[:2], link[2:]} for link in self.links)

    def are_joinable(self, left: str, left_column: str, right: str, right_column: str) -> bool:
        """Whether two columns can join their tables: by a link, as reference and key, or by name.

        The same name joins tables only without another link: two shops may be in one city.
        """
        one, other = (left, left_column), (right, right_column)
        if (left_column in self.keys[left]) != (right_column in self.keys[right]):
            return True
        if self.are_linked(one, other):
            return True
        tables, ends = {left, right}, [{link[:2], link[2:]} for link in self.links]
        if any({a.left, a.right} == tables and a.left_column != a.right_column for a in self.links):
            return False
        both_refer = any(one in a and other in b and a & b for a in ends for b in ends)
        return left_column == right_column or both_refer


class ColumnResolver:
    """Finds the tables of a query's columns."""

    def __init__(self, tree: exp.Expr, catalogue: Catalogue) -> None:
        self.catalogue = catalogue
        self._tables = {
            table.alias_or_name.lower(): table.name.lower() for table in tree.find_all(exp.Table)
        }

    def find_table(self, column: exp.Column) -> tuple[str, str] | None:
        """Find the only table with a column; both names as the schema writes them."""
        name, alias = column.name.lower(), column.table.lower()
        sources = {self._tables.get(alias, "")} if alias else {*self._tables.values()}
        found = [t for t in sources if name in self.catalogue.columns.get(t, {})]
        if len(found) != 1:
            return None
        return self.catalogue.get_written_name(found[0]), self.catalogue.columns[found[0]][name]

    def make_test(self, test: Callable[[str, str], bool]) -> ColumnTest:
        """Make the test of a column from a test that takes its table and its name."""

        def is_met(column: exp.Column) -> bool:
            found = self.find_table(column)
            return found is not None and test(*found)

        return is_met


def _has_type(field: Field, types: tuple[str, ...], form: re.Pattern[str]) -> bool:
    """Whether a column has one of the types, or all its samples have the form of the type.

    SQLite has no type for dates: most of its tables declare them as texts.
    """
    has_form = bool(field.samples) and all(map(form.fullmatch, field.samples))
    return has_form or field.type.lower().startswith(types)
