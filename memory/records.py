"""The records in working memory: actions, facts, turns, answers and others, as plain JSON."""

from typing import Literal, NotRequired, TypeAlias

from typing_extensions import TypedDict  # pydantic wants this one before Python 3.12

Tool: TypeAlias = str
"""The tool of an action: a method's tool, the name of a bound tool, ``replan`` or ``finish``."""

SOURCES = ("sql", "cypher", "documents")
"""The tools that read a connected source."""

OWN_TOOLS = (*SOURCES, "calculator", "thinking", "environment", "replan", "finish")
"""Our own tools and moves; every other name belongs to a bound LangChain tool."""

BOUND_TOOL = "bound_tool"
"""The node that calls bound tools; it represents them in a method's list of tools."""


Value: TypeAlias = float | int | str | bool | None


class Action(TypedDict):
    """What the selector chose to do next.

    ``completes`` names the steps of the plan that are done if the action succeeds; by default only
    ``step``. An action that finishes may hold the ``answer``, in the form of the answering
    machine's reply.
    """

    step: int
    thought: str
    tool: Tool
    input: str
    completes: NotRequired[list[int]]
    answer: NotRequired[dict[str, Value | list[int]]]


class Page(TypedDict):
    """A page that a search found, and the passage of it that is nearest to the query."""

    document: str
    page: int
    text: str
    nearest: str
    score: float


class Quote(TypedDict):
    """The words of a page that support a fact, unchanged."""

    document: str
    page: int
    text: str


class Table(TypedDict):
    """The rows of a query as data; ``complete`` means that none was cut off."""

    columns: list[str]
    rows: list[list[Value]]
    complete: bool


class Worked(TypedDict):
    """One expression of a calculation and its result.

    ``note`` names the item and the rule; ``result`` is a number with its unit, ``true`` or
    ``false``, or a list of them.
    """

    name: str
    expression: str
    result: str
    note: str


class Reading(TypedDict):
    """What another query for the same need returned: its first rows in one line, and the query."""

    text: str
    query: str


class Found(TypedDict):
    """A result of a tool.

    ``values`` names the cells of a one-row result and the values on a page, for the calculator; a
    value with a unit is a text, such as ``40 $``. ``table`` contains all rows of a query, so that
    the program can apply rules to them. ``quote`` is the place in a document; None for other facts.
    ``agreement`` is the share of the candidate queries that returned the same, if there were
    several, and ``other`` the most frequent other result. ``working`` contains the steps of a
    calculation. ``ranks`` marks rows that are options, best first, and states whether the highest
    or lowest value is best. ``doubts`` lists where the query differs from the question and the
    rules, if the program has compared them. ``confirmed`` marks rows of the query that
    the owner confirmed for this question.
    """

    text: str
    values: dict[str, Value]
    quote: Quote | None
    table: NotRequired[Table]
    agreement: NotRequired[float]
    other: NotRequired[Reading]
    working: NotRequired[list[Worked]]
    ranks: NotRequired[Literal["highest", "lowest"]]
    doubts: NotRequired[list[str]]
    confirmed: NotRequired[bool]


class Fact(Found):
    """What the tool ``source`` returned for ``query``, numbered so that an answer can cite it."""

    number: int
    source: str
    query: str


class Turn(TypedDict):
    """One iteration: the action, and its facts or its problem.

    ``completes`` is that of the :class:`Action`. ``failed`` marks a problem that is an error, not
    an empty result or a repetition. ``corrected`` lists what the program changed in the query.
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
    failed: NotRequired[bool]
    corrected: NotRequired[list[str]]


class Observed(TypedDict):
    """The outcome of one of several parallel actions; turn and facts have no numbers yet."""

    turn: Turn
    facts: list[Fact]


class Replan(TypedDict):
    """A change of plan: the old plan, the new plan, and the reason."""

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


How: TypeAlias = Literal[
    "stated", "highest", "lowest", "count", "sum", "comparison", "learned", "rows"
]
"""How a decision follows from a fact: the fact states it, a rule on a column gives it, or the rows
of the fact are the answer."""

VerdictKind: TypeAlias = Literal["supported", "unsure", "not_in_facts", "contradicted", "undecided"]


class Basis(TypedDict):
    """How the decision follows from the facts, and by which column, according to the model."""

    how: How
    column: str


class Verdict(TypedDict):
    """The result of the check of an answer; ``text`` is the sentence that every interface shows.

    ``said`` is a decision that is withheld, ``gives`` the decision that a rule gives instead.
    ``other`` is the other reading, if the queries tried disagree too much.
    """

    kind: VerdictKind
    text: str
    said: NotRequired[str]
    gives: NotRequired[str]
    other: NotRequired[Reading]


NO_DECISION = "none"
"""The decision that no admitted decision improves anything; a valid answer."""


class Answer(TypedDict):
    """The decision or short answer, the reasons, the cited facts, and what is still unknown.

    ``why`` may cite facts as ``[n]``; ``facts`` lists every cited fact. The verdict is that of the
    check; an answer that does not come from facts, such as a program, has none.
    """

    decision: str | None
    why: str
    facts: list[int]
    unknown: str
    basis: NotRequired[Basis]
    verdict: NotRequired[Verdict]


class Exchange(TypedDict):
    """An earlier question of the conversation and its answer, both shortened."""

    question: str
    answer: str


class Lookup(TypedDict):
    """The lookup for a step of a draft, or for the whole draft as step 0 (RAT).

    Without a ``page`` the search is still to come, or ``problem`` explains why it found none.
    """

    step: int
    query: str
    page: Page | None
    problem: str


class Revision(TypedDict):
    """The change of a step of a draft by a retrieved page (RAT)."""

    step: int
    query: str
    document: str
    page: int
    before: str
    after: str


class EpisodeState(TypedDict):
    """The state of a task of an environment; its actions are in the turns."""

    environment: str
    task: str
    trial: int
    score: float
    done: bool


class InstructionPath(TypedDict):
    """Actions that solved tasks before, adapted to this one, and the questions they come from.

    ``by`` names the agent that proposed or selected it. ``expected`` is the overlap with a solving
    path that the proposer expects. ``observations`` contains what each instruction showed, if the
    path serves as an example.
    """

    instructions: list[str]
    origins: list[str]
    observations: NotRequired[list[str]]
    by: NotRequired[str]
    expected: NotRequired[float]


class Reflection(TypedDict):
    """The lesson of a failed trial (Reflexion)."""

    trial: int
    score: float
    text: str


class Grounded(TypedDict):
    """A sub-question, the model's guess, and the answer after an observation (GenGround)."""

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
