"""LangChain tools that a program or an installed package adds to our own."""

import asyncio
import json
from typing import Any, cast

from langchain_core.tools import BaseTool
from pydantic import BaseModel, ValidationError

from planweave import BadInput, PlanweaveError
from planweave.memory import BOUND_TOOL, OWN_TOOLS
from planweave.registry import Registry

TOOLS: Registry[BaseTool] = Registry("tool", accepts=lambda found: isinstance(found, BaseTool))
"""Every bound tool by name; the entry-point group is ``planweave.tools``."""


class ToolFailed(PlanweaveError):
    """A bound tool got wrong arguments, or failed."""


def register_tool(tool: BaseTool) -> BaseTool:
    """Register a tool under its name, so that a run can list it in ``tools``."""
    if not isinstance(tool, BaseTool):
        raise BadInput(
            f"{tool!r} is no tool.", fix="Decorate the function with langchain_core.tools.tool."
        )
    if tool.name in (*OWN_TOOLS, BOUND_TOOL):
        raise BadInput(f"A tool may not be named {tool.name!r}.", fix="Choose another name.")
    return TOOLS.add(tool.name, tool)


def parse_arguments(tool: BaseTool, text: str) -> dict[str, Any]:
    """Parse the arguments that a model wrote for a tool, and check them by the tool's schema.

    ``text`` is a JSON object; for a tool with one argument it may be the value itself.

    Raises:
        ToolFailed: The arguments do not fit the schema.
    """
    names = [*tool.args]
    try:
        given = json.loads(text)
    except (ValueError, RecursionError):
        given = text
    if not isinstance(given, dict):
        if len(names) != 1:
            raise ToolFailed(
                f"The input of {tool.name} is no JSON object.",
                fix=f"Write one with the keys {', '.join(names) or '(none)'}.",
            )
        given = {names[0]: given}
    if unknown := [key for key in given if key not in names]:
        raise ToolFailed(
            f"{tool.name} has no argument {unknown[0]!r}.",
            fix=f"It has: {', '.join(names) or 'none'}.",
        )
    schema = tool.args_schema
    if isinstance(schema, dict):  # an MCP server's tool; the server checks the values
        if missing := [key for key in schema.get("required", ()) if key not in given]:
            raise ToolFailed(f"{tool.name} needs the argument {missing[0]!r}.")
        return given
    try:
        cast("type[BaseModel]", tool.get_input_schema()).model_validate(given)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"]) or "the input"
        raise ToolFailed(f"{tool.name} cannot use {place}: {first['msg']}.") from None
    return given


async def call_tool(tool: BaseTool, given: dict[str, Any], *, seconds: float) -> Any:
    """Call a tool and return its result, which is untrusted data.

    Raises:
        ToolFailed: The tool raised an exception, or gave no result within ``seconds``.
    """
    try:
        return await asyncio.wait_for(tool.ainvoke(given), seconds)
    except TimeoutError:
        raise ToolFailed(
            f"{tool.name} gave no result in {seconds:g} seconds.", fix="Ask it for less."
        ) from None
    except Exception as error:
        raise ToolFailed(f"{tool.name} failed: {type(error).__name__}: {error}"[:500]) from None
