"""The methods as MCP tools over HTTP, called by the protocol's own client."""

from typing import Any

import httpx
from cases import cases
from command_line import CommandLine, assert_one_clear_error
from endpoints import QUERY, Operator, whole_run
from mcp import Client
from mcp.types import CallToolResult
from scripted import Replies, act, decide

QUESTION = {"question": "Which offer is cheapest?"}


def text(result: CallToolResult) -> str:
    (content,) = result.content
    assert content.type == "text"
    return content.text


@cases("database", "graph", "collection")
def test_an_absent_source_is_reported_at_the_start(option: str, planweave: CommandLine) -> None:
    assert_one_clear_error(planweave("mcp", f"--{option}", "missing.db"), "missing.db")


async def test_each_method_is_a_tool(address: str, operator: Operator) -> None:
    offered = {"methods": ["planrag", "agent_v3"], "databases": {"sales": "sales.sql"}}
    operator.offers(Replies(), more=offered)
    async with Client(f"{address}/mcp") as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert list(tools) == ["planrag", "agent_v3"]
    planrag = tools["planrag"]
    assert "plans first" in (planrag.description or "")
    assert planrag.annotations is not None
    assert planrag.annotations.read_only_hint
    properties: Any = planrag.input_schema["properties"]
    assert set(properties) == {"question", "rules", "candidates", "database"}
    assert properties["database"]["enum"] == ["sales"]


async def test_a_call_tells_steps_and_facts(address: str, operator: Operator, offers: str) -> None:
    script = whole_run()
    operator.offers(script, more={"databases": {"shop": offers}})
    steps: list[str] = []

    async def heard(progress: float, total: float | None, message: str | None) -> None:
        steps.append(message or "")

    asked = QUESTION | {"database": "shop", "rules": "Cheap is good."}
    async with Client(f"{address}/mcp") as client:
        result = await client.call_tool("planrag", asked, progress_callback=heard)
    assert not result.is_error
    assert text(result) == "**birch**\n\nIt is best. [1]"
    answer: Any = result.structured_content
    assert answer["decision"] == "birch"
    assert answer["verdict"]["kind"] == "supported"
    assert QUERY in answer["facts"][0]["source"]
    assert any("Find the cheapest offer." in step for step in steps)
    assert any("5.25" in step for step in steps)
    assert "Cheap is good." in script.prompts[0].text


async def test_a_call_says_what_no_fact_says(address: str, operator: Operator, offers: str) -> None:
    script = whole_run()
    script.left["action"][0] = act("sql", "SELECT name, price FROM offer LIMIT 1")
    script.left["decide"] = [decide("ash", 1)]
    operator.offers(script, database=offers)
    async with Client(f"{address}/mcp") as client:
        result = await client.call_tool("planrag", QUESTION)
    answer: Any = result.structured_content
    assert (answer["decision"], answer["verdict"]["kind"]) == ("ash", "not_in_facts")
    assert f"⚠ {answer['verdict']['text']}" in text(result)


@cases(
    (QUESTION | {"database": "/etc/passwd"}, "nothing that this server offers"),
    (QUESTION | {"owner": "ann"}, "A caller may not choose"),
    ({"question": " "}, "no question"),
    (QUESTION | {"database": "lost"}, "nowhere.sql"),
)
async def test_what_cannot_be_done_is_told_in_a_sentence(
    arguments: dict[str, str], words: str, address: str, operator: Operator
) -> None:
    operator.offers(Replies(), more={"databases": {"lost": "nowhere.sql"}})
    async with Client(f"{address}/mcp") as client:
        result = await client.call_tool("planrag", arguments)
    assert result.is_error
    assert words in text(result)


def test_a_stream_that_would_stay_silent_is_refused(address: str) -> None:
    assert httpx.get(f"{address}/mcp", headers={"accept": "text/event-stream"}).status_code == 405


@cases("approve", "approve_tools")
async def test_no_tool_passes_by_a_persons_approval(
    setting: str, address: str, operator: Operator, offers: str
) -> None:
    asks: dict[str, Any] = {setting: True}
    operator.offers(Replies(), database=offers, **asks)
    async with Client(f"{address}/mcp") as client:
        result = await client.call_tool("planrag", QUESTION)
    assert result.is_error
    assert "approve" in text(result)
