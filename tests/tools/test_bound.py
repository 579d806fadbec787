"""LangChain tools that a program binds: their arguments, their results, their failures."""

import time
from typing import Any, cast

import pytest
from cases import cases
from langchain_core.tools import BaseTool, tool

from planweave import BadInput
from planweave.tools.bound import TOOLS, ToolFailed, call_tool, parse_arguments, register_tool


@tool
def tide(harbour: str, hour: int = 12) -> dict[str, float]:
    """Height of the tide."""
    if harbour == "Atlantis":
        raise LookupError("sunk")
    return {"metres": 1.5, "hour": hour}


@tool
def length(text: str) -> int:
    """Number of letters."""
    time.sleep(float(text) if text.replace(".", "").isdigit() else 0)
    return len(text)


@cases(
    (tide, '{"harbour": "Hull"}', {"harbour": "Hull"}),
    (tide, '{"harbour": "Hull", "hour": 3}', {"harbour": "Hull", "hour": 3}),
    (length, "abc", {"text": "abc"}),
    (length, '"abc"', {"text": "abc"}),
)
def test_arguments_are_read(which: BaseTool, text: str, given: dict[str, object]) -> None:
    assert parse_arguments(which, text) == given


@cases(
    (tide, "Hull", "no JSON object. Write one with the keys harbour, hour"),
    (tide, '{"port": "Hull"}', "no argument 'port'. It has: harbour, hour"),
    (tide, '{"harbour": "Hull", "hour": "soon"}', "cannot use hour"),
    (tide, "{}", "cannot use harbour"),
    (tide, "[" * 100_000, "no JSON object"),
)
def test_wrong_arguments_are_explained(which: BaseTool, text: str, sentence: str) -> None:
    with pytest.raises(ToolFailed, match=sentence):
        parse_arguments(which, text)


async def test_results_and_failures() -> None:
    assert await call_tool(tide, {"harbour": "Hull"}, seconds=5) == {"metres": 1.5, "hour": 12}
    with pytest.raises(ToolFailed, match="tide failed: LookupError: sunk"):
        await call_tool(tide, {"harbour": "Atlantis"}, seconds=5)
    with pytest.raises(ToolFailed, match=r"gave no result in 0\.1 seconds"):
        await call_tool(length, {"text": "0.5"}, seconds=0.1)


def test_reserved_names_are_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TOOLS, "_known", {})
    assert register_tool(tide) is TOOLS.get("tide")
    monkeypatch.setattr(length, "name", "sql")
    with pytest.raises(BadInput, match="may not be named 'sql'"):
        register_tool(length)
    with pytest.raises(BadInput, match="is no tool"):
        register_tool(cast("Any", lambda height: height))
