"""What callers write into the working memory is checked, and the field that is wrong is named."""

from typing import Any

import pytest
from cases import cases

from planweave import BadInput
from planweave.memory import check_input, check_state


@cases(
    ({"messages": [{"role": "user"}]}, "input.messages.0"),
    ({"messages": None}, "input.messages"),
    ({"messages": 5}, "input.messages"),
    ({"messages": [["user", "Hi!"], None]}, "input.messages.1"),
    ({"messages": [{"role": "alien", "content": "Hi!"}]}, "input.messages.0"),
    ({"messages": [{"type": "remove", "id": "x", "content": ""}]}, "removes no messages"),
    ({"question": None}, "input.question"),
    ({"question": {"__overwrite__": 5}}, "input.question"),
    ({"predefined_plan": "Look."}, "input.predefined_plan"),
    ({"predefined_plan": ["Look.", 5]}, "input.predefined_plan.1"),
)
def test_an_input_that_no_run_can_use(values: dict[str, Any], place: str) -> None:
    with pytest.raises(BadInput, match=place):
        check_input(values)


@cases(
    {},
    {"messages": "Hi!"},
    {"messages": ["Hi!", ["user", "Hi!"], {"type": "human", "content": [{"text": "Hi!"}]}]},
    {"messages": {"role": "assistant", "content": None}},
    {"question": "Hi!", "predefined_plan": ["Look."], "usage": "ignored"},
)
def test_an_input_in_any_form_that_langchain_reads(values: dict[str, Any]) -> None:
    check_input(values)


@cases(
    {"usage": {"planner": {"calls": -1}}},
    {"usage": {"planner": {"seconds": float("inf")}}},
    {"usage": {"__overwrite__": {}}},
    {"usage": []},
    {"facts": [{"number": 1}]},
    {"plan": [None]},
    {"step": "1"},
    {"answer": "yes"},
)
def test_a_state_that_gives_budget_back_or_breaks_the_next_node(values: dict[str, Any]) -> None:
    with pytest.raises(BadInput, match=f"values.{next(iter(values))}"):
        check_state(values)


def test_a_state_that_a_person_may_write() -> None:
    usage = {"planner": {"calls": 1, "dollars": 0.5}}
    check_state({"usage": usage, "plan": {"__overwrite__": ["Look."]}, "answer": None, "other": 1})
    check_state({"messages": [{"type": "remove", "id": "x", "content": ""}]})
