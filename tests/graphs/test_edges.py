"""Every edge of every graph, each driven by a script of replies."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from cases import cases
from langgraph.types import Command
from scripted import (
    PAPER,
    Replies,
    Reply,
    Run,
    Thread,
    act,
    answer_of,
    ask,
    change,
    decide,
    keep,
    only,
    plan,
    register,
)

from planweave.memory import Input
from planweave.models import process_settings
from planweave.tools.result_text import to_sentences

CHEAPEST = "SELECT name, cost FROM plant ORDER BY cost LIMIT 1"
NOTHING = "SELECT name FROM plant WHERE region = 'north'"
PLANNED = ("planrag", "planrag_no_replan")
LOOPS = ("planrag", "planrag_no_replan", "iter_rag")
BAD = "I would rather talk about the weather."


def good(*, name: str = "planrag", **others: Sequence[Reply]) -> Replies:
    """The shortest good run of a method: one query, then the decision."""
    finish = [] if name == "single_rag" else [act("finish")]
    replies: dict[str, Sequence[Reply]] = {
        "plan": [plan("Take the cheapest plant.")],
        "action": [act("sql", CHEAPEST), *finish],
        "judge": [keep()],
        "decide": [decide("Bonn", 1)],
    }
    return Replies(**(replies | others))


@pytest.mark.parametrize("name", LOOPS)
@pytest.mark.parametrize("lacks", ["The database holds nothing about ships.", ""])
async def test_an_unanswerable_question_is_reported(name: str, lacks: str, run: Run) -> None:
    script = Replies(plan=[plan("Finish: no table is about ships.")], action=[act("finish", lacks)])
    memory = await run(name, script)
    answer = answer_of(memory)
    assert (answer["decision"], answer["why"], answer["facts"]) == (None, lacks, [])
    assert answer["unknown"]
    assert "cannot decide" in memory["messages"][-1].text
    assert script.tasks == ["plan", "action"][name not in PLANNED :]


@pytest.mark.parametrize("name", PLANNED)
async def test_a_run_continues_without_a_malformed_plan(name: str, run: Run) -> None:
    script = good(plan=[BAD, BAD])
    memory = await run(name, script)
    assert answer_of(memory)["decision"] == "Bonn"
    failure = only(memory["failures"])
    assert (failure["role"], failure["kind"]) == ("planner", "malformed_reply")
    assert script.tasks[:3] == ["plan", "plan", "action"]
    assert "(no plan)" in script.prompts[2].text


async def test_a_long_step_of_a_plan_ends_with_a_mark_at_a_word(run: Run) -> None:
    step = "Compare the costs of all plants " * 30
    memory = await run("planrag", good(plan=[plan(step)]))
    (kept,) = memory["plan"]
    assert 200 < len(kept) <= 400
    assert kept.endswith("…")
    assert kept.removesuffix("…").split()[-1] in step.split()


def approving(name: str, script: Replies, database: str) -> Thread:
    """A thread of a planned method that stops for approval."""
    return Thread(name, script, database=database, approve=True, **PAPER)


def request_of(memory: Any) -> dict[str, list[dict[str, Any]]]:
    request: dict[str, list[dict[str, Any]]] = only(memory["__interrupt__"]).value
    return request


@cases(["Mine.", " ", "Yours."], '["Mine.", "Yours."]', "Mine.\n\nYours.")
async def test_a_given_plan_may_be_edited(written: list[str] | str, database: str) -> None:
    script = good()
    thread = approving("planrag", script, database)
    await thread.go({"question": "Which?", "predefined_plan": ["Ours."]})
    edited = {"name": "carry_out_plan", "args": {"plan": written}}
    memory = await thread.decide({"type": "edit", "edited_action": edited})
    assert memory["plan"] == ["Mine.", "Yours."]
    assert "plan" not in script.tasks
    assert answer_of(memory)["decision"] == "Bonn"


async def test_a_rejected_given_plan_is_replaced(database: str) -> None:
    script = good(plan=[plan("Another one.")], judge=[change("A third one.")])
    thread = approving("planrag", script, database)
    await thread.go({"question": "Which?", "predefined_plan": ["Mine."]})
    await thread.decide({"type": "reject"})
    memory = await thread.decide({"type": "approve"})
    assert memory["plan"] == ["A third one."]


@pytest.mark.parametrize("name", PLANNED)
@pytest.mark.parametrize("kind", ["reject", "respond"])
async def test_a_plan_that_is_rejected_is_replaced(name: str, kind: str, database: str) -> None:
    script = good(plan=[plan("Take the cheapest plant."), plan("Another one.")])
    thread = approving(name, script, database)
    request = request_of(await thread.go("Which?"))
    action = only(request["action_requests"])
    assert action["args"] == {"plan": ["Take the cheapest plant."]}
    assert only(request["review_configs"])["action_name"] == action["name"]
    again = await thread.decide({"type": kind, "message": "Too short"})
    assert only(request_of(again)["action_requests"])["args"] == {"plan": ["Another one."]}
    assert "rejected by a person: Too short" in script.prompts[1].text
    memory = await thread.decide({"type": "approve"})
    assert answer_of(memory)["decision"] == "Bonn"
    assert memory["plan"] == ["Another one."]


@cases(
    "yes",
    {"decisions": []},
    {"decisions": [{}]},
    {"decisions": ["approve"]},
    {"decisions": [{"type": "perhaps"}]},
    {"decisions": [{"type": "edit"}]},
    {"decisions": [{"type": "edit", "edited_action": {"args": {"plan": " "}}}]},
    {"decisions": [{"type": "edit", "edited_action": {"args": {"plan": []}}}]},
)
async def test_a_garbage_answer_is_asked_again(garbage: object, database: str) -> None:
    thread = approving("planrag", good(), database)
    await thread.go("Which?")
    again = await thread.go(Command(resume=garbage))
    assert "could not be used" in only(request_of(again)["action_requests"])["description"]
    assert answer_of(await thread.decide({"type": "approve"}))["decision"] == "Bonn"


@pytest.mark.parametrize("name", LOOPS)
async def test_a_repeated_problem_is_reported_once(name: str, run: Run) -> None:
    script = Replies(
        plan=[plan("Look.")], action=[act("sql", "SELECT price FROM plant")] * 9, judge=[keep()] * 9
    )
    memory = await run(name, script)
    unknown = answer_of(memory)["unknown"]
    assert "price" in unknown
    assert "already taken" not in unknown
    assert unknown.endswith("The same actions come again and again.")


@pytest.mark.parametrize("name", LOOPS)
async def test_a_run_that_repeats_itself_ends(name: str, run: Run) -> None:
    again = [act("sql", CHEAPEST)] * 9
    script = Replies(
        plan=[plan("Look.")], action=again, judge=[keep()] * 9, decide=[decide("Bonn", 1)]
    )
    memory = await run(name, script)
    assert answer_of(memory)["decision"] == "Bonn"
    assert len(memory["turns"]) < 5
    assert len(memory["facts"]) == 1
    assert "already taken" in memory["turns"][1]["problem"]
    assert "fact [1]" in memory["turns"][1]["problem"]


@pytest.mark.parametrize("name", ["planrag", "single_rag"])
@cases(
    ("DELETE FROM plant", ""),
    ("SELECT price FROM plant", "price"),
    (NOTHING, "no rows"),
    ("", ""),
)
async def test_a_bad_query_is_a_problem(query: str, said: str, name: str, run: Run) -> None:
    script = good(name=name)
    script.left["action"].insert(0, act("sql", query))
    script.left["judge"].append(keep())
    if name == "single_rag":
        script.left |= {"action": [act("sql", query)], "decide": []}
    memory = await run(name, script)
    turn = memory["turns"][0]
    assert turn["facts"] == []
    assert said in turn["problem"]
    assert turn["problem"]
    answer = answer_of(memory)
    assert answer["decision"] == (None if name == "single_rag" else "Bonn")
    if name == "single_rag":
        assert answer["unknown"] == to_sentences(turn["problem"])
    else:
        assert f"Problem: {turn['problem']}" in script.prompts[-1].text


@cases(keep(), change(), change(" "), BAD)
async def test_without_a_new_plan_the_old_one_stays(judgement: Reply, run: Run) -> None:
    script = good(judge=[judgement] * 2)
    memory = await run("planrag", script)
    assert (memory["plan"], memory["replans"]) == (["Take the cheapest plant."], [])
    assert answer_of(memory)["decision"] == "Bonn"
    assert [f["role"] for f in memory["failures"]] == ["replanner"] * (judgement == BAD)


async def test_a_small_model_is_asked_to_judge_only_after_a_bad_observation(run: Run) -> None:
    script = good(action=[act("sql", CHEAPEST), act("sql", NOTHING), act("finish")])
    memory = await run("planrag", script, replan="adaptive", assist="on")
    assert script.tasks == ["plan", "action", "action", "judge", "action", "decide"]
    asked = script.prompts[3].text.partition("# Your task now")[2]
    assert memory["turns"][1]["problem"] in asked
    assert "# How you work" not in script.prompts[0].text
    assert memory["replanning"] == ""


async def test_a_small_model_may_ask_for_another_plan_which_is_no_step(run: Run) -> None:
    actions = [act("replan", "Costs are not all."), act("finish")]
    script = Replies(plan=[plan("Look at costs.", "Compare them.")], action=actions, judge=[keep()])
    memory = await run("planrag", script, replan="adaptive", assist="on")
    _, first, judged, second = (prompt.text for prompt in script.prompts)
    assert "\n- replan: " in first
    assert "Costs are not all." in judged.partition("# Your task now")[2]
    assert "The next step of the plan is 1: Look at costs." in second
    assert [turn["tool"] for turn in memory["turns"]] == ["replan"]
    assert (memory["step"], memory["iteration"]) == (1, 1)


@cases(
    ("planrag", PAPER),
    ("planrag", {"replan": "adaptive", "assist": "on"}),
    ("planrag", {"replan": "adaptive"}),
    ("planrag_no_replan", PAPER),
)
async def test_a_given_plan_is_carried_out_and_never_changed(
    name: str, settings: dict[str, Any], database: str
) -> None:
    nothing = act("sql", NOTHING)
    script = good(action=[nothing, nothing, act("sql", CHEAPEST), act("finish")], judge=[])
    given: Input = {"question": "Which?", "predefined_plan": ["  Look at costs. ", ""]}
    memory = await ask(name, script, given, **settings, database=database)
    assert (memory["plan"], memory["replans"]) == (["Look at costs."], [])
    assert "plan" not in script.tasks
    assert "1. Look at costs." in script.prompts[0].text
    assert answer_of(memory)["decision"] == "Bonn"
    assert not [prompt for prompt in script.prompts if "\n- replan: " in prompt.text]


async def test_one_prompt_is_not_asked_to_change_a_given_plan(run: Run) -> None:
    asked = {"step": 1, "thought": "Costs.", "tool": "sql", "input": CHEAPEST}
    script = good(action=[asked, asked | {"tool": "finish", "input": ""}])
    given: Input = {"question": "Which?", "predefined_plan": ["Look at costs."]}
    memory = await run("planrag", script, given, planning="one_prompt")
    assert (memory["plan"], memory["failures"]) == (["Look at costs."], [])
    assert '"replan"' not in script.prompts[0].text


def endless(count: int) -> Replies:
    return Replies(
        plan=[plan("Look on.")],
        action=[act("sql", f"{CHEAPEST} OFFSET {i % 3} /* {i} */") for i in range(count)],
        judge=[keep()] * count,
        decide=[decide("Bonn", 1, unknown="The other plants.")],
    )


@cases(
    ({"max_calls": 4}, "4 model calls"),
    ({"max_tokens": 1500}, "1500 tokens"),
    ({"max_seconds": 0.001}, "0.001 seconds"),
    ({"max_dollars": 0.05}, "0.05 dollars"),
    ({"max_iterations": 3}, "3 iterations"),
)
async def test_each_budget_ends_with_an_answer(
    limit: dict[str, float], what: str, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = endless(30)
    model = register(script)
    prices = tmp_path / "prices.json"
    prices.write_text('{"script": {"input": 40, "output": 40}}')
    monkeypatch.setenv("PLANWEAVE_PRICES", str(prices))
    process_settings.cache_clear()
    try:
        memory = await run("planrag", script, model=model, **limit)
    finally:
        process_settings.cache_clear()
    assert len(memory["turns"]) < 10
    answer = answer_of(memory)
    told = script.prompts[-1].text if memory["facts"] else answer["unknown"]
    assert re.search(f"The (budget|limit) of {what}", told)
    assert answer["decision"] == ("Bonn" if memory["facts"] else None)


@cases((' "bonn". ', "Bonn", []), ("Erfurt", None, [("not_admitted", "Erfurt")]))
async def test_a_decision_that_is_not_admitted_is_asked_for_again(
    second: str, decision: str | None, failures: list[tuple[str, str]], run: Run
) -> None:
    script = good(decide=[decide("Bon", 1), decide(second, 1)])
    memory = await run("planrag", script, candidates=("Aachen", "Bonn"))
    assert answer_of(memory)["decision"] == decision
    assert [(f["kind"], f["detail"]) for f in memory["failures"]] == failures
    assert '"Bon" is not one of the decisions' in script.prompts[-1].text
    assert "Bonn" in script.prompts[-1].messages[-1].text


async def test_a_decision_may_cite_rows_and_a_calculation(run: Run) -> None:
    actions = [act("sql", CHEAPEST), act("calculator", "2 * f1_cost"), act("finish")]
    script = good(action=actions, judge=[keep()] * 2, decide=[decide("Bonn", 1, 2)])
    answer = answer_of(await run("planrag", script))
    assert (answer["facts"], answer["verdict"]["kind"]) == ([1, 2], "supported")


async def test_facts_that_do_not_exist_are_dropped(run: Run) -> None:
    memory = await run("planrag", good(decide=[decide("Bonn", 7, 1, 1, -1, 0)]))
    assert answer_of(memory)["facts"] == [1]
    assert memory["messages"][-1].text.endswith("[1]")


@pytest.mark.parametrize("name", LOOPS)
async def test_after_an_unreadable_action_the_selector_is_asked_again(name: str, run: Run) -> None:
    script = good()
    script.left["action"][:0] = [BAD, BAD]
    memory = await run(name, script)
    assert "could not be read" in memory["turns"][0]["problem"]
    assert answer_of(memory)["decision"] == "Bonn"


async def test_a_good_result_moves_on_to_the_next_step(run: Run) -> None:
    script = Replies(
        plan=[plan("Look at costs.", "Compare them.")],
        action=[
            act("sql", "SELECT nothing FROM plant"),
            act("sql", "SELECT name, cost FROM plant"),
            act("thinking", "Bonn is cheap."),
            act("finish"),
        ],
        judge=[keep(), keep(), keep()],
        decide=[decide("Bonn", 1)],
    )
    memory = await run("planrag", script)
    told = [prompt.text for prompt in script.prompts if prompt.task == "action"]
    assert "The next step of the plan is 1: Look at costs." in told[0]
    assert "The next step of the plan is 1: Look at costs." in told[1]  # the query failed
    assert "The next step of the plan is 2: Compare them." in told[2]
    assert "Every step of the plan is done." in told[3]
    assert [turn["step"] for turn in memory["turns"]] == [1, 1, 2]
