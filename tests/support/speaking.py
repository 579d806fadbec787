"""A chat model that answers free text from the messages it is sent; its calls are kept."""

from collections.abc import Callable, Sequence
from itertools import count
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult

from planweave.models import ModelRequest, register_provider

Speaker = Callable[[Sequence[BaseMessage]], str]

_speakers: dict[str, Speaker] = {}
_numbers = count(1)


class SpeakingChat(BaseChatModel):
    """Says what its speaker says; a token is four characters, as in the benchmark's estimate."""

    speaker: Speaker
    max_tokens: int

    @property
    def _llm_type(self) -> str:
        return "speaking"

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        said = self.speaker(messages)
        text = said[: 4 * self.max_tokens]
        asked, told = sum(len(message.text) for message in messages) // 4, len(text) // 4
        message = AIMessage(
            text,
            response_metadata={"finish_reason": "length" if text != said else "stop"},
            usage_metadata={
                "input_tokens": asked,
                "output_tokens": told,
                "total_tokens": asked + told,
            },
        )
        return ChatResult(generations=[ChatGeneration(message=message)])


def _make(request: ModelRequest) -> SpeakingChat:
    return SpeakingChat(speaker=_speakers[request.model], max_tokens=request.max_tokens)


def speaks(speaker: Speaker) -> str:
    """Make ``speaker`` a model; returns its name."""
    name = str(next(_numbers))
    _speakers[name] = speaker
    return f"speaking:{name}"


register_provider("speaking", _make)
