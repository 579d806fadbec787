"""A method in your own program: python examples/imported_graph.py [MODEL]."""

import asyncio
import sys
from pathlib import Path

from planweave.graphs.planrag import graph
from planweave.memory import Context

context = Context(
    model=sys.argv[1] if len(sys.argv) > 1 else "embedded",
    database=str(Path(__file__).with_name("offers.sql")),
)
memory = asyncio.run(graph.ainvoke({"question": "Which offer is cheapest?"}, context=context))
print(memory["messages"][-1].text)
for fact in memory["facts"]:
    print(f"[{fact['number']}] {fact['query']}\n{fact['text']}")
