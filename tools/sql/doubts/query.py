"""A ranking query as its parts: what it computes, filters by and joins."""

from sqlglot import exp

from planweave.tools.linking import Values
from planweave.tools.sql.catalogue import Catalogue, ColumnResolver
from planweave.tools.sql.ranking import VALUE
from planweave.tools.sql.tree import get_compared_values


class RankingQuery:
    """One SELECT that shows an option and the value that decides.

    Attributes:
        tree: The whole query.
        option: The column of the options.
        value: The value by which it ranks.
        value_columns: The columns of that value.
        column_names: Names of all columns by which the query computes or filters.
        texts: The text literals, in lower case.
        numbers: The number literals.
    """

    def __init__(self, tree: exp.Select, catalogue: Catalogue, values: Values) -> None:
        self.tree, self._catalogue, self._values = tree, catalogue, values
        self._resolver = ColumnResolver(tree, catalogue)
        self.option: exp.Expr = tree.expressions[0].unalias()
        named = (one for one in tree.expressions if one.alias_or_name == VALUE)
        self.value: exp.Expr = next(named, tree.expressions[-1]).unalias()
        self.value_columns: list[exp.Column] = list(self.value.find_all(exp.Column))
        parts = [self.value, tree.args.get("where"), tree.args.get("having")]
        columns = [c for part in parts if part is not None for c in part.find_all(exp.Column)]
        self.column_names = frozenset(column.name.lower() for column in columns)
        literals = list(tree.find_all(exp.Literal))
        self.texts = [one.name for one in literals if one.is_string]
        self.numbers = frozenset(float(one.name) for one in literals if not one.is_string)

    def has_text(self, text: str) -> bool:
        """Whether the query has a text literal, in any case."""
        return text.casefold() in {one.casefold() for one in self.texts}

    def find_table(self, column: exp.Column) -> str:
        """Find the table of a column, in lower case; empty if several could have it."""
        found = self._resolver.find_table(column)
        return found[0].lower() if found else ""

    def counts_rows(self) -> bool:
        """Whether the value is a number or share of rows."""
        if self.value.find(exp.Count):
            return True
        numbers = {one.name for one in self.value.find_all(exp.Literal) if not one.is_string}
        return self.value.find(exp.Case) is not None and numbers <= {"0", "1", "1.0"}

    def subtracts_days(self) -> bool:
        """Whether the value is a time between two days."""
        has_dates = any(self._catalogue.is_date(column) for column in self.value_columns)
        return has_dates and self.value.find(exp.Sub, exp.DateDiff, exp.TsOrDsDiff) is not None

    def find_main_table(self) -> str:
        """Find the table that refers, directly or not, to all others of the query; or nothing."""
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

    def _find_tests(self) -> list[exp.Expr]:
        """Find the tests of a column: by ``=``, ``<>``, ``IN`` and ``CASE``."""
        tests = self.tree.find_all(exp.EQ, exp.NEQ, exp.In, exp.Case)
        return [test for test in tests if isinstance(test.this, exp.Column)]

    def find_tested_columns(self) -> set[tuple[str, str]]:
        """Find the columns, with their tables, that the query compares with values."""
        columns = [test.this for test in self._find_tests()]
        found = {(self.find_table(column), column.name.lower()) for column in columns}
        return {(table, column) for table, column in found if table}

    def has_test(self, table: str, column: str) -> bool:
        """Whether the query compares a column with values."""
        return (table.lower(), column.lower()) in self.find_tested_columns()

    def find_taken_values(self, table: str, column: str) -> set[str]:
        """Find the values of a column, in lower case, that the query lets through."""
        name = self._catalogue.get_written_name(table)
        known = {value.casefold() for value in self._values(name, column)}
        found: set[str] = set()
        for test in self._find_tests():
            if test.this.name.lower() != column.lower():
                continue
            if isinstance(test, exp.Case):
                return known
            values = get_compared_values(test)
            texts = {one.name.casefold() for one in values if isinstance(one, exp.Literal)}
            is_negated = isinstance(test, exp.NEQ) != isinstance(test.parent, exp.Not)
            found |= known - texts if is_negated else texts
        return found

    def find_null_tests(self, name: str) -> set[bool]:
        """Find the tests of a column: True for ``IS NOT NULL``, False for ``IS NULL``."""
        return {
            isinstance(test.parent, exp.Not)
            for test in self.tree.find_all(exp.Is)
            if isinstance(test.this, exp.Column) and test.this.name.lower() == name
        }
