"""Ensemble: runs another method several times and takes the answer that most runs agree on."""

from typing import Any

from langgraph.graph import END, START
from langgraph.runtime import Runtime
from langgraph.types import Send

from planweave import BadInput
from planweave.graphs.support.builder import Builder
from planweave.graphs.support.edges import run_context
from planweave.graphs.support.events import AnswerEvent, CallEvent
from planweave.graphs.support.parts import closing, opening
from planweave.graphs.support.registry import method
from planweave.graphs.support.running import events
from planweave.graphs.support.running import graph as method_graph
from planweave.memory import Context, Input, Member, Voted, Work, WorkingMemory, total_usage
from planweave.nodes.shared.agreement import agreement
from planweave.nodes.support.limits import count_affordable_runs, share_limits
from planweave.usage import Meter, current_meter, metered


def send_members(state: WorkingMemory) -> list[Send] | str:
    """Start a run of the method for each member; a greeting only gets a greeting."""
    if state["greeting"]:
        return END
    context = run_context()
    if context.approve_tools and context.tools:
        raise BadInput(
            "An ensemble asks nobody, so it calls no tool that waits for approval.",
            fix="Choose one method, or set `approve_tools` off.",
        )
    runs = range(1, count_affordable_runs(context, total_usage(state["usage"])) + 1)
    given = {name: state[name] for name in ("question", "plan", "usage")}
    return [Send("member", given | {"iteration": number}) for number in runs]


async def member(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
    """Run the method once, with its own seed and its share of the limits.

    It never waits for a person's approval.
    """
    context, number, spent = runtime.context, state["iteration"], total_usage(state["usage"])
    varied = {"temperature": context.ensemble_temperature, "seed": (context.seed or 0) + number}
    share = share_limits(count_affordable_runs(context, spent), context, spent)
    member_context: Any = share.model_copy(update={**varied, "approve": False})
    given = Input(question=state["question"], predefined_plan=state["plan"])
    memory: WorkingMemory = {}
    with metered(Meter(outer=current_meter())):
        async for event in events(method_graph(context.ensemble_of), given, member_context):
            if isinstance(event, CallEvent):
                runtime.stream_writer({"call": event.record.model_dump(mode="json")})
            elif isinstance(event, AnswerEvent):
                memory = event.result.memory
    own_memory = Member(
        number=number,
        answer=memory["answer"],
        plan=memory["plan"],
        facts=memory["facts"],
        turns=memory["turns"],
        claims=memory["claims"],
    )
    return {
        "members": [own_memory],
        "usage": memory["usage"],
        "failures": memory["failures"],
    }


class Ensemble(Work, Voted, total=False):
    """The runs, and how many agree."""


@method("ensemble", family="any", state=Ensemble)
def ensemble(graph: Builder) -> None:
    graph.add_node("member", member)
    graph.add_node("agreement", agreement)
    graph.add_node("opening", opening(graph.state_schema))
    graph.add_node("closing", closing(checks=False))

    graph.add_edge(START, "opening")
    graph.add_conditional_edges("opening", send_members, ["member", END])
    graph.add_edge("member", "agreement")
    graph.add_edge("agreement", "closing")


graph = ensemble.graph
