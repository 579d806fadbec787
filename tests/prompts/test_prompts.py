"""Prompt files load, agree with the code that fills them, and read as they should."""

from collections.abc import Sequence
from pathlib import Path

import pytest
import snapshots
from cases import cases
from pages import put_up
from scripted import (
    Replies,
    Reply,
    Thread,
    act,
    acts,
    ask,
    change,
    decide,
    done,
    found,
    keep,
    plan,
    steps,
    tell,
)

from planweave.memory import Planning, TaskFamily
from planweave.nodes.support.briefing import fill_prompt
from planweave.prompts import PromptError, Template, load, names


@pytest.fixture
def plant(tmp_path: Path) -> str:
    """A database of one plant."""
    path = tmp_path / "plants.sql"
    path.write_text("CREATE TABLE plant(name TEXT); INSERT INTO plant VALUES ('Bonn');")
    return str(path)


def test_every_prompt_loads_and_fills() -> None:
    for name in names():
        template = load(name)
        filled = template.fill(**dict.fromkeys(template.placeholders, "{{value}}"))
        assert filled, name
        assert filled.count("{{") == template.text.count("{{"), name


@cases({}, {"a": "1"}, {"a": "1", "b": "2", "c": "3"})
def test_a_wrong_filling_is_refused(values: dict[str, str]) -> None:
    with pytest.raises(PromptError, match="disagree"):
        Template("t", "{{a}} and {{b}}").fill(**values)


def test_a_value_is_never_a_template() -> None:
    assert Template("t", "{{a}}{{b}}").fill(a="{{b}}", b="x") == "{{b}}x"


def test_an_unknown_prompt_is_said() -> None:
    with pytest.raises(PromptError, match=r"planrag/plan'.*planrag/planner"):
        load("planrag/plan")


@cases("agent_v3/planner", "planrag/planner_with_documents")
def test_prompts_speak_of_what_is_connected(name: str) -> None:
    values = dict.fromkeys(load(name).placeholders - {"kinds"}, "")
    told = {
        sources: fill_prompt(name, {"languages": dict.fromkeys(sources, "")}, **values)
        for sources in (("documents",), ("sql",), ("documents", "cypher"))
    }
    assert "one search of the documents or one calculation" in told[("documents",)]
    assert "database" not in told[("documents",)]
    assert "documents" not in told[("sql",)].partition("Every step")[2]
    all_three = "one search of the documents, one query of the database or one calculation"
    assert all_three in told[("documents", "cypher")]


async def test_the_whole_prompt_of_a_role_over_documents(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "The levelised cost of hydrogen (LCOH) is USD 5.5/kg in 2023."
    put_up(monkeypatch, ("review.pdf", 82, text), ("review.pdf", 83, "Hydrogen is costly."))
    thoughts = {"text": "", "reasoning": "", "plan": ["Look."], "criticism": "", "speak": ""}
    costs = found("LCOH) is USD 5.5/kg", "It costs USD 5.5/kg.", {"cost": "5.5 USD/kg"})
    search = "hydrogen cost"
    replies: dict[str, Sequence[Reply]] = {
        "plan": [plan("Find the cost."), plan("Convert it."), plan("Answer.")],
        "evaluate": [{"notes": "Fine.", "verdict": "Accept"}] * 3,
        "task": [{"task": "Find the cost."}] * 2,
        "action": [act("documents", search), act("documents", "ships"), act("finish")],
        "command": [
            {"thoughts": thoughts, "command": {"name": tool, "input": given}}
            for tool, given in (("documents", search), ("documents", "ships"), ("finish", ""))
        ],
        "verdict": [
            {"reason": "The year is missing.", "verdict": "CONTINUE"},
            {"reason": "", "verdict": "TERMINATE"},
        ],
        "read": [{"findings": [costs]}],
        "answer": [tell("It costs USD 5.5/kg [1].", "USD 5.5/kg")],
        "check": [{"verdicts": []}],
    }
    methods = ("agent_v1", "agent_v2", "agent_v3", "react", "autogpt")
    scripts = {name: Replies(**replies) for name in methods}
    for name, script in scripts.items():
        await ask(
            *(name, script, "What does hydrogen cost?"),
            collection="energy",
            whole_collection="off",
            evaluations=1,
            citation_check="model",
            replan="every_observation",
        )
    compare("document_agents", **scripts)


async def test_the_whole_prompt_of_each_role(tmp_path: Path) -> None:
    database = tmp_path / "plants.sql"
    database.write_text(
        "CREATE TABLE plant(name VARCHAR(20) PRIMARY KEY, cost REAL);\n"
        "INSERT INTO plant VALUES ('Aachen', 10.5);\nINSERT INTO plant VALUES ('Bonn', 7.25);\n"
    )
    actions = [act("sql", "SELECT name, cost FROM plant"), act("sql", "SELECT x FROM plant")]
    scripts = {
        name: Replies(
            plan=[plan("Read the costs.", "Take the least.")],
            action=[*actions, act("finish")][: 1 if name == "single_rag" else 3],
            judge=[change("Take the least."), change("Decide.")],
            decide=[decide("Berlin", 1), decide("Bonn", 1)],
        )
        for name in ("planrag", "iter_rag", "single_rag")
    }
    for name, script in scripts.items():
        await ask(
            *(name, script, "Which plant?"),
            database=str(database),
            rules="Cheap is good.",
            candidates=("Aachen", "Bonn"),
            replan="every_observation",
        )
    compare("planrag", **scripts)


@cases(
    ("one_prompt", ("replan", "steps", "step", "thought", "tool", "input")),
    ("without_thought", ("replan", "steps", "step", "tool", "input")),
    ("thought_first", ("replan", "thought", "steps", "step", "tool", "input")),
)
async def test_the_whole_prompt_where_one_role_says_everything(
    planning: Planning, keys: tuple[str, ...], plant: str
) -> None:
    said = {"thought": "Now.", "tool": "sql", "input": "SELECT name FROM plant", "step": 1}
    again = {**said, "replan": "Y", "steps": ["Decide."], "input": "SELECT x FROM plant"}
    done = {**said, "replan": "N", "steps": ["Forget it."], "tool": "finish", "step": 7}
    replies = [{**said, "steps": ["Read the names.", "Decide."]}, again, done]
    script = Replies(action=[{k: r[k] for k in keys if k in r} for r in replies])
    script.left["decide"] = [decide("Bonn", 1)]
    memory = await ask("planrag", script, "Which?", database=plant, planning=planning)
    assert script.tasks == ["action", "action", "action", "decide"]
    assert (memory["plan"], memory["failures"]) == (["Decide."], [])
    assert [replan["after"] for replan in memory["replans"]] == [["Decide."]]
    assert memory["action"]
    assert memory["action"]["step"] == 1
    if planning == "one_prompt":
        compare("planrag_one_prompt", planrag=script)


@cases(
    ("planrag", "zero_shot", False),
    ("planrag_no_replan", "zero_shot", False),
    ("planrag_no_replan", "one_prompt", True),  # it has no prompt of that form
)
async def test_a_planner_as_published_is_told_nothing_of_the_analysis(
    method: str, planning: Planning, guided: bool, plant: str
) -> None:
    actions = [act("sql", "SELECT name FROM plant"), act("finish")]
    script = Replies(plan=[plan("Read.")], action=actions, decide=[decide("Bonn", 1)])
    memory = await ask(method, script, "Which?", database=plant, planning=planning)
    assert memory["plan"] == ["Read."]
    assert ("in which order" in script.prompts[0].text) != guided
    assert ("2 to 5" in script.prompts[0].text) == guided


@cases(False, True)
async def test_the_whole_prompt_where_one_reply_says_several_things(
    in_words: bool, plant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_up(monkeypatch, ("review.pdf", 82, "Bonn has a plant."))
    script = Replies(
        plan=[steps("Read the names.", ("Compare them.", [1]))],
        action=[
            acts(
                ("sql", "SELECT name FROM plant", [1]),
                ("sql", "SELECT name FROM plant WHERE name > 'C'", []),
            ),
            done(tell("Bonn [1].") if in_words else decide("Bonn", 1)),
        ],
        judge=[keep()],
    )
    await ask(
        *("planrag", script, "Which plant?"),
        database=plant,
        rules="Cheap is good.",
        collection="energy" if in_words else None,
        whole_collection="off",
    )
    compare(f"planrag_combined{'_in_words' * in_words}", planrag=script)


async def test_the_whole_prompt_where_v3_answers_or_sets_the_task(plant: str) -> None:
    ended = {"reason": "It is there.", "verdict": "TERMINATE", "answer": decide("Bonn", 1)}
    query = act("sql", "SELECT name FROM plant")
    script = Replies(plan=[plan("Read the names.")], action=[query], verdict=[ended])
    await ask("agent_v3", script, "Which plant?", database=plant)
    compare("agent_v3_combined", agent_v3=script)


async def test_the_whole_prompt_of_each_role_in_a_follow_up(plant: str) -> None:
    query = act("sql", "SELECT name FROM plant")
    script = Replies(
        plan=[plan("Read the names."), plan("Compare.")],
        action=[query, act("finish"), act("finish")],
        judge=[change("Decide.")],
        decide=[decide("Bonn", 1), decide("Bonn", 1)],
        interpret=[{"follows_up": True, "question": "Which plant in the west?"}],
    )
    thread = Thread("planrag", script, database=plant, replan="every_observation")
    for question in ("Which plant?", "And in the west?"):
        await thread.go(question)
    compare("planrag_follow_up", planrag=script)


FAMILIES: tuple[TaskFamily, ...] = ("answer", "code", "maths", "planning", "writing")


@cases(("rat", FAMILIES, "Be brief."), ("rag", FAMILIES[1:], ""))
async def test_the_whole_prompt_of_each_family_of_tasks(
    method: str, families: Sequence[TaskFamily], rules: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = ("a.md", 1, "Heat is energy.")
    put_up(monkeypatch, ("review.pdf", 82, "Hydrogen costs USD 5.5/kg."), other)
    revised = {"text": "Hydrogen costs USD 5.5/kg.", "earlier": []}
    replies: dict[str, Sequence[Reply]] = {
        "draft": [{"thought": "Look.", "steps": ["Hydrogen costs little.", "Heat too."]}],
        "query": [{"query": "hydrogen"}, {"query": "heat"}],
        "revise": [revised, revised],
        "program": ["```python\nx = 1\n```"],
        "steps": [{"steps": ["mine 1 log"]}],
        "text": [{"text": "It costs."}],
        "answer": [{"text": "It costs [1].", "short": None, "unknown": ""}],
    }
    scripts = {family: Replies(**replies) for family in families}
    for family, script in scripts.items():
        given = {"collection": "energy", "family": family, "rules": rules}
        await ask(method, script, "What does hydrogen cost?", **given)
    compare(f"{method}_families", **scripts)


def compare(name: str, **scripts: Replies) -> None:
    """The last prompt of each task is as in the snapshot."""
    asked = [(of, prompt) for of, script in scripts.items() for prompt in script.prompts]
    snapshots.compare(name, {f"{of} {prompt.task}": prompt.messages for of, prompt in asked})
