"""What working memory holds: actions, facts, turns, answers and the like, as plain JSON."""

from typing import Literal, NotRequired, TypeAlias

from typing_extensions import TypedDict  # pydantic wants this one before Python 3.12

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
    """The words of a document that a fact rests on, as they are on that page."""

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
    document, None for a fact from elsewhere; ``agreement`` is the share of the candidate queries
    that returned the same, where there were several; ``chance`` is how likely the model finds
    it that these rows are the answer, where it was asked; ``working`` holds the steps of a
    calculation;
    ``ranks`` says that the rows are options, the best first, and whether the highest
    or lowest value is best; ``doubts`` says what its query leaves out or does otherwise than the
    question and the rules say, where the program has read it against them.
    """

    number: int
    text: str
    values: dict[str, Value]
    source: str
    query: str
    quote: Quote | None
    table: NotRequired[Table]
    agreement: NotRequired[float]
    chance: NotRequired[float]
    working: NotRequired[list[Worked]]
    ranks: NotRequired[Literal["highest", "lowest"]]
    doubts: NotRequired[list[str]]


class Turn(TypedDict):
    """One iteration: the action, and the facts or the problem it led to.

    ``completes`` is that of the :class:`Action`; ``failed`` says that the problem is an error, not
    a result without rows or a repetition.
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


How: TypeAlias = Literal[
    "stated", "highest", "lowest", "count", "sum", "comparison", "learned", "rows"
]
"""How a decision follows from a fact: it is stated there, a rule on a column gives it, or the rows
of the fact are the answer."""

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


class Revision(TypedDict):
    """What a retrieved page changed in a step of a draft (RAT)."""

    step: int
    query: str
    document: str
    page: int
    before: str
    after: str


class EpisodeState(TypedDict):
    """How far a task of an environment has come; the actions done are in the turns."""

    environment: str
    task: str
    trial: int
    score: float
    done: bool


class InstructionPath(TypedDict):
    """Actions that solved tasks before, adapted to this one, and the questions they come from.

    Who proposed or selected it is in ``by``, where somebody did; in ``expected`` the overlap
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
