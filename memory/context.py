"""What varies between runs: models, connections, rules and limits, given as the graph's context."""

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from planweave.redact import holds_secret

ReplanPolicy = Literal["every_observation", "when_needed"]

SearchMode = Literal["fused", "dense", "bm25"]
TaskFamily = Literal["answer", "code", "maths", "planning", "writing"]
RevisionOrder = Literal["causal", "non_causal", "cot_rag"]
AssessorChoice = Literal["trained", "first", "random"]
Assist = Literal["auto", "on", "off"]
CitationCheck = Literal["off", "string", "model"]


def _without_secret(name: str) -> str:
    if name.startswith(("http://", "https://")) and holds_secret(name):
        raise ValueError(
            "the URL of a model may hold no user, password or query; "
            "its key belongs into PLANWEAVE_API_KEY"
        )
    return name


ModelName = Annotated[str, AfterValidator(_without_secret)]
"""A model's name is written into every record, so it may hold no secret."""


class Context(BaseModel):
    """Settings of one run, shown as a form in LangGraph Studio.

    Secrets do not belong here: a URL may name an environment variable as ``${NAME}``, and the
    tool that opens the connection reads it.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    model: ModelName = Field(
        default="embedded", description="Chat model by name, for every role not in `models`"
    )
    models: dict[str, ModelName] = Field(
        default_factory=dict, description="Another chat model for a role, such as planner or judge"
    )
    temperature: Annotated[float, Field(ge=0, le=2)] = 0.0
    seed: int | None = None
    max_reply_tokens: Annotated[int, Field(ge=32, le=8192)] = 512
    assist: Assist = Field(
        default="auto",
        description="Aids for small models, such as corrected queries; auto: for the embedded one",
    )
    query_candidates: Annotated[int, Field(ge=1, le=16)] = Field(
        default=4, description="With aids: queries that are tried, of which the results vote"
    )
    least_agreement: Annotated[float, Field(ge=0, le=1)] = Field(
        default=1.0,
        description="With aids: share of the queries tried that must return the same before an "
        "answer counts as sure",
    )

    database: str | None = Field(
        default=None, description="Relational database: SQLAlchemy URL, SQLite file or .sql script"
    )
    graph: str | None = Field(
        default=None, description="Graph database: bolt:// URL or .cql script"
    )
    collection: str | None = Field(
        default=None, description="Document collection by name, such as energy or alice/energy"
    )
    web_search: str | None = Field(
        default=None,
        description="LangChain search tool by name, such as brave: the web is then searched where "
        "a document collection would be",
    )
    environment: str | None = Field(
        default=None, description="Environment to act in by name, such as hotpotqa or alfworld"
    )
    environment_data: str | None = Field(
        default=None, description="File or folder of the environment's tasks"
    )
    environment_task: str | None = Field(
        default=None, description="The task to solve there, by its id"
    )
    paths: str | None = Field(
        default=None,
        description="InstructRAG, RAP: file of paths that worked; none: the owner's experience",
    )
    agents: str = Field(
        default="shipped",
        description="InstructRAG: agents that propose and select paths: shipped, a file of "
        "`planweave train instructrag`, or none (the paths of the nearest questions)",
    )
    experience: str | None = Field(
        default=None,
        description="PlanRAG: follow the path that fits: shipped (learned from simulations), own "
        "(the owner's experience), or a file of paths",
    )
    candidate_paths: Annotated[int, Field(ge=1, le=10)] = Field(
        default=3, description="InstructRAG: paths that are proposed; RAP: paths that are shown"
    )
    trials: Annotated[int, Field(ge=1, le=5)] = Field(
        default=3, description="Reflexion: attempts at a task"
    )
    tools: tuple[str, ...] = Field(
        default=(),
        description="LangChain tools to offer beside a method's own, by name (docs/extending.md)",
    )
    approve_tools: bool = Field(
        default=False, description="Stop for a person's approval before each call of these tools"
    )
    rules: str = Field(
        default="", description="Business rules that the decision must follow, as text"
    )
    candidates: tuple[str, ...] = Field(
        default=(),
        description="Decisions the question admits; empty: any value found in the database",
    )

    max_iterations: Annotated[int, Field(ge=1, le=100)] = 15
    replan: ReplanPolicy = Field(
        default="every_observation",
        description="Ask the re-planner after every observation, or only when one is empty, "
        "an error, or contradicts the plan",
    )
    evaluations: Annotated[int, Field(ge=0, le=5)] = Field(
        default=0, description="Times that the evaluator may send a plan back; 0: no evaluator"
    )
    approve: bool = Field(
        default=False, description="Stop for a person's approval before a plan starts"
    )

    query_seconds: Annotated[float, Field(gt=0, le=600)] = 10.0
    query_rows: Annotated[int, Field(ge=1, le=1000)] = 40
    pages: Annotated[int, Field(ge=1, le=20)] = Field(
        default=4, description="Pages that one search of the documents returns at most"
    )
    page_characters: Annotated[int, Field(ge=200, le=20_000)] = Field(
        default=2_500, description="A longer page is shown around the words that were found"
    )
    search: SearchMode = Field(
        default="fused", description="Search by meaning and words together, or by one of them"
    )
    reranker: str | None = Field(
        default=None, description="Orders the pages found once more; such as maxsim"
    )
    corrective: bool = Field(
        default=False, description="Have a grader drop pages that do not bear on the question"
    )
    faithfulness: bool = Field(
        default=False, description="Measure how far each fact is supported by its page"
    )
    citation_check: CitationCheck = Field(
        default="string", description="Check the answer's claims by words and numbers, by a model"
    )
    ask_again: bool = Field(
        default=True,
        description="Ask the model once more where a rule on its facts gives another decision",
    )
    strict: bool = Field(
        default=False, description="Withhold a decision that does not follow from the facts"
    )
    family: TaskFamily = Field(
        default="answer", description="What RAT writes: an answer, a program, a plan or a text"
    )
    revision: RevisionOrder = Field(
        default="causal",
        description="RAT: revise step by step, all steps from one retrieval, or from one query",
    )
    retrievals: Annotated[int, Field(ge=0, le=50)] = Field(
        default=5,
        description="Retrievals at most in one run of RAT, pages of a RAG baseline; 0: no source",
    )
    skip_agreeing: bool = Field(
        default=False, description="RAT: leave a step as it is when the page found agrees with it"
    )
    parallel: bool = Field(
        default=False, description="RAT: revise steps that do not need each other at once"
    )
    masking: bool = Field(
        default=True, description="FuRePA: hide earlier reasoning and queries from the reasoner"
    )
    assessor: AssessorChoice = Field(
        default="trained", description="FuRePA: which candidate query is carried out"
    )
    first_temperature: Annotated[float, Field(ge=0, le=2)] = Field(
        default=0.2, description="FuRePA: temperature of the reasoner, above that of the run"
    )
    temperature_raise: bool = Field(
        default=True, description="FuRePA: raise the temperature when queries repeat themselves"
    )
    temperature_step: Annotated[float, Field(ge=0, le=2)] = Field(
        default=0.8, description="FuRePA: by how much it is raised each time"
    )
    same_query: Annotated[float, Field(gt=0, le=1)] = Field(
        default=0.9, description="FuRePA: cosine from which on two queries mean the same"
    )
    proposals: Annotated[int, Field(ge=1, le=20)] = Field(
        default=5, description="FuRePA: candidate queries a round"
    )
    ensemble_of: str = Field(default="agent_v3", description="Method that the ensemble runs")
    ensemble_runs: Annotated[int, Field(ge=1, le=50)] = 3
    ensemble_temperature: Annotated[float, Field(ge=0, le=2)] = Field(
        default=0.7, description="Temperature of its runs, above 0 so that they differ"
    )
    owner: str = Field(
        default="local", description="Whose long-term memory is used: a user or a project"
    )
    observation_characters: Annotated[int, Field(ge=200, le=100_000)] = 2_000
    schema_characters: Annotated[int, Field(ge=400, le=100_000)] = 6_000
    memory_characters: Annotated[int, Field(ge=1_000, le=1_000_000)] = Field(
        default=8_000, description="Older observations are shortened in prompts beyond this length"
    )

    max_calls: Annotated[int, Field(ge=1)] | None = None
    max_tokens: Annotated[int, Field(ge=1)] | None = None
    max_seconds: Annotated[float, Field(gt=0)] | None = None
    max_dollars: Annotated[float, Field(gt=0)] | None = None

    @property
    def has_documents(self) -> bool:
        """Whether documents can be searched for."""
        return bool(self.collection or self.web_search)

    def assists(self, role: str) -> bool:
        """Whether the model that plays ``role`` gets the aids for small models."""
        if self.assist == "auto":
            return self.model_for(role).partition(":")[0] == "embedded"
        return self.assist == "on"

    def model_for(self, role: str) -> str:
        """Name of the chat model that plays ``role``."""
        return self.models.get(role, self.model)
