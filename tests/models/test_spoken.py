"""A field of a reply is said while the reply is written, and nothing else of it."""

import json

import pytest
from cases import cases
from offers import DECISION, FINISH, PLAN, QUERY

from planweave.graphs.support.running import graph, parts
from planweave.memory import Context
from planweave.models import registered
from planweave.models.spoken import SpokenField
from planweave.testing import Reply, ScriptedModel

TEXT = 'He said "ü", \\ and 😀:\n{no: [object]} [1]'


@pytest.mark.parametrize("plain", [True, False])
@pytest.mark.parametrize("size", [1, 3, 1000])
@cases(
    (("why",), {"why": TEXT, "facts": [1], "unknown": "text"}),
    (("answer", "text"), {"text": "no", "list": [{"text": "no"}], "answer": {"text": TEXT}}),
    (("answer", "why"), {"thought": '"why": "no"', "answer": {"facts": [], "why": TEXT}}),
)
def test_fields_are_decoded(path: tuple[str, ...], reply: Reply, size: int, plain: bool) -> None:
    written = f"Here it is:\n```json\n{json.dumps(reply, ensure_ascii=plain)}\n```"
    field = SpokenField(path)
    pieces = [field.feed(written[at : at + size]) for at in range(0, len(written), size)]
    assert "".join(pieces) == TEXT


@cases("", "}{]:,", '{"why": null}', '{"why": "\\q\\uzzzz', '"why')
def test_what_is_no_field_is_not_said(written: str) -> None:
    assert SpokenField(("why",)).feed(written) == ""


async def test_the_message_stream_says_the_answer_alone(offers: str) -> None:
    enough = {**FINISH, "answer": {**DECISION, "why": "No fact says more."}}
    replies: list[Reply] = [PLAN, QUERY, "no JSON", enough]
    with registered(ScriptedModel(replies)) as model:
        context = Context(model=model, database=offers, assist="off")
        run = parts(graph("planrag"), {"question": "Which?"}, context, modes=["messages"])
        said = [part.data[0] async for part in run]
    pieces = [one.text for one in said if one.type == "AIMessageChunk"]
    assert pieces == ["No ", "fact ", "says ", "more."]
    assert len({one.id for one in said if one.type == "AIMessageChunk"}) == 1
    assert said[-1].text.startswith("**Birch**")
