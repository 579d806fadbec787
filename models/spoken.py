"""Streams the text of one field of a reply: users read the answer, not its JSON."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol
from uuid import UUID, uuid4

from langchain_core.callbacks import AsyncCallbackHandler, AsyncCallbackManagerForLLMRun
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, GenerationChunk, LLMResult
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import ensure_config, get_async_callback_manager_for_config
from pydantic_core import from_json

NO_STREAM = "nostream"
"""LangGraph's tag for calls that its message stream omits."""


class SpokenField:
    """Decodes one string of a JSON object as it arrives; text before it may contain no brace.

    The path leads from the outermost object to the field; without a path the reply is the text. A
    field that is not a string gives nothing, and neither does a reply that is not JSON: the
    complete reply is read at its end (:mod:`planweave.models.extract`).
    """

    def __init__(self, path: Sequence[str]) -> None:
        self._path = [*path]
        self._reply, self._given = "", ""

    def feed(self, piece: str) -> str:
        """The text that a further piece of the reply adds to the field."""
        if not self._path:
            return piece
        self._reply += piece
        added = self._text()[len(self._given) :]
        self._given += added
        return added

    def _text(self) -> str:
        """The text of the field so far."""
        try:
            value = from_json(
                self._reply[self._reply.find("{") :], allow_partial="trailing-strings"
            )
        except ValueError:
            return self._given
        for name in self._path:
            value = value.get(name) if isinstance(value, Mapping) else None
        return value if isinstance(value, str) else ""


class Heard(Protocol):
    """Receives each piece of a reply as it arrives, with its number from 1."""

    def __call__(self, pieces: int, /) -> None:
        """Receive it."""


class Speaking(AsyncCallbackHandler):
    """Sends a field of a reply to LangGraph's message stream, as a separate message.

    Without a path (see :class:`SpokenField`) nothing is sent. ``heard`` is called for every piece.
    """

    run_inline = True  # keeps the pieces in order

    def __init__(self, path: Sequence[str] | None, heard: Heard | None = None) -> None:
        self._path = path
        self._field = None if path is None else SpokenField(path)
        self._heard, self._pieces = heard, 0
        self._message, self._text = f"draft-{uuid4()}", ""
        self._config = ensure_config()
        self._voices: list[AsyncCallbackManagerForLLMRun] | None = None

    def config(self) -> RunnableConfig:
        """The configuration of a request to which this listens."""
        manager = get_async_callback_manager_for_config(self._config)
        manager.add_handler(self)
        return {"callbacks": manager}

    async def on_llm_new_token(
        self,
        token: str | list[str | dict[str, Any]],
        *,
        chunk: GenerationChunk | ChatGenerationChunk | None = None,
        run_id: UUID,  # noqa: ARG002
        parent_run_id: UUID | None = None,  # noqa: ARG002
        tags: list[str] | None = None,  # noqa: ARG002
        **_: Any,
    ) -> None:
        """Handle a piece of the reply."""
        self._pieces += 1
        if self._heard:
            self._heard(self._pieces)
        piece = token if isinstance(token, str) and token else _arguments(chunk)
        if self._field and (text := self._field.feed(piece)):
            await self._send_text(text)

    async def on_llm_end(self, response: LLMResult, **_: Any) -> None:  # noqa: ARG002
        """Handle the end of the reply."""
        await self._end_message()

    async def on_llm_error(self, error: BaseException, **_: Any) -> None:  # noqa: ARG002
        """Handle a reply that broke off."""
        await self._end_message()

    async def _end_message(self) -> None:
        message = ChatGeneration(message=AIMessage(self._text, id=self._message))
        voices, self._voices = self._voices or (), None
        for voice in voices:
            await voice.on_llm_end(LLMResult(generations=[[message]]))
        # The end of the run corrects the sent text: a second try would only send it again.
        self._field = None if self._path is None or self._text else SpokenField(self._path)

    async def _send_text(self, text: str) -> None:
        if self._voices is None:
            manager = get_async_callback_manager_for_config(self._config)
            self._voices = await manager.on_chat_model_start({"name": "answer"}, [[]])
        self._text += text
        chunk = ChatGenerationChunk(message=AIMessageChunk(content=text, id=self._message))
        for voice in self._voices:
            await voice.on_llm_new_token(text, chunk=chunk)


def _arguments(chunk: GenerationChunk | ChatGenerationChunk | None) -> str:
    """The piece of a reply that a provider sends as a tool call."""
    calls: Any = getattr(getattr(chunk, "message", None), "tool_call_chunks", None) or ()
    return "".join(call["args"] or "" for call in calls if isinstance(call, Mapping))
