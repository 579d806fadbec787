"""Everything that the schema and the data alone can correct in a query that a model wrote."""

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from planweave.tools.database import Corrected, Schema
from planweave.tools.sql import dates, grouping, slips
from planweave.tools.sql.added_up import add_up
from planweave.tools.sql.asked_columns import show_asked_columns
from planweave.tools.sql.catalogue import Catalogue
from planweave.tools.sql.foreign import as_sqlite_has_them
from planweave.tools.sql.joins import correct_joins
from planweave.tools.sql.spaces import with_stored_names

if TYPE_CHECKING:
    from sqlglot import exp


class Data(NamedTuple):
    """What can be asked of the data.

    Attributes:
        values: Stored texts of a column, by table and column.
        lacking: Whether rows have no value in a column, by table and column.
        several: Whether a query for two numbers gives two that differ.
    """

    values: Callable[[str, str], Sequence[str]]
    lacking: Callable[[str, str], bool]
    several: Callable[["exp.Select"], bool]


def corrected(
    query: str,
    schema: Schema,
    dialect: str,
    data: Data,
    *,
    question: str = "",
    now: str = "",
    ranks: bool = False,
) -> Corrected:
    """Correct a query as far as schema and data leave one reading.

    Args:
        query: One SELECT as a model wrote it; whatever cannot be read is left as it is.
        schema: The tables that it may read.
        dialect: sqlglot's name of the dialect.
        data: What can be asked of the data.
        question: What is asked.
        now: The moment of the question; the database's own clock if empty.
        ranks: The query ranks options: no columns are added to it.
    """
    import sqlglot
    from sqlglot import exp
    from sqlglot.errors import SqlglotError

    query, named = with_stored_names(query, schema, dialect)
    try:
        tree = sqlglot.parse_one(query, read=dialect)
        original = tree.copy()
    except (SqlglotError, RecursionError):
        return Corrected(query)
    if not isinstance(tree, exp.Query):
        return Corrected(query)
    catalogue = Catalogue(schema)
    before = as_sqlite_has_them(tree) if dialect == "sqlite" else []
    changes = correct_joins(tree, catalogue, question)
    if changes is None:  # half of a correction is worth nothing
        tree, changes = original, []
        before = as_sqlite_has_them(tree) if dialect == "sqlite" else []
    changes = named + before + changes
    changes += slips.drop_placeholders(tree)
    homes = _Homes(tree, catalogue)
    for select in tree.find_all(exp.Select):
        changes += slips.spell_out_names(select, lambda column: homes.of(column) is not None)
        changes += grouping.add_up_beside_sums(select)
        changes += grouping.add_up_counts(select, catalogue, question)
    if isinstance(tree, exp.Select):
        if dialect == "sqlite" and not ranks:
            changes += dates.group_by_span(tree, question, catalogue.is_date)
        changes += grouping.drop_groups(tree, question)
        changes += grouping.show_keys(tree)
        changes += grouping.group_by_what_is_shown(tree)
        changes += [] if ranks else _shown(tree, catalogue, question)
    changes += slips.divide_as_real_numbers(tree) if dialect != "mysql" else []
    if dialect == "sqlite":
        changes += dates.read_stored_parts(tree, catalogue.is_number)
        changes += dates.subtract_days(tree, catalogue.is_date)
        changes += dates.compare_parts_alike(tree, catalogue.is_date)
        changes += dates.take_whole_days(tree, catalogue.is_moment)
        changes += slips.rank_values_only(
            tree, lambda column: (home := homes.of(column)) is not None and data.lacking(*home)
        )
    changes += slips.join_alternatives(tree)
    changes += slips.compare_as_said(tree, question)
    stored = cache(data.values)
    changes += slips.write_stored_values(_compared(tree, catalogue), stored)
    doubts = tuple(slips.values_not_stored(_compared(tree, catalogue), stored))
    changes += dates.set_the_present(tree, now) if now else []
    if isinstance(tree, exp.Select) and not ranks:
        changes += add_up(tree, question, data.several)
    if not changes:
        return Corrected(query, doubts=doubts)
    return Corrected(tree.sql(dialect=dialect), tuple(dict.fromkeys(changes)), doubts)


def _shown(select: "exp.Select", catalogue: Catalogue, question: str) -> list[str]:
    """Show what the question names, what rows are called, and as many rows as are asked for."""
    changes = show_asked_columns(select, catalogue, question)
    changes += slips.show_names(select, catalogue.naming)
    return changes + slips.keep_the_first(select, question)


class _Homes:
    """The tables of a query, and which of them has a column."""

    def __init__(self, tree: "exp.Expr", catalogue: Catalogue) -> None:
        from sqlglot import exp

        self._catalogue = catalogue
        self._tables = {
            table.alias_or_name.lower(): table.name.lower() for table in tree.find_all(exp.Table)
        }

    def of(self, column: "exp.Column") -> tuple[str, str] | None:
        """The table that alone has the column, and its name there, as the schema writes them."""
        name, alias = column.name.lower(), column.table.lower()
        sources = {self._tables.get(alias, "")} if alias else {*self._tables.values()}
        homes = [t for t in sources if name in self._catalogue.columns.get(t, {})]
        if len(homes) != 1:
            return None
        return self._catalogue.name(homes[0]), self._catalogue.columns[homes[0]][name]


def _compared(tree: "exp.Expr", catalogue: Catalogue) -> Iterator[slips.Compared]:
    """Columns that are compared with a whole text, by ``=``, ``IN``, or ``LIKE`` without a mark."""
    from sqlglot import exp

    homes = _Homes(tree, catalogue)
    for test in tree.find_all(exp.EQ, exp.NEQ, exp.In, exp.Like):
        home = homes.of(test.this) if isinstance(test.this, exp.Column) else None
        if home is None:
            continue
        for text in test.expressions if isinstance(test, exp.In) else [test.expression]:
            if isinstance(text, exp.Literal) and text.is_string and "%" not in text.name:
                yield slips.Compared(*home, text)
