"""A run streamed by the LangGraph SDK: python examples/sdk_client.py [MODEL].

Start a server first: ``langgraph dev --no-browser``, or ``planweave serve`` with the token of its
link in the variable PLANWEAVE_KEY.
"""

import os
import sys
from pathlib import Path
from typing import Any

from langgraph_sdk import get_sync_client

server = os.environ.get("PLANWEAVE_URL", "http://127.0.0.1:2024")
client: Any = get_sync_client(url=server, api_key=os.environ.get("PLANWEAVE_KEY"))
context = {
    "model": sys.argv[1] if len(sys.argv) > 1 else "embedded",
    "database": str(Path(__file__).with_name("offers.sql")),
}
thread = client.threads.create()["thread_id"]
question = {"messages": [{"role": "user", "content": "Which offer is cheapest?"}]}
settings = {"input": question, "context": context, "stream_mode": "updates"}
for part in client.runs.stream(thread, "planrag", **settings):
    print(part.event, *(part.data or {}))
print(client.threads.get_state(thread)["values"]["messages"][-1]["content"])
