"""RAT: drafts step by step, then looks up and revises each step before the next one.

Drafter → to-query → retriever → reviser → appender → to-query … → finisher (Wang et al. 2024).
"""

from langgraph.types import Send

from planweave.graphs.support.builder import Builder
from planweave.graphs.support.edges import run_context
from planweave.graphs.support.parts import begin
from planweave.graphs.support.registry import method
from planweave.memory import WorkingMemory, Writing
from planweave.nodes.drafting.appender import appender
from planweave.nodes.drafting.drafter import drafter
from planweave.nodes.drafting.finisher import finisher
from planweave.nodes.drafting.retriever import retriever
from planweave.nodes.drafting.reviser import reviser
from planweave.nodes.drafting.to_query import to_query
from planweave.nodes.support.limits import reason_to_answer
from planweave.nodes.support.thoughts import open_lookups, step_to_check


def route_next_step(state: WorkingMemory) -> Send | str:
    """Continue with the next step to check, or finish."""
    if reason_to_answer(state, run_context()):
        return "finisher"
    step = step_to_check(state, run_context())
    return "finisher" if step is None else Send("to_query", _step_state(state, step))


def route_revisions(state: WorkingMemory) -> list[Send] | str:
    """Revise the step if a page was found; CoT+RAG revises nothing."""
    if run_context().revision == "cot_rag":
        return "appender"
    found = [lookup["step"] for lookup in open_lookups(state) if lookup["page"]]
    return [Send("reviser", _step_state(state, step)) for step in found] or "appender"


def _step_state(state: WorkingMemory, step: int) -> WorkingMemory:
    """The part of working memory that the nodes of a step need."""
    return {
        "question": state["question"],
        "draft": state["draft"],
        "revised": state["revised"],
        "lookups": state["lookups"],
        "step": step,
    }


@method("rat", family="write", state=Writing)
def rat(graph: Builder) -> None:
    begin(graph, "drafter")
    graph.add_node("drafter", drafter)
    graph.add_node("to_query", to_query)
    graph.add_node("retriever", retriever)
    graph.add_node("reviser", reviser)
    graph.add_node("appender", appender)
    graph.add_node("finisher", finisher)

    graph.add_conditional_edges("drafter", route_next_step, ["to_query", "finisher"])
    graph.add_edge("to_query", "retriever")
    graph.add_conditional_edges("retriever", route_revisions, ["reviser", "appender"])
    graph.add_edge("reviser", "appender")
    graph.add_conditional_edges("appender", route_next_step, ["to_query", "finisher"])
    graph.add_edge("finisher", "closing")


graph = rat.graph
