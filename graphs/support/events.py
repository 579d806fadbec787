"""The typed events of a run, and its result."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import add
from typing import Any, Literal, NamedTuple, TypeAlias, cast

from langgraph.types import Overwrite

from planweave.memory import Answer, Claim, Fact, Verdict, WorkingMemory, add_usage, total_usage
from planweave.memory.reducers import reducers
from planweave.models import CallRecord
from planweave.nodes.drafting.reviser import revision_text
from planweave.nodes.support.briefing import plan_text
from planweave.usage import Usage


@dataclass(frozen=True, kw_only=True)
class Result:
    """The result of a run.

    Attributes:
        method: Name of the method.
        thread: Name of the thread that stores the run, if one does.
        memory: The whole working memory at the end.
    """

    method: str
    thread: str | None = None
    memory: WorkingMemory = field(repr=False)

    def __repr__(self) -> str:
        kind = self.verdict["kind"] if self.verdict else None
        return f"Result(decision={self.decision!r}, verdict={kind!r}, method={self.method!r})"

    @property
    def text(self) -> str:
        """The answer as one text, with its sources."""
        messages: list[Any] = [*self.memory.get("messages", ())]
        return _message_text(messages[-1], "ai") if messages else ""

    @property
    def answer(self) -> Answer | None:
        """The answer in parts; None after a greeting."""
        return self.memory.get("answer")

    @property
    def decision(self) -> str | None:
        """The decision or short answer; None if there is none."""
        return self.answer["decision"] if self.answer else None

    @property
    def verdict(self) -> Verdict | None:
        """Whether the decision follows from the facts."""
        return self.answer.get("verdict") if self.answer else None

    @property
    def facts(self) -> list[Fact]:
        """The facts of the conversation."""
        return self.memory.get("facts", [])

    @property
    def cited(self) -> list[Fact]:
        """The facts that the answer cites."""
        numbers = self.answer["facts"] if self.answer else []
        return [fact for fact in self.facts if fact["number"] in numbers]

    @property
    def claims(self) -> list[Claim]:
        """The sentences of the answer, and whether the facts support each of them."""
        return self.memory.get("claims", [])

    @property
    def plan(self) -> list[str]:
        """The steps of the last plan."""
        return self.memory.get("plan", [])

    @property
    def usage(self) -> Usage:
        """The usage of all calls of models and tools."""
        return total_usage(self.memory.get("usage", {}))


@dataclass(frozen=True, kw_only=True)
class PlanEvent:
    """There is a new plan."""

    type: Literal["plan"] = field(default="plan", init=False)
    steps: list[str]


@dataclass(frozen=True, kw_only=True)
class ThoughtEvent:
    """A thought of a role: why it acts, a draft and its revisions, a lesson."""

    type: Literal["thought"] = field(default="thought", init=False)
    text: str


@dataclass(frozen=True, kw_only=True)
class ActionEvent:
    """A tool was used; its facts and its problem follow as events.

    ``corrected`` lists what the program changed in a query.
    """

    type: Literal["action"] = field(default="action", init=False)
    tool: str
    input: str
    corrected: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class FactEvent:
    """A fact was found."""

    type: Literal["fact"] = field(default="fact", init=False)
    fact: Fact


@dataclass(frozen=True, kw_only=True)
class ProblemEvent:
    """Something went wrong, but the run continues."""

    type: Literal["problem"] = field(default="problem", init=False)
    where: str
    text: str


@dataclass(frozen=True, kw_only=True)
class ReplanEvent:
    """The plan is changed."""

    type: Literal["replan"] = field(default="replan", init=False)
    reason: str
    steps: list[str]


@dataclass(frozen=True, kw_only=True)
class TokenEvent:
    """A piece of the answer while a model writes it; only with ``tokens=True``.

    The checked answer may differ; the last event contains it whole.
    """

    type: Literal["token"] = field(default="token", init=False)
    node: str
    text: str


@dataclass(frozen=True, kw_only=True)
class ProgressEvent:
    """What the run is doing now.

    Attributes:
        doing: In words, such as "writing a query".
        role: The role that asks a model; empty if none does.
        read: Tokens of the prompt that the model has read so far, if its server reports that.
        tokens: Tokens of the prompt; 0 if unknown.
        cached: Tokens of the prompt that the server had cached.
        written: Pieces of the reply so far; most servers send one token per piece.
    """

    type: Literal["progress"] = field(default="progress", init=False)
    doing: str
    role: str = ""
    read: int = 0
    tokens: int = 0
    cached: int = 0
    written: int = 0

    @property
    def text(self) -> str:
        """The progress as one line."""
        if self.written:
            return f"{self.doing}, {self.written} tokens"
        if self.tokens:
            begun = self.read > self.cached  # 0 % would look as if nothing happened
            share = f"{self.read / self.tokens:.0%} of " if begun else ""
            return f"reading the prompt, {share}{self.tokens} tokens"
        return self.doing


@dataclass(frozen=True, kw_only=True)
class CallEvent:
    """A call of a model has ended."""

    type: Literal["call"] = field(default="call", init=False)
    record: CallRecord


@dataclass(frozen=True, kw_only=True)
class ApprovalEvent:
    """The run waits for a person; the last event, if nobody answers.

    ``Command(resume={id: answer})`` answers only this request, never a later one.
    """

    type: Literal["approval"] = field(default="approval", init=False)
    request: Mapping[str, Any]
    id: str
    result: Result


@dataclass(frozen=True, kw_only=True)
class AnswerEvent:
    """The run has ended; the last event."""

    type: Literal["answer"] = field(default="answer", init=False)
    result: Result


Event: TypeAlias = (
    PlanEvent
    | ThoughtEvent
    | ActionEvent
    | FactEvent
    | ProblemEvent
    | ReplanEvent
    | TokenEvent
    | ProgressEvent
    | CallEvent
    | ApprovalEvent
    | AnswerEvent
)

_APPENDED = frozenset(name for name, reducer in reducers(WorkingMemory).items() if reducer is add)
"""Fields of the working memory to which an update appends."""

_REMARKS = {
    "question": "understood as",
    "objection": "plan rejected",
    "reason": "goes on",
    "task": "task",
}


class EventReader:
    """Reads events from LangGraph's stream, either its own objects or a server's JSON."""

    def __init__(self, method: str, thread: str | None = None) -> None:
        self._method, self._thread = method, thread
        self._memory: dict[str, Any] = {}
        self._request: Mapping[str, Any] | None = None
        self._request_id = ""
        self._plan: list[str] = []
        self._queries: list[str] = []
        self._done_steps: list[int] = []
        self._subgraphs: set[str] = set()

    def read(self, mode: str, data: Any, space: Sequence[str] = ()) -> Iterator[Event]:
        """The events of one part of the stream; ``space`` names the subgraphs that it comes from.

        An event from inside a subgraph (``tools:1b4e``) is not repeated when the subgraph ends.
        """
        self._subgraphs |= {name.partition(":")[0] for name in space}
        if mode == "custom" and "call" in data:
            yield CallEvent(record=CallRecord.model_validate(data["call"]))
        elif mode == "custom" and "progress" in data:
            fields = {name: value for name, value in data["progress"].items() if name != "task"}
            yield ProgressEvent(**fields)
        elif mode == "messages" and (text := _message_text(data[0], "AIMessageChunk")):
            yield TokenEvent(node=data[1]["langgraph_node"], text=text)
        elif mode == "values" and not space:
            self._memory = data
        elif mode == "updates":
            yield from self._read_updates(data, is_outermost=not space)

    def end(self) -> "ApprovalEvent | AnswerEvent":
        """The last event: a request for approval, or the answer."""
        memory = cast("WorkingMemory", self._memory)
        result = Result(method=self._method, thread=self._thread, memory=memory)
        if self._request is not None:
            return ApprovalEvent(request=self._request, id=self._request_id, result=result)
        return AnswerEvent(result=result)

    def _read_updates(self, updates: Mapping[str, Any], *, is_outermost: bool) -> Iterator[Event]:
        for node, found in updates.items():
            if node == "__interrupt__":
                self._request, self._request_id = (_field(found[0], key) for key in ("value", "id"))
            elif not node.startswith("__"):
                for update in found if isinstance(found, list) else [found or {}]:
                    if is_outermost:
                        self._memory = _apply_update(self._memory, update)
                    if node not in ("intake", *self._subgraphs):  # intake empties the memory
                        yield from self._read_update(update)

    def _read_update(self, update: Mapping[str, Any]) -> Iterator[Event]:
        yield from self._plan_events(update)
        yield from (ThoughtEvent(text=text) for text in self._thought_texts(update))
        facts = {fact["number"]: fact for fact in _new_items(update, "facts")}
        for turn in _new_items(update, "turns"):
            corrected = tuple(turn.get("corrected", ()))
            yield ActionEvent(tool=turn["tool"], input=turn["input"], corrected=corrected)
            for number in turn["facts"]:
                if number in facts:
                    yield FactEvent(fact=facts.pop(number))
            if turn["problem"]:
                yield ProblemEvent(where=turn["tool"], text=turn["problem"])
        for fact in facts.values():
            yield FactEvent(fact=fact)
        for failure in _new_items(update, "failures"):
            yield ProblemEvent(where=failure["role"], text=failure["detail"])

    def _plan_events(self, update: Mapping[str, Any]) -> Iterator[Event]:
        for change in _new_items(update, "replans"):
            self._plan = change["after"]
            yield ReplanEvent(reason=change["reason"], steps=change["after"])
        plan = update.get("plan")
        if plan and plan != self._plan:
            self._plan = plan
            yield PlanEvent(steps=plan)

    def _thought_texts(self, update: Mapping[str, Any]) -> Iterator[str]:
        if draft := update.get("draft"):
            yield f"Draft:\n{plan_text(draft)}"
        for revision in _new_items(update, "revisions"):
            yield revision_text(revision)
        for lesson in _new_items(update, "reflections"):
            yield f"trial {lesson['trial']} scored {lesson['score']:.2f}: {lesson['text']}"
        for grounded in _new_items(update, "grounded"):
            yield f"grounded: {grounded['question']} {grounded['answer']}"
        self._queries = update.get("candidate_queries") or self._queries
        for query, score in zip(self._queries, update.get("query_scores") or (), strict=False):
            yield f"query {score:.2f}: {query}"
        yield from self._progress_texts(update)
        for part, words in _REMARKS.items():
            if remark := update.get(part):
                yield f"{words}: {remark}"
        if pages := update.get("pages"):
            found = ", ".join(f"{page['document']} p. {page['page']}" for page in pages)
            yield f"found {found}"
        elif (action := update.get("action")) and action["thought"]:
            yield action["thought"]

    def _progress_texts(self, update: Mapping[str, Any]) -> Iterator[str]:
        """The steps of the plan that are done, if there are more than before."""
        if {*(update.get("done_steps") or ())} - {*self._done_steps}:
            self._done_steps = update["done_steps"]
            numbers = ", ".join(map(str, self._done_steps))
            plan = self._plan or self._memory.get("plan", [])  # in memory if the run was resumed
            yield f"{len(self._done_steps)} of {len(plan)} steps done: {numbers}"


def _new_items(update: Mapping[str, Any], part: str) -> Iterable[Any]:
    """The items that an update appends to a field of the working memory, or replaces it with."""
    return _unwrap(update.get(part)).value or ()


class _Unwrapped(NamedTuple):
    """A value that an update writes, and whether it replaces the old one."""

    value: Any
    replaces: bool


def _unwrap(value: Any) -> _Unwrapped:
    if isinstance(value, Overwrite):
        return _Unwrapped(value.value, replaces=True)
    if isinstance(value, Mapping) and value.get("type") == "__overwrite__":  # as JSON
        return _Unwrapped(value["value"], replaces=True)
    return _Unwrapped(value, replaces=False)


def _apply_update(memory: Mapping[str, Any], update: Mapping[str, Any]) -> dict[str, Any]:
    """The memory after an update, for streams that send only updates."""
    after = dict(memory)
    for name, value in update.items():
        found, replaces = _unwrap(value)
        if name == "usage" and not replaces:
            after[name] = add_usage(after.get(name, {}), found)
        elif name in _APPENDED and not replaces:
            after[name] = [*after.get(name, ()), *(found or ())]
        else:
            after[name] = found
    return after


def _field(found: Any, name: str) -> Any:
    return found[name] if isinstance(found, Mapping) else getattr(found, name)


def _message_text(message: Any, kind: str) -> str:
    """The text of a message of this kind; empty for other messages."""
    if isinstance(message, Mapping):
        return str(message["content"]) if message["type"] == kind else ""
    return message.text if message.type == kind else ""
