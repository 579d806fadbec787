"""The typed working memory that every graph passes from node to node.

Everything in it is plain JSON (TypedDicts, lists, strings, numbers), so that it can be
checkpointed, streamed over HTTP and edited in Studio. It grows by reducers; nodes never mutate it.
"""

from operator import add
from typing import Annotated, Literal, TypeAlias

from langchain_core.messages import AnyMessage
from langgraph.graph.message import add_messages
from pydantic import Field
from typing_extensions import TypedDict  # pydantic wants this one before Python 3.12

Tool: TypeAlias = Literal["sql", "cypher", "calculator", "thinking", "replan", "finish"]


Value: TypeAlias = float | int | str | bool | None


class Action(TypedDict):
    """What the selector chose to do next."""

    step: int
    thought: str
    tool: Tool
    input: str


class Fact(TypedDict):
    """Something a tool returned, numbered so that an answer can cite it.

    ``values`` names the cells of a one-row result, so that the calculator can use them.
    """

    number: int
    text: str
    values: dict[str, Value]
    source: str
    query: str


class Turn(TypedDict):
    """One iteration: the action, and the fact or the problem it led to."""

    iteration: int
    step: int
    thought: str
    tool: Tool
    input: str
    fact: int | None
    problem: str
    seconds: float


class Replan(TypedDict):
    """A change of plan: what the plan was, what it became, and why."""

    iteration: int
    reason: str
    before: list[str]
    after: list[str]


class Failure(TypedDict):
    """Something that went wrong without ending the run."""

    role: str
    kind: str
    detail: str


class Answer(TypedDict):
    """The decision, why, the numbers of the facts it rests on, and what stayed unknown."""

    decision: str | None
    why: str
    facts: list[int]
    unknown: str


class Spent(TypedDict):
    """What one role has used so far. ``dollars`` is None once a price is unknown."""

    calls: int
    input_tokens: int
    output_tokens: int
    cached_tokens: int
    seconds: float
    dollars: float | None


def add_spent(left: dict[str, Spent], right: dict[str, Spent]) -> dict[str, Spent]:
    """Reducer: add usage role by role."""
    return left | {
        role: _sum(left[role], new) if role in left else new for role, new in right.items()
    }


def total_spent(usage: dict[str, Spent]) -> Spent:
    """Usage of a whole run, over all roles."""
    total = Spent(
        calls=0, input_tokens=0, output_tokens=0, cached_tokens=0, seconds=0.0, dollars=0.0
    )
    for spent in usage.values():
        total = _sum(total, spent)
    return total


def _sum(a: Spent, b: Spent) -> Spent:
    known = a["dollars"] is not None and b["dollars"] is not None
    return Spent(
        calls=a["calls"] + b["calls"],
        input_tokens=a["input_tokens"] + b["input_tokens"],
        output_tokens=a["output_tokens"] + b["output_tokens"],
        cached_tokens=a["cached_tokens"] + b["cached_tokens"],
        seconds=a["seconds"] + b["seconds"],
        dollars=(a["dollars"] or 0.0) + (b["dollars"] or 0.0) if known else None,
    )


class Input(TypedDict, total=False):
    """What a caller gives: a chat message or a question, and a plan if there already is one."""

    messages: Annotated[
        list[AnyMessage],
        Field(description="Chat history; the last human message is asked"),
        add_messages,
    ]
    question: Annotated[str, Field(description="The question, when it does not come as a message")]
    predefined_plan: Annotated[
        list[str], Field(description="A plan to carry out; the planner is then skipped")
    ]


class WorkingMemory(Input, total=False):
    """Everything a run knows."""

    greeting: Annotated[bool, Field(description="The message only says hello")]
    schema_text: Annotated[str, Field(description="What the connected database holds")]
    languages: Annotated[
        dict[str, str], Field(description="Query language of each connected query tool")
    ]
    plan: Annotated[list[str], Field(description="Steps of the plan that is carried out")]
    step: Annotated[int, Field(description="Number of the plan's step being worked on, from 1")]
    iteration: Annotated[int, Field(description="Iterations done")]
    action: Annotated[Action | None, Field(description="The action chosen last")]
    facts: Annotated[list[Fact], Field(description="Numbered results of the tools"), add]
    turns: Annotated[list[Turn], Field(description="Every iteration so far"), add]
    replans: Annotated[list[Replan], Field(description="Every change of plan"), add]
    replanning: Annotated[str, Field(description="Why the re-planner is asked; empty: routine")]
    failures: Annotated[list[Failure], Field(description="What went wrong on the way"), add]
    usage: Annotated[dict[str, Spent], Field(description="Usage by role"), add_spent]
    answer: Annotated[Answer | None, Field(description="The decision")]
