"""Whether the words of a model reach a caller while it still speaks."""

import asyncio
from collections import defaultdict
from dataclasses import replace
from threading import Barrier
from typing import Any

from langgraph_sdk.client import LangGraphClient
from offers import DECISION, WHOLE_RUN, scripted
from openai_server import serving


async def assert_tokens_are_streamed(client: LangGraphClient, database: str) -> None:
    """A run of PlanRAG says its answer piece by piece, then the message; nothing else of replies.

    The model does not write the second half of its answer before a piece of it is heard here.
    """
    halfway = Barrier(2)
    *others, last = scripted(*WHOLE_RUN)
    heard: dict[tuple[str, str], list[str]] = defaultdict(list)
    with serving(*others, replace(last, halfway=halfway)) as model:
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
    assert next(iter(heard))[0] == "answering_machine"
    answer, told = heard.values()
    assert "".join(answer) == DECISION["why"]
    assert len(answer) > 2
    assert told == ["**Birch**\n\nIt costs least. [1]"]
