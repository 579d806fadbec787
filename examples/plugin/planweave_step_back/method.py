"""Step-back prompting: looks up a more general question first (Zheng et al. 2023)."""

from langgraph.runtime import Runtime
from pydantic import BaseModel, Field

from planweave.graphs import method
from planweave.graphs.support.builder import Builder
from planweave.graphs.support.parts import begin, tools
from planweave.memory import Action, Context, WorkingMemory
from planweave.nodes.deciding.answering_machine import answering_machine
from planweave.nodes.support.role import ask_role, spent

TASK = """# Your task now: step back
Write one more general question. Its answer gives the principles that the question rests on."""


class StepBack(WorkingMemory, total=False):
    """Working memory, and the more general question."""

    general: str


class General(BaseModel):
    """The reply of the abstraction."""

    question: str = Field(max_length=400)


async def abstraction(state: StepBack, runtime: Runtime[Context]) -> StepBack:
    """Ask the model for the more general question, and search for that."""
    reply = await ask_role("abstraction", General, TASK, state, runtime)
    general = reply.value.question if reply.value else state["question"]
    return {"general": general, "action": search(general), **spent(reply)}


def specific(state: StepBack) -> StepBack:
    """Search for the question itself."""
    return {"action": search(state["question"])}


def search(text: str) -> Action:
    return Action(step=1, thought="", tool="documents", input=text)


def searched(state: StepBack) -> str:
    """Where to go after a search: the second is the last."""
    return "specific" if len(state["turns"]) == 1 else "answering_machine"


@method("step_back", family="documents", state=StepBack)
def step_back(graph: Builder) -> None:
    graph.add_node("abstraction", abstraction)
    graph.add_node("specific", specific)
    graph.add_node("tools", tools(("documents",)))
    graph.add_node("answering_machine", answering_machine)
    begin(graph, "abstraction")
    graph.add_edge("abstraction", "tools")
    graph.add_edge("specific", "tools")
    graph.add_conditional_edges("tools", searched, ["specific", "answering_machine"])
    graph.add_edge("answering_machine", "closing")
