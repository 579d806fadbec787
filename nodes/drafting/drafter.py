"""Drafter: thinks step by step before anything is looked up (zero-shot chain of thought)."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Annotated, NamedTuple

from langgraph.runtime import Runtime
from pydantic import BaseModel, Field

from planweave.memory import Context, WorkingMemory
from planweave.nodes.support.lengths import DRAFT_STEP, THOUGHT
from planweave.nodes.support.role import failures, usage
from planweave.nodes.support.writer import ask_writer
from planweave.prompts import load

MAX_STEPS = 16
Text = Annotated[str, Field(max_length=DRAFT_STEP)]
"""A step: a sentence, a piece of a program, a paragraph."""


class Thought(NamedTuple):
    """A step of a draft, and the numbers of the earlier steps that it builds on."""

    text: str
    needs: list[int]


class Drafted(BaseModel):
    """The drafter's reply."""

    thought: str = Field(max_length=THOUGHT)

    @abstractmethod
    def thoughts(self) -> list[Thought]:
        """The steps, with what each builds on."""


class Draft(Drafted):
    """Steps that are taken to build on all before them."""

    steps: list[Text] = Field(min_length=1, max_length=MAX_STEPS)

    def thoughts(self) -> list[Thought]:
        """See :class:`Drafted`."""
        return in_order(self.steps)


class Step(BaseModel):
    """A step that says itself what it builds on."""

    text: Text
    needs: list[int]


class LinkedDraft(Drafted):
    """Steps of which some may stand by themselves."""

    steps: list[Step] = Field(min_length=1, max_length=MAX_STEPS)

    def thoughts(self) -> list[Thought]:
        """See :class:`Drafted`; an empty step is left out, and a later one is never needed."""
        kept = [number for number, step in enumerate(self.steps, 1) if step.text.strip()]
        place = {number: at for at, number in enumerate(kept, 1)}
        return [
            Thought(
                self.steps[number - 1].text.strip(),
                sorted(
                    {place[n] for n in self.steps[number - 1].needs if n in place and n < number}
                ),
            )
            for number in kept
        ]


async def drafter(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
    """Write the draft; a plan that was given is taken for it.

    An unreadable reply leaves no draft: the task is then done without.
    """
    context = runtime.context
    if state["plan"]:
        return _drafted(in_order(state["plan"]), "")
    linked = context.parallel and context.revision == "causal"
    form = load("rat/draft_with_needs" if linked else "rat/draft").fill()
    task = load(f"rat/{context.family}_draft").fill(reply=form)
    output: type[Drafted] = LinkedDraft if linked else Draft
    reply = await ask_writer("drafter", output, task, state, runtime)
    thoughts = reply.value.thoughts() if reply.value else []
    drafted = _drafted(thoughts, reply.value.thought.strip() if reply.value else "")
    return drafted | {"usage": usage(reply), "failures": failures(reply)}


def in_order(steps: Sequence[str]) -> list[Thought]:
    """Steps of which each builds on all before it."""
    texts = [text for step in steps if (text := step.strip())]
    return [Thought(text, [*range(1, number)]) for number, text in enumerate(texts, 1)]


def _drafted(thoughts: list[Thought], reasoning: str) -> WorkingMemory:
    draft = [thought.text for thought in thoughts]
    needs = [thought.needs for thought in thoughts]
    return {"draft": draft, "needs": needs, "revised": draft, "reasoning": reasoning}
