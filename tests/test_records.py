"""Published files of records: plain or packed, by line or as an array, or refused in a sentence."""

import gzip
import json
import lzma
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from cases import cases
from pydantic import BaseModel

from planweave import BadInput, records
from planweave.records import read_records

DEEP = b'{"name": "ash"}\n' + b"[" * 100_000


class Tree(BaseModel):
    """A record."""

    name: str


def trees(path: Path) -> list[Tree]:
    return read_records(path, Tree, fix="Name another file.")


@cases(("", bytes), (".gz", gzip.compress), (".xz", lzma.compress))
def test_lines_and_arrays(suffix: str, pack: Callable[[bytes], bytes], tmp_path: Path) -> None:
    given = [{"name": "ash"}, {"name": "birch"}]
    for text in ("\n\n".join(map(json.dumps, given)), json.dumps(given, indent=1)):
        path = tmp_path / f"trees.json{suffix}"
        path.write_bytes(pack(text.encode()))
        assert [tree.name for tree in trees(path)] == ["ash", "birch"]


@cases(
    ("absent.jsonl", None, "cannot be read (No such file or directory)"),
    ("a.jsonl", b"\xff", "cannot be read (it is not UTF-8 text)"),
    ("a.jsonl.gz", b"no gzip", "cannot be read (it is damaged)"),
    ("a.jsonl.gz", gzip.compress(b"{}" * 100, mtime=0)[:-9], "cannot be read (it is damaged)"),
    ("a.jsonl.xz", b"no xz", "cannot be read (it is damaged)"),
    ("a.jsonl", b'{"nome": 1}', "Line 1 of FILE is not as it should be (name: Field required)"),
    ("a.jsonl", b'{"name": "ash"}\n{', "Line 2 of FILE is not as it should be (record: Inv"),
    ("a.jsonl", DEEP, "Line 2 of FILE is not as it should be (record: Inv"),
    ("a.json", b'[{"name": "ash"}, {"name": 1}]', "Record 2 of FILE is not as it should be"),
    ("a.json", b'[{"name": "ash"}', "FILE is not as it should be (record: Invalid JSON: EOF"),
)
def test_other_files_are_told(name: str, content: bytes | None, said: str, tmp_path: Path) -> None:
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(BadInput, match=re.escape(said.replace("FILE", str(path)))) as told:
        trees(path)
    assert "\n" not in str(told.value)
    assert told.value.fix == "Name another file."


def test_a_bomb_is_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "_MOST", 1000)
    for name, pack in (("a.gz", gzip.compress), ("a.xz", lzma.compress), ("a.jsonl", bytes)):
        (tmp_path / name).write_bytes(pack(b" " * 1001))
        with pytest.raises(BadInput, match="more than 0 MB"):
            trees(tmp_path / name)
