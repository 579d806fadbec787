"""A node may write only what its method's state declares."""

import logging
from typing import TypedDict, get_type_hints

import pytest
from langgraph.graph import START

from planweave.graphs import METHODS
from planweave.graphs.support.builder import CHECK, Builder, UndeclaredKey
from planweave.memory import Known, Work, WorkingMemory


class Slice(TypedDict):
    general: str


def narrow(state: Slice) -> Slice:
    return state


def undeclared(state: Work) -> dict[str, str]:
    return {"general": state["question"].upper()}


async def test_an_undeclared_key_is_an_error(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    graph = Builder(Work)
    graph.add_node("wider", undeclared)
    graph.add_edge(START, "wider")
    with pytest.raises(UndeclaredKey, match="The node 'wider' returned 'general'"):
        await graph.compile().ainvoke({"question": "why?"})
    monkeypatch.setenv(CHECK, "log")
    with caplog.at_level(logging.WARNING):
        assert "general" not in await graph.compile().ainvoke({"question": "why?"})
    assert "does not declare" in caplog.text


def test_a_node_reads_only_what_is_declared() -> None:
    with pytest.raises(UndeclaredKey, match="The node 'wider' reads 'general'"):
        Builder(Work).add_node("wider", narrow)


async def test_a_node_is_handed_the_slice_that_its_signature_names() -> None:
    seen: list[str] = []

    def knowing(state: Known) -> dict[str, object]:
        seen.extend(state)
        return {}

    graph = Builder(Work)
    graph.add_node("knowing", knowing)
    graph.add_edge(START, "knowing")
    await graph.compile().ainvoke({"question": "why?"})
    assert {*seen} == {"facts", "abbreviations"}


@pytest.mark.parametrize("name", METHODS)
def test_a_graph_has_the_state_that_its_method_declares(name: str) -> None:
    method = METHODS.get(name)
    held = {key for key in method.builder.channels if not key.startswith(("__", "branch:"))}
    assert (
        held == {*get_type_hints(method.state or WorkingMemory)} < {*get_type_hints(WorkingMemory)}
    )
