"""Interfaces for other programs: OpenAI's chat completions, MCP tools and A2A agents."""

from collections.abc import Callable

from starlette.routing import BaseRoute

from planweave.apps.protocols.a2a import a2a_routes
from planweave.apps.protocols.mcp_server import mcp_routes
from planweave.apps.protocols.openai_api import openai_routes
from planweave.apps.protocols.runs import CallerOrder, Runner, in_process, over_protocol
from planweave.apps.service import Service, service

__all__ = ["CallerOrder", "Runner", "in_process", "openai_routes", "over_protocol", "routes"]


def routes(run: Runner | None = None, offered: Callable[[], Service] = service) -> list[BaseRoute]:
    """The routes of every interface; the server that mounts them has to authenticate callers."""
    run = run or in_process(offered)
    return [*openai_routes(run, offered), *mcp_routes(run, offered), *a2a_routes(run, offered)]
