"""Runs a sample with a graph, or with a single call of the model."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from langchain_core.messages import BaseMessage

from planweave.graphs.support.events import AnswerEvent, CallEvent
from planweave.graphs.support.running import events, graph
from planweave.memory import Answer, Input, WorkingMemory
from planweave.models import CallRecord, ModelUnavailable, achat_model
from planweave.models.call import call
from planweave.tools.environments import EnvironmentUnavailable

if TYPE_CHECKING:
    from planweave.benchmarks.core.suite import Sample

Memory: TypeAlias = Mapping[str, Any]
"""The final working memory of a run, and whatever else its suite scores."""
OnCall: TypeAlias = Callable[[CallRecord], None]
"""Receives each model call as soon as it ends, so that a crash hides none."""

STOPS = (ModelUnavailable, EnvironmentUnavailable)
"""Errors that end a benchmark, since every other sample would fail in the same way."""

CRASH = "crash"
"""Key of the crash's description in a run's memory."""


def describe_crash(crash: Exception) -> str:
    """Describe an exception as result files show it."""
    return f"{type(crash).__name__}: {crash}"


class Way(NamedTuple):
    """A method as a graph with settings."""

    graph: str
    settings: Mapping[str, object] = MappingProxyType({})

    async def play(self, sample: "Sample", on_call: OnCall, **further: object) -> WorkingMemory:
        """Run the graph with these settings and ``further`` ones."""
        context = sample.context.model_copy(update={**self.settings, **further})
        return await play_graph(replace(sample, method=self.graph, context=context), on_call)


async def ask_once(
    sample: "Sample",
    messages: list[BaseMessage],
    role: str,
    on_call: OnCall,
    seed: int | None,
    *,
    whole: Callable[[str], str] = str,
) -> WorkingMemory:
    """Ask the sample's model once; ``whole`` makes the decision from its reply.

    A cut reply is reported in ``unknown``.
    """
    context = sample.context
    model = await achat_model(
        context.model, temperature=context.temperature, max_tokens=context.reply_tokens, seed=seed
    )
    reply = await call(model, messages, role=role)
    on_call(reply.record)
    unknown = "The reply was cut." if reply.cut else ""
    return {"answer": Answer(decision=whole(reply.text), why="", facts=[], unknown=unknown)}


async def play_graph(sample: "Sample", on_call: OnCall) -> WorkingMemory:
    """Run the graph that ``sample.method`` names."""
    memory: WorkingMemory = {}
    question = Input(question=sample.asked)
    async for event in events(graph(sample.method), question, sample.context):
        if isinstance(event, CallEvent):
            on_call(event.record)
        elif isinstance(event, AnswerEvent):
            memory = event.result.memory
    return memory
