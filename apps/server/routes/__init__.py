"""The routes of the LangGraph server's protocol."""

from starlette.routing import BaseRoute

from planweave.apps.server.routes import assistants, health, items, runs, threads


def routes() -> list[BaseRoute]:
    """All routes."""
    return [*health.ROUTES, *assistants.ROUTES, *threads.ROUTES, *runs.ROUTES, *items.ROUTES]
