"""Results are read with ``inspect view``, and a suite runs as a task of Inspect."""

import gc
from pathlib import Path

import bench_world
import pytest
from bench_command import bench
from records import record

from planweave.benchmarks.core.store import Results, Run, read

REASON = "inspect-ai is not installed: pip install 'planweave[inspect]'"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = bench_world.write_data(tmp_path / "data")
    bench_world.register(folder)
    return folder


def test_inspect_is_needed(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("planweave.errors.find_spec", lambda name: None)
    words = ("dqa", "--data", data, "--method", "planrag", "--out", tmp_path / "out")
    bench(*words, "--log", "inspect", fails="Inspect needs the package inspect_ai")
    assert not (tmp_path / "out").exists()


# Inspect leaves streams of its own open when an evaluation ends.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_suite_comes_to_the_same_in_a_log_and_as_a_task(data: Path, tmp_path: Path) -> None:
    inspect_ai = pytest.importorskip("inspect_ai", reason=REASON)
    from planweave.benchmarks.core.inspect_logs import suite_task

    out, model = tmp_path / "out", "scripted:right"
    words = ("dqa", "--data", data, "--model", model, "--method", "planrag,single_rag")
    assert "Written: 2 logs" in bench(*words, "--out", out, "--log", "inspect").output
    found = read(out / "scripted-right.jsonl").records.values()
    records = {(r.question, r.database): r for r in found if r.method == "planrag"}
    log = inspect_ai.log.read_eval_log(str(out / "inspect" / "planrag-scripted-right.eval"))
    assert (log.status, log.eval.task, log.eval.solver) == ("success", "dqa", "planrag")
    assert len(log.samples) == len(records) == 8
    for sample in log.samples:
        question, _, database = sample.id.partition(" ")
        record = records[question, database]
        replies = [event.output.completion for event in sample.events]
        assert replies == [call.record.reply for call in record.calls]
        assert sample.messages[-1].text == replies[-1]
        assert sample.scores["accuracy"].answer == record.score.answer
    task = suite_task("dqa", data=str(data), method="planrag", model=model)
    (done,) = inspect_ai.eval(task, model="none", log_dir=str(tmp_path / "log"), display="none")
    gc.collect()
    assert done.status == "success"
    for run in (log, done):
        (score,) = run.results.scores
        assert (score.name, score.metrics["mean"].value) == ("accuracy", 1)


def test_each_trial_of_a_question_is_an_epoch(tmp_path: Path) -> None:
    inspect_ai = pytest.importorskip("inspect_ai", reason=REASON)
    from planweave.benchmarks.core.inspect_logs import write_logs

    about = {"suite": "dqa", "command": "planweave", "started": "2026-01-01T00:00:00+00:00"}
    more = {"models": ["m"], "settings": {}, "versions": {}, "machine": {}}
    trials = {str(number): record(key=str(number)) for number in (1, 2)}
    (path,) = write_logs(Results([Run.model_validate(about | more)], trials), tmp_path)
    samples = inspect_ai.log.read_eval_log(str(path)).samples
    epochs = [(one.id, one.epoch) for one in samples]
    assert epochs == [("locating-1 graph", 1), ("locating-1 graph", 2)]
