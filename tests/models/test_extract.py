"""Malformed replies: each ends in the right object or in a typed failure."""

import json
import string
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field

from planweave.models import StructuredFailure
from planweave.models.extract import read


class Step(BaseModel):
    thought: str
    replan: bool
    count: int


class Choice(BaseModel):
    model_config = ConfigDict(extra="forbid")

    verdict: Literal["Keep", "Change"]
    reasons: list[str]
    best: int | None


class Short(BaseModel):
    thought: str = Field(max_length=4)
    tables: list[str] = Field(max_length=2)


class Query(BaseModel):
    sql: str
    why: str = ""


STEP = Step(thought="look", replan=True, count=3)
GOOD = '{"thought": "look", "replan": true, "count": 3}'
OTHER = '{"thought": "wait", "replan": false, "count": 1}'
CHOICE = Choice(verdict="Keep", reasons=["cheap"], best=None)

USABLE: dict[str, tuple[str, BaseModel]] = {
    "clean": (GOOD, STEP),
    "whitespace and invisible characters": (f"\ufeff\n  \u200b{GOOD}\u200b\t\n", STEP),
    "json fence": (f"```json\n{GOOD}\n```", STEP),
    "bare fence": (f"```\n{GOOD}\n```", STEP),
    "fence never closed": (f"```json\n{GOOD}", STEP),
    "fence with prose around": (f"Sure!\n```json\n{GOOD}\n```\nHope this helps {{:", STEP),
    "prose around": (f"Here is the answer: {GOOD}\nLet me know if you need more.", STEP),
    "prose with braces first": (f"Given {{plan}} and [1], I say {GOOD}", STEP),
    "thinking first": (f'<think>maybe {{"thought": 1}}</think>{GOOD}', STEP),
    "Python literal": ("{'thought': 'look', 'replan': True, 'count': 3}", STEP),
    "Python None": ("{'verdict': 'Keep', 'reasons': ['cheap'], 'best': None}", CHOICE),
    "trailing comma": ('{"thought": "look", "replan": true, "count": 3,}', STEP),
    "missing comma": ('{"thought": "look" "replan": true "count": 3}', STEP),
    "unquoted keys": ('{thought: "look", replan: true, count: 3}', STEP),
    "comments": ('{"thought": "look", // hm\n"replan": true, /* hm */ "count": 3}', STEP),
    "smart quotes": ("{“thought”: “look”, “replan”: true, “count”: 3}", STEP),
    "raw newline in a string": ('{"sql": "SELECT a\nFROM b"}', Query(sql="SELECT a\nFROM b")),
    "unescaped quotes": (
        '{"sql": "SELECT "a" FROM b", "why": "x"}',
        Query(sql='SELECT "a" FROM b', why="x"),
    ),
    "unescaped backslash": (r'{"sql": "SELECT \d", "why": "x"}', Query(sql=r"SELECT \d", why="x")),
    "doubled field, last wins": (GOOD.replace("{", '{"thought": "no", '), STEP),
    "two objects, last wins": (f"{OTHER}\n{GOOD}", STEP),
    "two objects, last invalid": (f'{GOOD}\n{{"thought": "so"}}', STEP),
    "two fences, last wins": (f"```json\n{OTHER}\n```\nNo:\n```json\n{GOOD}\n```", STEP),
    "list of objects, last wins": (f"[{OTHER}, {GOOD}]", STEP),
    "tool call": (f'{{"name": "Step", "arguments": {GOOD}}}', STEP),
    "tool call, arguments as text": (json.dumps({"name": "Step", "arguments": GOOD}), STEP),
    "OpenAI": (f'{{"type": "function", "function": {{"name": "f", "parameters": {GOOD}}}}}', STEP),
    "tool-call tags": (f'<tool_call>\n{{"name": "Step", "arguments": {GOOD}}}\n</tool_call>', STEP),
    "under the schema's name": (f'{{"Step": {GOOD}}}', STEP),
    "values inside the schema": (f'{{"type": "object", "properties": {GOOD}}}', STEP),
    "ANSI colours": (f"\x1b[32m{GOOD}\x1b[0m", STEP),
    "HTML-escaped": (GOOD.replace('"', "&quot;"), STEP),
    "number as text": ('{"thought": "look", "replan": true, "count": "3"}', STEP),
    "number with thousands": (
        '{"thought": "look", "replan": true, "count": "3,000"}',
        Step(thought="look", replan=True, count=3000),
    ),
    "Y for true": ('{"thought": "look", "replan": "Y", "count": 3}', STEP),
    "text as number": (
        '{"thought": 12, "replan": true, "count": 3}',
        Step(thought="12", replan=True, count=3),
    ),
    "extra keys let pass": (GOOD[:-1] + ', "mood": "fine"}', STEP),
    "extra keys": ('{"verdict": "Keep", "reasons": ["cheap"], "best": null, "mood": 1}', CHOICE),
    "keys in another case": ('{"Thought": "look", "RePlan": true, "COUNT": 3}', STEP),
    "choice in another case": ('{"verdict": "keep.", "reasons": ["cheap"], "best": null}', CHOICE),
    "text for a list": ('{"verdict": "Keep", "reasons": "cheap", "best": null}', CHOICE),
    "longer than allowed": (
        '{"thought": "looking", "tables": ["a", "b", "c"]}',
        Short(thought="loo…", tables=["a", "b …"]),
    ),
    "'null' for null": ('{"verdict": "Keep", "reasons": ["cheap"], "best": "null"}', CHOICE),
    "last brace forgotten": ('{"count": 3, "replan": true, "thought": "look"', STEP),
}

UNUSABLE: dict[str, tuple[str, str]] = {
    "empty": ("", "empty"),
    "only invisible characters": (" \n\ufeff\u200b", "empty"),
    "prose": ("I would look at the tables first.", "no_json"),
    "YAML": ("thought: look\nreplan: true\ncount: 3", "no_json"),
    "some other object": ('{"answer": 42}', "no_json"),
    "empty object": ("{}", "no_json"),
    "a bare value": ("42", "no_json"),
    "cut off in a string": ('{"thought": "loo', "cut_off"),
    "cut off in a number": ('{"thought": "look", "replan": true, "count": 3', "cut_off"),
    "cut off in a fence": ('```json\n{"thought": "look", "rep', "cut_off"),
    "missing field": ('{"thought": "look", "replan": true}', "invalid"),
    "null for a required field": ('{"thought": null, "replan": true, "count": 3}', "invalid"),
    "wrong type": ('{"thought": "look", "replan": true, "count": "many"}', "invalid"),
    "fraction for a count": ('{"thought": "look", "replan": true, "count": 3.7}', "invalid"),
    "nested where text belongs": ('{"thought": {}, "replan": true, "count": 3}', "invalid"),
    "loop of words": ('{"thought": "look ' + "and look " * 200, "repetition"),
    "loop of lines": ("I look.\n" * 300, "repetition"),
    "garbage, 100 kB": (string.punctuation * 3200, "repetition"),
}


@pytest.mark.parametrize("case", USABLE)
def test_usable_reply_ends_in_the_object(case: str) -> None:
    text, expected = USABLE[case]
    assert read(text, type(expected)) == expected


@pytest.mark.parametrize("case", UNUSABLE)
def test_unusable_reply_ends_in_a_typed_failure(case: str) -> None:
    text, kind = UNUSABLE[case]
    outcome = read(text, Step)
    assert isinstance(outcome, StructuredFailure)
    assert outcome.kind == kind
    assert outcome.message.endswith(".")


def test_a_reply_that_hit_its_ceiling_is_not_completed() -> None:
    text = '{"count": 3, "replan": true, "thought": "look"'
    assert read(text, Step) == STEP
    outcome = read(text, Step, cut=True)
    assert isinstance(outcome, StructuredFailure)
    assert outcome.kind == "cut_off"


def test_defaults_alone_are_not_taken_for_an_answer() -> None:
    class Lenient(BaseModel):
        answer: str = "none"

    outcome = read('{"name": "Lenient", "arguments": {"answer": "yes"}}', Lenient)
    assert outcome == Lenient(answer="yes")
    assert isinstance(read('{"name": "x"}', Lenient), StructuredFailure)


HOSTILE = {
    "open brackets": "[" * 200_000,
    "open braces": "{" * 200_000,
    "open objects": '{"a":' * 40_000,
    "quotes": '{"' + '"' * 200_000,
    "backslashes": '{"a": "' + "\\" * 200_000,
    "fences": "```{" * 50_000,
    "alternating": '{"a": [' * 20_000 + "]}" * 20_000,
    "commas": "{" + "," * 200_000 + "}",
    "escape sequences": "\x1b[" * 100_000,
    "huge number": '{"thought": "look", "replan": true, "count": ' + "9" * 100_000 + "}",
    "number of 5000 digits": '{"thought": 1, "replan": 2, "count": "3", "x": ' + "9" * 5000 + "}",
    "number that overflows": '{"thought": "look", "replan": true, "count": 1e999}',
    "near repetition": "".join(f"{n % 7} {n} " for n in range(40_000)),
}


@pytest.mark.parametrize("case", HOSTILE)
@pytest.mark.timeout(30)
def test_hostile_reply_is_bounded(case: str) -> None:
    assert isinstance(read(HOSTILE[case], Step), StructuredFailure)


mutation = st.tuples(
    st.sampled_from(["cut", "drop", "insert", "double", "swap"]),
    st.integers(0, 10_000),
    st.text(alphabet="{}[]\",:\\'`\n\x00 aN0é“<&", max_size=4),
)


def _mutated(text: str, how: str, where: int, extra: str) -> str:
    at = where % (len(text) + 1)
    return {
        "cut": text[:at],
        "drop": text[:at] + text[at + 1 :],
        "insert": text[:at] + extra + text[at:],
        "double": text[:at] + text[max(0, at - 9) : at] + text[at:],
        "swap": text[at:] + text[:at],
    }[how]


@settings(max_examples=400)
@given(mutations=st.lists(mutation, min_size=1, max_size=6))
def test_mutated_reply_never_raises(mutations: list[tuple[str, int, str]]) -> None:
    text = f"```json\n{GOOD}\n``` [{OTHER}]"
    for how, where, extra in mutations:
        text = _mutated(text, how, where, extra)
    assert isinstance(read(text, Step), Step | StructuredFailure)


@settings(max_examples=200)
@given(
    value=st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.dictionaries(
                st.sampled_from(["verdict", "reasons", "best", "arguments", "x"]), inner
            )
        ),
    )
)
def test_any_json_is_read(value: object) -> None:
    assert isinstance(read(json.dumps(value), Choice), Choice | StructuredFailure)
