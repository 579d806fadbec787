"""A chat model that plays written replies, to try and test methods without a real model."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import Any, Self, TypeAlias

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult, LLMResult
from pydantic import PrivateAttr

from planweave.errors import BadInput
from planweave.records import read_text
from planweave.usage import held

__all__ = ["Reply", "Script", "ScriptedModel"]

Reply: TypeAlias = str | Mapping[str, object]
"""A reply as text, or as an object that is sent as JSON."""

Script: TypeAlias = (
    Sequence[Reply] | Mapping[str, Sequence[Reply]] | Callable[[Sequence[BaseMessage]], Reply]
)
"""Replies in order, the replies of each role in order, or a function of the messages."""

_SEPARATOR = re.compile(r"^---[ \t]*$\n?", re.MULTILINE)
_WORD = re.compile(r"\s*\S+\s*|\s+")
_role: ContextVar[str] = ContextVar("role", default="")
_FIX = "Write a list of replies, or under each role's name a list."


class ScriptedModel(BaseChatModel):
    """Plays written replies; a token counts as four characters.

    Example:
        ``planweave.run("Which?", database="shop.db", model=ScriptedModel(["…", "…"]))``
    """

    script: Any
    max_tokens: int | None = None  # a longer reply is cut off; None: never
    _played: dict[str, int] = PrivateAttr(default_factory=dict)

    def __init__(self, script: Script, *, max_tokens: int | None = None) -> None:
        super().__init__(script=script, max_tokens=max_tokens)  # type: ignore[call-arg]

    @classmethod
    def from_file(cls, path: Path) -> Self:
        """Read the replies from a file.

        A ``.yaml``, ``.yml`` or ``.json`` file holds a list of replies, or an object with a list
        for each role. Any other file is text, with a line ``---`` between two replies.
        """
        text = read_text(path, fix="Name a text file of replies.")
        if path.suffix.lower() in (".json", ".yaml", ".yml"):
            return cls(_check_script(_parse_script(text, path), path))
        if replies := [reply.strip() for reply in _SEPARATOR.split(text) if reply.strip()]:
            return cls(replies)
        raise BadInput(f"The script {path} holds no reply.", fix="Write one, or several with ---.")

    @property
    def _llm_type(self) -> str:
        return "script"

    async def agenerate(self, *given: Any, **how: Any) -> LLMResult:
        """Reply; when LangChain streams a reply by itself, it does not pass on who asks."""
        role = (how.get("metadata") or {}).get("role", "")
        with held(_role, role):
            return await super().agenerate(*given, **how)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,  # noqa: ARG002
        run_manager: CallbackManagerForLLMRun | None = None,
        **_: Any,
    ) -> ChatResult:
        text, cut = self._reply(messages, run_manager)
        message = AIMessage(
            text,
            response_metadata={"finish_reason": "length" if cut else "stop"},
            usage_metadata=_usage(messages, text),
        )
        return ChatResult(generations=[ChatGeneration(message=message)])

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,  # noqa: ARG002
        run_manager: CallbackManagerForLLMRun | None = None,
        **_: Any,
    ) -> Iterator[ChatGenerationChunk]:
        text, cut = self._reply(messages, run_manager)
        for word in _WORD.findall(text):
            chunk = ChatGenerationChunk(message=AIMessageChunk(content=word))
            if run_manager:
                run_manager.on_llm_new_token(word, chunk=chunk)
            yield chunk
        end = AIMessageChunk(
            content="",
            response_metadata={"finish_reason": "length" if cut else "stop"},
            usage_metadata=_usage(messages, text),
        )
        yield ChatGenerationChunk(message=end)

    def _reply(
        self, messages: Sequence[BaseMessage], run_manager: CallbackManagerForLLMRun | None
    ) -> tuple[str, bool]:
        """The text of the next reply, and whether it is cut off."""
        role = str(run_manager.metadata.get("role", "")) if run_manager else _role.get()
        reply = self.script(messages) if callable(self.script) else self._next(role)
        text = reply if isinstance(reply, str) else json.dumps(reply, ensure_ascii=False)
        most = len(text) if self.max_tokens is None else 4 * self.max_tokens
        return text[:most], len(text) > most

    def _next(self, role: str) -> Reply:
        by_role = isinstance(self.script, Mapping)
        replies = self.script.get(role, ()) if by_role else self.script
        key = role if by_role else ""
        number = self._played.get(key, 0)
        if number >= len(replies):
            role_text = f" of the role {role!r}" if by_role else f", which the role {role!r} needs"
            raise BadInput(
                f"The script has no reply number {number + 1}{role_text}.",
                fix="Add it to the script.",
            )
        self._played[key] = number + 1
        reply: Reply = replies[number]
        return reply


def _usage(messages: Sequence[BaseMessage], text: str) -> Any:
    read, written = sum(len(message.text) for message in messages) // 4, len(text) // 4
    return {"input_tokens": read, "output_tokens": written, "total_tokens": read + written}


def _parse_script(text: str, path: Path) -> object:
    import yaml

    try:
        return json.loads(text) if path.suffix.lower() == ".json" else yaml.safe_load(text)
    except json.JSONDecodeError as error:
        line, kind = error.lineno, "JSON"
    except yaml.MarkedYAMLError as error:
        line, kind = (error.problem_mark.line + 1 if error.problem_mark else 1), "YAML"
    except (yaml.YAMLError, ValueError, RecursionError):
        line, kind = 1, "YAML" if path.suffix.lower() != ".json" else "JSON"
    raise BadInput(f"The script {path} is not {kind} (line {line}).", fix=_FIX)


def _check_script(found: object, path: Path) -> Script:
    """The script in a file."""
    lists = [*found.values()] if isinstance(found, dict) else [found]
    for replies in lists:
        if not isinstance(replies, list) or not all(isinstance(r, str | dict) for r in replies):
            raise BadInput(f"The script {path} holds something that is no reply.", fix=_FIX)
    if not any(lists):
        raise BadInput(f"The script {path} holds no reply.", fix=_FIX)
    return found  # type: ignore[return-value]
