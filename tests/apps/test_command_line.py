"""The command line as a person uses it: installed program, real databases, scripted server."""

import json
import os
import re
import signal
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from cases import cases
from command_line import PROGRAM, CommandLine, assert_one_clear_error
from offers import DECISION, FINISH, PLAN, QUERY, WHOLE_RUN, querying, scripted
from openai_server import Answer, Script, serving
from rich.console import Console
from trap import assert_makes_no_foreign_objects
from waiting import wait_until

from planweave.apps.cli.story import Story, Waiting
from planweave.apps.threads import checkpoints
from planweave.graphs.support.events import (
    ActionEvent,
    FactEvent,
    PlanEvent,
    ProblemEvent,
    ProgressEvent,
    ReplanEvent,
    ThoughtEvent,
    TokenEvent,
)
from planweave.memory import Claim, Fact, Value

CHEAPEST = "Which offer is cheapest?"


@pytest.fixture
def model() -> Iterator[Script]:
    """A model that answers as a whole run wants, or as the test says."""
    with serving(*scripted(*WHOLE_RUN)) as model:
        yield model


@pytest.fixture
def decide(planweave: CommandLine, offers: str, model: Script) -> CommandLine:
    """Decides about the offers by that model."""
    return partial(planweave, "decide", CHEAPEST, "--database", offers, "--model", model.name)


def test_decide_tells_what_it_does(
    planweave: CommandLine, offers: str, model: Script, tmp_path: Path
) -> None:
    (tmp_path / "rules.txt").write_text("Take the cheapest offer.")
    run = planweave(
        *("decide", CHEAPEST, "--database", offers, "--rules", "rules.txt"),
        *("--candidates", "SELECT name FROM offer", "--model", model.name),
    )
    assert run.returncode == 0, run.stderr
    order = [CHEAPEST, "Plan", "1. Find", "SELECT name", "[1]", "birch | 5.25", "Answer"]
    places = [run.stdout.index(text) for text in order]
    assert places == sorted(places)
    assert "4 model calls" in run.stdout
    prompts = [request["messages"] for request in model.requests]
    assert "Take the cheapest offer." in prompts[0][0]["content"]
    assert all(prompt[0] == prompts[0][0] for prompt in prompts[:-1])  # for prompt caches
    assert prompts[0][0]["content"].startswith(prompts[-1][0]["content"])


ANY_ROW = QUERY | {"input": "SELECT name, price FROM offer LIMIT 1"}
BOTH = QUERY | {"input": "SELECT name, price FROM offer"}
ASH = DECISION | {"decision": "ash", "why": "It is there."}


@cases(
    ((QUERY, DECISION), (), 0, ("birch", "In the facts: the cheapest of fact [1].")),
    ((ANY_ROW, ASH), (), 0, ("ash", "Not in the facts: fact [1] shows one row")),
    ((ANY_ROW, ASH), ("--strict",), 7, ("No answer", 'Undecided: the model says "ash"')),
    ((BOTH, ASH, ASH), (), 6, ("No answer", 'the model says "ash"; the rule gives "birch"')),
    ((BOTH, ASH, DECISION), ("--strict",), 0, ("birch", "In the facts: the lowest price")),
    ((QUERY, DECISION | {"decision": None}), (), 6, ("No answer", "Undecided")),
)
def test_decide_shows_the_verdict_and_exits_by_it(
    replies: Sequence[Mapping[str, object]],
    flags: Sequence[str],
    code: int,
    texts: Sequence[str],
    decide: CommandLine,
    model: Script,
) -> None:
    model.answers[:] = scripted(*replies)
    run = decide("--method", "single_rag", *flags, COLUMNS="200")
    assert run.returncode == code, run.stdout + run.stderr
    assert [text for text in texts if text not in run.stdout] == []


def told(
    answer: Mapping[str, object], console: Console, claims: Sequence[Claim] = (), kind: str = ""
) -> None:
    """Print the end of the story of a run."""
    memory: Any = {"facts": [], "claims": [*claims], "usage": {}}
    memory["answer"] = {"why": "", "facts": [1], "unknown": "", **answer}
    if kind:
        memory["answer"]["verdict"] = {"kind": kind, "text": "Why."}
    Story(console).finish(memory)


@cases(
    ("supported", "birch", "\x1b[1;32m"),
    ("not_in_facts", "birch", "\x1b[1;33m"),
    ("contradicted", "birch", "\x1b[1;33m"),
    ("undecided", None, "\x1b[1;33m"),
)
def test_only_what_is_supported_has_the_colour_of_success(
    kind: str, decision: str | None, colour: str, capsys: pytest.CaptureFixture[str]
) -> None:
    console = Console(force_terminal=True, color_system="standard", width=80)
    told({"decision": decision}, console, kind=kind)
    shown = capsys.readouterr().out
    assert f"{colour}{decision or 'No answer'}" in shown
    assert ("\x1b[32m" in shown) == (kind == "supported")


@cases(
    ("supported", True, "Citation check: 1 of 1"),
    ("unsure", True, ""),
    ("unsure", False, "Citation check: 0 of 1"),
)
def test_below_a_doubted_decision_no_sentence_is_called_supported(
    kind: str, supported: bool, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    claim = Claim(text="It is cheap.", facts=[1], supported=supported, reason="")
    told({"decision": "ash"}, Console(width=80), [claim], kind)
    shown = capsys.readouterr().out
    assert words in shown
    assert ("Citation check" in shown) is bool(words)


@cases(("It is cheap. (no source)", False), ("It is cheap.", True))
def test_an_answer_without_a_source_cites_none(
    why: str, cited: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    told({"decision": "birch", "why": why}, Console(width=80))
    assert ("[1]" in capsys.readouterr().out) is cited


def test_decide_json_is_the_whole_run(decide: CommandLine) -> None:
    run = json.loads(decide("--json", "--candidates", "SELECT name FROM offer").stdout)
    assert run["answer"] == {
        "decision": "birch",
        "why": "It costs least.",
        "facts": [1],
        "unknown": "",
        "basis": {"how": "stated", "column": ""},
        "verdict": {"kind": "supported", "text": "In the facts: the cheapest of fact [1]."},
    }
    assert run["facts"][0]["query"] == QUERY["input"]
    assert run["total"]["calls"] == 4


def test_decide_does_a_given_plan(decide: CommandLine, model: Script, tmp_path: Path) -> None:
    (tmp_path / "plan.txt").write_text("Sort the offers by price.\n\nTake the first.\n")
    model.answers[:] = scripted(QUERY, FINISH, DECISION)
    run = decide("--plan", "plan.txt", "--json")
    assert json.loads(run.stdout)["plan"] == ["Sort the offers by price.", "Take the first."]
    assert "1. Sort the offers by price." in run.stderr
    assert "2. Take the first." in run.stderr


def test_decide_judges_a_generated_question(planweave: CommandLine, model: Script) -> None:
    wrong = DECISION | {"decision": "nobody"}
    model.answers[:] = scripted(PLAN, querying("SELECT name FROM plant"), FINISH, wrong, wrong)
    run = planweave("decide", "--scenario", "distribution", "--model", model.name)
    assert run.returncode == 6, run.stderr  # no decision
    assert "✘ Simulator: no decision was made" in run.stdout


def test_decide_by_what_was_learned(planweave: CommandLine, model: Script) -> None:
    """The plan is the learned path: no model is asked for a plan or a query."""
    asked = ("decide", "--scenario", "building", "--size", "130", "--seed", "3")
    by_itself = planweave(*asked, "--method", "path_policy")
    assert by_itself.returncode == 0, by_itself.stderr
    assert "✔ Simulator: right" in by_itself.stdout
    model.answers[:] = scripted({"decision": "1307", "why": "It ranks first [1].", "facts": [1]})
    run = planweave(*asked, "--experience", "shipped", "--model", model.name, "--json")
    done = json.loads(run.stdout)
    assert done["answer"]["decision"] == "1307", run.stderr
    assert len(done["turns"]) == 1


@pytest.mark.slow
def test_decide_waits_for_approval(
    decide: CommandLine, planweave: CommandLine, model: Script, environment: dict[str, str]
) -> None:
    """At a real terminal a plan is rejected and the next approved; see ``test_approval.py``."""
    model.answers[:] = scripted(PLAN, *WHOLE_RUN)
    stopped = decide("--approve")
    assert_one_clear_error(stopped, "waits for approval", "--resume", code=5)
    thread = thread_of(stopped.stdout)
    typed = ("r", "Shorter, please.\n", "a")
    resumed = _typed(typed, [PROGRAM, "decide", "--resume", thread], environment)
    assert "Carry out this plan?" in resumed
    assert "birch" in resumed.lower()
    assert len(model.requests) == 5
    assert "Shorter, please." in model.requests[1]["messages"][1]["content"]
    again = planweave("decide", "--resume", thread)  # as if the terminal had died before its end
    assert again.returncode == 0, again.stderr
    assert "birch" in again.stdout.lower()
    assert len(model.requests) == 5


def test_a_further_question_goes_on_in_the_thread(
    decide: CommandLine, planweave: CommandLine, model: Script
) -> None:
    meant = {"follows_up": True, "question": "Which offer is cheapest but for birch?"}
    model.answers[:] = scripted(*WHOLE_RUN, meant, PLAN, FINISH, DECISION | {"decision": "ash"})
    thread = thread_of(decide().stdout)
    second = planweave("decide", "And without birch?", "--resume", thread)
    assert second.returncode == 0, second.stderr
    assert f"understood as: {meant['question']}" in second.stdout
    assert "ash" in second.stdout
    planned = model.requests[5]["messages"][1]["content"]
    assert "# Earlier in this conversation" in planned
    assert "5.25" in planned


def _typed(texts: Sequence[str], command: list[str], environment: dict[str, str]) -> str:
    """Output of a command at a real terminal at which each text is typed when one is asked for."""
    import pty
    import termios

    reader, writer = pty.openpty()
    process = subprocess.Popen(
        command, env=environment, stdin=writer, stdout=writer, stderr=writer, close_fds=True
    )
    os.close(writer)
    left, output, answered = [*texts], b"", 0
    while True:
        if left and output[answered:].rstrip().endswith((b"eject?", b"change:")):
            if output.rstrip().endswith(b"eject?"):  # keys that come before it listens are lost
                wait_until(lambda: not termios.tcgetattr(reader)[3] & termios.ICANON)
            os.write(reader, left.pop(0).encode())
            answered = len(output)
        try:
            chunk = os.read(reader, 4096)
        except OSError:
            break
        if not chunk:
            break
        output += chunk
    os.close(reader)
    assert process.wait(timeout=60) == 0, output.decode()
    return output.decode()


def thread_of(said: str) -> str:
    """The thread that a run names at its beginning."""
    return said.split("thread ")[1].split(maxsplit=1)[0]


@pytest.mark.slow
def test_decide_survives_being_killed(
    planweave: CommandLine, offers: str, model: Script, environment: dict[str, str]
) -> None:
    model.answers[:] = [*scripted(PLAN, QUERY), *scripted(FINISH, delay=300)]
    process = subprocess.Popen(
        [PROGRAM, "decide", CHEAPEST, "--database", offers, "--model", model.name],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    thread = thread_of(process.stdout.readline())
    wait_until(lambda: len(model.requests) == 3)
    process.kill()
    process.communicate(timeout=120)
    before = len(model.requests)
    model.answers[:] = scripted(FINISH, DECISION)
    resumed = planweave("decide", "--resume", thread)
    assert resumed.returncode == 0, resumed.stderr
    assert f"\n{CHEAPEST}\n" in resumed.stdout  # the question is repeated
    assert "birch" in resumed.stdout.lower()
    assert len(model.requests) - before == 2  # neither the plan nor the query was made again


@cases(signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
def test_decide_says_how_to_go_on_when_it_is_interrupted(
    by: signal.Signals, decide: CommandLine, model: Script
) -> None:
    if signal.getsignal(by) is signal.SIG_IGN:
        pytest.skip(f"{by.name} is ignored here, as it is under nohup")
    model.answers[:] = scripted(PLAN, delay=300)

    def interrupt() -> None:
        wait_until(lambda: model.requests)
        signal.pthread_kill(threading.main_thread().ident or 0, by)

    with ThreadPoolExecutor() as threads:
        done = threads.submit(interrupt)
        run = decide()
    done.result()
    assert run.returncode == 130, run.stderr
    assert f"--resume {thread_of(run.stdout)}" in run.stdout


def test_replies_that_cannot_be_read_are_an_error(decide: CommandLine, model: Script) -> None:
    model.answers[:] = [Answer(text="I cannot say.")]
    run = decide("--json")
    assert run.returncode == 1
    assert "replies could not be read" in run.stderr
    assert json.loads(run.stdout)["answer"]["decision"] is None


def test_leaving_the_approval(
    decide: CommandLine, planweave: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def leave(_: object) -> None:
        raise EOFError  # as Ctrl-D does

    monkeypatch.setattr("planweave.apps.cli.answering.approver", lambda *_: leave)
    run = decide("--approve")
    assert run.returncode == 130
    thread = run.stdout.partition("Resume with: planweave decide --resume ")[2].strip()
    shown = planweave("runs", "show", thread).stdout
    assert shown.count(CHEAPEST) == 1
    assert f"Not finished. Resume with: planweave ask --resume {thread}" in shown


def test_a_command_that_is_interrupted_says_so(
    planweave: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("planweave.apps.cli.train_assessor.output_folder", interrupt)
    run = planweave("train", "plan-assessor", "--data", str(tmp_path), "--out", "here")
    assert (run.returncode, run.stderr) == (130, "\nInterrupted.\n")


def test_a_run_that_failed_goes_on_with_another_database(
    decide: CommandLine, planweave: CommandLine, offers: str, model: Script
) -> None:
    model.answers[:] = [*scripted(PLAN), Answer(status=400)]
    failed = decide()
    assert "rejected the request" in failed.stderr
    before = len(model.requests)
    resume = failed.stdout.partition("Resume with: planweave ")[2].split()
    moved = Path(offers).rename(Path(offers).with_name("moved.sql"))
    assert_one_clear_error(planweave(*resume), "script", offers)
    model.answers[:] = scripted(QUERY, FINISH, DECISION)
    run = planweave(*resume, "--database", str(moved))
    assert "birch" in run.stdout.lower()
    assert len(model.requests) - before == 3  # the plan was not made again


def test_a_model_of_a_role_that_did_not_play_is_told(decide: CommandLine, model: Script) -> None:
    roles = ("--role-model", f"drafter={model.name}", "--role-model", f"planner={model.name}")
    said = decide(*roles).stdout
    assert "The run used no model for the role 'drafter'." in said
    assert "'planner'" not in said


def test_query_prints_rows_as_json(planweave: CommandLine, offers: str) -> None:
    run = planweave("query", "--database", offers, "SELECT name FROM offer ORDER BY name", "--json")
    found = json.loads(run.stdout)
    assert (found["columns"], found["rows"]) == (["name"], [["ash"], ["birch"]])
    assert found["truncated"] is False


def test_query_on_a_graph_file(planweave: CommandLine, tmp_path: Path) -> None:
    script = tmp_path / "g.cql"
    script.write_text('CREATE (a:City {name:"Ulm"});\nCREATE (b:City {name:"Bonn"});\n')
    run = planweave("query", "--graph", str(script), "MATCH (c:City) RETURN count(c)")
    assert run.stdout.splitlines() == ["count(c)", "2"]
    assert_one_clear_error(planweave("query", "--graph", str(script), " "), "query is empty")


@cases(
    ("DELETE FROM offer", 2),
    ("SELECT 1; SELECT 2", 2),
    ("WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT sum(n) FROM t", 3),
    ("SELECT price FROM ofer", 4),
    (" ", 1),
    ("/* nothing */", 1),
)
def test_query_exit_codes(statement: str, code: int, planweave: CommandLine, offers: str) -> None:
    run = planweave("query", "--database", offers, statement, "--seconds", "0.5")
    assert_one_clear_error(run, code=code)


@cases(
    ("query", "--seconds", "-1"),
    ("query", "--seconds", "nan"),
    ("query", "--rows", "0"),
    ("serve", "--port", "99999"),
    ("serve", "--port", "0"),
)
def test_a_number_that_cannot_be(
    command: str, option: str, number: str, planweave: CommandLine
) -> None:
    run = planweave(command, option, number)
    assert run.returncode == 2
    assert f"Invalid value for '{option}'" in run.stderr


MANY = f"SELECT a.name FROM offer a, {', '.join(f'offer o{number}' for number in range(13))}"
OFFERS = ("Which?", "--database", "OFFERS")


@cases(
    (("Which?", "--database", "nowhere.db"), ("nowhere.db",)),
    (("Which?",), ("No database and no document collection", "--database")),
    (OFFERS[1:], ("There is no question", "planweave decide")),
    ((" ", *OFFERS[1:]), ("There is no question", "planweave decide")),
    ((*OFFERS, "--candidates", "SELECT 1 WHERE 1 > 2"), ("returned no value", "--candidates")),
    ((*OFFERS, "--candidates", MANY), ("too many", "--candidates")),
    ((*OFFERS, "--plan", "none.txt"), ("none.txt",)),
    (("Which?", "--rules", "none.txt"), ("none.txt", "cannot be read")),
    (("Which?", "--rules", "empty.txt"), ("empty.txt", "is empty")),
    (("Which?", "--setting", "tools=absent"), ("no tool 'absent'", "The tools are: none.")),
    ((*OFFERS, "--approve", "--method", "react"), ("no plan to approve", "--method planrag")),
    ((*OFFERS, "--method", "planrug"), ("planrag",)),
    ((*OFFERS, "--scenario", "nosuch"), ("distribution",)),
    ((*OFFERS, "--scenario", "sourcing"), ("its own database",)),
    ((*OFFERS, "--role-model", "planner"), ("planner=openai:gpt-4o",)),
    ((*OFFERS, "--max-iterations", "0"), ("max_iterations",)),
    ((*OFFERS, "--setting", "database=other.db"), ("database is given twice",)),
    ((*OFFERS, "--replan", "sometimes"), ("replan",)),
    ((*OFFERS, "--resume", "nosuch"), ("no thread",)),
    ((*OFFERS, "--resume", ""), ("no thread ''",)),
    ((*OFFERS, "--method", "instructrag"), ("no task to act on",)),
    ((*OFFERS, "--method", "direct", "--plan", "plan.txt"), ("direct uses no plan",)),
    ((*OFFERS, "--role-model", "planer=embedded"), ("did you mean planner",)),
    ((*OFFERS, "--experience", "nosuch.jsonl"), ("nosuch.jsonl cannot be read",)),
    ((*OFFERS, "--resume", "x", "--plan", "plan.txt"), ("--plan has no effect with --resume",)),
    ((*OFFERS, "--resume", "x", "--max-calls", "5"), ("--max-calls has no effect with --resume",)),
)
def test_what_cannot_be_begun(
    arguments: Sequence[str],
    words: Sequence[str],
    planweave: CommandLine,
    offers: str,
    tmp_path: Path,
) -> None:
    (tmp_path / "empty.txt").write_text(" \n")
    (tmp_path / "plan.txt").write_text("Look.")
    asked = [offers if word == "OFFERS" else word for word in arguments]
    model = () if "--resume" in asked else ("--model", "http://127.0.0.1:9/v1#m")
    run = planweave("decide", *asked, *model)
    assert_one_clear_error(run, *words)
    assert run.stdout == ""
    assert json.loads(planweave("runs", "list", "--json").stdout) == []


def test_full_disk(planweave: CommandLine, offers: str, model: Script, tmp_path: Path) -> None:
    folder = tmp_path / "small"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("A small file system cannot be mounted without the right to do so.")
    asked = ("decide", "Which?", "--database", offers, "--model", model.name)
    try:
        run = planweave(*asked, PLANWEAVE_STATE_DIR=str(folder))
    finally:
        subprocess.run(["umount", str(folder)], check=True)
    assert_one_clear_error(run, "disk is full")


def test_methods_and_doctor(planweave: CommandLine, offers: str, model: Script) -> None:
    assert "planrag" in json.loads(planweave("methods", "--json").stdout)
    model.answers[:] = [Answer(text='{"word": "ready"}')]
    run = planweave("doctor", "--json", "--model", model.name, "--database", offers)
    assert run.returncode == 0, run.stdout
    checks = {check["what"]: check for check in json.loads(run.stdout)}
    assert "structured reply" in checks[f"model {model.name}"]["found"]
    assert checks["database 1"]["ok"]
    assert {"weights minilm, model.onnx", "weights minilm, tokenizer.json"} <= checks.keys()
    broken = planweave("doctor", "--database", "nowhere.db")
    assert broken.returncode == 1
    assert "nowhere.db" in broken.stdout


def test_no_secret_is_kept_or_shown(
    planweave: CommandLine, offers: str, model: Script, tmp_path: Path
) -> None:
    key, password = "4711-of-nobody", "h0nter2"
    given = {"PLANWEAVE_API_KEY": key, "PLANWEAVE_RESPONSE_CACHE": "all", "DB": offers}
    model.answers += [Answer(status=400, message=f"no: {key}")]
    asked = ("decide", "--model", model.name, "--database")
    done = planweave(*asked, "${DB}", "Which offer?", "--json", **given)
    failed = planweave(*asked, "${DB}", "Which one?", **given)
    lost = planweave(*asked, f"postgresql://me:a/{password}@127.0.0.1:9/none", "Which?", **given)
    assert done.returncode == 0, done.stderr
    assert "rejected the request" in failed.stderr
    assert "***" in failed.stderr
    assert_one_clear_error(lost, "does not answer")
    assert set(model.keys) == {f"Bearer {key}"}
    files = [file for file in tmp_path.rglob("*/*") if file.is_file()]
    kinds = {file.name if file.suffix == ".sqlite" else file.suffix for file in files}
    assert kinds >= {".json", "checkpoints.sqlite", "replies.sqlite"}
    texts = [run.stdout + run.stderr for run in (done, failed, lost)]
    for secret in (key, password):
        assert not [text for text in texts if secret in text]
        assert not [file for file in files if secret.encode() in file.read_bytes()]


def test_runs_are_the_owners_alone(planweave: CommandLine, offers: str, tmp_path: Path) -> None:
    known = tmp_path / "state" / "long-term.sqlite"
    known.parent.mkdir()
    known.touch(mode=0o644)  # as it was made before
    planweave("decide", "Hi!", "--database", offers)
    assert (tmp_path / "state" / "threads").stat().st_mode & 0o077 == 0
    for file in (known, *(tmp_path / "state" / "threads").iterdir()):
        assert file.name.endswith(".json") or file.stat().st_mode & 0o077 == 0, file


async def test_a_checkpoint_makes_no_objects_of_foreign_classes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLANWEAVE_STATE_DIR", str(tmp_path))
    async with checkpoints() as saver:
        assert_makes_no_foreign_objects(saver.serde, monkeypatch)


@cases("\x1b[2J\x1b[1;1HDecision: ash", "a\u202eb", "a\u009b2Jb", "a\rb")
def test_a_terminal_obeys_no_text(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    console = Console(force_terminal=True, width=200, color_system=None, highlight=False)
    story = Story(console)
    fact: Fact = {
        "number": 1,
        "text": text,
        "values": {},
        "source": "sql",
        "query": text,
        "quote": {"document": text, "page": 1, "text": text},
    }
    story.show(PlanEvent(steps=[text]))
    story.show(ThoughtEvent(text=text))
    story.show(ActionEvent(tool="sql", input=text, corrected=[text]))
    story.show(FactEvent(fact=fact))
    story.show(ProblemEvent(where=text, text=text))
    story.show(ReplanEvent(reason=text, steps=[text]))
    claim = Claim(text=text, facts=[1], supported=False, reason=text)
    told({"decision": text, "why": text, "unknown": text}, console, [claim])
    shown = capsys.readouterr().out
    assert len(shown) > 10 * len(text)
    styles = re.compile(r"\x1b\[[0-9;]*m")
    assert not set(styles.sub("", shown)) & set("\x1b\u202e\u009b\r")


def test_numbers_of_a_fact_are_shown_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    rows: list[list[Value]] = [["West", 12345.67], ["North", 0.1 + 0.2]]
    fact: Fact = {
        "number": 1,
        "text": "the first 2 of 7 rows\nregion | revenue\nWest | 12345.7\nNorth | 0.3",
        "values": {},
        "source": "sql",
        "query": "SELECT 1",
        "quote": None,
        "table": {"columns": ["region", "revenue"], "rows": rows, "complete": False},
    }
    Story(Console(width=100, highlight=False)).show(FactEvent(fact=fact))
    shown = [line.strip() for line in capsys.readouterr().out.splitlines()]
    assert shown == [
        *("[1] the first 2 of 7 rows", "region | revenue", "West | 12345.67", "North | 0.3")
    ]


def test_the_answer_is_seen_while_it_is_written(capsys: pytest.CaptureFixture[str]) -> None:
    waiting = Waiting()
    waiting.show(ProgressEvent(doing="writing the answer", role="answering_machine", written=2))
    for piece in ("It costs ", "least."):
        waiting.write(TokenEvent(node="answering_machine", text=piece))
    Console().print(waiting)
    lines = capsys.readouterr().out.splitlines()
    assert lines == ["It costs least.", "writing the answer, 2 tokens … 0 s"]
    waiting.show(ProgressEvent(doing="checking the answer"))
    Console().print(waiting)
    assert "least" not in capsys.readouterr().out


def test_a_reply_that_comes_too_late_is_not_waited_for(decide: CommandLine, model: Script) -> None:
    model.answers[:] = [Answer(delay=3600)]
    run = decide("--max-seconds", "0.5")
    assert run.returncode == 3, run.stderr
    assert "budget of 0.5 seconds is used up. Nothing is known so far." in run.stdout
