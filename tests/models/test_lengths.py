"""Replies are as long as their forms admit: ceilings of tokens, lengths of fields, and marks."""

from typing import Any

from cases import cases
from openai_server import Answer, serving
from pydantic import BaseModel, Field

from planweave.memory import Context
from planweave.models import ModelSettings, ask, chat_model
from planweave.models.lengths import MOST_TOKENS, fitted, marked, tokens_of
from planweave.nodes.assist.asking import max_reply_tokens
from planweave.nodes.deciding.autogpt import ThoughtsAndCommand
from planweave.nodes.deciding.selector import choice_form
from planweave.nodes.drafting.drafter import Draft
from planweave.nodes.support.replies import Plan
from planweave.texts import listed, shorten

CHOICE = choice_form(("sql", "finish"))
CODE_TOKEN = 3


class Note(BaseModel):
    text: str = Field(max_length=40)
    more: list[str] = Field(max_length=3)


@cases(CHOICE, Plan, ThoughtsAndCommand, Draft)
def test_what_a_form_admits_fits_into_its_tokens(form: type[BaseModel]) -> None:
    lengths = [len(text) for text in _longest(form.model_json_schema())]
    assert tokens_of(form) >= min(sum(lengths) / CODE_TOKEN, MOST_TOKENS)


def test_a_capable_model_gets_as_many_tokens_as_its_form_needs() -> None:
    needed = tokens_of(CHOICE)
    assert needed > 4_000 / CODE_TOKEN
    assert max_reply_tokens(needed, "selector", Context(assist="off")) == needed
    assert max_reply_tokens(needed, "selector", Context(assist="on")) == 512
    for own in (300, 8_000):
        settings = Context(assist="off", max_reply_tokens=own)
        assert max_reply_tokens(needed, "selector", settings) == own


@cases(CHOICE, Plan, ThoughtsAndCommand)
def test_a_form_is_fitted_to_fewer_tokens(form: type[BaseModel]) -> None:
    schema = fitted(form.model_json_schema(), 200)
    texts = sorted(_longest(schema), key=len)[-4:]  # a list is counted with four items
    assert sum(map(len, texts)) <= 200 * 4
    assert fitted(form.model_json_schema(), 8_000) == form.model_json_schema()


def test_a_text_that_was_broken_off_is_marked() -> None:
    schema = Note.model_json_schema()
    whole = {"text": "The cost is known.", "more": []}
    assert marked(whole, schema) == whole
    cut = {"text": "List the plants and their costs, then th", "more": []}
    assert marked(cut, schema)["text"] == "List the plants and their costs, then…"


async def test_a_server_is_held_to_the_fitted_lengths(model_settings: ModelSettings) -> None:
    words = "word " * 400
    with serving(Answer(f'{{"thought": "Look.", "tool": "sql", "input": "{words}"}}')) as server:
        model = chat_model(server.name, max_tokens=256, settings=model_settings)
        reply = await ask(model, [], CHOICE)
    sent: Any = server.requests[0]["response_format"]
    assert sent["json_schema"]["schema"]["properties"]["input"]["maxLength"] < 256 * 4
    assert reply.value is not None
    assert reply.value.model_dump()["input"].endswith("word…")


@cases(
    ("short", 5, "short"),
    ("two words", 7, "two…"),
    ("two words", 4, "two…"),
    ("x" * 90, 50, "x" * 49 + "…"),
    ("", 0, ""),
)
def test_a_text_is_cut_at_a_word_and_marked(text: str, length: int, wanted: str) -> None:
    assert shorten(text, length) == wanted


def test_of_many_names_some_are_listed_and_the_others_counted() -> None:
    assert listed("abc", 3) == "a, b, c"
    assert listed("abcde", 3) == "a, b, c and 2 more"


def _longest(node: Any, defs: Any = None) -> list[str]:
    """The longest texts that a JSON schema admits."""
    defs = node.get("$defs", {}) if defs is None else defs
    if "$ref" in node:
        return _longest(defs[node["$ref"].rpartition("/")[2]], defs)
    if "maxLength" in node:
        return ["x" * node["maxLength"]]
    if "items" in node:
        return _longest(node["items"], defs) * int(node["maxItems"])
    return [text for one in node.get("properties", {}).values() for text in _longest(one, defs)]
