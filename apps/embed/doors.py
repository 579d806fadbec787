"""All doors together, to be mounted in a server."""

from starlette.routing import BaseRoute

from apps.embed.openai_api import openai_routes
from apps.embed.runs import Runner, in_process


def routes(run: Runner = in_process) -> list[BaseRoute]:
    """The routes of every door; who may pass is for the server to decide that mounts them.

    Args:
        run: How an order is carried out; by default in this process, kept in the state folder.
    """
    return openai_routes(run)
