"""A node may write only what its method's state declares."""

import logging

import pytest
from langgraph.graph import START

from planweave.graphs.support.builder import CHECK, Builder, UndeclaredKey
from planweave.memory import WorkingMemory


class Wider(WorkingMemory, total=False):
    general: str


def wider(state: Wider) -> Wider:
    return {"general": state["question"].upper()}


async def awaited(state: Wider) -> Wider:
    return {"general": state["question"].upper()}


@pytest.mark.parametrize("node", [wider, awaited])
async def test_a_declared_key_of_its_own_is_kept(node: object) -> None:
    graph = Builder(Wider)
    graph.add_node("wider", node)  # type: ignore[arg-type]
    graph.add_edge(START, "wider")
    memory = await graph.compile().ainvoke({"question": "why?"})
    assert memory["general"] == "WHY?"


async def test_an_undeclared_key_is_an_error(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    graph = Builder()
    graph.add_node("wider", wider)
    graph.add_edge(START, "wider")
    with pytest.raises(UndeclaredKey, match="The node 'wider' returned 'general'"):
        await graph.compile().ainvoke({"question": "why?"})
    monkeypatch.setenv(CHECK, "log")
    with caplog.at_level(logging.WARNING):
        assert "general" not in await graph.compile().ainvoke({"question": "why?"})
    assert "does not declare" in caplog.text
