"""Finisher: writes the answer from the thoughts and texts."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any

from langgraph.runtime import Runtime
from pydantic import BaseModel, Field

from planweave.memory import Answer, Context, Fact, Quote, TaskFamily, WorkingMemory
from planweave.models import Program, Text
from planweave.nodes.assist.asking import repeat_task
from planweave.nodes.deciding.answering_machine import build_cited_answer
from planweave.nodes.support.briefing import plan_text
from planweave.nodes.support.lengths import SHORT, STEP, TEXT, UNKNOWN
from planweave.nodes.support.role import ask_writer, spent
from planweave.prompts import load

_STEP_PREFIX = re.compile(r"^\W*(?:step\b\s*\d*\s*[:.)-]*|\d+\s*[:.)]+(?!\d))?\s*", re.IGNORECASE)


class Code(Program):
    """A program."""


class Steps(BaseModel):
    """A plan."""

    steps: list[Annotated[str, Field(max_length=STEP)]] = Field(max_length=40)


class Prose(Text):
    """A text."""


class Written(BaseModel):
    """The finisher's reply to a question; it may answer from what the model itself knows."""

    text: str = Field(max_length=TEXT)
    short: str | None = Field(max_length=SHORT)
    unknown: str = Field(max_length=UNKNOWN)


_PRODUCTS: Mapping[TaskFamily, tuple[type[BaseModel], Callable[[Any], str]]] = {
    "code": (Code, lambda reply: reply.code),
    "maths": (Code, lambda reply: reply.code),
    "planning": (Steps, lambda reply: plan_lines(reply.steps)),
    "writing": (Prose, lambda reply: reply.text),
}
"""The form of the reply, and a function that extracts the product."""


async def finisher(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
    """Write the answer, program, plan or text into the answer's ``decision``.

    The revised thoughts already are the plan, so a plan needs no model call. After an unreadable
    reply the draft serves as the program or text.
    """
    family = runtime.context.family
    if family == "planning" and state["revised"]:
        return {"answer": _build_answer(plan_lines(state["revised"]), state)}
    task = load(f"rat/{family}_final").fill(notes=_notes_text(state, family, runtime.context))
    if family == "answer":
        return await _answer(task, state, runtime)
    form, product_of = _PRODUCTS[family]
    reply = await ask_writer("finisher", form, task, state, runtime)
    product = product_of(reply.value) if reply.value else ""
    if not product and family in ("code", "writing"):
        product = "\n".join(state["revised"])
    return {"answer": _build_answer(product, state), **spent(reply)}


def plan_lines(steps: Iterable[str]) -> str:
    """The steps as lines that begin with ``STEP n:``, without their own numbers."""
    plain = [text for step in steps if (text := _STEP_PREFIX.sub("", step.strip()))]
    return "\n".join(f"STEP {number}: {step}" for number, step in enumerate(plain, start=1))


async def _answer(task: str, state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
    """Answer in words, without citations of unknown facts."""
    reply = await ask_writer("finisher", Written, task, state, runtime)
    value = reply.value or Written(text="", short=None, unknown="No readable answer.")
    answer = build_cited_answer(value.text, value.short, value.unknown, state, runtime.context)
    return {"answer": answer, **spent(reply)}


def _notes_text(state: WorkingMemory, family: TaskFamily, context: Context) -> str:
    """The thoughts, and the texts that did not revise them; an answer needs all, to cite them."""
    parts = []
    if state["revised"]:
        parts.append(load("rat/thoughts").fill(thoughts=plan_text(state["revised"])))
    taken_up = {(revision["document"], revision["page"]) for revision in state["revisions"]}
    texts = [
        _page_text(fact, quote)
        for fact in state["facts"]
        if (quote := fact["quote"])
        and (family == "answer" or (quote["document"], quote["page"]) not in taken_up)
    ]
    if texts:
        parts.append(load("rat/texts").fill(texts="\n\n".join(texts)))
        parts.append(repeat_task(state, family, context))
    return "\n\n".join(filter(None, parts))


def _page_text(fact: Fact, quote: Quote) -> str:
    return load("documents/page").fill(
        number=str(fact["number"]),
        document=quote["document"],
        page=str(quote["page"]),
        text=fact["text"],
    )


def _build_answer(product: str, state: WorkingMemory) -> Answer:
    return Answer(
        decision=product or None,
        why="",
        facts=list(dict.fromkeys(number for turn in state["turns"] for number in turn["facts"])),
        unknown="" if product else "No readable answer.",
    )
