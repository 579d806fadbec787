"""What a run is doing while it is waited for, in words, as events of LangGraph's custom stream."""

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
_DOING = {
    "answering_machine": "writing the answer",
    "drafter": "writing a draft",
    "evaluator": "judging the plan",
    "finisher": "writing the answer",
    "interpreter": "reading the question",
    "judge": "checking",
    "planner": "writing the plan",
    "query_writer": "writing a query",
    "reader": "reading the pages",
    "replanner": "judging the plan",
    "reviser": "revising the draft",
    "selector": "choosing the next step",
    "to_query": "writing a search query",
}
_SPOKEN = ("why", "text")
"""Fields of an answer that say it; an answer may be a field of another reply."""


_outer: ContextVar[str] = ContextVar("outer", default="")


def place() -> dict[str, Any]:
    """The step of the graph, such as 4, or 4.2 in a subgraph, and the task of it that asks.

    Empty outside a graph.
    """
    try:
        known = get_config().get("metadata") or {}
    except RuntimeError:
        return {}
    if "langgraph_step" not in known:
        return {}
    stage = f"{_outer.get()}{known['langgraph_step']}"
    return {"stage": stage, "task": known.get("langgraph_checkpoint_ns", "")}


def within() -> AbstractContextManager[str]:
    """What runs in the block belongs to the present step of the graph, as a subgraph does."""
    return held(_outer, f"{place()['stage']}.")


def report(runtime: Runtime[Context], doing: str, **more: Any) -> None:
    """Report what is being done now, in words.

    ``more`` may hold the ``role`` that asks a model, the tokens ``read`` of the ``tokens`` of its
    prompt, of which ``cached`` were kept, and the pieces of the reply that are ``written``.
    """
    runtime.stream_writer({"progress": {"doing": doing, "task": place().get("task", ""), **more}})


def spoken_field(form: type[BaseModel]) -> tuple[str, ...] | None:
    """Where in a reply of this form the text of an answer is; None: it holds none."""
    names = form.model_fields
    if "answer" in names:
        inner = getattr(names["answer"].annotation, "__args__", ())
        forms = [one for one in inner if isinstance(one, type) and issubclass(one, BaseModel)]
        return next((("answer", *field) for one in forms if (field := spoken_field(one))), None)
    if "facts" in names or "told_by" in names:
        return next(((name,) for name in _SPOKEN if name in names), None)
    return None


@contextmanager
def shown(
    role: str, runtime: Runtime[Context], spoken: tuple[str, ...] | None = None
) -> Iterator[RunnableConfig]:
    """Report how a call goes on while the block runs; gives the configuration to call with.

    The field ``spoken`` of the reply is said in the message stream while it is written.
    """
    doing = _DOING.get(role, f"asking the model as {role.replace('_', ' ')}")
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
        yield Speaking(spoken, lambda pieces: send(written=pieces)).config()
