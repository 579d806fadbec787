"""All endpoints together, to be mounted in a server."""

from collections.abc import Callable

from starlette.routing import BaseRoute

from planweave.apps.embed.a2a import a2a_routes
from planweave.apps.embed.mcp_server import mcp_routes
from planweave.apps.embed.openai_api import openai_routes
from planweave.apps.embed.runs import Runner, in_process
from planweave.apps.service import Service, service


def routes(run: Runner | None = None, offered: Callable[[], Service] = service) -> list[BaseRoute]:
    """The routes of every endpoint; who may pass is for the server to decide that mounts them."""
    run = run or in_process(offered)
    return [*openai_routes(run, offered), *mcp_routes(run, offered), *a2a_routes(run, offered)]
