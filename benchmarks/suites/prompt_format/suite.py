"""Prompt format: the same instructions, written in several ways; which way is followed?"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple, get_args

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage

from planweave import prompts
from planweave.benchmarks.core.play import OnCall
from planweave.benchmarks.core.record import Record, Score
from planweave.benchmarks.core.suite import Sample, Suite, register
from planweave.benchmarks.core.table import Table
from planweave.benchmarks.suites.prompt_format.checks import CHECKS, repeats
from planweave.benchmarks.suites.prompt_format.tables import format_tables
from planweave.memory import Answer, Context, WorkingMemory
from planweave.models import achat_model, call

NAME = "prompt_format"

Format = Literal["plain", "system", "roles", "prefix"]
FORMATS: tuple[Format, ...] = get_args(Format)


@register(NAME, measures="instruction following")
class PromptFormat(Suite):
    """The suite: each format is a method, each temperature a scenario."""

    def tables(self, records: Sequence[Record]) -> list[Table]:
        """Repetition and length, each prompt, and the formats against plain text."""
        return format_tables(records)


class Task(NamedTuple):
    """The parts of one of the fourteen prompts; ``primer`` may be empty."""

    instruction: str
    question: str
    user: str
    assistant: str
    primer: str = ""


def task(name: str) -> Task:
    """The section of ``tasks.md``, taken apart by its headings."""
    text = _tasks()[name]
    found = re.findall(r"^# (\w+)\n(.+?)\n*(?=^# |\Z)", text, re.MULTILINE | re.DOTALL)
    return Task(**{heading.lower(): part for heading, part in found})


@cache
def _tasks() -> Mapping[str, str]:
    return prompts.sections(Path(__file__).parent / "tasks.md")


def continues(model: str) -> bool:
    """Whether the model is known to go on from the beginning of a reply."""
    return model.partition(":")[0] == "embedded"


def samples(
    *,
    formats: Sequence[Format],
    temperatures: Sequence[float],
    trials: int,
    settings: Context,
) -> list[Sample]:
    """Every prompt in every format at every temperature, trial by trial.

    Args:
        formats: Some of :data:`FORMATS`.
        temperatures: Of the sampling.
        trials: Each with a seed of its own.
        settings: The context; its temperature is replaced, its seed is the first trial's.
    """
    return [
        _sample(name, style, settings.model_copy(update={"temperature": temperature}), trial)
        for trial in range(1, trials + 1)
        for name in CHECKS
        for temperature in temperatures
        for style in formats
    ]


def _sample(name: str, style: Format, context: Context, number: int) -> Sample:
    trial = Trial(name, style, number)
    return Sample(
        suite=NAME,
        question=name,
        scenario=f"temperature {context.temperature:g}",
        method=style,
        database="",
        asked="\n\n".join(f"{message.type}: {message.text}" for message in trial.messages),
        context=context,
        content=f"trial {number}",
        judge=trial.score,
        play=trial.play,
    )


@dataclass(frozen=True)
class Trial:
    """One prompt in one format, asked once.

    Attributes:
        name: Of the prompt.
        style: The format.
        number: Of the trial, from 1.
    """

    name: str
    style: Format
    number: int

    @property
    def messages(self) -> list[BaseMessage]:
        """What the model is sent."""
        own = task(self.name)
        if self.style == "plain":
            fills = {"instruction": own.instruction, "question": own.question}
            return [HumanMessage(_filled("format_plain", **fills))]
        if self.style == "system":
            return [SystemMessage(own.instruction), HumanMessage(own.question)]
        roles = {"assistant": own.assistant, "user": own.user, "instruction": own.instruction}
        messages: list[BaseMessage] = [
            SystemMessage(_filled("format_roles_system", **roles)),
            HumanMessage(_filled("format_roles_user", user=own.user, question=own.question)),
        ]
        return [*messages, AIMessage(self._prefix)] if self.style == "prefix" else messages

    @property
    def _prefix(self) -> str:
        own = task(self.name)
        return _filled("format_prefix", assistant=own.assistant, primer=own.primer).strip()

    async def play(self, sample: Sample, on_call: OnCall) -> WorkingMemory:
        """Ask once; the decision is the reply, ``unknown`` tells that it was cut."""
        context = sample.context
        model = await achat_model(
            context.model,
            temperature=context.temperature,
            max_tokens=context.reply_tokens,
            seed=(context.seed or 0) + self.number - 1,
        )
        reply = await call(model, self.messages, role="assistant")
        on_call(reply.record)
        unknown = "The reply was cut." if reply.cut else ""
        return {"answer": Answer(decision=self.said(reply.text), why="", facts=[], unknown=unknown)}

    def said(self, reply: str) -> str:
        """The whole reply: with the primer that it goes on from, without the role's name.

        Some servers send the prefix back and some do not.
        """
        if self.style == "prefix" and not reply.startswith(self._prefix):
            reply = self._prefix + reply
        label = f"{task(self.name).assistant}:" if self.style in ("roles", "prefix") else ""
        return reply.strip().removeprefix(label).strip()

    def score(self, answer: Answer | None) -> Score:
        """1 if the reply follows its instruction."""
        said = (answer["decision"] if answer else None) or ""
        followed, repeated = CHECKS[self.name](said), repeats(said)
        return Score(
            value=float(followed),
            answer=said or None,
            explanation=f"{'followed' if followed else 'not followed'}: {said[:60]}",
            details={
                "trial": self.number,
                "repeats": repeated,
                "characters": len(said),
                "cut": bool(answer and answer["unknown"]),
            },
        )


def _filled(name: str, **values: str) -> str:
    return prompts.load(f"prompt_format/{name}").fill(**values)
