"""Reports the activity of a run, in words, as events of LangGraph's custom stream."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from time import monotonic
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.config import get_config
from langgraph.runtime import Runtime
from pydantic import BaseModel

from planweave.memory import Context
from planweave.models.reading import PromptProgress, reading_heard
from planweave.models.spoken import Speaking
from planweave.usage import held

_SECONDS = 0.4  # between two reports of one call
DOING = {
    "actor": "choosing the next action",
    "answering_machine": "writing the answer",
    "autogpt": "choosing the next command",
    "deducer": "choosing the next action",
    "drafter": "writing a draft",
    "evaluator": "judging the plan",
    "finisher": "writing the answer",
    "grounder": "checking what was seen",
    "interpreter": "reading the question",
    "judge": "checking",
    "planner": "writing the plan",
    "query_writer": "writing a query",
    "reader": "reading the pages",
    "reasoner": "reasoning from the evidence",
    "reflector": "learning from the attempt",
    "replanner": "judging the plan",
    "reviser": "revising the draft",
    "selector": "choosing the next step",
    "taskmaster": "setting the next task",
    "thinker": "thinking",
    "to_query": "writing a search query",
}
"""The activity of each role."""
_ANSWER_FIELDS = ("why", "text")
"""Fields with the text of an answer, which may itself be a field of another reply."""


_outer_step: ContextVar[str] = ContextVar("outer", default="")


def find_step() -> dict[str, Any]:
    """The present step of the graph, such as 4, or 4.2 in a subgraph, and its task.

    Empty outside a graph.
    """
    try:
        known = get_config().get("metadata") or {}
    except RuntimeError:
        return {}
    if "langgraph_step" not in known:
        return {}
    stage = f"{_outer_step.get()}{known['langgraph_step']}"
    return {"stage": stage, "task": known.get("langgraph_checkpoint_ns", "")}


def mark_subgraph() -> AbstractContextManager[str]:
    """Make the steps in the block sub-steps of the present step."""
    return held(_outer_step, f"{find_step()['stage']}.")


def report(runtime: Runtime[Context], doing: str, **more: Any) -> None:
    """Report the present activity of the run, in words.

    ``more`` may hold the ``role`` that asks a model, the ``tokens`` of its prompt with those that
    are ``read`` and ``cached``, and the pieces of the reply that are ``written``.
    """
    runtime.stream_writer(
        {"progress": {"doing": doing, "task": find_step().get("task", ""), **more}}
    )


def spoken_field(form: type[BaseModel]) -> tuple[str, ...] | None:
    """The path to the text of an answer in a reply of this form; None if it has no answer."""
    names = form.model_fields
    if "answer" in names:
        inner = getattr(names["answer"].annotation, "__args__", ())
        forms = [one for one in inner if isinstance(one, type) and issubclass(one, BaseModel)]
        return next((("answer", *field) for one in forms if (field := spoken_field(one))), None)
    if "facts" in names or "told_by" in names:
        return next(((name,) for name in _ANSWER_FIELDS if name in names), None)
    return None


@contextmanager
def report_call(
    role: str, runtime: Runtime[Context], answer_field: tuple[str, ...] | None = None
) -> Iterator[RunnableConfig]:
    """Report the progress of a model call in the block; yields the configuration for the call.

    ``answer_field`` of the reply goes into the message stream while it is written.
    """
    doing = DOING.get(role, f"asking the model as {role.replace('_', ' ')}")
    last = 0.0

    def send(**more: int) -> None:
        nonlocal last
        if more and monotonic() - last < _SECONDS:
            return
        last = monotonic()
        report(runtime, doing, role=role, **more)

    def read(found: PromptProgress) -> None:
        send(read=found.read, tokens=found.tokens, cached=found.cached)

    send()
    last = 0.0
    with reading_heard(read):
        yield Speaking(answer_field, lambda pieces: send(written=pieces)).config()
