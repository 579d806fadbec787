"""Several questions in one thread: only a follow-up uses the known facts."""

from collections.abc import Awaitable, Callable

import pytest
from cases import cases
from langchain_core.messages import AIMessage, HumanMessage
from pages import put_up
from scripted import (
    PAPER,
    Replies,
    Reply,
    Thread,
    act,
    answer_of,
    ask,
    change,
    decide,
    finding,
    keep,
    plan,
    tell,
)

from planweave import BadInput
from planweave.memory import Input, WorkingMemory
from planweave.models import ModelUnavailable

Talk = Callable[..., Awaitable[list[WorkingMemory]]]

COSTS = "SELECT name, cost FROM plant"
REGIONS = "SELECT name, region FROM plant"
COST = "The levelised cost of hydrogen (LCOH) is USD 5.5/kg in 2023."
HEAT = "The lower heating value of hydrogen is 33.3 kWh/kg."


@pytest.fixture
def talk(database: str) -> Talk:
    """Puts questions to a method in one thread; gives the working memory after each."""

    async def talk(
        name: str, script: Replies, *questions: str, **settings: object
    ) -> list[WorkingMemory]:
        thread = Thread(name, script, **{"database": database, **PAPER, **settings})
        return [await thread.go(question) for question in questions]

    return talk


def understood(question: str, *, follows_up: bool = True) -> Reply:
    return {"follows_up": follows_up, "question": question}


async def test_a_follow_up_uses_the_earlier_facts(talk: Talk) -> None:
    script = Replies(
        plan=[plan("Read the costs."), plan("Read the regions.")],
        action=[act("sql", COSTS), act("finish"), act("sql", REGIONS), act("finish")],
        judge=[keep(), change("Compare within the west.")],
        decide=[decide("Bonn", 1), decide("Bonn", 1, 2)],
        interpret=[understood("Which plant in the west is cheapest?")],
    )
    first, second = await talk(
        "planrag", script, "Which plant is cheapest?", "And if we only expand in the west?"
    )
    assert second["question"] == "Which plant in the west is cheapest?"
    assert [fact["number"] for fact in second["facts"]] == [1, 2]
    assert second["facts"][0] == first["facts"][0]
    assert [turn["input"] for turn in second["turns"]] == [REGIONS]
    assert second["plan"] == ["Compare within the west."]
    before = ["Read the regions."]
    changed = {"reason": "Something is missing.", "before": before, "after": second["plan"]}
    assert second["replans"] == [{"iteration": 1, **changed}]
    assert answer_of(second)["facts"] == [1, 2]
    assert second["usage"]["planner"]["calls"] == 1
    said = [message.text for message in second["messages"] if message.type == "human"]
    assert said == ["Which plant is cheapest?", "And if we only expand in the west?"]


async def test_another_question_starts_without_facts(talk: Talk) -> None:
    script = Replies(
        plan=[plan("Read the costs."), plan("Read the regions.")],
        action=[act("sql", COSTS), act("finish"), act("sql", REGIONS), act("finish")],
        judge=[keep(), keep()],
        decide=[decide("Bonn", 1), decide("east", 1)],
        interpret=[understood("Ignore that.", follows_up=False)],
    )
    _, second = await talk("planrag", script, "Which is cheapest?", "Which region has most plants?")
    assert second["question"] == "Which region has most plants?"
    assert [(fact["number"], fact["query"]) for fact in second["facts"]] == [(1, REGIONS)]
    after = script.tasks.index("interpret") + 1
    for prompt in script.prompts[after:]:
        assert "cheapest" not in prompt.text
        assert "10.5" not in prompt.text


async def test_v3_answers_from_known_facts(talk: Talk, monkeypatch: pytest.MonkeyPatch) -> None:
    shelf = put_up(monkeypatch, ("review.pdf", 82, COST), ("review.pdf", 90, HEAT))
    read = finding("LCOH) is USD 5.5/kg", "It costs USD 5.5/kg.", "5.5 USD/kg")
    script = Replies(
        plan=[plan("Find the cost."), plan("Answer."), plan("Convert it.")],
        task=[{"task": "Find the cost."}],
        action=[act("documents", "levelised cost")],
        read=[read],
        verdict=[{"reason": "It is there.", "verdict": "TERMINATE"}] * 2,
        answer=[
            tell("It costs USD 5.5/kg [1]."),
            tell("A tonne of it costs 1000 times USD 5.5/kg [1]."),
        ],
        interpret=[understood("What does a tonne of hydrogen cost?")],
    )
    settings = {"collection": "energy", "database": None, "citation_check": "off"}
    settings |= {"whole_collection": "off"}
    first, second = await talk(
        "agent_v3", script, "What does hydrogen cost?", "And a tonne of it?", **settings
    )
    assert shelf.queries == ["levelised cost"]
    assert second["facts"] == first["facts"]
    assert second["abbreviations"] == {"LCOH": "levelised cost of hydrogen"}
    assert answer_of(second)["facts"] == [1]
    assert 'review.pdf, p. 82: "LCOH) is USD 5.5/kg"' in second["messages"][-1].text


@cases(
    (["no JSON"] * 2, ["interpreter"]),
    ([understood("which is cheapest?")], []),
    ([understood(" ")], []),
)
async def test_poor_readings_are_none(replies: list[Reply], failed: list[str], talk: Talk) -> None:
    actions = [act("sql", COSTS), act("finish"), act("finish")]
    best = [decide("Bonn", 1), decide("Cottbus", 1)]
    script = Replies(action=actions, decide=best, interpret=replies)
    questions = ("Which is cheapest?", "And without Bonn?")
    _, second = await talk("iter_rag", script, *questions, assist="on")
    assert second["question"] == "And without Bonn?"
    assert [fact["number"] for fact in second["facts"]] == [1]
    assert [failure["role"] for failure in second["failures"]] == failed
    assert "Question: Which is cheapest?" in script.prompts[-1].text


@cases(True, False, ids=["follows", "afresh"])
async def test_a_further_question_is_not_refused(follows: bool, talk: Talk) -> None:
    script = Replies(
        write=["yes", COSTS, COSTS],  # only the first is asked about
        interpret=[understood("Which is cheapest?", follows_up=follows)],
        decide=[decide("Bonn", 1)] * 2,
    )
    questions = ("Which is cheapest?", "And without Bonn?")
    _, second = await talk("single_rag", script, *questions, assist="on", query_candidates=1)
    assert second["turns"][-1]["problem"] == ""
    assert not script.left["write"]


async def test_messages_alone_explain_a_follow_up(database: str) -> None:
    west = understood("Which plant in the west is cheapest?")
    actions = [act("sql", REGIONS), act("finish")]
    script = Replies(action=actions, decide=[decide("Bonn", 1)], interpret=[west])
    first, then = HumanMessage("Which plant is cheapest?"), HumanMessage("And in the west?")
    said: Input = {"messages": [first, AIMessage("**Cottbus** " + "x" * 5_000), then]}
    memory = await ask("react", script, said, database=database)
    assert memory["question"] == "Which plant in the west is cheapest?"
    assert [fact["number"] for fact in memory["facts"]] == [1]
    interpreted, chose = script.prompts[:2]
    assert "Cottbus" in interpreted.text
    assert len(interpreted.text) < 3_000
    assert "(none)" in chose.text


async def test_the_runs_of_an_ensemble_number_their_own_facts(talk: Talk) -> None:
    west = understood("Which plant in the west is cheapest?")
    actions = [act("sql", COSTS), act("sql", REGIONS)]
    script = Replies(action=actions, decide=[decide("Bonn", 1)] * 2, interpret=[west])
    runs = {"ensemble_of": "single_rag", "ensemble_runs": 1}
    questions = ("Which is cheapest?", "And in the west?")
    _, second = await talk("ensemble", script, *questions, **runs)
    assert [(fact["number"], fact["query"]) for fact in second["facts"]] == [(1, REGIONS)]


async def test_a_question_after_a_run_that_failed_is_the_one_answered(database: str) -> None:
    script = Replies(action=[act("finish")])
    thread = Thread("iter_rag", script, database=database, **PAPER)
    script.left["action"] = []
    with pytest.raises(ModelUnavailable):
        await thread.go("Which plant is dearest?")
    script.left["action"] = [act("sql", COSTS), act("finish")]
    script.left["decide"] = [decide("Bonn", 1)]
    memory = await thread.go("Which plant is cheapest?")
    assert memory["question"] == "Which plant is cheapest?"
    assert memory["history"] == []


async def test_an_empty_message_is_not_the_question_before(database: str) -> None:
    script = Replies(action=[act("finish")])
    thread = Thread("iter_rag", script, database=database, **PAPER)
    await thread.go(Input(messages=[HumanMessage("Which plant is cheapest?")]))
    with pytest.raises(BadInput, match="There is no question"):
        await thread.go(Input(messages=[HumanMessage(" ")]))


async def test_a_question_without_end_is_refused(database: str) -> None:
    with pytest.raises(BadInput, match="60,006 characters; at most 50,000"):
        await ask("iter_rag", Replies(), "which " * 10_000 + "plant?", database=database)
