"""Every method by name. A new method is one line here and one in langgraph.json."""

import inspect
from importlib import import_module
from types import ModuleType

from planweave import BadInput

DECIDERS = ("planrag", "planrag_no_replan", "iter_rag", "single_rag")
"""PlanRAG and its baselines (Decision QA)."""

AGENTS = ("agent_v1", "agent_v2", "agent_v3", "react", "autogpt")
"""The strategy agents and their baselines (documents)."""

WRITERS = ("rat", "rag", "cot", "direct")
"""RAT and its baselines (answers, programs, plans, texts)."""

REASONERS = ("furepa", "ircot")
"""FuRePA and IRCoT (multi-hop questions)."""

ACTORS = ("instructrag", "rap", "reflexion", "genground")
"""InstructRAG and its baselines besides ReAct (tasks of environments)."""

READERS = ("whole_document",)
"""The baseline that reads a whole document collection in one prompt."""

FOLLOWERS = ("path_policy",)
"""What follows learned paths without any language model (Decision QA)."""

METHODS = (*DECIDERS, *FOLLOWERS, *AGENTS, *WRITERS, *READERS, *REASONERS, *ACTORS, "ensemble")


def method(name: str) -> ModuleType:
    """The graph module of a method: ``builder`` to compile with a checkpointer, and ``graph``.

    Raises:
        BadInput: There is no such method.
    """
    if name not in METHODS:
        raise BadInput(
            f"There is no method {name!r}.", mend=f"The methods are: {', '.join(METHODS)}."
        )
    return import_module(f"planweave.graphs.{name}")


def description(name: str) -> str:
    """What a method does, in one sentence: the first line of its module."""
    return (inspect.getdoc(method(name)) or "").partition("\n")[0]
