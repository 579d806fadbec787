"""Cypher: runs the chosen query on the graph database."""

from langgraph.runtime import Runtime

from memory import Context, WorkingMemory
from nodes.query import run_query
from nodes.turns import take_turn


def cypher(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
    """Run ``action.input`` read-only; rows become a fact, an error or no rows a problem."""
    url = runtime.context.graph
    return take_turn(state, lambda action: run_query(url, action["input"], runtime.context))
