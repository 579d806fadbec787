"""MCP: each method is a tool of the Model Context Protocol, on standard input or over HTTP."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from starlette.routing import BaseRoute, Route
from starlette.types import Receive, Scope, Send

from planweave import BadInput, __version__
from planweave.apps.protocols.runs import CallerOrder, Runner, RunOutcome, waits_for_person
from planweave.apps.protocols.wire import error_reply
from planweave.apps.service import Service
from planweave.graphs import METHODS

if TYPE_CHECKING:
    import mcp_types as types
    from mcp.server.context import ServerRequestContext
    from mcp.server.lowlevel import Server

_ANSWER = {
    "type": "object",
    "properties": {
        "decision": {"type": ["string", "null"], "description": "The decision or short answer"},
        "why": {"type": "string", "description": "Why; [1] cites fact 1"},
        "unknown": {"type": "string", "description": "What could not be found out"},
        "facts": {"type": "array", "items": {"type": "object"}, "description": "Facts cited"},
        "verdict": {
            "type": ["object", "null"],
            "description": "Whether the decision follows from the facts: kind is supported, "
            "unsure, not_in_facts, contradicted or undecided; text says why",
        },
    },
    "required": ["decision", "why", "unknown", "facts", "verdict"],
}


def mcp_server(run: Runner, offered: Callable[[], Service]) -> "Server[Any]":
    """Make the server: each tool takes a question, reports its steps, and returns the answer."""
    import mcp_types as types
    from mcp.server.lowlevel import Server

    async def list_tools(
        _: "ServerRequestContext[Any]", __: "types.PaginatedRequestParams | None"
    ) -> types.ListToolsResult:
        return types.ListToolsResult(
            tools=[
                types.Tool(
                    name=name,
                    description=METHODS.get(name).description,
                    input_schema=_input_schema(offered()),
                    output_schema=_ANSWER,
                    annotations=types.ToolAnnotations(read_only_hint=True, destructive_hint=False),
                )
                for name in offered().methods
            ]
        )

    async def call_tool(
        context: "ServerRequestContext[Any]", params: "types.CallToolRequestParams"
    ) -> types.CallToolResult:
        outcome, steps = RunOutcome(), 0
        try:
            order = _order(params.name, params.arguments or {}, offered())
            async for event in run(order, context.request):
                if step := outcome.add(event):
                    steps += 1
                    await context.session.report_progress(steps, message=step)
        except Exception as error:
            text = types.TextContent(text=error_reply(error)[1])
            return types.CallToolResult(content=[text], is_error=True)
        return types.CallToolResult(
            content=[types.TextContent(text=outcome.result.text)],
            structured_content=_answer(outcome),
        )

    return Server(
        "planweave",
        version=__version__,
        instructions="Answers hard questions over the databases and documents of this server; "
        "each tool is a method of planning and retrieving.",
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def mcp_routes(run: Runner, offered: Callable[[], Service]) -> list[BaseRoute]:
    """The route ``/mcp``: streamable HTTP without sessions, so that any process can answer."""
    return [
        Route("/mcp", _Endpoint(run, offered), methods=["POST"])
    ]  # a GET stream would stay empty


class _Endpoint:
    def __init__(self, run: Runner, offered: Callable[[], Service]) -> None:
        self._run, self._offered = run, offered

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

        manager = StreamableHTTPSessionManager(mcp_server(self._run, self._offered), stateless=True)
        async with manager.run():
            await manager.handle_request(scope, receive, send)


def _order(name: str, arguments: Mapping[str, Any], offered: Service) -> CallerOrder:
    """The order of a tool call."""
    offered.check_offered(name)
    question = arguments.get("question")
    if not isinstance(question, str) or not question.strip():
        raise BadInput("There is no question.", fix="Send it as `question`.")
    settings = {key: value for key, value in arguments.items() if key != "question"}
    if waits_for_person(settings, offered.context):
        raise BadInput(
            "A person has to approve the steps of a run here, and a tool cannot ask a person."
        )
    return CallerOrder(
        method=name, messages=({"role": "user", "content": question},), settings=settings
    )


def _input_schema(offered: Service) -> dict[str, Any]:
    """The schema of the question, its rules and candidates, and the sources offered by name."""
    properties: dict[str, Any] = {
        "question": {"type": "string", "description": "The question, in full"},
        "rules": {"type": "string", "description": "Rules that the answer must follow"},
        "candidates": {
            "type": "array",
            "items": {"type": "string"},
            "description": "Decisions to choose from; any value found if unset",
        },
    }
    for name, choices in offered.offered.items():
        if choices:
            properties[name] = {"type": "string", "enum": choices}
    return {
        "type": "object",
        "properties": properties,
        "required": ["question"],
        "additionalProperties": False,
    }


def _answer(outcome: RunOutcome) -> dict[str, Any]:
    result, answer = outcome.result, outcome.result.answer
    return {
        "decision": result.decision,
        "why": answer["why"] if answer else result.text,
        "unknown": answer["unknown"] if answer else "",
        "facts": outcome.cited,
        "verdict": result.verdict,
    }
