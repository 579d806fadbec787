"""A chat model that follows a script, to drive a graph along one edge or another.

A script is called with each :class:`Prompt` and gives the reply. It is used like every other model,
by name: ``Context(model=register(script))``.
"""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from langchain_core.messages import BaseMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from planweave import testing
from planweave.graphs import METHODS
from planweave.memory import Answer, Context, Input, WorkingMemory
from planweave.models import register_model

Item = TypeVar("Item")
_TASK = re.compile(r"^# Your task now: (.+)$", re.MULTILINE)
_TASKS = {
    "the plan": "plan",
    "the question": "interpret",
    "the next action": "action",
    "the one query": "action",
    "judge the plan": "judge",
    "the decision": "decide",
    "the next command": "command",
    "evaluate the plan": "evaluate",
    "answer or go on": "verdict",
    "the task": "task",
    "read the pages": "read",
    "the answer": "answer",
    "check the claims": "check",
    "reason": "reason",
    "the next thought": "think",
    "the draft": "draft",
    "the search query": "query",
    "the revision": "revise",
    "the program": "program",
    "the steps": "steps",
    "the text": "text",
    "the statements": "state",
    "verify the statements": "verify",
    "the questions": "ask",
    "the sentences that matter": "copy",
    "grade the answer": "mark",
    "the reflection": "reflect",
    "the next sub-question": "deduce",
    "ground the answer": "ground",
    "compare the texts": "compare",
    "the formulas": "formulas",
}


class Prompt(NamedTuple):
    """What the model was shown: the messages, their text, and which task is set."""

    task: str
    text: str
    messages: tuple[BaseMessage, ...]

    @classmethod
    def of(cls, messages: Sequence[BaseMessage]) -> "Prompt":
        text = "\n\n".join(message.text for message in messages)
        headings = _TASK.findall(text)
        task = _TASKS[headings[-1]] if headings else "write"  # the query writer's prompt is plain
        return cls(task, text, tuple(messages))


PAPER = {"replan": "every_observation", "parallel": False, "assist": "off"}
"""Settings under which planrag and agent_v3 ask their models as the papers say."""

Reply = testing.Reply
Script = Callable[[Prompt], Reply]
Run = Callable[..., Awaitable[WorkingMemory]]
"""A fixture that asks a method over the sources of a test."""


async def ask(
    name: str, script: Script, given: Input | str, /, **settings: object
) -> WorkingMemory:
    """Put a question to a method whose roles answer by a script."""
    context = Context.model_validate({"model": register(script), **settings})
    asked = Input(question=given) if isinstance(given, str) else given
    memory: WorkingMemory = await METHODS.get(name).graph.ainvoke(asked, context=context)
    return memory


def asking(question: str, /, **fixed: object) -> Run:
    """Asks methods with scripts: this question with these settings, where nothing else is given."""

    async def asked(
        name: str, script: Script, given: Input | None = None, **context: object
    ) -> WorkingMemory:
        asks = question if given is None else given
        return await ask(name, script, asks, **(fixed | context))

    return asked


def playing(script: Script) -> testing.ScriptedModel:
    """The model that plays ``script``."""
    return testing.ScriptedModel(lambda messages: script(Prompt.of(messages)))


def register(script: Script) -> str:
    """Make ``script`` a model; returns its name."""
    return register_model(playing(script))


class Thread:
    """One thread of a method; it can be stopped, resumed and asked again."""

    def __init__(
        self,
        name: str,
        script: "Script",
        stops: Mapping[str, Any] | None = None,
        /,
        **settings: object,
    ) -> None:
        self.graph = METHODS.get(name).compiled(checkpointer=InMemorySaver(), **(stops or {}))
        self.context = Context.model_validate({"model": register(script), **settings})
        self.config: RunnableConfig = {"configurable": {"thread_id": "1"}}

    async def go(self, given: str | Input | Command[str] | None = None) -> Any:
        """Ask a question, or go on; gives the working memory and what the run waits for."""
        asked = Input(question=given) if isinstance(given, str) else given
        return await self.graph.ainvoke(asked, self.config, context=self.context)

    async def decide(self, decision: Mapping[str, object]) -> Any:
        """Answer what the run waits for."""
        return await self.go(Command(resume={"decisions": [decision]}))


class Replies:
    """A script of fixed replies for each task, in order; the prompts are kept.

    A task that is asked more often than it has replies fails the run, and so the test.
    """

    def __init__(self, **replies: Sequence[Reply]) -> None:
        self.left: dict[str, list[Reply]] = {task: [*given] for task, given in replies.items()}
        self.prompts: list[Prompt] = []

    def __call__(self, prompt: Prompt) -> Reply:
        self.prompts.append(prompt)
        if not self.left.get(prompt.task):
            raise AssertionError(f"unexpected call for {prompt.task}")
        return self.left[prompt.task].pop(0)

    @property
    def tasks(self) -> list[str]:
        """The tasks in the order in which they were asked."""
        return [prompt.task for prompt in self.prompts]


def answer_of(memory: Mapping[str, Any]) -> Answer:
    """The answer of a run that has given one."""
    answer: Answer | None = memory["answer"]
    assert answer is not None
    return answer


def only(items: Sequence[Item]) -> Item:
    """The one thing that there is."""
    (item,) = items
    return item


def plan(*steps: str) -> Reply:
    """The planner's reply."""
    return {"steps": list(steps)}


def act(tool: str, given: str = "", *, step: int = 1) -> Reply:
    """The selector's reply with one action, in the form of one thing at a time and of several."""
    reply = acts((tool, given, [step]), thought=f"Now {tool}.") if tool != "finish" else done()
    return {**reply, "thought": f"Now {tool}.", "step": step, "tool": tool, "input": given}


def steps(*planned: str | tuple[str, Sequence[int]]) -> Reply:
    """The planner's reply where it may say what each step needs."""
    pairs = [(step, ()) if isinstance(step, str) else step for step in planned]
    return {"steps": [{"text": text, "needs": list(needs)} for text, needs in pairs]}


def acts(*actions: tuple[str, str, Sequence[int]], thought: str = "Now.") -> dict[str, object]:
    """The selector's reply where it may ask for actions at once: tool, input, steps completed."""
    several = [
        {"tool": tool, "input": given, "completes": list(done)} for tool, given, done in actions
    ]
    return {"thought": thought, "actions": several, "answer": None}


def done(answer: Reply | None = None) -> dict[str, object]:
    """The selector's reply that finishes, with the answer or without."""
    return {"thought": "The facts suffice.", "actions": [], "answer": answer}


def keep() -> Reply:
    """The re-planner's N."""
    return {"reason": "It is good enough.", "replan": "N", "steps": []}


def change(*steps: str) -> Reply:
    """The re-planner's Y."""
    return {"reason": "Something is missing.", "replan": "Y", "steps": list(steps)}


def finding(quote: str, statement: str, number: str = "", page: int = 1) -> Reply:
    """The reader's reply with one finding, of one value without a name."""
    return {"findings": [found(quote, statement, {"": number} if number else {}, page)]}


def found(
    quote: str, statement: str, values: Mapping[str, str] | None = None, page: int = 1
) -> dict[str, object]:
    """One finding of the reader's reply, with its values by name."""
    named = [{"name": name, "value": value} for name, value in (values or {}).items()]
    return {"page": page, "quote": quote, "statement": statement, "values": named}


def tell(
    text: str, short: str | None = None, unknown: str = "", *, told_by: Sequence[int] | None = None
) -> dict[str, object]:
    """The answering machine's reply in words; what its text cites tells it, unless it is said."""
    cited = [int(number) for number in re.findall(r"\[(\d+)\]", text)]
    facts = cited if told_by is None else list(told_by)
    return {"asked": "It.", "told_by": facts, "text": text, "short": short, "unknown": unknown}


def decide(decision: str | None, *facts: int, unknown: str = "") -> Reply:
    """The answering machine's reply."""
    return {"why": "It is best.", "facts": list(facts), "decision": decision, "unknown": unknown}
