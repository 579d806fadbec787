"""The command ``planweave docs`` as a person sees it."""

import json
from functools import partial
from pathlib import Path

import pytest
from cases import cases
from command_line import CommandLine
from documents import encrypt, write_pdf


@pytest.fixture
def docs(planweave: CommandLine, word_search: None) -> CommandLine:
    return partial(planweave, "docs", COLUMNS="120")


@pytest.fixture
def energy(docs: CommandLine, tmp_path: Path) -> CommandLine:
    (tmp_path / "energy.txt").write_text("Wind turbines stand at sea.\fHydrogen costs 2.4 EUR.")
    told = docs("add", "energy.txt", "--embeddings", "words:1")
    assert (told.stdout, told.stderr) == ("energy.txt: added, 2 pages, 2 chunks\n", "")
    return docs


def test_search_tells_document_page_and_score(energy: CommandLine) -> None:
    found = json.loads(energy("search", "hydrogen cost", "--json").stdout)
    assert [sorted(page) for page in found] == [["chunk", "document", "page", "score"]] * 2
    assert (found[0]["document"], found[0]["page"]) == ("energy.txt", 2)
    assert found[0]["chunk"] == "Hydrogen costs 2.4 EUR."
    assert found[0]["score"] > found[1]["score"]
    shown = energy("search", "hydrogen cost", "--pages", "1").stdout
    assert shown.startswith("energy.txt, page 2  0.0")
    assert "Hydrogen costs 2.4 EUR." in shown
    assert energy("search", "nonesuch", "--mode", "bm25").stdout == (
        "The documents hold nothing like that.\n"
    )


def test_list_shows_collections_and_documents(energy: CommandLine) -> None:
    energy("add", "energy.txt", "--collection", "alice/notes", "--embeddings", "none")
    listed = energy("list").stdout
    assert "alice/notes: 1 document" in listed
    assert "default: 1 document" in listed
    record = json.loads(energy("list", "--collection", "default", "--json").stdout)
    assert record["default"][0]["name"] == "energy.txt"
    assert record["default"][0]["pages"] == 2
    assert list(json.loads(energy("list", "--json").stdout)) == ["alice/notes", "default"]


def test_documents_of_benchmarks_are_only_counted(energy: CommandLine) -> None:
    energy("add", "energy.txt", "--collection", "bench/wind", "--embeddings", "none")
    listed = energy("list").stdout
    assert listed.endswith("bench/wind: 1 document\n")
    assert listed.count("energy.txt") == 1
    assert "energy.txt" in energy("list", "--collection", "bench/wind").stdout


def test_a_page_of_a_long_text_is_called_a_part(docs: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "long.txt").write_text("Wind turbines stand at sea. " * 200)
    added = docs("add", "long.txt", "--embeddings", "none").stdout
    assert added.startswith("long.txt: added, 3 pages (one for each part of the text), ")


def test_a_damaged_collection_hides_no_other(energy: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "data" / "documents" / "bad.sqlite").write_text("This is no database.")
    told = energy("list")
    assert (told.returncode, told.stderr.count("Error:")) == (1, 1)
    assert "The collection 'bad' is damaged" in told.stderr
    assert "default: 1 document" in told.stdout


@cases("data", "a.txt/of/no/folder")
def test_nothing_to_list(folder: str, docs: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "a.txt").touch()
    listed = docs("list", PLANWEAVE_DATA_DIR=folder)
    assert listed.stdout == "There are no documents yet. Add some: planweave docs add FILE\n"
    assert not (tmp_path / folder).exists()


def test_bad_files_are_a_line_each_and_stop_no_other(energy: CommandLine, tmp_path: Path) -> None:
    encrypt(write_pdf(tmp_path / "locked.pdf", ["Secret"]), "x")
    (tmp_path / "broken.pdf").write_bytes(b"%PDF")
    write_pdf(tmp_path / "scan.pdf", ["Text", None, None, "More", None])
    told = energy("add", "locked.pdf", "absent.pdf", "broken.pdf", "scan.pdf", "energy.txt")
    assert told.returncode == 1
    added, same = "scan.pdf: added, 5 pages, 2 chunks", "energy.txt: unchanged, 2 pages, 2 chunks"
    assert told.stdout.splitlines() == [added, same]
    problems = told.stderr.splitlines()
    assert [line.partition(":")[0] for line in problems] == [
        *("locked.pdf", "absent.pdf", "broken.pdf", "scan.pdf")
    ]
    assert "only images on 2-3, 5" in problems[-1]


def test_what_holds_no_file_is_told(docs: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    told = docs("add", "empty")
    assert (told.returncode, told.stderr) == (1, "empty: failed. The folder has no files.\n")
    told = docs("add", "")  # as from a variable that is not set: not the folder one is in
    assert "The name of a document is empty" in told.stderr


def test_a_change_is_told(energy: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "energy.txt").write_text("Wind turbines stand at sea.\fHydrogen costs 3 EUR.")
    assert energy("add", "energy.txt").stdout == (
        "energy.txt: changed, 2 pages, 2 chunks, 1 of them new\n"
    )


def test_nothing_is_removed_if_one_name_is_unknown(energy: CommandLine) -> None:
    told = energy("remove", "energy.txt", "nergy.txt")
    assert (told.returncode, told.stdout) == (1, "")
    assert "has no document 'nergy.txt'" in told.stderr
    assert "energy.txt" in energy("list").stdout
    assert energy("remove", "energy.txt", "energy.txt").stdout == "energy.txt: removed\n"
    assert "holds no text to search" in energy("search", "hydrogen").stderr


def test_a_terminal_obeys_no_document(energy: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "evil.txt").write_text("Zebra \x1b[2J clears the screen.")
    energy("add", "evil.txt")
    assert "\x1b[2J" not in energy("search", "zebra").stdout
