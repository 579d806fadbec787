"""A chat model that follows a script, to drive a graph along one edge or another.

A script is called with each :class:`Prompt` and gives the reply. It is reached through the same
door as every other model, by name: ``Context(model=register(script))``.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from itertools import count
from typing import Any, NamedTuple

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult

from planweave.models import register_provider

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
    "grade the pages": "grade",
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


Reply = str | Mapping[str, object]
Script = Callable[[Prompt], Reply]

_scripts: dict[str, Script] = {}
_numbers = count(1)


class ScriptedChat(BaseChatModel):
    """Answers what its script says; a token is four characters."""

    script: Script

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        prompt = Prompt.of(messages)
        reply = self.script(prompt)
        text = reply if isinstance(reply, str) else json.dumps(reply)
        asked, told = len(prompt.text) // 4, len(text) // 4
        usage = {"input_tokens": asked, "output_tokens": told, "total_tokens": asked + told}
        message = AIMessage(text, usage_metadata=usage)
        return ChatResult(generations=[ChatGeneration(message=message)])


def register(script: Script) -> str:
    """Make ``script`` a model; returns its name."""
    name = str(next(_numbers))
    _scripts[name] = script
    return f"script:{name}"


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


register_provider("script", lambda request: ScriptedChat(script=_scripts[request.model]))


def plan(*steps: str) -> Reply:
    """The planner's reply."""
    return {"steps": list(steps)}


def act(tool: str, given: str = "", *, step: int = 1) -> Reply:
    """The selector's reply."""
    return {"thought": f"Now {tool}.", "step": step, "tool": tool, "input": given}


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
