"""An owner's experience: kept, listed, deleted, and the graph that is made of it."""

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from cases import cases

from planweave import BadInput
from planweave.learning.experience import Experience
from planweave.learning.paths import IN_CONTEXT, TaskPath

EGG = TaskPath("heat", "an egg", ("open fridge", "take egg", "heat egg"), origin="me")
MUG = TaskPath("heat", "a mug", ("open cabinet", "take mug", "heat mug"))
FAILED = TaskPath("cool", "a pan", ("take secretpan", "drop it"), reward=0.0)


@pytest.fixture
def experience(tmp_path: Path) -> Experience:
    kept = Experience(tmp_path / "experience", "alice")
    kept.add([EGG, MUG, FAILED])
    return kept


def test_the_last_verdict_counts(experience: Experience) -> None:
    assert [entry.path for entry in experience.entries()] == [EGG, MUG, FAILED]
    assert experience.entries()[0].added.startswith("20")
    other = TaskPath("cool", "a cup", ("take cup",))
    assert experience.add([replace(EGG, reward=0.2, origin="bob"), other, other]) == [other.key]
    in_context = replace(other, reward=0.0, origin=f"thread b{IN_CONTEXT}")
    assert experience.add([in_context]) == [in_context.key]
    *_, judged, last, _ = (entry.path for entry in experience.entries())
    assert (judged.reward, judged.origin, last) == (0.2, "bob", other)


@cases("bob", "Alice", "../alice", "", "x" * 5000, "\ud800")
def test_owners_are_apart(owner: str, experience: Experience, tmp_path: Path) -> None:
    other = Experience(tmp_path / "experience", owner)
    assert other.entries() == []
    other.add([MUG])
    other.remove([MUG.key])
    assert len(experience.entries()) == 3
    assert {file.parent for file in tmp_path.rglob("*.sqlite")} == {tmp_path / "experience"}
    assert (tmp_path / "experience").stat().st_mode & 0o077 == 0


def test_vectors_of_an_earlier_version_are_overwritten(experience: Experience) -> None:
    with closing(sqlite3.connect(experience.file)) as database, database:
        database.execute("CREATE TABLE vector(instruction TEXT NOT NULL, numbers BLOB NOT NULL)")
        database.execute("INSERT INTO vector VALUES ('take oldsecret', ?)", (b"numbers" * 900,))
    vectors = (b"oldsecret", b"numbersnumbers")
    assert all(part in experience.file.read_bytes() for part in vectors)
    assert experience.add([]) == []
    assert [entry.path for entry in experience.entries()] == [EGG, MUG, FAILED]
    assert not any(part in experience.file.read_bytes() for part in vectors)


def test_what_is_removed_leaves_no_trace(experience: Experience) -> None:
    secrets = (b"secretpan", b"take egg")
    assert all(secret in experience.file.read_bytes() for secret in secrets)
    with pytest.raises(BadInput, match="no path 'abc'"):
        experience.remove([EGG.key, "abc"])
    assert len(experience.entries()) == 3
    experience.remove([FAILED.key, EGG.key])
    assert [entry.path for entry in experience.entries()] == [MUG]
    assert not any(secret in experience.file.read_bytes() for secret in secrets)
    experience.clear()
    assert not experience.file.exists()
    assert experience.entries() == []


def test_several_may_add_at_once(experience: Experience) -> None:
    paths = [TaskPath("count", f"to {number}", ("count",)) for number in range(40)]
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda path: experience.add([path]), paths))
    assert len(experience.entries()) == 43


def test_a_database_that_cannot_be_used_is_said(experience: Experience, tmp_path: Path) -> None:
    database = sqlite3.connect(experience.file)
    database.execute("UPDATE path SET instructions = '{'")
    database.commit()
    with pytest.raises(BadInput, match="cannot be used"):
        experience.entries()
    database.execute("PRAGMA user_version = 9")
    database.close()
    with pytest.raises(BadInput, match="version 9"):
        experience.add([EGG])
    experience.file.write_bytes(b"not a database" * 100)
    with pytest.raises(BadInput, match="not a database"):
        experience.entries()
    (tmp_path / "file").touch()
    for wrong in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(BadInput, match="cannot be used"):
            Experience(wrong, "alice").add([EGG])
    experience.file.unlink()
    experience.file.mkdir()
    with pytest.raises(BadInput, match="cannot be used"):
        experience.clear()
