"""Every aid for small models: off it leaves the model's words as they are, on it does not."""

import inspect
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import pytest
from cases import cases
from pages import put_up

from planweave.memory import Answer, Context, Fact, Page, Turn, WorkingMemory
from planweave.nodes.assist import asking, replies

HEAT = "The lower heating value of hydrogen is 33.3 kWh/kg."
PAGE: Page = {"document": "a.pdf", "page": 1, "text": HEAT, "nearest": HEAT, "score": 1.0}
FACT: Fact = {
    "number": 1,
    "text": HEAT,
    "values": {},
    "source": "documents",
    "query": "hydrogen",
    "quote": {"document": "a.pdf", "page": 1, "text": HEAT},
}
ANSWER: Answer = {"decision": "33.3", "why": "It holds 33.3 kWh/kg.", "facts": [], "unknown": ""}

UNTOLD = "The facts that were found do not tell it."


def turn(tool: str, given: str, *facts: int, thought: str = "") -> Turn:
    made: dict[str, Any] = {"tool": tool, "input": given, "facts": [*facts], "thought": thought}
    made |= {"iteration": 1, "step": 1, "problem": "", "seconds": 0.0}
    return made  # type: ignore[return-value]


def memory(**more: Any) -> WorkingMemory:
    question = "What is the heating value of hydrogen?"
    known: Any = {"question": question, "step": 1, "facts": [FACT], "turns": [], "history": []}
    return known | more  # type: ignore[no-any-return]


WENT_ROUND = memory(turns=[turn("environment", "look", 1), turn("environment", "look", 1)])
GUESSED = memory(turns=[turn("calculator", "2 * 3", thought="It is 7.")])
TALKED = memory(history=[{"question": "Which is cheapest?", "answer": "Bonn."}], question="And in?")

CASES: dict[Callable[..., Any], tuple[Sequence[Any], Any, Any]] = {
    asking.writes_queries: ((), False, True),
    asking.answers_in_rows: ((), False, True),
    asking.max_findings: ((), 0, 3),
    asking.searches_first: ((), False, True),
    asking.use_only_tool: (
        (("sql",), memory()),
        None,
        {"step": 1, "thought": "", "tool": "sql", "input": memory()["question"]},
    ),
    asking.extra_temperature: ((2, "selector"), 0.0, 0.8),
    asking.max_reply_tokens: ((1_400, "selector"), 1_400, 512),
    asking.hide_guesses: (
        (GUESSED,),
        GUESSED,
        {**GUESSED, "turns": [turn("calculator", "2 * 3")]},
    ),
    asking.repeat_task: (
        (memory(), "code"),
        "",
        "# The task again\nThe texts above may belong to other tasks. This is the one to do:\n"
        + memory()["question"],
    ),
    asking.put_untried_first: (
        (["look", "go north", "go south"], WENT_ROUND, "actor"),
        ["look", "go north", "go south"],
        ["go north", "go south"],
    ),
    asking.warn_if_stuck: (
        (WENT_ROUND, "actor"),
        "",
        "What was done last had been done before, and showed the same. Unless it has to be "
        "repeated, do something that was not done yet.",
    ),
    replies.clean_search: (
        ("rates in report.v2.pdf", "What are the rates?"),
        "rates in report.v2.pdf",
        "rates in",
    ),
    replies.quote_if_unstated: (
        ("Hydrogen's lower heating value is 33.3 kWh/kg.", "33.3 kWh/kg", HEAT),
        "Hydrogen's lower heating value is 33.3 kWh/kg.",
        "33.3 kWh/kg",
    ),
    replies.quote_if_nearer: (
        ("Trees are plants.", "An oak grows to 40 m.", frozenset({"oak", "grow"})),
        "Trees are plants.",
        "An oak grows to 40 m.",
    ),
    replies.reject_repetition: (("Which is cheapest?", TALKED), "Which is cheapest?", "And in?"),
    replies.is_own_step: (("What to do", PAGE, ("rat/ground", "rat/reviser")), True, False),
    replies.clean_short_answer: (("None", memory()), "None", None),
    replies.add_citations: (
        (ANSWER, (), memory()),
        ANSWER,
        {"decision": "33.3", "why": f"{HEAT[:-1]} [1].", "facts": [1], "unknown": ""},
    ),
}
NO_AIDS = {asking.count_stuck_turns, replies.drop_if_empty}
"""Helpers of the aids: they count or tidy, independently of the switch."""


def public(module: ModuleType) -> set[Callable[..., Any]]:
    found = inspect.getmembers(module, inspect.isfunction)
    return {one for name, one in found if name[0] != "_" and one.__module__ == module.__name__}


def test_every_aid_is_tried() -> None:
    assert public(asking) | public(replies) == CASES.keys() | NO_AIDS


@pytest.mark.parametrize("aid", CASES, ids=lambda aid: str(aid.__name__))
def test_off_leaves_the_words(aid: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    ferreyra = ("José A. Ferreyra", 1, "He was a film director.")
    put_up(monkeypatch, ("report.v2.pdf", 1, HEAT), ferreyra)
    given, untouched, aided = CASES[aid]
    for switch, model, wanted in (
        ("off", "embedded", untouched),
        ("on", "openai:gpt-4.1", aided),
        ("auto", "openai:gpt-4.1", untouched),
        ("auto", "embedded:0.5b", aided),
    ):
        context = Context.model_validate({"assist": switch, "model": model, "collection": "films"})
        assert aid(*given, context) == wanted, (switch, model)


@cases(("44", memory()["question"]), ("33.3", "What do French trains cost?"))
def test_an_answer_that_no_fact_states_is_dropped(decision: str, question: str) -> None:
    told = replies.add_citations(
        ANSWER | {"decision": decision}, (), memory(question=question), Context(assist="on")
    )
    assert told == {"decision": None, "why": "", "facts": [], "unknown": UNTOLD}


def test_the_only_source_gets_the_task() -> None:
    known = memory(task="Find the cost of steel.")
    action = asking.use_only_tool(("documents",), known, Context(assist="on"))
    assert action is not None
    assert action["input"] == "Find the cost of steel."


def test_words_that_only_ask_need_not_be_in_the_fact() -> None:
    said = "The number of shares granted in 2017 to other managers is 866.6."
    given: Answer = {"decision": "866.6", "why": "866.6", "facts": [], "unknown": ""}
    known = memory(
        question="How many shares were granted in 2017 to other managers?",
        facts=[FACT | {"text": said, "quote": {"document": "a.pdf", "page": 1, "text": said}}],
    )
    told = replies.add_citations(given, (), known, Context(assist="on"))
    assert (told["decision"], told["facts"]) == ("866.6", [1])


@cases("off", "on")
def test_a_name_with_a_dot_is_no_file(switch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    put_up(monkeypatch, ("José A. Ferreyra", 1, "He was a film director."))
    query = "José A. Ferreyra film director place of death"
    context = Context.model_validate({"assist": switch, "collection": "films"})
    assert replies.clean_search(query, "Where did he die?", context) == query


@cases("It holds 44 kWh/kg.", "It is as cheap as coal.")
def test_a_statement_that_the_page_lacks_is_dropped(statement: str) -> None:
    assert (
        replies.quote_if_unstated(statement, "33.3 kWh/kg", HEAT, Context(assist="off"))
        == "33.3 kWh/kg"
    )
