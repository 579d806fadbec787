"""PlanRAG with combined replies: parallel actions, completed steps, the answer, no plan, doubts."""

from collections.abc import Sequence

import pytest
from cases import cases
from pages import put_up
from scripted import (
    Prompt,
    Replies,
    Reply,
    Run,
    Thread,
    act,
    acts,
    answer_of,
    ask,
    change,
    decide,
    done,
    found,
    keep,
    plan,
    register,
    steps,
    tell,
)

from planweave.graphs import METHODS
from planweave.memory import Context, Input, WorkingMemory

COSTS = "SELECT name, cost FROM plant"
REGIONS = "SELECT name, region FROM plant"
NOTHING = "SELECT name FROM plant WHERE region = 'north'"
PLANNED = steps("Look at the costs.", "Look at the regions.", ("Compare them.", [1, 2]))


BONN = done(decide("Bonn", 1))


def acting(*actions: Reply, **others: Sequence[Reply]) -> Replies:
    """A model that plans, and then acts so."""
    return Replies(plan=[PLANNED], action=actions, **others)


@pytest.fixture
def run(database: str) -> Run:
    """Runs planrag with the settings that it has by itself."""

    async def run(script: Replies, given: Input | None = None, **context: object) -> WorkingMemory:
        asked = given or "Which plant is cheapest?"
        return await ask("planrag", script, asked, database=database, **context)

    return run


def asked_to_act(script: Replies) -> list[Prompt]:
    return [prompt for prompt in script.prompts if prompt.task == "action"]


def tail(prompt: Prompt) -> str:
    """What the prompt sets as a task."""
    return prompt.text.rpartition("# Your task now")[2]


async def test_three_calls_are_enough(run: Run) -> None:
    script = acting(acts(("sql", COSTS, [1, 2])), BONN)
    memory = await run(script, query_rows=7)
    assert "shows 7 rows at most" in asked_to_act(script)[0].text
    assert script.tasks == ["plan", "action", "action"]
    assert answer_of(memory)["decision"] == "Bonn"
    verdict = answer_of(memory)["verdict"]
    assert verdict == {"kind": "supported", "text": "In the facts: the lowest cost of fact [1]."}
    assert sum(spent["calls"] for spent in memory["usage"].values()) == 3


async def test_a_rule_that_differs_is_shown_to_the_answering_machine(run: Run) -> None:
    script = acting(act("sql", COSTS), done(decide("Aachen", 1)), decide=[decide("Bonn", 1)])
    memory = await run(script)
    assert answer_of(memory)["decision"] == "Bonn"
    assert "You decided Aachen." in script.prompts[-1].text


async def test_an_answer_without_facts_is_dropped(run: Run) -> None:
    script = acting(done(decide("Bonn", 1, unknown="Ships.")))
    memory = await run(script)
    assert (answer_of(memory)["decision"], answer_of(memory)["facts"]) == (None, [])
    assert answer_of(memory)["why"] == "Ships."


async def test_a_reply_that_neither_acts_nor_answers_is_asked_for_again(run: Run) -> None:
    script = acting(done(), act("sql", COSTS), BONN)
    memory = await run(script)
    assert "no action and gives no answer" in tail(asked_to_act(script)[1])
    assert answer_of(memory)["decision"] == "Bonn"


async def test_actions_come_before_an_answer_that_is_given_too_early(run: Run) -> None:
    early = acts(("sql", COSTS, [1])) | {"answer": decide("Aachen", 1)}
    script = acting(early, BONN)
    assert answer_of(await run(script))["decision"] == "Bonn"


async def test_a_query_may_complete_several_steps_and_a_later_one_first(run: Run) -> None:
    script = acting(
        acts(("sql", REGIONS, [2, 9])), acts(("sql", COSTS, [1, 3])), done(decide("Bonn", 2))
    )
    memory = await run(script)
    first, second, third = map(tail, asked_to_act(script))
    assert "Steps done: none. Open: 1, 2, 3 (needs 1, 2)." in first
    assert "Steps done: 2. Open: 1, 3 (needs 1)." in second
    assert "All steps are done" in third
    assert (memory["done_steps"], memory["step"]) == ([1, 2, 3], 4)


@cases(
    ([("sql", "SELECT price FROM plant", [1, 2])], "none. Open: 1, 2, 3 (needs 1, 2)."),
    ([("sql", NOTHING, [1, 2])], "none. Open: 1, 2, 3 (needs 1, 2)."),
    ([("sql", NOTHING, [2]), ("sql", COSTS, [1])], "1. Open: 2, 3 (needs 2)."),
    ids=["an error", "no rows", "one of two"],
)
async def test_what_fails_ticks_nothing(
    actions: list[tuple[str, str, Sequence[int]]], left: str, run: Run
) -> None:
    script = acting(acts(*actions), acts(("sql", REGIONS, [1])), BONN, judge=[keep()])
    memory = await run(script)
    assert f"Steps done: {left}" in tail(asked_to_act(script)[1])
    assert memory["turns"][0]["problem"] in tail(asked_to_act(script)[1])
    assert memory["done_steps"] == [1]
    assert answer_of(memory)["decision"] == "Bonn"


async def test_what_needs_no_plan_gets_one_action(run: Run) -> None:
    script = Replies(plan=[plan()], action=[acts(("sql", COSTS, [])), BONN])
    memory = await run(script)
    assert (memory["plan"], memory["failures"]) == ([], [])
    assert "There is no plan" in tail(asked_to_act(script)[0])
    assert answer_of(memory)["decision"] == "Bonn"


async def test_a_follow_up_that_the_facts_answer_needs_no_action(database: str) -> None:
    first = [acts(("sql", COSTS, [1])), BONN]
    script = Replies(
        plan=[PLANNED, plan()],
        action=[*first, done(decide("Aachen", 1))],
        interpret=[{"follows_up": True, "question": "Which plant is the most expensive?"}],
    )
    thread = Thread("planrag", script, database=database)
    for question in ("Which plant is cheapest?", "And the most expensive?"):
        memory = await thread.go(question)
    assert script.tasks[3:] == ["interpret", "plan", "action"]
    assert memory["answer"]["decision"] == "Aachen"
    assert memory["done_steps"] == memory["turns"] == []


async def test_actions_that_need_nothing_of_each_other_run_at_once(run: Run, graph: str) -> None:
    cypher = "MATCH (p:Plant) RETURN max(p.cost) AS most"
    script = acting(acts(("sql", COSTS, [1]), ("cypher", cypher, [2]), ("sql", REGIONS, [])), BONN)
    memory = await run(script, graph=graph)
    assert [fact["number"] for fact in memory["facts"]] == [1, 2, 3]
    assert {fact["source"] for fact in memory["facts"]} == {"sql", "cypher"}
    for turn in memory["turns"]:
        (number,) = turn["facts"]
        assert memory["facts"][number - 1]["query"] == turn["input"]
    assert [turn["iteration"] for turn in memory["turns"]] == [1, 2, 3]
    assert (memory["iteration"], memory["done_steps"], memory["observed"]) == (3, [1, 2], [])
    assert script.tasks == ["plan", "action", "action"]
    assert answer_of(memory)["facts"] == [1]


LOOKED_UP: Reply = {
    "steps": [
        {"text": "Look at the costs.", "needs": [], "tool": "sql", "input": COSTS},
        {"text": "Look at the regions.", "needs": [], "tool": "sql", "input": REGIONS},
        {"text": "Compare them.", "needs": [1, 2], "tool": "calculator", "input": "f1 - f2"},
    ]
}
"""A plan with the tools and inputs of its first steps."""


@cases((None, [BONN]), (False, [acts(("sql", REGIONS, [2])), BONN]), ids=["at once", "the first"])
async def test_steps_of_which_the_plan_gives_the_input_are_carried_out_first(
    parallel: bool | None, actions: list[Reply], run: Run
) -> None:
    script = Replies(plan=[LOOKED_UP], action=actions)
    memory = await run(script, parallel=parallel)
    assert script.tasks == ["plan", *["action"] * len(actions)]
    assert [turn["input"] for turn in memory["turns"]] == [COSTS, REGIONS]
    assert memory["turns"][0]["thought"] == memory["plan"][0]
    assert memory["done_steps"] == [1, 2]
    assert answer_of(memory)["decision"] == "Bonn"


async def test_a_step_with_a_tool_that_is_not_connected_is_left_to_the_selector(run: Run) -> None:
    one = {"text": "Search.", "needs": [], "tool": "documents", "input": "cost"}
    script = Replies(plan=[{"steps": [one]}], action=[acts(("sql", COSTS, [1])), BONN])
    memory = await run(script)
    assert [turn["tool"] for turn in memory["turns"]] == ["sql"]


EDITED = {"type": "edit", "edited_action": {"args": {"plan": ["A.", "B.", "C."]}}}


@cases(
    ({"type": "approve"}, [COSTS, REGIONS], "Steps done: 1, 2. Open: 3."),
    (EDITED, [COSTS], "Steps done: none. Open: 1, 2, 3."),  # what it needs is not known
    ids=["approved", "edited"],
)
async def test_a_person_approves_the_plan_before_its_first_actions(
    decision: dict[str, object], inputs: list[str], left: str, database: str
) -> None:
    script = Replies(plan=[LOOKED_UP], action=[acts(("sql", COSTS, [1])), BONN])
    if decision["type"] == "approve":
        script.left["action"] = script.left["action"][1:]
    thread = Thread("planrag", script, database=database, approve=True)
    assert (await thread.go("Which?"))["turns"] == []
    memory = await thread.decide(decision)
    assert [turn["input"] for turn in memory["turns"]] == inputs
    assert left in tail(asked_to_act(script)[0])


async def test_they_are_tasks_of_one_super_step(database: str) -> None:
    script = acting(acts(("sql", COSTS, [1]), ("sql", REGIONS, [2])), BONN)
    context = Context(model=register(script), database=database)
    begun = [
        part["name"]
        async for space, part in METHODS.get("planrag").graph.astream(
            {"question": "Which plant is cheapest?"},
            context=context,
            stream_mode="tasks",
            subgraphs=True,
        )
        if space and space[-1].startswith("tools:") and "result" not in part
    ]
    assert begun == ["sql", "sql", "observer"]


async def test_one_judgement_follows_for_all(run: Run) -> None:
    both = acts(("sql", NOTHING, [1]), ("sql", "SELECT price FROM plant", [2]))
    judge = [change("Look at the costs.")]
    script = acting(both, acts(("sql", COSTS, [1])), BONN, judge=judge)
    memory = await run(script)
    assert script.tasks == ["plan", "action", "judge", "action", "action"]
    judged = next(prompt for prompt in script.prompts if prompt.task == "judge")
    assert all(turn["problem"] in tail(judged) for turn in memory["turns"][:2])
    assert (memory["plan"], memory["done_steps"]) == (["Look at the costs."], [1])


async def test_the_same_action_twice_is_carried_out_once(run: Run) -> None:
    script = acting(acts(("sql", COSTS, [1]), ("sql", f"{COSTS} ;", [2])), BONN)
    assert len((await run(script))["turns"]) == 1


async def test_actions_at_once_stay_within_the_limit_of_iterations(run: Run) -> None:
    script = acting(
        acts(*(("sql", f"{COSTS} LIMIT {n}", []) for n in range(1, 6))),
        decide=[decide("Aachen", 1)],
    )
    memory = await run(script, max_iterations=3)
    assert memory["iteration"] == len(memory["turns"]) == 3


async def test_without_parallel_one_action_is_asked_for(run: Run) -> None:
    two = acts(("sql", COSTS, [1]), ("sql", REGIONS, [2]))
    script = acting(two, BONN)
    memory = await run(script, parallel=False)
    assert "Ask for one action at a time." in script.prompts[0].text
    assert [turn["input"] for turn in memory["turns"]] == [COSTS]
    assert memory["done_steps"] == [1]


async def test_searches_at_once_are_read_each_for_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    shelf = put_up(
        monkeypatch,
        ("prices.md", 1, "The levelised cost of hydrogen (LCOH) is USD 5.5/kg."),
        ("heat.md", 1, "The lower heating value (LHV) of hydrogen is 33.3 kWh/kg."),
    )
    both = [
        found("hydrogen (LCOH) is USD 5.5/kg", "It costs USD 5.5/kg."),
        found("heating value (LHV) of hydrogen is 33.3 kWh/kg", "It is 33.3 kWh/kg."),
    ]  # each reading keeps the one that is on its page
    searches = acts(("documents", "levelised cost", [1]), ("documents", "heating value", [2]))
    said = "It costs USD 5.5/kg [1] [2] and holds 33.3 kWh/kg [1] [2]."
    script = Replies(
        plan=[steps("Find the cost.", "Find the heating value.")],
        action=[searches, done(tell(said, "USD 5.5/kg"))],
        read=[{"findings": both}] * 2,
    )
    given = {"collection": "energy", "whole_collection": "off", "pages": 1}
    memory = await ask("planrag", script, "What does hydrogen cost and hold?", **given)
    assert script.tasks == ["plan", "action", "read", "read", "action"]
    assert sorted(shelf.queries) == ["heating value", "levelised cost"]
    read = {fact["query"]: fact["quote"] and fact["quote"]["document"] for fact in memory["facts"]}
    assert read == {"levelised cost": "prices.md", "heating value": "heat.md"}
    assert {*memory["abbreviations"]} == {"LCOH", "LHV"}
    assert memory["done_steps"] == [1, 2]
    assert answer_of(memory)["verdict"]["kind"] == "supported"


async def test_a_query_that_fails_is_corrected_and_a_second_error_in_a_row_judged(run: Run) -> None:
    queries = ("SELECT price FROM plant", "SELECT prize FROM plant", COSTS)
    script = acting(*(act("sql", query) for query in queries), BONN, judge=[keep()])
    memory = await run(script)
    assert script.tasks == ["plan", "action", "action", "judge", "action", "action"]
    assert memory["turns"][0]["problem"] in tail(asked_to_act(script)[1])
    assert answer_of(memory)["decision"] == "Bonn"


async def test_the_selector_may_ask_for_another_plan(run: Run) -> None:
    asks = acts(("replan", "Costs are not enough.", []), ("sql", COSTS, [1]))
    script = acting(asks, act("sql", COSTS), BONN, judge=[change("Look at costs.")])
    memory = await run(script)
    judged = next(prompt for prompt in script.prompts if prompt.task == "judge")
    assert "Costs are not enough." in tail(judged)
    assert [turn["tool"] for turn in memory["turns"]] == ["replan", "sql"]
    assert memory["plan"] == ["Look at costs."]


@cases(
    ("SELECT name, 2 * cost AS cost FROM plant WHERE 2 > 1 OR 2 = 2", ""),
    ("SELECT plant.name, SUM(plant.cost) AS cost FROM plant, plant AS p GROUP BY 1", ""),
    ("SELECT name, cost FROM plant ORDER BY cost", ""),
    ("SELECT NULL AS cost FROM plant", "Fact [2] holds only empty values."),
    (
        "SELECT a.name, SUM(a.cost) AS cost FROM plant a, plant b GROUP BY a.name",
        "Facts [1] and [2] contradict each other: cost of Aachen is 10.5 and 31.5.",
    ),
)
async def test_an_empty_or_contradicting_result_is_judged(query: str, doubt: str, run: Run) -> None:
    script = acting(act("sql", COSTS), act("sql", query), BONN, judge=[keep()])
    await run(script)
    judged = [tail(prompt) for prompt in script.prompts if prompt.task == "judge"]
    assert [doubt in text for text in judged] == ([True] if doubt else [])


async def test_what_stays_comes_first(run: Run) -> None:
    script = acting(act("sql", COSTS), act("sql", REGIONS), BONN)
    await run(script, rules="Cheap is good.")
    texts = [[message.text for message in prompt.messages] for prompt in script.prompts]
    assert len({first for first, _ in texts}) == 1
    before, after = texts[2][1], texts[3][1]
    assert after.startswith(before.partition("# Your task now")[0].rstrip())


async def test_a_selector_of_one_action_repeats_no_first_actions(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where the planner is a large model and the selector a small one."""
    combines = Context.combines
    monkeypatch.setattr(
        Context, "combines", lambda self, role: role != "selector" and combines(self, role)
    )
    first = [{"text": q, "needs": [], "tool": "sql", "input": q} for q in (COSTS, REGIONS)]
    actions, bonn = [act("sql", NOTHING), act("finish")], [decide("Bonn", 1)]
    script = Replies(plan=[{"steps": first}], action=actions, judge=[keep()], decide=bonn)
    memory = await run(script)
    assert [turn["input"] for turn in memory["turns"]] == [COSTS, REGIONS, NOTHING]


async def test_a_repeated_success_completes_its_step(run: Run) -> None:
    script = acting(acts(("sql", COSTS, [1])), acts(("sql", COSTS, [2])), BONN)
    memory = await run(script)
    assert script.tasks == ["plan", "action", "action", "action"]
    assert (memory["done_steps"], len(memory["facts"])) == ([1, 2], 1)
