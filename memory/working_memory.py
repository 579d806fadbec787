"""The typed working memory that every graph passes from node to node, by concern.

It is plain JSON (TypedDicts, lists, strings, numbers), so it can be checkpointed, streamed over
HTTP and edited in Studio. Reducers update it; nodes never mutate it. The state of a method is a
sum of concerns; :class:`WorkingMemory` is the sum of all.
"""

from operator import add
from typing import Annotated

from langchain_core.messages import AnyMessage
from langgraph.graph.message import add_messages
from pydantic import Field
from typing_extensions import TypedDict  # pydantic wants this one before Python 3.12

from planweave.memory.records import (
    Action,
    Answer,
    Claim,
    EpisodeState,
    Exchange,
    Fact,
    Failure,
    Grounded,
    InstructionPath,
    Lookup,
    Member,
    Observed,
    Page,
    Reflection,
    Replan,
    Revision,
    Turn,
)
from planweave.memory.reducers import UsageByRole, add_usage, keep_latest, merge


def add_lookups(left: list[Lookup], right: list[Lookup]) -> list[Lookup]:
    """Reducer: a later lookup for a step replaces the earlier one."""
    return list({lookup["step"]: lookup for lookup in [*left, *right]}.values())


class Input(TypedDict, total=False):
    """The input: a chat message or a question, and perhaps a plan."""

    messages: Annotated[
        list[AnyMessage],
        Field(description="Chat history; the last human message is asked"),
        add_messages,
    ]
    question: Annotated[str, Field(description="The question, when it does not come as a message")]
    predefined_plan: Annotated[
        list[str], Field(description="A plan to carry out; the planner is then skipped")
    ]


class Asked(Input, total=False):
    """The question, the conversation before it, and the sources."""

    greeting: Annotated[bool, Field(description="The message only says hello")]
    history: Annotated[
        list[Exchange], Field(description="What was asked and answered before, the last few")
    ]
    languages: Annotated[
        dict[str, str], Field(description="Query language of each connected query tool")
    ]
    schema_text: Annotated[str, Field(description="What the connected database holds")]


class Planned(TypedDict, total=False):
    """The plan and its progress."""

    plan: Annotated[list[str], Field(description="Steps of the plan that is carried out")]
    needs: Annotated[
        list[list[int]],
        Field(description="For each step of the plan, or of the draft, the earlier ones it needs"),
    ]
    done_steps: Annotated[list[int], Field(description="Numbers of the plan's steps that are done")]
    step: Annotated[
        int,
        Field(
            description="Number of the plan's first open step, from 1; a good result moves it on"
        ),
    ]
    given_plan: Annotated[bool, Field(description="The plan was given and is not changed")]
    replans: Annotated[list[Replan], Field(description="Every change of plan"), add]
    replanning: Annotated[
        str, Field(description="What puts the plan in doubt; empty: nothing does")
    ]


class Acted(TypedDict, total=False):
    """The present action and the earlier ones."""

    action: Annotated[Action | None, Field(description="The action chosen last"), keep_latest]
    iteration: Annotated[int, Field(description="Iterations done")]
    turns: Annotated[list[Turn], Field(description="Every iteration so far"), add]


class Known(TypedDict, total=False):
    """The facts and abbreviations found so far."""

    facts: Annotated[list[Fact], Field(description="Numbered results of the tools"), add]
    abbreviations: Annotated[
        dict[str, str], Field(description="Known abbreviations, expanded"), merge
    ]


class Answered(TypedDict, total=False):
    """The answer and its check."""

    answer: Annotated[Answer | None, Field(description="The decision or answer")]
    claims: Annotated[list[Claim], Field(description="The answer's claims, checked")]


class Spent(TypedDict, total=False):
    """Usage and failures."""

    usage: Annotated[UsageByRole, Field(description="Usage by role and tool"), add_usage]
    failures: Annotated[list[Failure], Field(description="What went wrong on the way"), add]


class Work(Asked, Planned, Acted, Known, Answered, Spent, total=False):
    """The state of every method; most roles read nothing else."""


class AtOnce(TypedDict, total=False):
    """Independent actions that run in parallel."""

    actions: Annotated[list[Action], Field(description="Actions that are carried out at once")]
    observed: Annotated[
        list[Observed], Field(description="What actions at once led to, until all have ended"), add
    ]


class Searched(TypedDict, total=False):
    """Pages of documents that are not facts yet."""

    pages: Annotated[list[Page], Field(description="Pages that the last search found"), keep_latest]
    whole: Annotated[bool, Field(description="The document collection is read whole, once")]


class Evaluated(TypedDict, total=False):
    """The evaluator's opinion of the plan."""

    objection: Annotated[str, Field(description="Why the evaluator rejects the plan")]
    rejections: Annotated[int, Field(description="Plans that the evaluator has rejected")]


class Tasked(TypedDict, total=False):
    """The next task, and why the answering machine continues."""

    reason: Annotated[str, Field(description="Why the answering machine continues")]
    task: Annotated[str, Field(description="What this iteration has to find out")]


class Thought(TypedDict, total=False):
    """A chain of thought."""

    reasoning: Annotated[str, Field(description="The last chain of thought")]


class Drafted(TypedDict, total=False):
    """A draft and its revision by retrieval."""

    draft: Annotated[list[str], Field(description="The first thoughts, step by step")]
    lookups: Annotated[
        list[Lookup], Field(description="What is looked up for the thoughts"), add_lookups
    ]
    revised: Annotated[list[str], Field(description="The thoughts as retrieval has revised them")]
    revisions: Annotated[list[Revision], Field(description="What each retrieval changed"), add]


class Proposed(TypedDict, total=False):
    """Proposed queries, one of which is carried out."""

    candidate_queries: Annotated[list[str], Field(description="Queries that were proposed")]
    query_scores: Annotated[list[float], Field(description="What the plan assessor gives each")]
    raises: Annotated[int, Field(description="Times that the temperature was raised")]


class Solving(TypedDict, total=False):
    """A task of an environment."""

    episode: Annotated[EpisodeState | None, Field(description="The task of an environment")]


class Guided(TypedDict, total=False):
    """A path of actions that solved tasks before."""

    candidate_paths: Annotated[
        list[InstructionPath], Field(description="Paths that past successes propose")
    ]
    path: Annotated[
        InstructionPath | None, Field(description="The chosen path, and where it comes from")
    ]


class Reflected(TypedDict, total=False):
    """Lessons of failed trials."""

    reflections: Annotated[
        list[Reflection], Field(description="Lessons of earlier trials of this task"), add
    ]


class Deduced(TypedDict, total=False):
    """Sub-questions and their answers."""

    grounded: Annotated[
        list[Grounded], Field(description="Sub-questions, with answers that were looked up"), add
    ]


class Voted(TypedDict, total=False):
    """The runs of an ensemble."""

    members: Annotated[list[Member], Field(description="The runs of an ensemble"), add]
    agreement: Annotated[float, Field(description="Share of the runs that give this answer")]


class Tooled(Work, AtOnce, Searched, total=False):
    """The state of methods that use tools."""


class Writing(Work, Searched, Thought, Drafted, total=False):
    """The state of methods that write a draft or a text."""


class Hopping(Work, Searched, Thought, Proposed, total=False):
    """The state of methods that search with one query after another."""


class WorkingMemory(
    Work,
    AtOnce,
    Searched,
    Evaluated,
    Tasked,
    Thought,
    Drafted,
    Proposed,
    Solving,
    Guided,
    Reflected,
    Deduced,
    Voted,
    total=False,
):
    """The sum of the states of all methods."""
