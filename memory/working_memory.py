"""The typed working memory that every graph passes from node to node.

Everything in it is plain JSON (TypedDicts, lists, strings, numbers), so that it can be
checkpointed, streamed over HTTP and edited in Studio. It grows by reducers; nodes never mutate it.
"""

from operator import add
from typing import Annotated, Literal, NotRequired, TypeAlias

from langchain_core.messages import AnyMessage
from langgraph.graph.message import add_messages
from pydantic import Field
from typing_extensions import TypedDict  # pydantic wants this one before Python 3.12

from planweave.memory.reducers import UsageByRole, add_usage, latest, merged

Tool: TypeAlias = str
"""What an action uses: a method's tool, a bound tool by its name, or ``replan``, ``finish``."""

OWN_TOOLS = (
    *("sql", "cypher", "documents", "calculator", "thinking", "environment"),
    *("replan", "finish"),
)
"""The tools and moves that are ours; every other name is that of a bound LangChain tool."""

BOUND_TOOL = "bound_tool"
"""The node in which bound tools are called, and their place in a method's list of tools."""


Value: TypeAlias = float | int | str | bool | None


class Action(TypedDict):
    """What the selector chose to do next.

    ``completes`` names the steps of the plan that are done if it succeeds; without it that is
    ``step``. An action that finishes may carry the ``answer``, as the answering machine would
    have replied.
    """

    step: int
    thought: str
    tool: Tool
    input: str
    completes: NotRequired[list[int]]
    answer: NotRequired[dict[str, Value | list[int]]]


class Page(TypedDict):
    """A page that a search of a document collection found, and its words that were nearest."""

    document: str
    page: int
    text: str
    nearest: str
    score: float


class Quote(TypedDict):
    """The words of a document that a fact rests on, as they stand on that page."""

    document: str
    page: int
    text: str


class Table(TypedDict):
    """The rows of a query as data; ``complete`` says that none was cut off."""

    columns: list[str]
    rows: list[list[Value]]
    complete: bool


class Worked(TypedDict):
    """One expression of a calculation and what it came to.

    ``note`` says which item it is about and by which rule; ``result`` is a number with its unit,
    ``true`` or ``false``, or a list of them.
    """

    name: str
    expression: str
    result: str
    note: str


class Fact(TypedDict):
    """Something a tool returned, numbered so that an answer can cite it.

    ``values`` names the cells of a one-row result and the values that a page gives, so that the
    calculator can use them; one with a unit is a text, such as ``40 $``. ``table`` holds all rows
    of a query, so that the program can carry out rules on them; ``quote`` is the place in a
    document, None for a fact from elsewhere; ``faithfulness`` is the share of its statements that
    the page supports, None where it was not measured; ``agreement`` the share of the candidate
    queries that returned the same, where there were several; ``working`` holds the steps of a
    calculation; ``ranks`` says that the rows are options, the best first, and whether the highest
    or lowest value is best; ``doubts`` says what its query leaves out or does otherwise than the
    question and the rules say, where the program has read it against them.
    """

    number: int
    text: str
    values: dict[str, Value]
    source: str
    query: str
    quote: Quote | None
    faithfulness: float | None
    table: NotRequired[Table]
    agreement: NotRequired[float]
    working: NotRequired[list[Worked]]
    ranks: NotRequired[Literal["highest", "lowest"]]
    doubts: NotRequired[list[str]]


class Turn(TypedDict):
    """One iteration: the action, and the facts or the problem it led to.

    ``completes`` is that of the :class:`Action`.
    """

    iteration: int
    step: int
    thought: str
    tool: Tool
    input: str
    facts: list[int]
    problem: str
    seconds: float
    completes: NotRequired[list[int]]


class Observed(TypedDict):
    """What one of several actions at once led to; turn and facts have no numbers yet."""

    turn: Turn
    facts: list[Fact]


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


class Claim(TypedDict):
    """A sentence of the answer, the facts that it cites, and whether they support it."""

    text: str
    facts: list[int]
    supported: bool
    reason: str


How: TypeAlias = Literal["stated", "highest", "lowest", "count", "sum", "comparison", "learned"]
"""How a decision follows from a fact: it is stated there, or a rule on a column gives it."""

VerdictKind: TypeAlias = Literal["supported", "unsure", "not_in_facts", "contradicted", "undecided"]


class Basis(TypedDict):
    """How the decision follows from the facts, and by which column, as the model says."""

    how: How
    column: str


class Verdict(TypedDict):
    """What the check of an answer came to, and that with its reason as every interface shows it.

    A decision that is withheld is in ``said``; what a rule gives in its place in ``gives``.
    """

    kind: VerdictKind
    text: str
    said: NotRequired[str]
    gives: NotRequired[str]


NO_DECISION = "none"
"""The decision that no admitted decision improves anything; an answer like any other."""


class Answer(TypedDict):
    """The decision or short answer, why, the facts it rests on, and what stayed unknown.

    ``why`` may cite facts in its text as ``[n]``; ``facts`` lists every fact that is cited. The
    verdict is that of the check; what is no answer from facts, such as a program, has none.
    """

    decision: str | None
    why: str
    facts: list[int]
    unknown: str
    basis: NotRequired[Basis]
    verdict: NotRequired[Verdict]


class Exchange(TypedDict):
    """An earlier question of the conversation and what was answered, both shortened."""

    question: str
    answer: str


class Lookup(TypedDict):
    """What is looked up for a step of a draft, or for all of it as step 0 (RAT).

    Without a ``page`` it is still to be searched for, or ``problem`` says why there is none.
    """

    step: int
    query: str
    page: Page | None
    problem: str


def add_lookups(left: list[Lookup], right: list[Lookup]) -> list[Lookup]:
    """Reducer: the later lookup for a step takes the place of the earlier one."""
    return list({lookup["step"]: lookup for lookup in [*left, *right]}.values())


class Revision(TypedDict):
    """What a retrieved page changed in a step of a draft (RAT)."""

    step: int
    query: str
    document: str
    page: int
    before: str
    after: str
    skipped: bool


class EpisodeState(TypedDict):
    """How far a task of an environment has come; the actions done are in the turns."""

    environment: str
    task: str
    trial: int
    score: float
    done: bool


class InstructionPath(TypedDict):
    """Actions that solved tasks before, adapted to this one, and the questions they come from.

    Who proposed or selected it stands in ``by``, where somebody did; in ``expected`` the overlap
    with a path that solves the task that the proposer expects; in ``observations`` what each
    instruction showed, where that is known and shown as an example.
    """

    instructions: list[str]
    origins: list[str]
    observations: NotRequired[list[str]]
    by: NotRequired[str]
    expected: NotRequired[float]


class Reflection(TypedDict):
    """What an unsuccessful trial has taught (Reflexion)."""

    trial: int
    score: float
    text: str


class Grounded(TypedDict):
    """A sub-question, what the model believed, and what an observation made of it (GenGround)."""

    question: str
    guess: str
    answer: str


class Member(TypedDict):
    """One run of an ensemble."""

    number: int
    answer: Answer | None
    plan: list[str]
    facts: list[Fact]
    turns: list[Turn]
    claims: list[Claim]


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
    history: Annotated[
        list[Exchange], Field(description="What was asked and answered before, the last few")
    ]
    schema_text: Annotated[str, Field(description="What the connected database holds")]
    languages: Annotated[
        dict[str, str], Field(description="Query language of each connected query tool")
    ]
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
    iteration: Annotated[int, Field(description="Iterations done")]
    action: Annotated[Action | None, Field(description="The action chosen last"), latest]
    actions: Annotated[list[Action], Field(description="Actions that are carried out at once")]
    observed: Annotated[
        list[Observed], Field(description="What actions at once led to, until all have ended"), add
    ]
    facts: Annotated[list[Fact], Field(description="Numbered results of the tools"), add]
    turns: Annotated[list[Turn], Field(description="Every iteration so far"), add]
    replans: Annotated[list[Replan], Field(description="Every change of plan"), add]
    replanning: Annotated[
        str, Field(description="What puts the plan in doubt; empty: nothing does")
    ]
    failures: Annotated[list[Failure], Field(description="What went wrong on the way"), add]
    usage: Annotated[UsageByRole, Field(description="Usage by role and tool"), add_usage]
    given_plan: Annotated[bool, Field(description="The plan was given and is not changed")]
    pages: Annotated[list[Page], Field(description="Pages that the last search found"), latest]
    whole: Annotated[bool, Field(description="The document collection is read whole, once")]
    objection: Annotated[str, Field(description="Why the evaluator rejects the plan")]
    rejections: Annotated[int, Field(description="Plans that the evaluator has rejected")]
    reason: Annotated[str, Field(description="Why the answering machine goes on")]
    task: Annotated[str, Field(description="What this iteration has to find out")]
    abbreviations: Annotated[
        dict[str, str], Field(description="Known abbreviations, expanded"), merged
    ]
    answer: Annotated[Answer | None, Field(description="The decision or answer")]
    claims: Annotated[list[Claim], Field(description="The answer's claims, checked")]
    draft: Annotated[list[str], Field(description="The first thoughts, step by step")]
    lookups: Annotated[
        list[Lookup], Field(description="What is looked up for the thoughts"), add_lookups
    ]
    revised: Annotated[list[str], Field(description="The thoughts as retrieval has revised them")]
    revisions: Annotated[list[Revision], Field(description="What each retrieval changed"), add]
    reasoning: Annotated[str, Field(description="The last chain of thought")]
    candidate_queries: Annotated[list[str], Field(description="Queries that were proposed")]
    query_scores: Annotated[list[float], Field(description="What the plan assessor gives each")]
    raises: Annotated[int, Field(description="Times that the temperature was raised")]
    members: Annotated[list[Member], Field(description="The runs of an ensemble"), add]
    agreement: Annotated[float, Field(description="Share of the runs that give this answer")]
    episode: Annotated[EpisodeState | None, Field(description="The task of an environment")]
    candidate_paths: Annotated[
        list[InstructionPath], Field(description="Paths that past successes propose")
    ]
    path: Annotated[
        InstructionPath | None, Field(description="The chosen path, and where it comes from")
    ]
    reflections: Annotated[
        list[Reflection], Field(description="Lessons of earlier trials of this task"), add
    ]
    grounded: Annotated[
        list[Grounded], Field(description="Sub-questions, with answers that were looked up"), add
    ]
