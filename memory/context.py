"""The settings of a run: models, connections, rules and limits. They are the graph's context."""

from dataclasses import dataclass
from functools import cache
from typing import Annotated, Literal, NamedTuple

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from planweave.redact import holds_secret

ReplanPolicy = Literal["adaptive", "every_observation"]

SearchMode = Literal["fused", "dense", "bm25"]
Planning = Literal["guided", "zero_shot", "one_prompt", "without_thought", "thought_first"]
TaskFamily = Literal["answer", "code", "maths", "planning", "writing"]
RevisionOrder = Literal["causal", "non_causal", "cot_rag"]
QueryFrom = Literal["draft", "step"]
AssessorChoice = Literal["trained", "first", "random"]
Assist = Literal["auto", "on", "off"]
AidsGiven = Literal["on", "off", "some"]
WholeCollection = Literal["auto", "on", "off"]
CitationCheck = Literal["off", "string", "model"]


_REPLY_TOKENS = 512

Caller = Literal["free", "lower", "named", "never"]
"""What an outside caller may do with a setting: choose any value, choose less than the operator's,
choose among the values that the operator offers by name, or nothing."""


@dataclass(frozen=True)
class Setting:
    """Properties of a setting besides its type, default and description.

    Attributes:
        group: The heading under which forms and tables show it.
        caller: What an outside caller may do with it.
        recorded: Whether result records list it among the settings. Settings that belong to the
            question, such as its sources, are recorded with the question.
    """

    group: str
    caller: Caller
    recorded: bool = True

    @property
    def families(self) -> tuple[str, ...]:
        """Families of the methods that read it; empty: all."""
        return _GROUP_FAMILIES.get(self.group, ())


_GROUP_FAMILIES = {
    "Environment": ("act",),
    "InstructRAG": ("act",),
    "Reflexion": ("act",),
    "RAT": ("write",),
    "FuRePA": ("hops",),
    "Ensemble": ("any",),
}
"""Groups of settings that only some methods read, and the families of these methods."""


def _reject_secret(name: str) -> str:
    if name.startswith(("http://", "https://")) and holds_secret(name):
        raise ValueError(
            "the URL of a model may hold no user, password or query; "
            "its key belongs into PLANWEAVE_API_KEY"
        )
    return name


def _reject_ensemble(name: str) -> str:
    if name == "ensemble":  # it would run itself forever
        raise ValueError("an ensemble cannot be one of ensembles; name another method")
    return name


def _split_names(names: object) -> object:
    """Split names with commas between them, as a command line passes them."""
    return [name.strip() for name in names.split(",")] if isinstance(names, str) else names


LOCAL = "local"
"""The owner when only one person uses the program."""

ModelName = Annotated[str, AfterValidator(_reject_secret)]
"""Name of a model. Every record contains the name, so it must not contain a secret."""


class _Measures(NamedTuple):
    """Measured thresholds of a model, from which its queries and its judgement can be trusted.

    ``by_tables`` and ``by_graph`` are the least probability that a database of this kind can answer
    the question. A model that cannot ``judge`` this is not asked: only the words of the question
    count.
    """

    agreement: float
    by_tables: float
    by_graph: float
    judges: bool = True


_MEASURES = {
    # It rates questions to graphs as less likely to have an answer.
    **dict.fromkeys(("embedded", "embedded:1.5b"), _Measures(0.75, 0.79, 0.73)),
    # A fifth of the results that three of four queries agree on are wrong; its yes is chance.
    "embedded:0.5b": _Measures(agreement=1.0, by_tables=0.45, by_graph=0.45, judges=False),
}


class Context(BaseModel):
    """Settings of one run, shown as a form in LangGraph Studio.

    Secrets do not belong here: a URL may name an environment variable as ``${NAME}``, and the
    tool that opens the connection reads it.
    """

    model_config = ConfigDict(
        extra="forbid", frozen=True, hide_input_in_errors=True, use_attribute_docstrings=True
    )

    model: Annotated[ModelName, Setting("Model", "named", recorded=False)] = "embedded"
    """Chat model by name, for every role not in `models`"""
    models: Annotated[dict[str, ModelName], Setting("Model", "named")] = Field(default_factory=dict)
    """Another chat model for a role, such as planner or judge"""
    temperature: Annotated[float, Field(ge=0, le=2), Setting("Model", "free")] = 0.0
    """Temperature of the sampling; 0: the most likely reply"""
    seed: Annotated[int | None, Setting("Model", "free")] = None
    """Seed of the sampling, if the provider accepts one"""
    fresh: Annotated[bool, Setting("Model", "free", recorded=False)] = False
    """Ask models again, although replies of earlier calls are cached"""
    max_reply_tokens: Annotated[int | None, Field(ge=32, le=32_768), Setting("Model", "lower")] = (
        None
    )
    """Most tokens of one reply; not set: 512 with aids, else as many as the form of the reply
    needs, at least 512"""
    assist: Annotated[Assist, Setting("Model", "free")] = "auto"
    """Aids for small models, such as corrected queries; auto: on for the embedded models, off for
    the baselines of a benchmark"""
    query_candidates: Annotated[int, Field(ge=1, le=16), Setting("Model", "lower")] = 4
    """With aids: queries that are tried; their results vote"""
    confirmed_queries: Annotated[int, Field(ge=0, le=10), Setting("Model", "lower")] = 3
    """With aids: confirmed queries of similar questions that the query writer sees; the confirmed
    query of the same question is run without a model; 0: neither"""
    least_answerable: Annotated[float | None, Field(ge=0, le=1), Setting("Model", "free")] = None
    """With aids: refuse a question if the chance that the database can answer it is below this
    (judged by the model and by words that the database lacks); 0: never refuse; not set: 0.79 with
    the embedded 1.5B (0.73 for graphs), 0.45 with the 0.5B, which cannot judge this and is not
    asked, else 0.5"""
    least_agreement: Annotated[float | None, Field(ge=0, le=1), Setting("Model", "free")] = None
    """With aids: share of the tried queries that must return the same before an answer counts as
    sure; not set: 0.75 with the embedded 1.5B, else 1"""

    database: Annotated[str | None, Setting("Sources", "named", recorded=False)] = None
    """Relational database: SQLAlchemy URL, SQLite file, .sql script, or a CSV, Excel or Parquet
    file"""
    graph: Annotated[str | None, Setting("Sources", "named", recorded=False)] = None
    """Graph database: bolt:// URL or .cql script"""
    collection: Annotated[str | None, Setting("Sources", "named", recorded=False)] = None
    """Document collection by name, such as energy or alice/energy"""
    web_search: Annotated[str | None, Setting("Sources", "never", recorded=False)] = None
    """LangChain search tool by name, such as brave: it searches the web instead of a document
    collection"""
    environment: Annotated[str | None, Setting("Environment", "never", recorded=False)] = None
    """Environment to act in by name, such as hotpotqa or alfworld"""
    environment_data: Annotated[str | None, Setting("Environment", "never", recorded=False)] = None
    """File or folder of the environment's tasks"""
    environment_task: Annotated[str | None, Setting("Environment", "never", recorded=False)] = None
    """The task to solve there, by its id"""
    paths: Annotated[str | None, Setting("InstructRAG", "never", recorded=False)] = None
    """InstructRAG, RAP: file of successful paths; not set: the owner's experience"""
    agents: Annotated[str, Setting("InstructRAG", "never")] = "shipped"
    """InstructRAG: agents that propose and select paths: shipped, a file of `planweave train
    instructrag`, or none (the paths of the nearest questions)"""
    experience: Annotated[str | None, Setting("Plan", "named")] = None
    """PlanRAG: follow the path that fits: shipped (learned from simulations), own (the owner's
    experience), or a file of paths"""
    candidate_paths: Annotated[int, Field(ge=1, le=10), Setting("InstructRAG", "never")] = 3
    """InstructRAG: number of proposed paths; RAP: number of shown paths"""
    path_aids: Annotated[Literal["auto", "on", "off"], Setting("InstructRAG", "never")] = "auto"
    """InstructRAG, RAP: name the next step of the path, and list its actions first: on, off, or
    auto (on for InstructRAG; off for RAP, as in its paper)"""
    triplets: Annotated[int, Field(ge=0, le=10), Setting("InstructRAG", "never")] = 0
    """GenGround: number of earlier successes, nearest to the action, that also ground an answer, as
    in InstructRAG's paper"""
    trials: Annotated[int, Field(ge=1, le=5), Setting("Reflexion", "never")] = 3
    """Reflexion: attempts at a task"""
    tools: Annotated[
        tuple[str, ...], BeforeValidator(_split_names), Setting("Sources", "named")
    ] = ()
    """LangChain tools to offer beside a method's own, by name"""
    approve_tools: Annotated[bool, Setting("Plan", "free")] = False
    """Stop for a person's approval before each call of one of `tools`"""
    rules: Annotated[str, Field(max_length=100_000), Setting("Sources", "free", recorded=False)] = (
        ""
    )
    """Business rules that the decision must follow, as text"""
    candidates: Annotated[tuple[str, ...], Setting("Sources", "free", recorded=False)] = ()
    """Decisions that the question admits; empty: any value found in the database"""

    max_iterations: Annotated[int, Field(ge=1, le=100), Setting("Plan", "lower")] = 15
    """Most actions of a run"""
    replan: Annotated[ReplanPolicy, Setting("Plan", "free")] = "adaptive"
    """adaptive: ask for another plan only after an error, an empty or contradicting result, or
    when the selector asks; every_observation: judge the plan after each result, and let each reply
    say one thing, as the papers do"""
    planning: Annotated[Planning, Setting("Plan", "free")] = "guided"
    """PlanRAG: guided: with our advice on what to plan; as published: zero_shot (a planner without
    it), one_prompt (plan, thought, action and re-plan in one reply), and its variants of table
    10, without_thought and thought_first"""
    evaluations: Annotated[int, Field(ge=0, le=5), Setting("Plan", "free")] = 0
    """Times that the evaluator may send a plan back; 0: no evaluator"""
    approve: Annotated[bool, Setting("Plan", "free", recorded=False)] = False
    """Stop for a person's approval before a plan starts"""

    query_seconds: Annotated[float, Field(gt=0, le=600), Setting("Reading", "lower")] = 10.0
    """Seconds that one query, or one call of a tool, may take"""
    query_rows: Annotated[int, Field(ge=1, le=1000), Setting("Reading", "lower")] = 40
    """Most rows that a query returns"""
    pages: Annotated[int, Field(ge=1, le=20), Setting("Reading", "free")] = 4
    """Most pages that one search of the documents returns"""
    page_characters: Annotated[int, Field(ge=200, le=20_000), Setting("Reading", "free")] = 2_500
    """A longer page is shown around the words that were found"""
    whole_collection: Annotated[WholeCollection, Setting("Reading", "free")] = "auto"
    """Read a collection whole, once, before the method begins; auto: if it fits into
    whole_characters and the reader has no aids for small models"""
    whole_characters: Annotated[int, Field(ge=1_000, le=2_000_000), Setting("Reading", "lower")] = (
        60_000
    )
    """Longest collection that is read whole (4 characters a token)"""
    search: Annotated[SearchMode, Setting("Reading", "free")] = "fused"
    """Search by meaning and words together, or by one of them"""
    citation_check: Annotated[CitationCheck, Setting("Reading", "free")] = "string"
    """Check the answer's claims by words and numbers, by a model"""
    ask_again: Annotated[bool, Setting("Reading", "free")] = True
    """Ask the model once more if a rule on its facts gives another decision"""
    strict: Annotated[bool, Setting("Reading", "free")] = False
    """Withhold a decision that does not follow from the facts"""
    family: Annotated[TaskFamily, Setting("RAT", "free")] = "answer"
    """What RAT writes: an answer, a program, a plan or a text"""
    revision: Annotated[RevisionOrder, Setting("RAT", "free")] = "causal"
    """RAT: revise step by step, all steps from one retrieval, or from one query"""
    query_from: Annotated[QueryFrom, Setting("RAT", "free")] = "draft"
    """RAT, programs and word problems: look up the draft so far, as in the paper, or the step
    alone"""
    retrievals: Annotated[int, Field(ge=0, le=50), Setting("RAT", "free")] = 5
    """Most retrievals in one run of RAT, or pages of a RAG baseline; 0: no source"""
    parallel: Annotated[bool | None, Setting("Plan", "free")] = None
    """Carry out independent steps at once; not set: PlanRAG does so"""
    masking: Annotated[bool, Setting("FuRePA", "free")] = True
    """FuRePA: hide earlier reasoning and queries from the reasoner"""
    unmasked: Annotated[int, Field(ge=0, le=100), Setting("FuRePA", "free")] = 0
    """FuRePA: with masking, how many of the latest rounds the reasoner still sees"""
    irrelevant_pages: Annotated[int, Field(ge=0, le=20), Setting("FuRePA", "free")] = 0
    """FuRePA, IRCoT: random pages that are added to those of each search, to see how far they
    mislead"""
    assessor: Annotated[AssessorChoice, Setting("FuRePA", "free")] = "trained"
    """FuRePA: which candidate query is carried out"""
    first_temperature: Annotated[float, Field(ge=0, le=2), Setting("FuRePA", "free")] = 0.2
    """FuRePA: temperature of the reasoner, above that of the run"""
    temperature_raise: Annotated[bool, Setting("FuRePA", "free")] = True
    """FuRePA: raise the temperature when queries repeat themselves"""
    temperature_step: Annotated[float, Field(ge=0, le=2), Setting("FuRePA", "free")] = 0.8
    """FuRePA: size of each temperature raise"""
    same_query: Annotated[float, Field(gt=0, le=1), Setting("FuRePA", "free")] = 0.9
    """FuRePA: cosine from which two queries mean the same"""
    proposals: Annotated[int, Field(ge=1, le=20), Setting("FuRePA", "free")] = 5
    """FuRePA: candidate queries a round"""
    ensemble_of: Annotated[str, AfterValidator(_reject_ensemble), Setting("Ensemble", "named")] = (
        "agent_v3"
    )
    """Method that the ensemble runs"""
    ensemble_runs: Annotated[int, Field(ge=1, le=50), Setting("Ensemble", "lower")] = 3
    """Runs of the ensemble"""
    ensemble_temperature: Annotated[float, Field(ge=0, le=2), Setting("Ensemble", "free")] = 0.7
    """Temperature of its runs, above 0 so that they differ"""
    owner: Annotated[str, Setting("More", "never")] = LOCAL
    """Whose long-term memory is used: a user or a project"""
    observation_characters: Annotated[int, Field(ge=200, le=100_000), Setting("More", "lower")] = (
        2_000
    )
    """Most characters of one result that a prompt shows"""
    schema_characters: Annotated[int, Field(ge=400, le=100_000), Setting("More", "lower")] = 6_000
    """Most characters of a schema that a prompt shows"""
    memory_characters: Annotated[int, Field(ge=1_000, le=1_000_000), Setting("More", "lower")] = (
        8_000
    )
    """Older observations are shortened in prompts beyond this length"""

    max_calls: Annotated[int | None, Field(ge=1), Setting("Budget", "lower")] = None
    """Budget of model calls; up to two more end a step and write the answer"""
    max_tokens: Annotated[int | None, Field(ge=1), Setting("Budget", "lower")] = None
    """Budget of tokens, prompts and replies together"""
    max_seconds: Annotated[float | None, Field(gt=0), Setting("Budget", "lower")] = None
    """Budget of seconds; a call that is under way is cut off"""
    max_dollars: Annotated[float | None, Field(gt=0), Setting("Budget", "lower")] = None
    """Budget of dollars"""

    @property
    def has_documents(self) -> bool:
        """Whether documents are connected."""
        return bool(self.collection or self.web_search)

    @property
    def in_words(self) -> bool:
        """Whether the answer is a text with citations instead of a decision."""
        return self.has_documents and not self.candidates

    def assists(self, role: str) -> bool:
        """Whether the model that plays ``role`` gets the aids for small models."""
        if self.assist == "auto":
            return self.model_for(role).partition(":")[0] == "embedded"
        return self.assist == "on"

    def combines(self, role: str) -> bool:
        """Whether one reply of ``role`` may hold an action, completed steps and the answer at once.

        Small models do better with one small thing at a time. The papers also ask for one.
        """
        guided = self.planning == "guided"
        return self.replan == "adaptive" and guided and not self.assists(role)

    @property
    def in_one_prompt(self) -> bool:
        """Whether one role of PlanRAG plans, thinks, acts and re-plans."""
        return self.planning not in ("guided", "zero_shot")

    @property
    def reply_tokens(self) -> int:
        """Most tokens of a reply, unless its form needs more."""
        return self.max_reply_tokens or _REPLY_TOKENS

    @property
    def agreement_needed(self) -> float:
        """Share of the candidate queries that must return the same for an answer to be sure."""
        least = self.least_agreement
        return self._measures().agreement if least is None else least

    def chance_needed(self, kind: Literal["relational", "graph"]) -> float:
        """Least probability, by the model, that a database can answer the question."""
        if self.least_answerable is not None:
            return self.least_answerable
        measured = self._measures()
        return measured.by_graph if kind == "graph" else measured.by_tables

    @property
    def judges_questions(self) -> bool:
        """Whether the model can judge if a database can answer a question."""
        return self._measures().judges

    def _measures(self) -> "_Measures":
        return _MEASURES.get(self.model_for("query_writer"), _Measures(1.0, 0.5, 0.5))

    @property
    def aids(self) -> AidsGiven:
        """Which roles get aids, for records; it resolves ``auto``."""
        names = {self.model, *self.models.values()}
        if self.assist != "auto":
            return self.assist
        embedded = {name.partition(":")[0] == "embedded" for name in names}
        return "some" if len(embedded) > 1 else "on" if embedded.pop() else "off"

    def model_for(self, role: str) -> str:
        """Name of the chat model that plays ``role``."""
        return self.models.get(role, self.model)


@cache
def settings() -> dict[str, Setting]:
    """Every field of the context with its properties, in order."""
    return {
        name: next(one for one in field.metadata if isinstance(one, Setting))
        for name, field in Context.model_fields.items()
    }


def callers(*kinds: Caller) -> frozenset[str]:
    """The settings for which an outside caller has one of these rights."""
    return frozenset(name for name, one in settings().items() if one.caller in kinds)
