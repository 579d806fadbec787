"""Forms of replies that several roles share: plans with needs, decisions, answers in words."""

from collections.abc import Sequence
from functools import cache
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, Field, create_model, field_validator, model_validator

from planweave.memory import Context, Tool
from planweave.models import InPrompt
from planweave.nodes.support.lengths import (
    COLUMN,
    FIRST_INPUT,
    PLAN_STEPS,
    QUERY,
    REASON,
    REASONING,
    SHORT,
    STEP,
    TEXT,
    UNKNOWN,
)

Step = Annotated[str, Field(max_length=STEP)]
MAX_AT_ONCE = 6
"""Actions that one reply may ask for."""

DecisionRule = Literal["stated", "highest", "lowest", "count", "sum", "comparison"]


class Decision(BaseModel):
    """The answering machine's reply to a decision question; the reasons come before it."""

    why: str = Field(max_length=REASONING)
    facts: list[int]
    decision: str | None = Field(max_length=SHORT)
    how: DecisionRule = "stated"
    column: str = Field(default="", max_length=COLUMN)
    unknown: str = Field(max_length=UNKNOWN)

    @field_validator("how", mode="before")
    @classmethod
    def _replace_unknown(cls, how: object) -> object:
        """Replace an unknown rule, so that it causes no retry."""
        return how if how in get_args(DecisionRule) else "stated"


class CitedAnswer(BaseModel):
    """The answering machine's reply to a question about documents, with citations in its text."""

    # A small model that first repeats what is asked and names the facts answers more fully, and
    # admits more often that no fact answers.
    asked: str = Field(default="", max_length=STEP)
    told_by: list[int] = Field(default=[], max_length=20)
    text: str = Field(max_length=TEXT)
    short: str | None = Field(max_length=SHORT)
    unknown: str = Field(max_length=UNKNOWN)


class Verdict(BaseModel):
    """Whether V3's answering machine answers now; the reason comes before it."""

    reason: str = Field(max_length=REASON)
    verdict: Literal["CONTINUE", "TERMINATE"]


class Plan(BaseModel):
    """The planner's reply."""

    steps: list[Step] = Field(min_length=1, max_length=PLAN_STEPS)


class Judgement(BaseModel):
    """The re-planner's reply: Y with a whole new plan, or N."""

    reason: str = Field(max_length=REASON)
    replan: Literal["Y", "N"]
    steps: list[Step] = Field(max_length=PLAN_STEPS)


class PlannedStep(BaseModel):
    """A step of a plan, and the numbers of the earlier steps whose results it needs.

    A step without needs may name its tool and input.
    """

    text: Step
    needs: list[int] = Field(default=[], max_length=PLAN_STEPS)
    tool: str = Field(default="", max_length=COLUMN)
    input: str = Field(default="", max_length=FIRST_INPUT)

    @model_validator(mode="before")
    @classmethod
    def _from_text(cls, step: object) -> object:
        """Read a plain text as a step without needs."""
        return {"text": step} if isinstance(step, str) else step


class PlanWithNeeds(InPrompt):
    """A :class:`Plan` with the needs of each step; it may plan nothing."""

    steps: list[PlannedStep] = Field(max_length=PLAN_STEPS)


class JudgementWithNeeds(InPrompt):
    """A :class:`Judgement` whose new plan has the needs of each step."""

    reason: str = Field(max_length=REASON)
    replan: Literal["Y", "N"]
    steps: list[PlannedStep] = Field(max_length=PLAN_STEPS)


def steps_of(planned: Sequence[str | PlannedStep]) -> tuple[list[str], list[list[int]]]:
    """The texts of the steps, and the earlier steps that each needs."""
    steps = [PlannedStep.model_validate(step) for step in planned]
    written = [step for step in steps if step.text.strip()]
    needs = [
        sorted({number for number in step.needs if 0 < number <= before})
        for before, step in enumerate(written)
    ]
    return [step.text.strip() for step in written], needs


@cache
def decision_form(longest: int) -> type[Decision]:
    """A :class:`Decision` that is long enough for the longest candidate."""
    if longest <= SHORT:
        return Decision
    room: Any = (str | None, Field(max_length=longest))
    return create_model("Decision", __base__=Decision, __module__=__name__, decision=room)


def answer_form(context: Context) -> type[Decision] | type[CitedAnswer]:
    """The form of an answer to the question of this run."""
    if context.in_words:
        return CitedAnswer
    return decision_form(max(map(len, context.candidates), default=0))


@cache
def verdict_form(answer: type[Decision] | type[CitedAnswer]) -> type[Verdict]:
    """A :class:`Verdict` with the answer or the next task."""
    fields: dict[str, Any] = {
        "task": (str, Field(default="", max_length=STEP)),
        "answer": (answer | None, None),
    }
    return create_model("VerdictAndMore", __base__=Verdict, **fields)


class _Acting(InPrompt):
    """A reply that names actions; one that names a single action outright is read as well."""

    @model_validator(mode="before")
    @classmethod
    def _from_single_action(cls, reply: object) -> object:
        if not isinstance(reply, dict) or "actions" in reply or "tool" not in reply:
            return reply
        one = {name: reply[name] for name in ("tool", "input", "completes") if name in reply}
        actions = [] if one["tool"] == "finish" else [one]
        return {"thought": reply.get("thought", ""), "actions": actions}


@cache
def actions_form(
    tools: tuple[Tool, ...], answer: type[Decision] | type[CitedAnswer], most: int
) -> type[BaseModel]:
    """A selector's reply with at most ``most`` actions, or with the answer and no action."""
    one: dict[str, Any] = {
        "tool": (Literal[tools], ...),
        "input": (str, Field(max_length=QUERY)),
        "completes": (list[int], Field(default=[], max_length=PLAN_STEPS)),
    }
    act: Any = create_model("Act", **one)
    fields: dict[str, Any] = {
        "thought": (str, Field(max_length=REASONING)),
        "actions": (list[act], Field(max_length=most)),
        "answer": (answer | None, None),
    }
    return create_model("Actions", __base__=_Acting, **fields)
