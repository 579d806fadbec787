"""Experience: a path that decided questions like this one becomes the plan, without a model call.

What the question names fills the slots of the path's queries: it is looked up in the columns that
the slots name. Where nothing fits, or a slot cannot be filled, the run goes on without a path.
"""

from collections.abc import Iterable, Sequence
from typing import Protocol

from langgraph.runtime import Runtime

from learning.experience import experience_of
from learning.paths import Path, succeeded
from learning.queries.memory import OWN, SHIPPED, action, fitting, learned
from learning.queries.slots import Place, filled, literal, named, phrases, places, safe
from memory import Context, InstructionPath, WorkingMemory
from planweave import PlanweaveError
from prompts import load
from tools import Limits, open_database

_ESCAPES = {"sql": "'", "cypher": "\\"}


class PlainNode(Protocol):
    """A node that asks no model."""

    def __call__(self, state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
        """Play the role once."""


def experience(*, always: bool = False) -> PlainNode:
    """Make the node; ``always``: the shipped experience is used when the context names none."""

    def experience(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
        name = runtime.context.experience or (SHIPPED if always else None)
        if name is None or state["greeting"] or state["plan"]:
            return {}
        known = known_paths(name, runtime.context.owner)
        for path in fitting(known, state["question"], list(state["languages"])):
            instructions = _filled(path, state["question"], runtime.context)
            if instructions:
                chosen = InstructionPath(instructions=instructions, origins=[path.origin])
                return {"path": chosen, "plan": learned_plan()}
        return {}

    return experience


def known_paths(name: str, owner: str) -> Sequence[Path]:
    """The paths that succeeded, of the experience of that name; the owner's own latest first.

    Raises:
        BadInput: It cannot be read.
    """
    if name != OWN:
        return learned(name)
    return succeeded(entry.path for entry in reversed(experience_of(owner).entries()))


def learned_plan() -> list[str]:
    """The plan that a learned path is, in words."""
    return load("planrag/learned_plan").fill().splitlines()


def _filled(path: Path, question: str, context: Context) -> list[str]:
    """The instructions with every slot filled; empty if one cannot be."""
    try:
        return [_instruction(text, question, context) for text in path.instructions]
    except (PlanweaveError, LookupError):
        return []


def _instruction(text: str, question: str, context: Context) -> str:
    found = action(text)
    if found is None or not (slots := places(text)):
        return text
    tool = found[0]
    values = {slot: _value(slot, tool, question, context) for slot in slots}
    return filled(text, values, escape=_ESCAPES[tool])


def _value(slot: Place, tool: str, question: str, context: Context) -> str:
    """The one value of the slot's column that the question names.

    Raises:
        LookupError: It names none, or several.
        PlanweaveError: The database has no such column, or cannot be asked.
    """
    url = context.database if tool == "sql" else context.graph
    asked = safe(phrases(question))
    listed = ", ".join(literal(text, escape=_ESCAPES[tool]) for text in asked)
    query = (
        f"SELECT DISTINCT {slot.column} FROM {slot.owner} WHERE {slot.column} IN ({listed})"  # noqa: S608 - the guard checks it, literals are quoted
        if tool == "sql"
        else f"MATCH (n:{slot.owner}) WHERE n.{slot.column} IN [{listed}] "
        f"RETURN DISTINCT n.{slot.column}"
    )
    limits = Limits(seconds=context.query_seconds, rows=len(asked))
    value = named(question, _texts(open_database(url or "").run(query, limits).rows))
    if value is None:
        raise LookupError(str(slot))
    return value


def _texts(rows: Iterable[tuple[object, ...]]) -> list[str]:
    return [value for (value,) in rows if isinstance(value, str)]
