"""A ranking query as its parts: what it computes, filters with, joins and takes."""

from functools import cached_property

from sqlglot import exp

from planweave.tools.linking import Values
from planweave.tools.sql.catalogue import Catalogue, Homes
from planweave.tools.sql.ranking import VALUE


class RankingQuery:
    """One SELECT that shows an option and the value that decides.

    Attributes:
        tree: The whole.
        option: The column of the options.
        value: What it ranks by.
    """

    def __init__(self, tree: exp.Select, catalogue: Catalogue, values: Values) -> None:
        self.tree, self._catalogue, self._values = tree, catalogue, values
        self._homes = Homes(tree, catalogue)
        self.option: exp.Expr = tree.expressions[0].unalias()
        named = (one for one in tree.expressions if one.alias_or_name == VALUE)
        self.value: exp.Expr = next(named, tree.expressions[-1]).unalias()

    @property
    def option_name(self) -> str:
        """The column of the options, in lower case."""
        return self.option.name.lower()

    @cached_property
    def columns(self) -> list[exp.Column]:
        """Columns by which the query computes or filters."""
        parts = [self.value, self.tree.args.get("where"), self.tree.args.get("having")]
        return [c for part in parts if part is not None for c in part.find_all(exp.Column)]

    @cached_property
    def used(self) -> frozenset[str]:
        """Their names."""
        return frozenset(column.name.lower() for column in self.columns)

    @cached_property
    def valued(self) -> list[exp.Column]:
        """Columns of the value that decides."""
        return list(self.value.find_all(exp.Column))

    @cached_property
    def literals(self) -> list[exp.Literal]:
        """Numbers and texts."""
        return list(self.tree.find_all(exp.Literal))

    @cached_property
    def texts(self) -> frozenset[str]:
        """Its literal texts, in lower case."""
        return frozenset(one.name.casefold() for one in self.literals if one.is_string)

    @cached_property
    def numbers(self) -> frozenset[float]:
        """Its literal numbers."""
        return frozenset(float(one.name) for one in self.literals if not one.is_string)

    def home(self, column: exp.Column) -> str:
        """The table of a column; empty if several could have it."""
        home = self._homes.of(column)
        return home[0].lower() if home else ""

    def counts_rows(self) -> bool:
        """Whether the value is a number or share of rows."""
        if self.value.find(exp.Count):
            return True
        numbers = {one.name for one in self.value.find_all(exp.Literal) if not one.is_string}
        return self.value.find(exp.Case) is not None and numbers <= {"0", "1", "1.0"}

    def subtracts_days(self) -> bool:
        """Whether the value is a time between two days."""
        dates = any(self._catalogue.is_date(column) for column in self.valued)
        return dates and self.value.find(exp.Sub, exp.DateDiff, exp.TsOrDsDiff) is not None

    def grain(self) -> str:
        """The table that refers, itself or through others, to all others of the query."""
        tables = {table.name.lower() for table in self.tree.find_all(exp.Table)}
        for table in sorted(tables):
            reached: set[str] = set()
            new = {table}
            while new:
                reached |= new
                new = {
                    link.right
                    for link in self._catalogue.links
                    if link.left in reached
                    and link.right in tables - reached
                    and link.right_column in self._catalogue.keys[link.right]
                }
            if reached == tables:
                return table
        return ""

    def tested(self) -> set[tuple[str, str]]:
        """Columns that the query compares with values."""
        tests = self.tree.find_all(exp.EQ, exp.NEQ, exp.In, exp.Case)
        columns = [test.this for test in tests if isinstance(test.this, exp.Column)]
        return {(self.home(column), column.name.lower()) for column in columns}

    def tests(self, table: str, column: str) -> bool:
        """Whether it compares a column with values."""
        return (table.lower(), column.lower()) in self.tested()

    def taken(self, table: str, column: str) -> set[str]:
        """The values of a column that the query takes."""
        known = {value.casefold() for value in self._values(self._catalogue.name(table), column)}
        found: set[str] = set()
        for test in self.tree.find_all(exp.EQ, exp.NEQ, exp.In, exp.Case):
            at = test.this
            if not isinstance(at, exp.Column) or at.name.lower() != column.lower():
                continue
            if isinstance(test, exp.Case):
                return known
            ends = test.expressions if isinstance(test, exp.In) else [test.expression]
            texts = {end.name.casefold() for end in ends if isinstance(end, exp.Literal)}
            denies = isinstance(test, exp.NEQ) != isinstance(test.parent, exp.Not)
            found |= known - texts if denies else texts
        return found

    def asks_filled(self, name: str) -> set[bool]:
        """Whether the query asks a column to have a value; both if it asks both."""
        return {
            isinstance(test.parent, exp.Not)
            for test in self.tree.find_all(exp.Is)
            if isinstance(test.this, exp.Column) and test.this.name.lower() == name
        }
