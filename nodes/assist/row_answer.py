"""Answer in rows: what one query has returned is the answer, and no model says it once more.

A small model names one row of many, or a number that no row holds.
"""

from collections.abc import Sequence

from planweave.memory import Answer, Basis, Context, Value, WorkingMemory
from planweave.nodes.assist.asking import answers_in_rows
from planweave.prompts import load
from planweave.tools.checking import find_answer_columns, view_of
from planweave.tools.result_text import FOR_PEOPLE, cell_text

_ROWS = 10


def row_answer(state: WorkingMemory, context: Context) -> Answer | None:
    """The rows of the only query as the answer; None where the question asks for something else.

    A question with rules or candidates asks for a decision.
    """
    asks_for_decision = context.candidates or context.rules.strip()
    if not answers_in_rows(context) or asks_for_decision:
        return None
    if len(state["facts"]) != 1 or len(state["turns"]) != 1:
        return None
    fact = state["facts"][0]
    view = view_of(fact) if fact.get("table") and not fact.get("ranks") else None
    columns = find_answer_columns(state["question"], view) if view else []
    if view is None or not columns:
        return None
    names = [] if any(map(view.is_text, columns)) else [view.columns[c] for c in columns]
    beside = [c for c in range(len(view.columns)) if c not in columns]
    told = [f"{view.columns[c]}: {_text(view.rows[0][c])}" for c in beside]
    why = load("common/beside").fill(values=", ".join(told), fact=str(fact["number"]))
    return Answer(
        decision=_listed([[row[c] for c in columns] for row in view.rows], names),
        why=why if told else "",
        facts=[fact["number"]],
        unknown="",
        basis=Basis(how="rows", column=""),
    )


def _listed(rows: Sequence[Sequence[Value]], names: Sequence[str]) -> str:
    """Rows in one line, each once: names with their values behind them.

    Several numbers of one row have the names of their columns.
    """
    if len(rows) == 1 and len(rows[0]) == len(names) > 1:
        return ", ".join(f"{n}: {_text(cell)}" for n, cell in zip(names, rows[0], strict=True))
    if len(rows) == 1:
        return ", ".join(map(_text, rows[0]))
    between = ", " if len(rows[0]) == 1 else "; "
    lines = list(dict.fromkeys(map(_row, rows)))
    shown = between.join(lines[:_ROWS])
    left = len(lines) - _ROWS
    return f"{shown} and {left} more" if left > 0 else shown


def _row(row: Sequence[Value]) -> str:
    first, *others = map(_text, row)
    return f"{first}: {', '.join(others)}" if others else first


def _text(value: Value) -> str:
    return cell_text(value, FOR_PEOPLE)
