"""Benchmarks on a cluster of two nodes: samples lost with a node run again, once."""

import json
import pickle
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from threading import Event

import bench_world
import pytest
from bench_command import bench
from cases import cases
from openai_server import Answer, serving
from ray_cluster import RayCluster, ray_cluster
from waiting import wait_until

from planweave.benchmarks.core.ray_executor import Cluster, ClusterLost, _shared_settings
from planweave.benchmarks.core.store import read
from planweave.benchmarks.core.suite import Sample
from planweave.benchmarks.suites.dqa.suite import choose, samples
from planweave.memory import Context
from planweave.models import ModelUnavailable
from planweave.simulators.published import load_dataset

_ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed")


@pytest.fixture
def cluster() -> Iterator[RayCluster]:
    with ray_cluster(python_path=str(_ROOT)) as running:
        yield running


class Bench:
    """``planweave bench dqa --ray`` in a process of its own."""

    def __init__(self, data: Path, out: Path, model: str, ray: str) -> None:
        self.file = out / "v1-tiny.jsonl"
        words = ["bench", "dqa", "--data", str(data), "--out", str(out)]
        words += ["--model", model, "--ray", ray]
        words += ["--method", "single_rag", "--setting", "max_iterations=1", "--concurrency", "4"]
        self.process = subprocess.Popen(
            [sys.executable, "-c", "from planweave.apps.cli.main import main; main()", *words],
            cwd=_ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            # As at a terminal: a test run in the background hands on an ignored Ctrl-C.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509
        )

    def keys(self) -> list[str]:
        """Of all records in the file, in order, repeated ones included."""
        written = self.file.read_bytes() if self.file.exists() else b""
        lines = written.split(b"\n")[:-1]  # the last one may be there in part
        return [line["key"] for line in map(json.loads, lines) if line["kind"] == "sample"]

    def wait(self, until: Callable[[], bool]) -> None:
        wait_until(lambda: until() or self.process.poll() is not None)
        assert until(), self.process.communicate()[0]


def some_answers(then: Event) -> list[Answer]:
    """Answers for two questions, or three, with two calls each, on two processors; the rest wait.

    What stops or kills the runs then finds both processors at work, however slow the machine is.
    """
    return [*[Answer(text="no JSON")] * 6, Answer(text="no JSON", after=then)]


@pytest.mark.server
@pytest.mark.timeout(900)  # on a busy machine Ray takes minutes to start
def test_a_node_that_is_killed_loses_no_question(cluster: RayCluster, tmp_path: Path) -> None:
    data = bench_world.write_data(tmp_path / "data", 4)
    stopped, killed = Event(), Event()
    with serving(*some_answers(stopped)) as model:
        first = Bench(data, tmp_path, model.name, cluster.address)
        first.wait(lambda: len(first.keys()) >= 2)
        first.process.send_signal(signal.SIGINT)
        said = first.process.communicate()[0]
        stopped.set()
        assert first.process.returncode == 130, said
        assert "2 machines, 2 CPUs" in said
        assert "Interrupted. Finished samples are saved" in said
        assert "Traceback" not in said
        done = first.keys()
        assert 2 <= len(done) <= 3

        model.answers[:] = some_answers(killed)
        second = Bench(data, tmp_path, model.name, cluster.address)
        second.wait(lambda: len(second.keys()) >= len(done) + 2 and cluster.other.working())
        cluster.other.kill()
        before = len(second.keys())
        killed.set()
        said = second.process.communicate()[0]
    assert second.process.returncode == 0, said
    assert f"{len(done)} done before, {16 - len(done)} to do" in said
    assert before < 16
    keys = second.keys()
    assert keys[: len(done)] == done
    assert len(keys) == len(set(keys)) == 16
    records = read(second.file).records.values()
    assert {record.error for record in records} == {""}
    assert {len(record.calls) for record in records} == {2}


@cases(
    ("nowhere", "it is not host:port"),
    ("127.0.0.1:1", "Connection refused"),
    ids=["no address", "nobody there"],
)
def test_what_is_no_cluster_is_one_sentence(address: str, why: str, tmp_path: Path) -> None:
    data = bench_world.write_data(tmp_path / "data", 1)
    words = ["dqa", "--data", str(data), "--model", "openai:gpt-4o", "--out", str(tmp_path)]
    bench(*words, "--ray", address, fails=f"no usable Ray cluster at {address}: {why}")


class Fails:
    """A remote function whose every run ends in an error of Ray's."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    async def remote(self, *_: object) -> None:
        raise self._error


def broken(error: Exception) -> Cluster:
    return Cluster(1, 1, Fails(error))


def sample(data: Path) -> Sample:
    questions = choose(load_dataset(data).questions, ["building"], 1, seed=1)
    (made,) = samples(
        questions, methods=["single_rag"], databases=["relational"], settings=Context()
    )
    return made


async def test_errors_of_ray_are_told_apart(tmp_path: Path) -> None:
    from ray import exceptions

    asked = sample(bench_world.write_data(tmp_path / "data", 1))
    record = await broken(exceptions.WorkerCrashedError()).carry_out(asked)
    assert record.error == "ClusterLost: Its worker was lost 4 times (WorkerCrashedError)."
    assert (record.key, record.score.value) == (asked.key, 0.0)
    gone = ModelUnavailable("It is gone.")
    failed = exceptions.RayTaskError("_work", "traceback", gone)  # type: ignore[no-untyped-call]
    with pytest.raises(ModelUnavailable, match="gone"):
        await broken(failed).carry_out(asked)
    with pytest.raises(ClusterLost, match="RayError"):
        await broken(exceptions.RayError()).carry_out(asked)


def test_neither_keys_nor_folders_travel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLANWEAVE_API_KEY", "4711")
    monkeypatch.setenv("PLANWEAVE_DATA_DIR", "/here")
    monkeypatch.setenv("OPENAI_API_KEY", "4711")
    monkeypatch.setenv("PLANWEAVE_CHUNK_TOKENS", "256")
    travelling = _shared_settings()
    assert travelling["PLANWEAVE_CHUNK_TOKENS"] == "256"
    assert not {"PLANWEAVE_API_KEY", "PLANWEAVE_DATA_DIR", "OPENAI_API_KEY"} & travelling.keys()


def test_errors_come_back_from_other_processes_as_they_were() -> None:
    error = ModelUnavailable("It is gone.", fix="Start it.", trouble="unreachable")
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.fix, again.trouble) == (str(error), "Start it.", "unreachable")
