"""Instruction paths: read from every published form of trajectories, and written again."""

import gzip
import json
from dataclasses import replace
from pathlib import Path

import pytest
from cases import cases
from published import published

from planweave import BadInput
from planweave.learning import paths
from planweave.learning.paths import TaskPath, read_paths, write_paths

RECORDS = [
    {
        "source": "KnowAgent",
        "question": "Who directed Sinister?",
        "success": True,
        "steps": [
            {"thought": "look", "action": "Search[Sinister\n (film)]", "observation": "a film"},
            {"thought": None, "action": "Finish[Scott Derrickson]"},
        ],
    },
    {"task": "heat an egg.", "task_type": "heat", "steps": [{"action": "open fridge 1"}]},
    {
        "task": "boil",
        "task_description": "Boil water.",
        "final_score": -100,
        "steps": [["go to kitchen", "You are there.", 5]],
    },
    {
        "instruction": "a red lamp",
        "score": 0.5,
        "steps": [
            {"action": "reset", "observation": "WebShop"},
            {"action": "think[which one?]", "observation": "OK."},
            {"action": "click[Buy Now]", "observation": ""},
        ],
    },
    {"question": "Nothing was done.", "steps": [{"action": "think: hm"}]},
]
PATHS = [
    TaskPath(
        "",
        "Who directed Sinister?",
        ("Search[Sinister (film)]", "Finish[Scott Derrickson]"),
        origin="KnowAgent",
    ),
    TaskPath("heat", "heat an egg.", ("open fridge 1",), origin="some.jsonl"),
    TaskPath("boil", "Boil water.", ("go to kitchen",), 0.0, "some.jsonl"),
    TaskPath("", "a red lamp", ("click[Buy Now]",), 0.5, "some.jsonl"),
]


def written(folder: Path, *lines: str) -> Path:
    file = folder / "some.jsonl"
    file.write_text("\n".join(lines), "utf-8")
    return file


def test_every_published_form_is_read(tmp_path: Path) -> None:
    file = written(tmp_path, *map(json.dumps, RECORDS), "")
    assert read_paths(file) == PATHS
    (tmp_path / "all.json").write_text(json.dumps(RECORDS))
    assert [path.key for path in read_paths(tmp_path / "all.json")] == [path.key for path in PATHS]
    assert read_paths(file, lambda record: f"film: {record['question']}")[0].task == (
        "film: Who directed Sinister?"
    )


@cases("out.jsonl", "out.jsonl.gz")
def test_what_is_written_is_read_again(name: str, tmp_path: Path) -> None:
    seen = replace(PATHS[0], observations=("a film", ""))
    write_paths(tmp_path / name, [seen, *PATHS[1:]])
    again = read_paths(tmp_path / name)
    assert again == PATHS
    assert again[0].observations == seen.observations
    with pytest.raises(BadInput, match="cannot be read"):
        read_paths(tmp_path)
    with pytest.raises(BadInput, match="cannot be written"):
        write_paths(tmp_path / "absent" / name, PATHS)


def test_the_key_is_of_what_was_done_and_for_what() -> None:
    one = TaskPath("heat", "heat an egg.", ("open fridge 1",))
    other = replace(one, reward=0.5, origin="me", observations=("an egg",))
    assert other.key == one.key == "5b7577bd37be"  # the same in every process
    assert len({one.key, *(path.key for path in PATHS)}) == len(PATHS)


@cases(
    ("{", "record: Invalid JSON"),
    ("[]", "record"),
    ('{"question": "a", "steps": "none"}', "steps"),
    ('{"question": "a", "steps": [{"act": "b"}]}', r"steps\.0\.action"),
    ('{"question": "a", "steps": [[]]}', r"steps\.0"),
    ('{"question": "a", "score": 2, "steps": []}', "score"),
    ('{"question": " ", "steps": []}', "question"),
    (json.dumps({"question": "a", "steps": [{"action": "x" * 20_000}]}), "at most 10000"),
    ("[" * 100_000, "record"),
)
def test_a_line_that_is_no_trajectory_is_named(line: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=rf"Line 2 of .*{said}"):
        read_paths(written(tmp_path, json.dumps(RECORDS[0]), line))


def test_a_file_that_unpacks_to_too_much_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paths, "_MAX_BYTES", 1_000_000)
    for name, pack in (("bomb.jsonl.gz", gzip.compress), ("large.jsonl", bytes)):
        (tmp_path / name).write_bytes(pack(b" " * 1_000_001))
        with pytest.raises(BadInput, match="more than 1 MB"):
            read_paths(tmp_path / name)


@pytest.mark.published
@cases(
    ("trajectories/hotpotqa_success.jsonl.gz", 1008, 968, 1),
    ("trajectories/alfworld_knowagent218.jsonl.gz", 218, 218, 6),
    ("trajectories/webshop_react500.jsonl.gz", 500, 179, 1),
    ("scienceworld/gold_trajectories.jsonl.gz", 269, 267, 30),
)
def test_published_trajectories(file: str, count: int, successful: int, tasks: int) -> None:
    read = read_paths(published(file))
    assert len(read) == count
    assert sum(path.reward == 1 for path in read) == successful
    assert len({path.task for path in read}) == tasks
