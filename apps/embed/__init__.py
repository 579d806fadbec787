"""Doors for other programs: OpenAI's chat completions, MCP tools and A2A agents."""

from planweave.apps.embed.endpoints import routes
from planweave.apps.embed.openai_api import openai_routes
from planweave.apps.embed.runs import Order, Runner, in_process, over_protocol

__all__ = ["Order", "Runner", "in_process", "openai_routes", "over_protocol", "routes"]
