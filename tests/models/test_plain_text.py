"""Texts in replies: as they are, and as far as they are whole."""

import pytest
from langchain_core.messages import HumanMessage
from scripted import Prompt, register

from planweave.models import StructuredFailure, Text, ask, chat_model


@pytest.mark.parametrize(
    ("reply", "cut", "text"),
    [
        (' He wrote "Hamlet".\n\nHe died. ', False, 'He wrote "Hamlet".\n\nHe died.'),
        ("```text\nOnce.\n```", False, "Once."),
        ("A list without a full stop", False, "A list without a full stop"),
        ('He wrote "Hamlet." Then he', True, 'He wrote "Hamlet."'),
        ("It cost 3.5 dollars. It was 3.5", True, "It cost 3.5 dollars."),
    ],
)
def test_a_text_is_read_as_it_is(reply: str, cut: bool, text: str) -> None:
    assert Text.read(reply, cut=cut) == Text(text=text)


@pytest.mark.parametrize(
    ("reply", "cut", "kind"), [("  ", False, "empty"), ("Once upon a", True, "cut_off")]
)
def test_what_is_no_text_is_said(reply: str, cut: bool, kind: str) -> None:
    failure = Text.read(reply, cut=cut)
    assert isinstance(failure, StructuredFailure)
    assert failure.kind == kind


async def test_a_text_is_not_asked_for_as_json() -> None:
    shown: list[str] = []

    def script(prompt: Prompt) -> str:
        shown.append(prompt.messages[-1].text)
        return "" if len(shown) == 1 else "Once."

    task = "# Your task now: the text\nTell a tale."
    reply = await ask(chat_model(register(script)), [HumanMessage(task)], Text)
    assert reply.value == Text(text="Once.")
    assert shown[0].endswith("Reply with the text and nothing else.")
    assert "JSON" not in shown[0]
    assert "The reply was empty." in shown[1]
