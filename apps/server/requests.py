"""Validation of a request for a run, with the names of the LangGraph server's protocol."""

from collections.abc import Container, Iterable, Mapping
from types import NoneType
from typing import Annotated, Any, Literal, Self

from langchain_core.runnables import RunnableConfig
from pydantic import AfterValidator, BaseModel, Field, field_validator, model_validator

from planweave import BadInput
from planweave.apps.server.assistants import method_of
from planweave.apps.server.people import Person
from planweave.apps.server.runs import RunOrder, Strategy
from planweave.apps.server.threads import Metadata
from planweave.apps.service import service
from planweave.graphs.support.running import check_order
from planweave.memory import Context, check_input, check_state
from planweave.texts import shorten
from planweave.tools.files.kept import path_of
from planweave.usage import Budget

StreamMode = Literal["values", "updates", "custom", "messages-tuple", "tasks", "checkpoints"]
Nodes = Literal["*"] | list[str]

_MODES: tuple[StreamMode, ...] = ("values",)


class Resumption(BaseModel):
    """How a stopped thread continues."""

    resume: Any = None
    update: dict[str, Any] | None = None
    goto: str | list[str] | None = None

    @model_validator(mode="after")
    def _check_not_empty(self) -> Self:
        if self.resume is None and not self.update and not self.goto:
            raise ValueError("it has neither resume nor update nor goto")
        return self


class Place(BaseModel):
    """A checkpoint of the run's own thread."""

    checkpoint_id: str | None = None
    checkpoint_ns: str = ""

    def of(self, thread_id: str) -> RunnableConfig:
        """The checkpoint of a thread as LangGraph's config."""
        named = {"checkpoint_id": self.checkpoint_id} if self.checkpoint_id else {}
        place = {"thread_id": thread_id, "checkpoint_ns": self.checkpoint_ns, **named}
        return {"configurable": place}


class RunConfig(BaseModel):
    """The parts of a config that reach the graph."""

    configurable: dict[str, Any] = {}
    recursion_limit: Annotated[int, Field(ge=1)] | None = None
    tags: Annotated[list[str], Field(max_length=100)] = []

    @field_validator("configurable")
    @classmethod
    def _check_checkpoint_id(cls, sent: dict[str, Any]) -> dict[str, Any]:
        if not isinstance(sent.get("checkpoint_id"), (str, NoneType)):
            raise ValueError("checkpoint_id should be a string")
        return sent


def _as_list(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


def _refused(reason: str) -> AfterValidator:
    """Refuse every value that asks for something."""

    def check(value: Any) -> Any:
        if value:
            raise ValueError(reason)
        return value

    return AfterValidator(check)


class RunRequest(BaseModel, hide_input_in_errors=True):
    """The fields of a request that the server uses; it ignores others of the protocol."""

    assistant_id: str
    input: dict[str, Any] | None = None
    command: Resumption | None = None
    context: dict[str, Any] | None = None
    config: RunConfig | None = None
    metadata: Metadata | None = None
    checkpoint: Place | None = None
    checkpoint_id: str | None = None
    stream_mode: StreamMode | list[StreamMode] | None = None
    stream_subgraphs: bool = False
    interrupt_before: Nodes | None = None
    interrupt_after: Nodes | None = None
    multitask_strategy: Strategy | None = None
    if_not_exists: Literal["create", "reject"] | None = None
    on_disconnect: Literal["cancel", "continue"] | None = None
    on_completion: Literal["delete", "keep"] | None = None
    durability: Literal["sync", "async", "exit"] | None = None
    webhook: Annotated[str | None, _refused("this server calls no webhooks")] = None
    after_seconds: Annotated[float | None, _refused("this server cannot delay runs")] = None

    @property
    def modes(self) -> list[str]:
        """The requested stream modes."""
        return list(_as_list(self.stream_mode) or _MODES)

    @property
    def settings(self) -> dict[str, Any]:
        """The fields of the context; older clients send them as ``configurable``."""
        if self.context is not None:
            return self.context
        sent = self.config.configurable if self.config else {}
        return {name: value for name, value in sent.items() if name in Context.model_fields}

    @property
    def nodes(self) -> list[str]:
        """The nodes that the request names."""
        named = [names for names in (self.interrupt_before, self.interrupt_after) if names != "*"]
        goto = self.command.goto if self.command else None
        return [name for names in (goto, *named) if names for name in _as_list(names)]

    @property
    def place(self) -> Place:
        """The checkpoint to start at; the latest if the request names none."""
        sent = self.config.configurable if self.config else {}
        named = self.checkpoint_id or sent.get("checkpoint_id")
        return self.checkpoint or Place(checkpoint_id=named)


def check_fields(sent: Mapping[str, Any], known: Container[str]) -> None:
    """Check that the method reads all fields of an input."""
    for name in sent:
        if name not in known:
            raise BadInput(f"The field input.{shorten(name, 64)} is not read by the method.")


def check_nodes(names: Iterable[str], known: Container[str]) -> None:
    """Check that all nodes exist."""
    for name in names:
        if name not in known:
            raise BadInput(f"The method has no node {shorten(name, 64)!r}.")


def context_for(person: Person, settings: Mapping[str, Any]) -> Context:
    """Make the context of a run of this person.

    The single person of a server without keys may set everything, as under ``langgraph dev``. On a
    server with users, sources and models are those that the operator offers by name; a collection
    or database may also be the caller's own (``owner/name``), and memory is the caller's.
    """
    if not person.shared:
        return service().trusted(settings)
    own = {
        name: str(settings[name])
        for name in ("collection", "database")
        if str(settings.get(name, "")).startswith(f"{person.owner}/")
    }
    rest = {name: value for name, value in settings.items() if name not in own}
    context = service().admit(rest, owner=person.owner)
    if "database" in own:
        name = own["database"].partition("/")[2]
        own["database"] = str(path_of(name, person.owner))
    return context.model_copy(update=own)


def _begins(request: RunRequest, context: Context) -> bool:
    """Whether a request has all that its run begins with, whatever its thread holds."""
    if request.command:
        return request.command.resume is None or bool(request.command.goto)
    sent = request.input or {}
    is_asked = sent.get("messages") or str(sent.get("question") or "").strip()
    return bool(is_asked or (context.environment and request.input is not None))


def order_of(
    person: Person, request: RunRequest, *, stateless: bool, quiet: bool = False
) -> RunOrder:
    """Check a request and make the order of its run.

    ``stateless``: the thread is made for this run. ``quiet``: nobody streams the run, so its events
    are not saved.
    """
    method = method_of(request.assistant_id)
    check_input(request.input or {})
    if request.command and request.command.update:
        check_state(request.command.update, "command.update", removes=False)
    context = context_for(person, request.settings)
    check_order(method, context, with_plan=bool((request.input or {}).get("predefined_plan")))
    payload = request.model_copy(update={"stream_mode": [] if quiet else request.modes})
    return RunOrder(
        method=method,
        payload=payload.model_dump(exclude_none=True, exclude={"metadata"}),
        metadata={**(request.metadata or {}), "graph_id": method},
        begins=_begins(request, context),
        budget=Budget(tokens=context.max_tokens, dollars=context.max_dollars),
        strategy=request.multitask_strategy or "enqueue",
        temporary=stateless and request.on_completion != "keep",
        if_missing=request.if_not_exists or "reject",
    )
