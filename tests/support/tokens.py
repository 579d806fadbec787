"""Whether the words of a model reach a caller while it still speaks."""

import asyncio
import json
from collections import defaultdict
from dataclasses import replace
from threading import Barrier
from typing import Any

from langgraph_sdk.client import LangGraphClient
from offers import WHOLE_RUN, scripted
from openai_server import serving


async def assert_tokens_are_streamed(client: LangGraphClient, database: str) -> None:
    """A run of PlanRAG tells every reply of the model piece by piece, then what it says itself.

    The model does not write the second half of its first reply before a piece of it is heard here.
    """
    halfway = Barrier(2)
    first, *others = scripted(*WHOLE_RUN)
    heard: dict[tuple[str, str], list[str]] = defaultdict(list)
    with serving(replace(first, halfway=halfway), *others) as model:
        question: Any = {"messages": [{"role": "user", "content": "Which offer is cheapest?"}]}
        async for part in client.runs.stream(
            None,
            "planrag",
            input=question,
            context={"model": model.name, "database": database},
            stream_mode="messages-tuple",
        ):
            assert part.event != "error", part.data
            if part.event == "messages":
                message, about = part.data
                if not heard:
                    await asyncio.to_thread(halfway.wait, 60)
                heard[about["langgraph_node"], message["id"]].append(message["content"])
    *replies, told = heard.values()
    assert [json.loads("".join(pieces)) for pieces in replies] == [*WHOLE_RUN]
    assert min(map(len, replies)) > 10
    assert [node for node, _ in heard] == [
        *("planner", "selector", "selector", "answering_machine", "speaker"),
    ]
    assert "Birch" in "".join(told)
