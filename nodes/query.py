"""A query on a connected database, as an observation."""

from memory import Context, Table, Value
from nodes.turns import Observation
from tools import Limits, open_database, result_text
from tools.database import Cell, QueryResult
from tools.result_text import cell_text


def run_query(url: str | None, query: str, context: Context) -> Observation:
    """Run one read-only query inside the context's limits.

    Raises:
        PlanweaveError: The query was refused, failed, or ran too long.
    """
    limits = Limits(
        seconds=context.query_seconds,
        rows=context.query_rows,
        characters=context.observation_characters,
    )
    result = open_database(url or "").run(query, limits)
    only_row = result.rows[0] if result.total_rows == 1 else ()
    return Observation(
        text=result_text(result, max_characters=context.observation_characters),
        values={
            column: cell
            for column, cell in zip(result.columns, only_row, strict=False)
            if cell is None or isinstance(cell, str | int | float)
        },
        found=bool(result.rows),
        table=_table(result) if result.rows else None,
    )


def _table(result: QueryResult) -> Table:
    """The rows as data, so that rules can be carried out on them."""
    return Table(
        columns=list(result.columns),
        rows=[[_value(cell) for cell in row] for row in result.rows],
        complete=not result.truncated,
    )


def _value(cell: Cell) -> Value:
    """A cell as plain JSON; a list or a map becomes its text."""
    return cell_text(cell) if isinstance(cell, list | dict) else cell
