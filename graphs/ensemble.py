"""Ensemble: runs another method several times, takes the answer that most runs agree on."""

from typing import Any

from langgraph.runtime import Runtime
from langgraph.types import Send

from planweave import BadInput
from planweave.graphs.builder import Builder
from planweave.graphs.edges import run_context
from planweave.graphs.registry import METHODS, method
from planweave.memory import Context, Input, Member, WorkingMemory
from planweave.nodes.agreement import agreement


def members(state: WorkingMemory) -> list[Send] | str:
    """A run of the method for each member of the ensemble; a greeting is only answered.

    Raises:
        BadInput: The method is the ensemble itself.
    """
    if state["greeting"]:
        return "greeter"
    context = run_context()
    if context.ensemble_of == "ensemble":  # it would run itself without end
        raise BadInput("An ensemble cannot be one of ensembles.", mend="Name another method.")
    runs = range(1, context.ensemble_runs + 1)
    given = {"question": state["question"], "plan": state["plan"]}
    return [Send("member", given | {"iteration": number}) for number in runs]


async def member(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
    """Run the method once; every member has a seed of its own, and nobody is asked to approve."""
    context, number = runtime.context, state["iteration"]
    varied = {"temperature": context.ensemble_temperature, "seed": (context.seed or 0) + number}
    own: Any = context.model_copy(update={**varied, "approve": False})
    given = Input(question=state["question"], predefined_plan=state["plan"])
    graph: Any = METHODS.get(context.ensemble_of).graph
    memory: WorkingMemory = {}
    async for mode, chunk in graph.astream(given, context=own, stream_mode=["custom", "values"]):
        if mode == "custom":
            runtime.stream_writer(chunk)
        else:
            memory = chunk
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


@method("ensemble", family="any")
def ensemble(graph: Builder) -> None:
    graph.add_node("member", member)
    graph.add_node("agreement", agreement)

    graph.add_conditional_edges("recall", members, ["member", "greeter"])
    graph.add_edge("member", "agreement")
    graph.add_edge("agreement", "speaker")


graph = ensemble.graph
