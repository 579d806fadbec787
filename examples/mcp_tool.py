"""A method as a tool of the Model Context Protocol: python examples/mcp_tool.py [MODEL].

A desktop assistant takes the same command: ``planweave mcp --database …``.
"""

import asyncio
import sys
from pathlib import Path

from mcp import Client, StdioServerParameters

model = sys.argv[1] if len(sys.argv) > 1 else "embedded"
database = str(Path(__file__).with_name("offers.sql"))
arguments = ["mcp", "--database", database, "--model", model]
program = str(Path(sys.executable).with_name("planweave"))


async def main() -> None:
    async with Client(StdioServerParameters(command=program, args=arguments)) as client:
        print("tools:", *(tool.name for tool in (await client.list_tools()).tools))
        result = await client.call_tool("planrag", {"question": "Which offer is cheapest?"})
        print(result.structured_content)


asyncio.run(main())
