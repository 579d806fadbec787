"""LangChain's chat page on a method with your settings: python examples/agent_chat_ui.py [MODEL].

Start ``langgraph dev --no-browser`` first. Your own copy of the page takes the same values as
NEXT_PUBLIC_API_URL and NEXT_PUBLIC_ASSISTANT_ID.
"""

import os
import sys
from pathlib import Path
from urllib.parse import urlencode

from langgraph_sdk import get_sync_client

server = os.environ.get("PLANWEAVE_URL", "http://127.0.0.1:2024")
context: dict[str, str | bool] = {
    "model": sys.argv[1] if len(sys.argv) > 1 else "embedded",
    "database": str(Path(__file__).with_name("offers.sql")),
    "approve": True,
}
client = get_sync_client(url=server)
assistant = client.assistants.create("planrag", context=context, name="Offers")
query = urlencode({"apiUrl": server, "assistantId": assistant["assistant_id"]})
print(f"https://agentchat.vercel.app/?{query}")
