"""The verdict on the rows of a query that a user sees: green or amber."""

from typing import Any

from planweave.benchmarks.suites.query_writing.question import QueryQuestion
from planweave.benchmarks.suites.query_writing.solver import Solved
from planweave.memory import Context, Fact, Table
from planweave.nodes.assist.row_answer import answer_from_rows
from planweave.nodes.support.verdict import add_verdict
from planweave.tools.result_text import cell_text

LEFT = "left to the model"
"""Verdict if the rows are not the answer themselves, as for a yes-or-no question."""


def rows_verdict(question: QueryQuestion, outcome: Solved | None, context: Context) -> str | None:
    """The verdict of ``planweave ask`` on rows; None if there are none."""
    if outcome is None or not outcome.rows:
        return None
    plain = (str, int, float, bool, type(None))
    rows = [[c if isinstance(c, plain) else cell_text(c) for c in row] for row in outcome.rows]
    table = Table(columns=[*outcome.columns], rows=rows[: context.query_rows], complete=True)
    table["complete"] = len(rows) <= context.query_rows
    fact = Fact(
        number=1,
        text="",
        values={},
        source="query",
        query=outcome.query or "",
        quote=None,
        table=table,
    )
    if outcome.confidence is not None:
        fact["agreement"] = outcome.confidence
    if outcome.doubts:
        fact["doubts"] = [*outcome.doubts]
    state: Any = {"question": question.question, "facts": [fact], "turns": [{}]}
    aided = context.model_copy(update={"assist": "on"})
    answer = answer_from_rows(state, aided)
    return add_verdict(answer, [], state, aided)["verdict"]["kind"] if answer else LEFT
