"""``planweave mcp``: the methods as MCP tools on standard input and output."""

import asyncio
from typing import TYPE_CHECKING, Annotated

import typer

from planweave.apps import completion
from planweave.apps.options import Database, Graph, Model, Rules, context_of, text_of
from planweave.errors import require

if TYPE_CHECKING:
    from planweave.apps.service import Service

EXAMPLES = """\
planweave mcp --database shop.db --model openai:gpt-4.1-mini
"""


def mcp(
    database: Database = "",
    graph: Graph = "",
    collection: Annotated[
        str,
        typer.Option(
            help="Document collection; see `planweave docs`.", autocompletion=completion.collections
        ),
    ] = "",
    rules: Rules = None,
    model: Model = "",
) -> None:
    """Serve the methods as MCP tools on standard input; options override PLANWEAVE_SERVICE."""
    from planweave.apps.service import service
    from planweave.tools.connect import open_filled
    from planweave.tools.documents.collection import open_collection

    require("The Model Context Protocol", "mcp", "mcp")
    options = {
        "database": database,
        "graph": graph,
        "collection": collection,
        "rules": text_of(rules, "rules") if rules else "",
        "model": model,
    }
    given = {name: value for name, value in options.items() if value}
    for url in filter(None, (database, graph)):
        open_filled(url)  # reports a missing database at the start
    if collection:
        open_collection(collection)
    configured = service()
    context = context_of(configured.context.model_dump() | given)
    asyncio.run(_serve(configured.model_copy(update={"context": context})))


async def _serve(offered: "Service") -> None:
    from mcp.server.stdio import stdio_server

    from planweave.apps.protocols.mcp_server import mcp_server
    from planweave.apps.protocols.runs import in_process

    server = mcp_server(in_process(lambda: offered), lambda: offered)
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())
