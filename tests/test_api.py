"""The public interface, as a program of somebody else uses it."""

import asyncio
import errno
import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from cases import cases
from command_line import in_process, user_environment
from offers import DECISION, FINISH, PLAN, QUERY, WHOLE_RUN
from typer.main import get_command

import planweave
from planweave import models as planweave_models
from planweave.apps.threads import load_thread, lock_thread
from planweave.testing import Reply, ScriptedModel

QUESTION = "Which offer is cheapest?"
BIRCH = DECISION | {"decision": "birch"}
WHOLE = (*WHOLE_RUN[:-1], BIRCH)
BY_ROLE: Mapping[str, Sequence[Reply]] = {
    "planner": [PLAN],
    "selector": [QUERY, FINISH],
    "answering_machine": [BIRCH],
}


def replies() -> ScriptedModel:
    return ScriptedModel(WHOLE)


def test_the_example_of_the_docs_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    root = Path(__file__).parents[1]
    monkeypatch.chdir(root)
    page = (root / "docs" / "api.md").read_text("utf-8").partition("## Without a model")[2]
    (example,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    names: dict[str, Any] = {}
    exec(example, names)
    assert (names["result"].decision, names["result"].verdict["kind"]) == ("birch", "supported")


def test_the_help_loads_no_command() -> None:
    code = (
        "import contextlib, sys; from planweave.apps.cli.main import main; "
        "sys.argv = ['planweave', '--help']\n"
        "with contextlib.suppress(SystemExit): main()\n"
        "assert not {'planweave.apps.cli.ask', 'pydantic'} & {*sys.modules}"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


def test_every_public_name_is_found_and_nothing_is_loaded_before() -> None:
    code = (
        "import planweave, sys; assert 'pydantic' not in sys.modules; "
        "assert dir(planweave) == planweave.__all__; "
        "[getattr(planweave, name) for name in planweave.__all__]; "
        "from planweave import *; print(run, Settings, __version__)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    with pytest.raises(AttributeError, match="no attribute 'ruin'"):
        getattr(planweave, "ru" + "in")


@cases("main", "bench", "learn", "train")
def test_a_group_lists_of_each_command_what_it_says_of_itself(group: str) -> None:
    commands: Any = get_command(import_module(f"planweave.apps.cli.{group}").app)
    for name in commands.list_commands(None):
        listed = commands.get_command(None, name).help
        assert listed
        assert commands.resolve_command(None, [name])[1].help.startswith(listed)


def test_run_gives_the_result(offers: str) -> None:
    result = planweave.run(QUESTION, database=offers, method="planrag", model=replies())
    assert (result.method, result.thread, result.decision) == ("planrag", None, "birch")
    assert result.text == "**birch**\n\nIt costs least. [1]"
    assert result.plan == PLAN["steps"]
    assert result.cited == result.facts
    assert result.facts[0]["table"]["rows"] == [["birch", 5.25]]
    assert [claim["supported"] for claim in result.claims] == [True]
    assert result.verdict is not None
    assert result.verdict["kind"] == "supported"
    assert (result.usage.calls, result.usage.unpriced) == (4, 0)


def test_a_method_that_is_not_named_is_chosen(offers: str) -> None:
    assert planweave.run(QUESTION, database=offers, model=replies()).method == "planrag"
    small = planweave.Settings(database=offers, assist="on", query_candidates=1)
    script = ScriptedModel(lambda _: QUERY | DECISION)
    assert planweave.run(QUESTION, settings=small, model=script).method == "single_rag"


def test_rules_of_a_file_reach_the_run(offers: str, tmp_path: Path) -> None:
    (tmp_path / "rules.txt").write_text("Never sell at a loss.")
    prompts: list[str] = []

    def asked(messages: Any) -> Any:
        prompts.append(messages[0].text)
        return WHOLE[len(prompts) - 1]

    rules = tmp_path / "rules.txt"
    planweave.run(QUESTION, database=offers, rules=rules, model=ScriptedModel(asked))
    assert "Never sell at a loss." in prompts[0]


async def test_it_runs_beside_other_work_and_inside_a_loop(offers: str) -> None:
    first, second = await asyncio.gather(
        planweave.arun(QUESTION, database=offers, model=replies()),
        planweave.arun(QUESTION, database=offers, model=replies()),
    )
    assert first.decision == second.decision == "birch"
    assert planweave.run(QUESTION, database=Path(offers), model=replies()).decision == "birch"
    kinds = [event.type for event in planweave.stream(QUESTION, database=offers, model=replies())]
    assert kinds[-1] == "answer"


def test_a_stream_gives_events_and_can_be_left(offers: str) -> None:
    script, shown = replies(), []
    for event in planweave.stream(QUESTION, database=offers, model=script):
        match event:
            case planweave.PlanEvent(steps=steps):
                shown.append(steps[0])
            case planweave.FactEvent(fact=fact):
                shown.append(fact["text"])
                break
    assert shown == [PLAN["steps"][0], "name | price\nbirch | 5.25"]


async def test_tokens_come_as_events(offers: str) -> None:
    run = planweave.astream(QUESTION, database=offers, model=replies(), tokens=True)
    pieces = [event.text async for event in run if isinstance(event, planweave.TokenEvent)]
    assert pieces == ["It ", "costs ", "least."]


def test_a_further_question_goes_on_with_the_thread(offers: str, tmp_path: Path) -> None:
    first = planweave.run(QUESTION, database=offers, model=replies(), thread="offers-1")
    assert first.thread == "offers-1"
    meant = {"follows_up": True, "question": "Which offer costs most?"}
    dearest = QUERY | {"input": "SELECT name, price FROM offer ORDER BY price DESC LIMIT 1"}
    decided = DECISION | {"decision": "ash", "facts": [2]}
    again = ScriptedModel([meant, PLAN, dearest, FINISH, decided])
    second = planweave.run("And which costs most?", model=again, thread="offers-1")
    assert (second.method, second.decision) == ("planrag", "ash")
    assert [fact["number"] for fact in second.facts] == [1, 2]
    state = os.environ["PLANWEAVE_STATE_DIR"]
    program = in_process(tmp_path, user_environment(tmp_path))
    listed = program("runs", "list", "--json", PLANWEAVE_STATE_DIR=state)
    assert "offers-1" in listed.stdout


def test_a_thread_at_work_keeps_its_settings(offers: str, monkeypatch: pytest.MonkeyPatch) -> None:
    given: planweave.Options = {"database": offers, "thread": "offers-2"}
    planweave.run(QUESTION, **given | {"model": replies()})
    before = load_thread("offers-2")
    other = given | {"model": replies(), "settings": {"pages": 7}}
    with lock_thread("offers-2"), pytest.raises(planweave.BadInput, match="Another process"):
        planweave.run("And?", **other)

    def fill(path: Path, _: str, **__: object) -> None:
        path.write_bytes(b"{")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_text", fill)
    with pytest.raises(OSError, match="No space"):
        planweave.run("And?", **other)
    assert load_thread("offers-2") == before


def test_without_a_thread(offers: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLANWEAVE_STATE_DIR", str(tmp_path / "state"))
    planweave.run(QUESTION, database=offers, model=replies())
    assert not (tmp_path / "state").exists()


def test_a_person_is_asked(offers: str) -> None:
    asked: list[Any] = []

    def approve(request: Any) -> Any:
        asked.append(request["action_requests"][0]["args"]["plan"])
        return {"decisions": [{"type": "approve"}]}

    given: planweave.Options = {"database": offers, "model": replies(), "approve": approve}
    assert planweave.run(QUESTION, **given).decision == "birch"
    assert asked == [PLAN["steps"]]

    async def later(request: Any) -> Any:
        return approve(request)

    given |= {"model": replies(), "approve": later}
    assert str(planweave.run(QUESTION, **given)) == (
        "Result(decision='birch', verdict='supported', method='planrag')"
    )
    given = {"database": offers, "settings": {"approve": True}, "model": replies()}
    *_, last = planweave.stream(QUESTION, **given)
    assert isinstance(last, planweave.ApprovalEvent)
    assert last.request["action_requests"][0]["args"]["plan"] == PLAN["steps"]
    with pytest.raises(planweave.BadInput, match="waits for a person"):
        planweave.run(QUESTION, **given | {"model": replies()})


@cases(None, {}, True, {"type": "approve"}, {"decisions": ["yes"]})
def test_a_function_that_never_decides_does_not_go_on_for_ever(answer: Any, offers: str) -> None:
    with pytest.raises(planweave.BadInput, match="cannot be used"):
        planweave.run(QUESTION, database=offers, model=replies(), approve=lambda _: answer)


def test_a_plan_is_carried_out(offers: str) -> None:
    script = ScriptedModel({**BY_ROLE, "planner": []})
    result = planweave.run(QUESTION, database=offers, model=script, plan=["Look."])
    assert result.plan == ["Look."]


@cases(
    ({"method": "magic"}, "no method 'magic'"),
    ({"database": "nowhere.sql"}, "nowhere.sql"),
    ({"settings": {"pagse": 2}}, "did you mean pages"),
    ({"settings": 3}, "settings are int"),
    ({"max_calls": 2}, "no option 'max_calls'.*settings"),
    ({"thread": "../x"}, "not the name of a thread"),
    ({"thread": 5}, "not the name of a thread"),
    ({"thread": "\U00020000" * 64}, "not the name of a thread"),
    ({"rules": Path("nowhere.txt")}, "nowhere.txt"),
    ({"model": "script:nowhere.yaml"}, "nowhere.yaml"),
    ({"model": replies().with_retry()}, "RunnableRetry is no chat model"),
    ({"plan": "Look."}, "list of its steps"),
    ({"plan": 5}, "list of its steps"),
    ({"plan": [1]}, "predefined_plan"),
    ({"plan": ["Look."], "method": "direct"}, "direct uses no plan"),
    ({"settings": {"models": {"planer": "embedded"}}}, "no role 'planer'.*planner.*thinker"),
    ({"approve": True}, "is not a function"),
    ({}, "connected"),
    ({}, "settings `database`"),
    ({"database": "a.db", "settings": {"database": "b.db"}}, "setting database is given twice"),
)
def test_what_is_wrong_is_one_sentence(options: Any, words: str) -> None:
    given = {"model": replies()} | options
    with pytest.raises(planweave.PlanweaveError, match=words) as raised:
        planweave.run(QUESTION, **given)
    assert isinstance(raised.value, ValueError)


def test_a_file_of_prices_is_read_before_a_call(
    offers: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = planweave_models.process_settings().model_copy(update={"prices": Path("nowhere")})
    monkeypatch.setattr("planweave.models.usage.process_settings", lambda: settings)
    unasked = ScriptedModel(lambda _: pytest.fail("The model is asked."))
    with pytest.raises(planweave.BadInput, match=r"nowhere cannot be read"):
        planweave.run(QUESTION, database=offers, model=unasked)


def test_a_confirmed_query_is_an_example_for_its_owner(offers: str) -> None:
    dearest = "SELECT name FROM offer ORDER BY price DESC LIMIT 1"
    planweave.confirm("Which offer is dearest?", f" {dearest}\n", owner="ann")
    for owner, is_shown in (("ann", True), ("bob", False)):
        settings = {"owner": owner, "assist": "on", "least_answerable": 0, "query_candidates": 1}
        asked: Any = {
            "method": "single_rag",
            "model": ScriptedModel([dearest]),
            "settings": settings,
        }
        events = planweave.stream(QUESTION, database=offers, **asked)
        (call,) = (event for event in events if isinstance(event, planweave.CallEvent))
        assert (dearest in str(call.record.prompt)) is is_shown
    with pytest.raises(planweave.BadInput, match="nothing to confirm"):
        planweave.confirm("Which?", " ")


def test_a_script_that_is_too_short_says_so(offers: str) -> None:
    with pytest.raises(planweave.PlanweaveError, match=r"no reply number 3.*'selector'"):
        planweave.run(QUESTION, database=offers, model=ScriptedModel(WHOLE[:2]))
    short = ScriptedModel({**BY_ROLE, "selector": [QUERY]})
    with pytest.raises(planweave.PlanweaveError, match="no reply number 2 of the role 'selector'"):
        planweave.run(QUESTION, database=offers, model=short)


async def test_graph_gives_the_compiled_graph(offers: str) -> None:
    from langgraph.checkpoint.memory import InMemorySaver

    graph = planweave.graph("planrag", checkpointer=InMemorySaver())
    with planweave_models.registered(replies()) as model:
        thread: Any = {"configurable": {"thread_id": "1"}}
        settings = planweave.Settings(model=model, database=offers)
        given = {"messages": [{"role": "user", "content": QUESTION}]}
        memory = await graph.ainvoke(given, thread, context=settings)
    answer: planweave.Answer = memory["answer"]
    assert answer["decision"] == "birch"
    with pytest.raises(planweave.BadInput, match="no method"):
        planweave.graph("magic")
    with pytest.raises(planweave.BadInput, match="without its settings"):
        await planweave.graph("planrag").ainvoke({"question": QUESTION})


@cases(
    ("replies.json", json.dumps(WHOLE)),
    ("replies.yaml", json.dumps(BY_ROLE)),
    ("replies.txt", "\n---\n".join(map(json.dumps, WHOLE))),
)
def test_a_script_of_replies_is_a_model(name: str, text: str, offers: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    asked: planweave.Options = {"database": offers, "model": f"script:{tmp_path / name}"}
    for _ in range(2):  # each run begins with the first reply
        result = planweave.run(QUESTION, **asked)
        assert (result.decision, result.usage.dollars, result.usage.unpriced) == ("birch", 0, 0)


@cases(
    ("absent.yaml", None, "cannot be read"),
    ("bad.json", "[", r"not JSON \(line 1\)"),
    ("bad.yaml", "a: [\nb: {", r"not YAML \(line 2\)"),
    ("number.yaml", "[1, 2]", "no reply"),
    ("empty.yaml", "", "no reply"),
    ("empty.txt", "---\n", "holds no reply"),
    ("binary.txt", b"\xff\xfe\x00", "not UTF-8"),
    ("itself.yaml", "&a [*a]", "no reply"),
    ("role.yaml", "planner: text", "no reply"),
    ("nothing.yaml", "planner: []", "holds no reply"),
    ("deep.json", "[" * 100_000, "not JSON"),
)
def test_a_bad_script_is_a_clear_sentence(name: str, text: Any, words: str, tmp_path: Path) -> None:
    if text is not None:
        (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(planweave.BadInput, match=f"{re.escape(name)}.*{words}"):
        ScriptedModel.from_file(tmp_path / name)


def test_the_module_is_the_program() -> None:
    words = [sys.executable, "-m", "planweave", "--version"]
    said = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    assert said == f"planweave {planweave.__version__}\n"
