"""Answer in rows: the rows of one query are the answer, and no model repeats them.

A small model would name one row of many, or a number that is in no row.
"""

from collections.abc import Sequence

from planweave.memory import Answer, Basis, Context, Value, WorkingMemory
from planweave.nodes.assist.asking import answers_in_rows
from planweave.prompts import load
from planweave.tools.checking import find_answer_columns, view_of
from planweave.tools.result_text import FOR_PEOPLE, cell_text

_MAX_ROWS = 10


def answer_from_rows(state: WorkingMemory, context: Context) -> Answer | None:
    """The rows of the only query as the answer; None if the question asks for something else.

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
    others = [c for c in range(len(view.columns)) if c not in columns]
    values = ", ".join(f"{view.columns[c]}: {_cell_text(view.rows[0][c])}" for c in others)
    why = load("common/beside").fill(values=values, fact=str(fact["number"]))
    return Answer(
        decision=list_rows([[row[c] for c in columns] for row in view.rows], names),
        why=why if others else "",
        facts=[fact["number"]],
        unknown="",
        basis=Basis(how="rows", column=""),
    )


def list_rows(rows: Sequence[Sequence[Value]], names: Sequence[str], most: int = _MAX_ROWS) -> str:
    """Rows in one line, each once; several numbers of a single row have their column names."""
    if len(rows) == 1:
        cells = [*map(_cell_text, rows[0])]
        if len(cells) == len(names) > 1:
            cells = [f"{name}: {cell}" for name, cell in zip(names, cells, strict=True)]
        return ", ".join(cells)
    lines = list(dict.fromkeys(map(_row_text, rows)))
    shown = (", " if len(rows[0]) == 1 else "; ").join(lines[:most])
    left = len(lines) - most
    return f"{shown} and {left} more" if left > 0 else shown


def _row_text(row: Sequence[Value]) -> str:
    first, *others = map(_cell_text, row)
    return f"{first}: {', '.join(others)}" if others else first


def _cell_text(value: Value) -> str:
    return cell_text(value, FOR_PEOPLE)
