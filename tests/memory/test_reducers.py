"""Reducers update working memory in any order of the updates."""

from copy import deepcopy
from operator import add
from typing import Annotated, Any, TypedDict

import pytest
from cases import cases
from hypothesis import given
from hypothesis import strategies as st
from langgraph.graph import START, StateGraph
from pydantic import ValidationError

from planweave.memory import Context, UsageByRole, add_usage, changes, total_usage
from planweave.memory.reducers import keep_latest, merge
from planweave.usage import Usage

# Sums of floats are not associative to the last bit; these are exact.
exact = st.integers(0, 2**20).map(float)
spent = st.builds(
    Usage,
    calls=st.integers(0, 99),
    input_tokens=st.integers(0, 10**6),
    output_tokens=st.integers(0, 10**6),
    cached_tokens=st.integers(0, 10**6),
    seconds=exact,
    dollars=exact,
    unpriced=st.integers(0, 9),
).map(Usage.model_dump)
usage = st.dictionaries(st.sampled_from(["planner", "selector", "sql"]), spent)


@given(usage, usage, usage)
def test_usage_adds_up_in_any_order_and_grouping(
    a: UsageByRole, b: UsageByRole, c: UsageByRole
) -> None:
    before = deepcopy(a)
    both = add_usage(a, b)
    assert a == before  # nothing is mutated
    assert both == add_usage(b, a)
    assert add_usage(both, c) == add_usage(a, add_usage(b, c))
    assert add_usage(a, {}) == add_usage({}, a) == a
    assert total_usage(both) == total_usage(a) + total_usage(b)


def test_a_role_may_have_its_own_model() -> None:
    context = Context(model="openai:a", models={"planner": "openai:b"})
    assert context.model_for("planner") == "openai:b"
    assert context.model_for("selector") == "openai:a"


@cases(
    {"modle": "x"},
    {"max_iterations": 0},
    {"max_iterations": 101},
    {"query_rows": 0},
    {"temperature": 3},
    {"replan": "never"},
    {"max_dollars": 0},
)
def test_a_wrong_setting_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Context.model_validate(wrong)


@cases("model", "models")
def test_a_secret_in_the_name_of_a_model_is_refused_and_not_repeated(role: str) -> None:
    name = "http://me:h0nter2@host/v1#model"
    with pytest.raises(ValidationError, match="no user, password or query") as caught:
        Context.model_validate({role: name if role == "model" else {"planner": name}})
    assert "h0nter2" not in str(caught.value)


class Grown(TypedDict, total=False):
    """A state with every reducer there is."""

    facts: Annotated[list[int], add]
    known: Annotated[dict[str, str], merge]
    usage: Annotated[UsageByRole, add_usage]
    pages: Annotated[list[int], keep_latest]
    question: str


grown = st.fixed_dictionaries(
    {
        "facts": st.lists(st.integers(0, 3), max_size=4),
        "known": st.dictionaries(st.sampled_from("abc"), st.sampled_from("xy")),
        "usage": usage,
        "pages": st.lists(st.integers(0, 3), max_size=2),
        "question": st.sampled_from("pq"),
    }
)


@given(grown, grown)
def test_changes_lead_from_state_to_state(before: dict[str, Any], after: dict[str, Any]) -> None:
    for last in (after, after | {"facts": [*before["facts"], *after["facts"]]}):
        graph: Any = StateGraph(Grown)
        graph.add_node("change", lambda _, last=last: changes(Grown, before, last))
        graph.add_edge(START, "change")
        assert graph.compile().invoke(before) == last


def test_only_what_is_new_is_written() -> None:
    spent = {"sql": Usage(seconds=1.0).model_dump()}
    before = {"facts": [1], "known": {"a": "x"}, "usage": spent, "question": "p"}
    known, twice = {"a": "x", "b": "y"}, add_usage(spent, spent)
    after = {"facts": [1, 2], "known": known, "usage": twice, "question": "p"}
    assert changes(Grown, before, after) == {"facts": [2], "known": {"b": "y"}, "usage": spent}
