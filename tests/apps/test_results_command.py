"""``planweave results``: records are packed, and put back where they belong."""

import tarfile
from pathlib import Path

import pytest
from command_line import CommandLine, assert_one_clear_error

from planweave import BadInput
from planweave.apps.cli.results import download


def test_records_are_packed_and_put_back(planweave: CommandLine, tmp_path: Path) -> None:
    folder = tmp_path / "results"
    (folder / "dqa").mkdir(parents=True)
    (folder / "dqa" / "small.jsonl").write_text("{}\n")
    (folder / "report.md").write_text("# Report\n")
    assert planweave("results", "pack").stdout.startswith("1 files of records packed")
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


@pytest.mark.parametrize("name", ["../outside.jsonl", "/etc/outside.jsonl", "run.py", "link.jsonl"])
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
