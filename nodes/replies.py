"""Forms of replies that several roles share: plans with needs, decisions, answers in words."""

from collections.abc import Sequence
from functools import cache
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, Field, create_model, field_validator, model_validator

from planweave.memory import Context, Tool
from planweave.models import InPrompt
from planweave.nodes.citation_check import in_words

MAX_STEPS = 6
Step = Annotated[str, Field(max_length=200)]
MAX_AT_ONCE = 6
"""Actions that one reply may ask for."""

Rule = Literal["stated", "highest", "lowest", "count", "sum", "comparison"]


class Decision(BaseModel):
    """The answering machine's reply to a decision question; the reasons come before it."""

    why: str = Field(max_length=600)
    facts: list[int]
    decision: str | None = Field(max_length=100)
    how: Rule = "stated"
    column: str = Field(default="", max_length=60)
    unknown: str = Field(max_length=300)

    @field_validator("how", mode="before")
    @classmethod
    def _known(cls, how: object) -> object:
        """A rule by another name is none: no reason to ask again."""
        return how if how in get_args(Rule) else "stated"


class CitedAnswer(BaseModel):
    """The answering machine's reply to a question about documents, with citations in its text."""

    # A small model that first says what is asked and what tells it answers more fully, and owns
    # more often that nothing does.
    asked: str = Field(default="", max_length=300)
    told_by: list[int] = Field(default=[], max_length=20)
    text: str = Field(max_length=1500)
    short: str | None = Field(max_length=100)
    unknown: str = Field(max_length=300)


class Verdict(BaseModel):
    """Whether V3's answering machine answers now; the reason comes before it."""

    reason: str = Field(max_length=300)
    verdict: Literal["CONTINUE", "TERMINATE"]


class Plan(BaseModel):
    """The planner's reply."""

    steps: list[Step] = Field(min_length=1, max_length=MAX_STEPS)


class Judgement(BaseModel):
    """The re-planner's reply: Y with a whole new plan, or N."""

    reason: str = Field(max_length=300)
    replan: Literal["Y", "N"]
    steps: list[Step] = Field(max_length=MAX_STEPS)


class PlannedStep(BaseModel):
    """A step of a plan, and the numbers of the earlier steps whose results it needs.

    One that needs none may say with which tool and input it is carried out.
    """

    text: Step
    needs: list[int] = Field(default=[], max_length=MAX_STEPS)
    tool: str = ""
    input: str = Field(default="", max_length=4000)

    @model_validator(mode="before")
    @classmethod
    def _bare(cls, step: object) -> object:
        """A step of which only the text is written needs nothing, as far as is known."""
        return {"text": step} if isinstance(step, str) else step


class PlanWithNeeds(InPrompt):
    """A :class:`Plan` that says what each step needs; no step where nothing needs planning."""

    steps: list[PlannedStep] = Field(max_length=MAX_STEPS)


class JudgementWithNeeds(InPrompt):
    """A :class:`Judgement` whose new plan says what each step needs."""

    reason: str = Field(max_length=300)
    replan: Literal["Y", "N"]
    steps: list[PlannedStep] = Field(max_length=MAX_STEPS)


def steps_of(planned: Sequence[str | PlannedStep]) -> tuple[list[str], list[list[int]]]:
    """The steps as texts, and for each the earlier ones that it says it needs."""
    steps = [PlannedStep.model_validate(step) for step in planned]
    written = [step for step in steps if step.text.strip()]
    needs = [
        sorted({number for number in step.needs if 0 < number <= before})
        for before, step in enumerate(written)
    ]
    return [step.text.strip() for step in written], needs


def answer_form(context: Context) -> type[Decision] | type[CitedAnswer]:
    """How an answer to this run's question is written."""
    return CitedAnswer if in_words(context) else Decision


@cache
def verdict_form(answer: type[Decision] | type[CitedAnswer]) -> type[Verdict]:
    """A :class:`Verdict` with the answer, or else with the next task."""
    fields: dict[str, Any] = {
        "task": (str, Field(default="", max_length=300)),
        "answer": (answer | None, None),
    }
    return create_model("VerdictAndMore", __base__=Verdict, **fields)


@cache
def actions_form(
    tools: tuple[Tool, ...], answer: type[Decision] | type[CitedAnswer], most: int
) -> type[BaseModel]:
    """A selector's reply with at most ``most`` actions at once, or with none and the answer."""
    one: dict[str, Any] = {
        "tool": (Literal[tools], ...),
        "input": (str, Field(max_length=4000)),
        "completes": (list[int], Field(default=[], max_length=MAX_STEPS)),
    }
    act: Any = create_model("Act", **one)
    fields: dict[str, Any] = {
        "thought": (str, Field(max_length=600)),
        "actions": (list[act], Field(max_length=most)),
        "answer": (answer | None, None),
    }
    return create_model("Actions", __base__=InPrompt, **fields)
