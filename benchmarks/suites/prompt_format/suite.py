"""Prompt format: compares how models follow the same instructions in several formats."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Literal, NamedTuple, get_args

import typer
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage

from planweave import BadInput, prompts
from planweave.benchmarks.core.options import SuiteModel, listed
from planweave.benchmarks.core.play import Memory, OnCall, ask_once
from planweave.benchmarks.core.record import Score
from planweave.benchmarks.core.suite import Sample, Selection, ShowStatus, Suite, register
from planweave.benchmarks.suites.prompt_format.checks import CHECKS, repeats
from planweave.benchmarks.suites.prompt_format.tables import format_tables
from planweave.memory import Answer, Context

NAME = "prompt_format"

Format = Literal["plain", "system", "roles", "prefix"]
FORMATS: tuple[Format, ...] = get_args(Format)


@dataclass(frozen=True, kw_only=True)
class FormatOptions(SuiteModel):
    """Options of the suite."""

    style: Annotated[
        str,
        typer.Option("--format", help="Comma-separated: plain, system, roles, prefix; or all."),
    ] = "all"
    temperature: Annotated[str, typer.Option(help="Comma-separated temperatures, from 0 to 2.")] = (
        "0,1"
    )
    trials: Annotated[int, typer.Option(help="Trials of each prompt.", min=1, max=100)] = 2


@register(NAME, measures="instruction following", tables=format_tables)
class PromptFormat(Suite):
    """Fourteen instructions in four formats: compliance, repetition, length.

    Each format is a method, each temperature a scenario.
    """

    Options = FormatOptions

    def select(self, options: FormatOptions, context: Context, status: ShowStatus) -> Selection:
        """Every prompt, trial by trial; the format prefix only if the model supports it."""
        chosen = listed(options.style, FORMATS, "format")
        notes = []
        if options.style == "all" and not can_continue(options.model):
            chosen.remove("prefix")
            notes.append(
                f"The format prefix is skipped: {options.model} is not known to continue a reply "
                "that has begun. If it does, name the formats with --format."
            )
        made = [
            _sample(Wording(name, style, trial), temperature, context)
            for trial in range(1, options.trials + 1)
            for name in CHECKS
            for temperature in _parse_temperatures(options.temperature)
            for style in chosen
        ]
        about = {"questions": len(CHECKS), "chosen": len(CHECKS), "trials": options.trials}
        return Selection(samples=made, about=about, notes=notes)

    async def play(self, sample: Sample, on_call: OnCall) -> Memory:
        """Ask once; the decision is the reply."""
        wording: Wording = sample.target
        seed = (sample.context.seed or 0) + wording.number - 1
        return await ask_once(
            sample, wording.messages, "assistant", on_call, seed, whole=wording.whole
        )


def _parse_temperatures(text: str) -> list[float]:
    try:
        found = [float(part) for part in text.split(",")]
    except ValueError:
        found = []
    if not found or not all(0 <= value <= 2 for value in found):
        raise BadInput(f"{text!r} are not temperatures.", fix="Write 0,1 or others from 0 to 2.")
    return list(dict.fromkeys(found))


class FormatTask(NamedTuple):
    """The parts of one of the fourteen prompts; ``primer`` may be empty."""

    instruction: str
    question: str
    user: str
    assistant: str
    primer: str = ""


def task(name: str) -> FormatTask:
    """A section of ``tasks.md``, split by its headings."""
    text = _tasks()[name]
    found = re.findall(r"^# (\w+)\n(.+?)\n*(?=^# |\Z)", text, re.MULTILINE | re.DOTALL)
    return FormatTask(**{heading.lower(): part for heading, part in found})


@cache
def _tasks() -> Mapping[str, str]:
    return prompts.sections(Path(__file__).parent / "tasks.md")


def can_continue(model: str) -> bool:
    """Whether the model is known to continue a reply that has begun."""
    return model.partition(":")[0] == "embedded"


def _sample(wording: "Wording", temperature: float, settings: Context) -> Sample:
    return Sample(
        suite=NAME,
        question=wording.name,
        scenario=f"temperature {temperature:g}",
        method=wording.style,
        asked="\n\n".join(f"{one.type}: {one.text}" for one in wording.messages),
        context=settings.model_copy(update={"temperature": temperature}),
        content=f"trial {wording.number}",
        target=wording,
    )


@dataclass(frozen=True)
class Wording:
    """One trial of a prompt in one format."""

    name: str
    style: Format
    number: int

    @property
    def messages(self) -> list[BaseMessage]:
        """The messages to the model."""
        own = task(self.name)
        if self.style == "plain":
            fills = {"instruction": own.instruction, "question": own.question}
            return [HumanMessage(_fill_prompt("format_plain", **fills))]
        if self.style == "system":
            return [SystemMessage(own.instruction), HumanMessage(own.question)]
        roles = {"assistant": own.assistant, "user": own.user, "instruction": own.instruction}
        messages: list[BaseMessage] = [
            SystemMessage(_fill_prompt("format_roles_system", **roles)),
            HumanMessage(_fill_prompt("format_roles_user", user=own.user, question=own.question)),
        ]
        return [*messages, AIMessage(self._prefix)] if self.style == "prefix" else messages

    @property
    def _prefix(self) -> str:
        own = task(self.name)
        return _fill_prompt("format_prefix", assistant=own.assistant, primer=own.primer).strip()

    def whole(self, reply: str) -> str:
        """The whole reply: with the primer that it continues, without the role's name.

        Only some servers send the prefix back.
        """
        if self.style == "prefix" and not reply.startswith(self._prefix):
            reply = self._prefix + reply
        label = f"{task(self.name).assistant}:" if self.style in ("roles", "prefix") else ""
        return reply.strip().removeprefix(label).strip()

    def score(self, answer: Answer | None) -> Score:
        """1 if the reply follows its instruction."""
        reply = (answer["decision"] if answer else None) or ""
        followed, repeated = CHECKS[self.name](reply), repeats(reply)
        return Score(
            value=float(followed),
            answer=reply or None,
            explanation=f"{'followed' if followed else 'not followed'}: {reply[:60]}",
            details={
                "trial": self.number,
                "repeats": repeated,
                "characters": len(reply),
                "cut": bool(answer and answer["unknown"]),
            },
        )


def _fill_prompt(name: str, **values: str) -> str:
    return prompts.load(f"prompt_format/{name}").fill(**values)
