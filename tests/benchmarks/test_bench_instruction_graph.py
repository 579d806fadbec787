"""The benchmark of the instruction graph: what it counts, and the command."""

import json
from pathlib import Path

import bag_of_words
import pytest
from bag_of_words import WordEmbeddings
from bench_command import bench
from published import published

from planweave.benchmarks.suites.paths.instruction_graph import sweep
from planweave.learning.paths import TaskPath, read_paths, write_paths
from planweave.models import register_embeddings

PATHS = [
    TaskPath("film", "a", ("search director", "search director born", "finish 1956")),
    TaskPath("film", "b", ("search director", "finish 1946")),
    TaskPath("city", "c", ("lookup river", "finish 1956")),
]


def test_the_command_writes_what_it_measured(tmp_path: Path) -> None:
    register_embeddings("bag", WordEmbeddings)
    file, out = tmp_path / "paths.jsonl", tmp_path / "out"
    write_paths(file, [*PATHS, TaskPath("film", "failed", ("finish",), reward=0.5)])
    words = ["instruction-graph", "--data", str(file), "--embeddings", "bag:1"]
    done = bench(*words, "--out", out, "--json")
    told = json.loads(done.stdout)
    assert told == json.loads((out / "instruction-graph.json").read_text())
    assert told["sweep"]["paths"] == 3
    assert told["sweep"]["lines"][0]["threshold"] == 0
    assert str(tmp_path) not in done.stdout
    write_paths(file, [TaskPath("film", "failed", ("finish",), reward=0.5)])
    bench(*words, fails="path")


@pytest.mark.published
def test_the_published_paths_grow_with_the_threshold() -> None:
    file = published("trajectories/hotpotqa_success.jsonl.gz")
    made = sweep([path for path in read_paths(file) if path.reward == 1], bag_of_words.embed)
    assert (made.paths, made.instructions) == (968, 2265)
    counts = [line.nodes for line in made.lines]
    assert counts == sorted(counts)
    assert counts[0] == 2
