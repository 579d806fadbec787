"""The record of one finished sample in a result file."""

from collections.abc import Iterable, Sequence
from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, Field, JsonValue

from planweave.memory import Context, settings
from planweave.models import CallRecord
from planweave.models.usage import PromptMessage

MemoryEntry: TypeAlias = dict[str, JsonValue]
"""One entry of working memory (a Turn, Fact …) as JSON."""

_ADDED_LATER = {
    *("candidate_paths", "trials", "agents", "path_aids", "ask_again", "strict", "tools"),
    *("approve_tools", "first_temperature", "temperature_step", "same_query", "query_from"),
    *("planning", "unmasked", "irrelevant_pages", "triplets"),
}
"""Fields that are newer than stored results: omitted at their default, so that keys stay."""

DEFAULTS: dict[str, str | int] = {"confirmed_queries": 0}
"""Settings of all benchmarks unless others are given: what their user has confirmed must not help.
Omitted as above."""


class Score(BaseModel, frozen=True):
    """The score of one answer; metrics are means and intervals over scores."""

    value: Annotated[float, Field(allow_inf_nan=False)]  # 1 for right, 0 for wrong, or between
    answer: str | None
    explanation: str
    details: dict[str, JsonValue] = {}  # what else the suite's report needs


def settings_of(context: Context) -> dict[str, JsonValue]:
    """The settings that a result depends on: the context without the question's sources."""
    unrecorded = {name for name, one in settings().items() if not one.recorded}
    defaults = {name: Context.model_fields[name].default for name in _ADDED_LATER} | DEFAULTS
    default = {name for name, value in defaults.items() if getattr(context, name) == value}
    return context.model_dump(mode="json", exclude=unrecorded | default)


class Called(BaseModel, frozen=True):
    """One call of a model; its messages are (role, index into ``Record.texts``)."""

    prompt: tuple[tuple[str, int], ...]
    record: CallRecord

    def with_prompt(self, texts: Sequence[str]) -> CallRecord:
        """The call with the full text of its prompt."""
        prompt = tuple(PromptMessage(role=role, content=texts[at]) for role, at in self.prompt)
        return self.record.model_copy(update={"prompt": prompt})


class Record(BaseModel, frozen=True):
    """One finished sample: one line of a result file."""

    kind: Literal["sample"] = "sample"
    key: str
    suite: str
    question: str
    scenario: str
    method: str
    database: str
    model: str
    settings: dict[str, JsonValue]
    aids: Literal["on", "off", "some"] | None = None  # None in older files
    started: str
    seconds: float  # wall time, waiting for the model included
    error: str = ""
    score: Score
    answer: MemoryEntry | None = None
    claims: list[MemoryEntry] = []
    plan: list[str] = []
    turns: list[MemoryEntry] = []
    facts: list[MemoryEntry] = []
    replans: list[MemoryEntry] = []
    failures: list[MemoryEntry] = []
    texts: list[str] = []  # the distinct messages of all prompts
    calls: list[Called] = []

    def pages(self, numbers: Sequence[object] | None = None) -> list[tuple[str, int]]:
        """Document and page of each quoted fact with these numbers; of all facts if None."""
        named = [fact for fact in self.facts if numbers is None or fact["number"] in numbers]
        quotes = [quote for fact in named if isinstance(quote := fact["quote"], dict)]
        return [(str(quote["document"]), int(str(quote["page"]))) for quote in quotes]

    @property
    def tokens(self) -> int:
        """Tokens of all prompts and replies."""
        return sum(call.record.input_tokens + call.record.output_tokens for call in self.calls)

    @property
    def dollars(self) -> float | None:
        """Cost of all calls; None if the price of one is unknown."""
        costs = [call.record.dollars for call in self.calls]
        known = [cost for cost in costs if cost is not None]
        return sum(known) if len(known) == len(costs) else None


def share_texts(calls: Iterable[CallRecord]) -> tuple[list[str], list[Called]]:
    """The distinct messages of all prompts, and the calls with indices into them."""
    places: dict[str, int] = {}
    called = []
    for call in calls:
        prompt = tuple(
            (message.role, places.setdefault(message.content, len(places)))
            for message in call.prompt
        )
        called.append(Called(prompt=prompt, record=call.model_copy(update={"prompt": ()})))
    return list(places), called


def without_texts(record: Record) -> Record:
    """The record without prompts and without text from pages and environments.

    A plan for an environment holds words of the task, so it is removed, too. Questions, searches,
    replies and scores stay, so that every report can still be made; they may quote the data set.
    """
    calls = [called.model_copy(update={"prompt": ()}) for called in record.calls]
    facts = [_without_text(fact) if _is_quoted(fact) else fact for fact in record.facts]
    acted = any(fact.get("source") == "environment" for fact in facts)
    plan = [] if acted else record.plan
    return record.model_copy(update={"texts": [], "calls": calls, "facts": facts, "plan": plan})


def _is_quoted(fact: MemoryEntry) -> bool:
    return bool(fact.get("quote")) or fact.get("source") == "environment"


def _without_text(fact: MemoryEntry) -> MemoryEntry:
    quote = fact.get("quote")
    place = {**quote, "text": ""} if isinstance(quote, dict) else None
    return {**fact, "text": "", "quote": place}
