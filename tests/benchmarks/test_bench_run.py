"""The benchmark as a person runs it: real graphs, tools and databases, scripted models."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import bench_world
import pytest
from bench_command import bench
from cases import cases
from openai_server import Answer as Sent
from openai_server import serving
from waiting import wait_until

from planweave.benchmarks.core.machine import command
from planweave.benchmarks.core.record import Score
from planweave.benchmarks.core.runner import carry_out
from planweave.benchmarks.core.store import read
from planweave.benchmarks.core.suite import Sample
from planweave.memory import Answer, Context, WorkingMemory
from planweave.memory.records import Failure
from planweave.models import ModelUnavailable
from planweave.models.settings import process_settings


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = bench_world.write_data(tmp_path_factory.mktemp("data"))
    bench_world.register(folder)
    return folder


def test_all_methods_on_both_databases(data: Path, tmp_path: Path) -> None:
    words = ("dqa", "--data", data, "--model", "scripted:right", "--out", tmp_path)
    first = bench(*words, "--concurrency", 3)
    results = read(tmp_path / "scripted-right.jsonl")
    assert "0 done before, 32 to do" in first.output
    assert "32/32" in first.output
    asked = {(r.question, r.method, r.database) for r in results.records.values()}
    assert len(asked) == len(results.records) == 32
    for record in results.records.values():
        assert record.error == ""
        assert record.score.value == 1.0
        assert record.answer is not None
        assert record.answer["facts"] == [1]
        query = next(turn for turn in record.turns if turn["tool"] in ("sql", "cypher"))
        assert query["input"] == record.facts[0]["query"]
        assert record.facts[0]["text"]
        assert bool(record.plan) is record.method.startswith("planrag")
        for call in record.calls:
            prompt = call.with_prompt(record.texts).prompt
            assert [message.role for message in prompt] == ["system", "human"]
            assert "# Business rules" in prompt[0].content
            assert call.record.reply
    again = bench(*words)
    assert "32 done before, 0 to do" in again.output
    assert len(read(tmp_path / "scripted-right.jsonl").runs) == 1
    page = (tmp_path / "report.md").read_text("utf-8")
    assert "| planrag | 100.0% [51-100] (8) | 0.0% | 0 | 0 |" in page


def test_the_report_is_rebuilt_from_files_alone(data: Path, tmp_path: Path) -> None:
    words = ("--data", data, "--out", tmp_path, "--database", "graph", "--scenario", "building")
    bench("dqa", *words, "--model", "scripted:right", "--method", "single_rag")
    wrong = bench("dqa", *words, "--model", "scripted:wrong", "--method", "single_rag", "--json")
    table = json.loads(wrong.stdout)["tables"][0]
    assert table["rows"][0][1]["value"] == 0.0
    assert table["rows"][0][3] == 2  # no answer
    files = [tmp_path / f"scripted-{name}.jsonl" for name in ("right", "wrong")]
    both = json.loads(bench("report", *files, "--json").stdout)
    rows = {row[0]: row[1] for row in both["tables"][0]["rows"]}
    assert rows["single_rag scripted:right"] == pytest.approx(
        {"value": 1.0, "error": 0.0, "low": 0.342, "high": 1.0, "n": 2, "clusters": 2}, abs=1e-3
    )
    assert rows["single_rag scripted:wrong"]["value"] == 0.0
    paired = next(t for t in both["tables"] if t["title"] == "Methods on the same questions")
    assert paired["rows"][0][2:] == [2, 2, 0, "0.500"]
    assert [run["models"] for run in both["runs"]] == [["scripted:right"], ["scripted:wrong"]]
    assert str(tmp_path) not in json.dumps(both)


def test_a_larger_limit_adds_to_what_is_done(data: Path, tmp_path: Path) -> None:
    words = ("dqa", "--data", data, "--model", "scripted:right", "--out", tmp_path)
    narrow = ("--method", "single_rag,planrag", "--database", "relational")
    bench(*words, *narrow, "--limit", 1)
    more = bench(*words, *narrow, "--limit", 3)
    assert "2 done before, 4 to do" in more.output
    changed = bench(*words, *narrow, "--limit", 1, "--setting", "query_rows=3")
    assert "0 done before, 2 to do" in changed.output


def test_a_lost_model_ends_the_run_without_failures(data: Path, tmp_path: Path) -> None:
    words = ("--data", data, "--model", "scripted:gone", "--out", tmp_path, "--concurrency", 4)
    done = bench("dqa", *words, fails="scripted:gone")
    assert isinstance(done.exception, ModelUnavailable)
    assert "the same command continues" in done.output
    results = read(tmp_path / "scripted-gone.jsonl")
    assert (len(results.runs), results.records) == (1, {})


def test_a_crash_can_be_redone(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ("dqa", "--data", data, "--model", "scripted:right", "--out", tmp_path)
    narrow = ("--method", "single_rag", "--database", "relational", "--limit", 1)
    with monkeypatch.context() as broken:
        broken.setattr("planweave.nodes.shared.intake.open_filled", lambda *_: 1 / 0)
        crashed = bench(*words, *narrow)
    assert "1 crashed" in crashed.output
    assert "ZeroDivisionError: division by zero" in crashed.output
    (record,) = read(tmp_path / "scripted-right.jsonl").records.values()
    assert record.error.startswith("ZeroDivisionError: ")
    assert (record.score.value, record.score.answer) == (0.0, None)
    assert "1 done before, 0 to do" in bench(*words, *narrow).output
    assert "0 done before, 1 to do" in bench(*words, *narrow, "--redo-crashed").output
    (record,) = read(tmp_path / "scripted-right.jsonl").records.values()
    assert (record.error, record.score.value) == ("", 1.0)


def test_bad_files_are_one_sentence(data: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty.jsonl"
    empty.touch()
    bench("report", empty, fails="contain no result yet")
    bench("report", tmp_path / "none.jsonl", fails="cannot be read")
    bench("dqa", "--data", tmp_path / "none", fails="There is no file or folder")
    bench("dqa", "--data", data, "--scenario", "distribution", fails="no scenario 'distribution'")
    damaged = tmp_path / "scripted-right.jsonl"
    damaged.write_text("nonsense\nnonsense\n")
    words = ("--data", data, "--model", "scripted:right", "--out", tmp_path)
    bench("dqa", *words, fails=f"{damaged} is damaged in line 1")
    assert damaged.read_text() == "nonsense\nnonsense\n"


class Process:
    """The command in a process of its own, with a slow model."""

    def __init__(self, data: Path, out: Path) -> None:
        root = Path(__file__).parents[2]
        environment = {k: v for k, v in os.environ.items() if k != "PLANWEAVE_RESPONSE_CACHE"}
        self.file = out / "scripted-slow.jsonl"
        words = ["dqa", "--data", str(data), "--model", "scripted:slow", "--out", str(out)]
        self.process = subprocess.Popen(
            [sys.executable, bench_world.__file__, *words, "--concurrency", "2"],
            env=environment | {"PYTHONPATH": str(root)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            # As at a terminal: a test run in the background hands on an ignored Ctrl-C.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509
        )

    def wait_for_lines(self, number: int) -> None:
        def are_there() -> bool:
            return self.file.exists() and self.file.read_bytes().count(b"\n") > number

        wait_until(lambda: are_there() or self.process.poll() is not None)
        assert are_there(), self.process.communicate()[0]

    def end(self, number: signal.Signals | None = None) -> str:
        if number:
            self.process.send_signal(number)
        return self.process.communicate(timeout=120)[0]


@pytest.mark.slow
def test_killed_and_resumed_nothing_is_lost_or_doubled(data: Path, tmp_path: Path) -> None:
    killed = Process(data, tmp_path)
    killed.wait_for_lines(3)
    killed.end(signal.SIGKILL)
    assert killed.process.returncode == -signal.SIGKILL
    written = killed.file.read_bytes()  # the last line may be there in part
    before = written[: written.rindex(b"\n") + 1]
    done = before.count(b'\n{"kind":"sample"')
    assert 3 <= done < 32
    killed.file.write_bytes(before + b'{"kind":"sample","key":"dqa/torn')

    interrupted = Process(data, tmp_path)
    interrupted.wait_for_lines(before.count(b"\n") + 3)
    bench("dqa", "--data", data, "--out", tmp_path, "--model", "scripted:slow", fails="Another")
    said = interrupted.end(signal.SIGINT)
    assert interrupted.process.returncode == 130
    assert "was incomplete" in said
    assert f"{done} done before, {32 - done} to do" in said
    assert "Interrupted. Finished samples are saved" in said
    assert "Traceback" not in said

    resumed = bench("dqa", "--data", data, "--out", tmp_path, "--model", "scripted:slow")
    assert "32/32" in resumed.output
    process = read(killed.file).runs[1].settings["process"]
    assert isinstance(process, dict)
    assert process["response_cache"] == "off"
    lines = [json.loads(line) for line in killed.file.read_text("utf-8").splitlines()]
    keys = [line["key"] for line in lines if line["kind"] == "sample"]
    assert len(keys) == len(set(keys)) == 32
    assert [line["kind"] for line in lines].count("run") == 3
    assert killed.file.read_bytes().startswith(before)


def test_the_head_of_a_result_file_names_no_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    typed = ["/x/bin/planweave", "bench", "--data=/a/b/c.tar.xz", "--out", "../r/x", "~/d/e"]
    models = ["--model", "http://host:1/v1#m", "--model", "embedded:/a/b.gguf", "openai:gpt-4o"]
    monkeypatch.setattr(sys, "argv", [*typed, *models])
    assert command() == (
        "planweave bench --data=c.tar.xz --out x e "
        "--model http://host:1/v1#m --model embedded:b.gguf openai:gpt-4o"
    )


def test_no_secret_is_in_a_result_file(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["dqa", "--data", data, "--limit", 1, "--method", "single_rag"]
    words += ["--database", "relational", "--out", tmp_path / "out"]
    bench(*words, "--model", "http://me:h0nter2@host/v1#m", fails="no user, password or query")
    assert not (tmp_path / "out").exists()
    monkeypatch.setenv("PLANWEAVE_API_KEY", "4711-of-nobody")
    process_settings.cache_clear()
    with serving(Sent(text="no JSON")) as server:
        bench(*words, "--model", server.name)
    process_settings.cache_clear()
    assert set(server.keys) == {"Bearer 4711-of-nobody"}
    written = b"".join(file.read_bytes() for file in (tmp_path / "out").iterdir())
    assert b"no JSON" in written
    assert b"4711-of-nobody" not in written


def test_two_suites_are_not_one_report(data: Path, tmp_path: Path) -> None:
    words = ("--data", data, "--model", "scripted:right", "--out", tmp_path, "--limit", 1)
    bench("dqa", *words, "--method", "single_rag", "--database", "relational")
    file = tmp_path / "scripted-right.jsonl"
    other = tmp_path / "other.jsonl"
    changed = file.read_text("utf-8").replace('"key":"dqa/', '"key":"x/')
    other.write_text(changed.replace('"suite":"dqa"', '"suite":"x"'), "utf-8")
    bench("report", other, fails="There is no benchmark suite 'x'")
    bench("report", file, other, fails="results of several suites")


def test_a_question_without_a_database_is_reported_and_skipped(data: Path, tmp_path: Path) -> None:
    part = tmp_path / "part"
    bench_world.write_data(part)
    for file in part.glob("data/building/queries/*/w1x*"):
        file.unlink()
    words = ("--data", part, "--model", "scripted:right", "--out", tmp_path)
    done = bench("dqa", *words, "--method", "single_rag", "--database", "relational")
    assert "building-1 has no" in done.output
    assert "Skipped, without a database: building-1." in done.output
    assert len(read(tmp_path / "scripted-right.jsonl").records) == 3


OF_PAPERS = ("planrag", "agent_v1", "agent_v2", "agent_v3", "rat", "furepa", "instructrag")


class Wrong:
    """What finds no answer right."""

    def score(self, answer: Answer | None) -> Score:
        return Score(value=0, answer=None, explanation="")


UNREAD = Failure(role="planner", kind="malformed_reply", detail="no JSON")


async def play(_sample: Sample, _on_call: object) -> WorkingMemory:
    return {"failures": [UNREAD]}


@cases(
    *((method, {}, "off") for method in ("react", "single_rag", "rag-5", "genground")),
    ("react", {"assist": "on"}, "on"),
    *((method, {}, "on") for method in OF_PAPERS),
    ("planrag", {"assist": "off"}, "off"),
    ("planrag", {"model": "openai:gpt-4.1"}, "off"),
    ("planrag", {"models": {"judge": "openai:gpt-4.1"}}, "some"),
)
async def test_baselines_have_no_aids_unless_asked_for_and_records_name_them(
    method: str, settings: dict[str, object], aids: str
) -> None:
    context = Context.model_validate(settings)
    sample = Sample(
        suite="dqa", question="1", method=method, asked="?", context=context, target=Wrong()
    )
    record = await carry_out(sample, play)
    assert (record.aids, record.failures, record.error) == (aids, [UNREAD], "")
    assert settings.get("assist") in (None, record.settings["assist"])
