"""A method on a server as if it were a graph of yours: python examples/remote_graph.py [MODEL].

Start a server first: ``langgraph dev --no-browser``, or ``planweave serve`` with the token of its
link in the variable PLANWEAVE_KEY.
"""

import os
import sys
from pathlib import Path

from langgraph.pregel.remote import RemoteGraph

graph = RemoteGraph(
    "planrag",
    url=os.environ.get("PLANWEAVE_URL", "http://127.0.0.1:2024"),
    api_key=os.environ.get("PLANWEAVE_KEY"),
)
context = {
    "model": sys.argv[1] if len(sys.argv) > 1 else "embedded",
    "database": str(Path(__file__).with_name("offers.sql")),
}
question = {"messages": [{"role": "user", "content": "Which offer is cheapest?"}]}
memory = graph.invoke(question, context=context)
print(memory["messages"][-1]["content"])
