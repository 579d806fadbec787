"""Measures how many of several hidden sentences a model finds for one question.

This is Greg Kamradt's test with several needles at once. One question asks for all of them. The
first is at the beginning of the text, the last at its end, the others evenly between.
"""

import random
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, NamedTuple

import typer
from langchain_core.messages import HumanMessage, SystemMessage
from pydantic import JsonValue

from planweave import BadInput, prompts
from planweave.benchmarks.core.options import SuiteModel
from planweave.benchmarks.core.play import Memory, OnCall, ask_once
from planweave.benchmarks.core.record import Score
from planweave.benchmarks.core.suite import Sample, Selection, ShowStatus, Suite, register
from planweave.benchmarks.suites.needles.haystack import (
    Haystack,
    estimate_tokens,
    hide_needles,
    load,
)
from planweave.benchmarks.suites.needles.tables import draw_heat_map, needle_tables
from planweave.memory import Answer, Context
from planweave.models import process_settings

NAME = "needles"
_INGREDIENTS = (
    *("quince", "nettle", "fennel", "juniper", "rhubarb", "saffron", "chestnut"),
    *("horseradish", "marzipan", "tamarind", "okra", "dandelion", "sorrel", "pomegranate"),
    *("turnip", "mussel", "cardamom", "buckwheat", "gooseberry", "liquorice", "parsnip"),
    *("rosehip", "seaweed", "sardine", "elderflower", "truffle", "walnut", "artichoke"),
    *("beetroot", "cinnamon", "kumquat", "lavender", "millet", "nutmeg", "papaya", "radish"),
    *("wasabi", "coriander", "aubergine", "persimmon"),
)


@dataclass(frozen=True, kw_only=True)
class NeedleOptions(SuiteModel):
    """Options of the suite."""

    data: Annotated[Path, typer.Option(help="The haystack: text, or pages as .jsonl[.gz].")]
    needles: Annotated[int, typer.Option(help="Sentences to hide.", min=1, max=40)] = 10
    shortest: Annotated[int, typer.Option(help="Shortest text in tokens.", min=1)] = 1000
    longest: Annotated[int, typer.Option(help="Longest text in tokens.", min=1)] = 4000
    step: Annotated[int, typer.Option(help="Tokens from one length to the next.", min=1)] = 1000
    runs: Annotated[int, typer.Option(help="Texts of each length.", min=1)] = 3
    seed: Annotated[int, typer.Option(help="Seed for the needles and the part of the text.")] = 1
    window: Annotated[
        int | None, typer.Option(help="Context of the model in tokens; known if embedded.", min=1)
    ] = None


class Target(NamedTuple):
    """A text with needles: their ingredients in order, and its estimated tokens."""

    chosen: tuple[str, ...]
    length: int

    def score(self, answer: Answer | None) -> Score:
        """The share of the needles that the reply names."""
        reply = (answer["decision"] if answer else None) or ""
        known = find_words(reply, ingredients())
        found = [word in known for word in self.chosen]
        missing = [word for word in self.chosen if word not in known]
        return Score(
            value=sum(found) / len(found),
            answer=reply or None,
            explanation=f"{sum(found)} of {len(found)}"
            + (f"; missing: {', '.join(missing)}" if missing else ""),
            details={
                "length": self.length,
                "needles": list[JsonValue](self.chosen),
                "found": list[JsonValue](found),
                "invented": list[JsonValue](sorted(known - set(self.chosen))),
                "cut": bool(answer and answer["unknown"]),
            },
        )


@register(NAME, measures="recall", tables=needle_tables)
class Needles(Suite):
    """Several needles in a haystack, one question for all of them.

    Each length is a scenario; the score is the share of needles that the reply names.
    """

    Options = NeedleOptions
    caption = "Recall by length of the text and position of the needle"
    draw = staticmethod(draw_heat_map)

    def select(self, options: NeedleOptions, context: Context, status: ShowStatus) -> Selection:
        """Several texts of every length."""
        if options.longest < options.shortest:
            raise BadInput("--longest is less than --shortest.")
        lengths, notes = fitting_lengths(options, context)
        made = samples(load(options.data), lengths, options, context)
        counts = {"questions": len(made), "chosen": len(made)}
        sample = {"needles": options.needles, "runs": options.runs, "seed": options.seed}
        return Selection(
            samples=made, about={"name": options.data.name, **counts, **sample}, notes=notes
        )

    async def play(self, sample: Sample, on_call: OnCall) -> Memory:
        """Ask for all needles at once."""
        messages = [
            SystemMessage(prompts.load("needles/system").fill()),
            HumanMessage(sample.asked),
        ]
        return await ask_once(sample, messages, "reader", on_call, seed=sample.context.seed)


def ingredients() -> list[str]:
    """All ingredients that a needle may name."""
    return [*_INGREDIENTS]


def find_words(text: str, among: Iterable[str]) -> set[str]:
    """The words that occur in a text, in singular or plural, ignoring case and accents."""
    plain = unicodedata.normalize("NFKD", text.casefold()).encode("ascii", "ignore").decode()
    return {word for word in among if re.search(rf"\b{_singular_or_plural(word)}\b", plain)}


def _singular_or_plural(word: str) -> str:
    return rf"{word[:-1]}(?:y|ies)" if word.endswith("y") else rf"{word}(?:s|es)?"


def model_window(model: str) -> int | None:
    """Tokens of prompt and reply that the model can process; None if unknown."""
    return process_settings().n_ctx if model.partition(":")[0] == "embedded" else None


def fitting_lengths(options: NeedleOptions, settings: Context) -> tuple[range, list[str]]:
    """The lengths that fit into the model's window, and a note on those that do not."""
    asked = range(options.shortest, options.longest + 1, options.step)
    takes = options.window or model_window(options.model)
    if takes is None:
        return asked, []
    frame = sum(
        estimate_tokens(prompts.load(f"needles/{name}").text) for name in ("system", "question")
    )
    room = takes - frame - settings.reply_tokens
    if asked[-1] <= room:
        return asked, []
    why = (
        f"do not fit, with the question ({frame}) and a reply of up to {settings.reply_tokens}, "
        f"into the {takes} tokens of {options.model}"
    )
    fix = "give the model more context (PLANWEAVE_N_CTX for the embedded one)"
    if options.shortest > room:
        raise BadInput(
            f"Texts of {options.shortest} tokens {why}.",
            fix=f"Lower --shortest or the setting max_reply_tokens, or {fix}.",
        )
    note = f"Texts of more than {room} tokens are left out: they {why}. To ask them, {fix}."
    return range(options.shortest, min(options.longest, room) + 1, options.step), [note]


def samples(
    haystack: Haystack, lengths: Sequence[int], options: NeedleOptions, settings: Context
) -> list[Sample]:
    """Texts of every length, run by run; each draws its needles and its stretch of text.

    A length includes the needles, in estimated tokens.
    """
    needles = options.needles
    present = find_words(haystack.text, ingredients())
    absent = [word for word in ingredients() if word not in present]
    if len(absent) < needles:
        raise BadInput(
            f"There are {len(absent)} ingredients that the text does not name, not {needles}.",
            fix="Lower --needles.",
        )
    return [
        _sample(haystack, absent, length, run, options, settings)
        for run in range(1, options.runs + 1)
        for length in lengths
    ]


def _sample(
    haystack: Haystack,
    absent: Sequence[str],
    length: int,
    run: int,
    options: NeedleOptions,
    settings: Context,
) -> Sample:
    draw = random.Random(f"{options.seed} {length} {run}")
    chosen = tuple(draw.sample(absent, options.needles))
    template = prompts.load("needles/needle")
    text = hide_needles(haystack, [template.fill(ingredient=word) for word in chosen], length, draw)
    return Sample(
        suite=NAME,
        question=f"{length}-{run}",
        scenario=f"{length} tokens",
        method="one question",
        asked=prompts.load("needles/question").fill(text=text),
        context=settings,
        content=f"seed {options.seed}",
        target=Target(chosen, length),
    )
