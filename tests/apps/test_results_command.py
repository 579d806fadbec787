"""``planweave results``: records are packed, and put back where they belong."""

import tarfile
from pathlib import Path

import pytest
from cases import cases
from command_line import CommandLine, assert_one_clear_error

from planweave import BadInput
from planweave.apps.cli.results import download


def test_records_are_packed_and_put_back(planweave: CommandLine, tmp_path: Path) -> None:
    folder = tmp_path / "results"
    (folder / "dqa").mkdir(parents=True)
    (folder / "dqa" / "small.jsonl").write_text("{}\n")
    (folder / "report.md").write_text("# Report\n")
    assert planweave("results", "pack").stdout.startswith("1 files of records packed")
    (folder / "dqa" / "small.jsonl").rename(folder / "more.jsonl")
    assert planweave("results", "pack").stdout.startswith("2 files of records packed")
    (folder / "dqa" / "small.jsonl").unlink()
    assert planweave("results", "download").stdout == "1 files of records written into results.\n"
    assert (folder / "dqa" / "small.jsonl").read_text() == "{}\n"
    (folder / "dqa" / "small.jsonl").write_text("mine\n")
    assert planweave("results", "download").stdout == "0 files of records written into results.\n"
    assert (folder / "dqa" / "small.jsonl").read_text() == "mine\n"
    damaged = planweave("results", "download", "results/report.md")
    assert_one_clear_error(damaged, "cannot be read (it is damaged)")
    missing = planweave("results", "download", "nowhere")
    assert_one_clear_error(missing, "cannot be read (No such file or directory)")
    wrong = planweave("results", "download", "http://host:port/records.tar.xz")
    assert_one_clear_error(wrong, "cannot be downloaded (InvalidURL)")


def test_of_a_damaged_archive_no_half_file_stays(tmp_path: Path) -> None:
    lines = "".join(f'{{"n": {number**2 % 9_973}}}\n' for number in range(60_000))
    (tmp_path / "run.jsonl").write_text(lines)
    with tarfile.open(tmp_path / "bad.tar.xz", "w:xz") as archive:
        archive.add(tmp_path / "run.jsonl", "run.jsonl")
    written = bytearray((tmp_path / "bad.tar.xz").read_bytes())
    middle = slice(len(written) // 2, len(written) // 2 + 50)
    written[middle] = bytes(50)
    (tmp_path / "bad.tar.xz").write_bytes(written)
    results = tmp_path / "results"
    results.mkdir()
    with pytest.raises(BadInput, match="it is damaged"):
        download(str(tmp_path / "bad.tar.xz"), results=results)
    assert not [*results.iterdir()]


@cases("../outside.jsonl", "/etc/outside.jsonl", "run.py", "link.jsonl")
def test_a_hostile_archive_writes_nothing_elsewhere(name: str, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("secret")
    with tarfile.open(tmp_path / "bad.tar.xz", "w:xz") as archive:
        entry = tarfile.TarInfo(name)
        if name.startswith("link"):
            entry.type, entry.linkname = tarfile.SYMTYPE, str(secret)
        archive.addfile(entry)
    results = tmp_path / "results"
    results.mkdir()
    with pytest.raises(BadInput):
        download(str(tmp_path / "bad.tar.xz"), results=results)
    assert not [*results.iterdir()]
    assert not (tmp_path / "outside.jsonl").exists()
