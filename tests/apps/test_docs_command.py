"""The command ``planweave docs`` as a person sees it."""

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from documents import WordEmbeddings, WordTokens, encrypt, write_pdf

from planweave.apps.cli.main import main
from planweave.models import register_embeddings
from planweave.tools.documents import chunks, collection


class Told(NamedTuple):
    code: int
    out: str
    err: str


Docs = Callable[..., Told]


@pytest.fixture
def docs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Docs]:
    monkeypatch.setenv("PLANWEAVE_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setattr(chunks, "tokenizer", WordTokens)
    monkeypatch.chdir(tmp_path)
    register_embeddings("words", WordEmbeddings)

    def run(*arguments: str) -> Told:
        monkeypatch.setattr(sys, "argv", ["planweave", "docs", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        return Told(int(ended.value.code or 0), *capsys.readouterr())

    yield run
    collection._open.clear()


@pytest.fixture
def energy(docs: Docs, tmp_path: Path) -> Docs:
    (tmp_path / "energy.txt").write_text("Wind turbines stand at sea.\fHydrogen costs 2.4 EUR.")
    told = docs("add", "energy.txt", "--embeddings", "words:1")
    assert told == (0, "energy.txt: added, 2 pages, 2 chunks\n", "")
    return docs


def test_search_tells_document_page_and_score(energy: Docs) -> None:
    found = json.loads(energy("search", "hydrogen cost", "--json").out)
    assert [sorted(page) for page in found] == [["chunk", "document", "page", "score"]] * 2
    assert (found[0]["document"], found[0]["page"]) == ("energy.txt", 2)
    assert found[0]["chunk"] == "Hydrogen costs 2.4 EUR."
    assert found[0]["score"] > found[1]["score"]
    shown = energy("search", "hydrogen cost", "--pages", "1").out
    assert shown.startswith("energy.txt, page 2  0.0")
    assert "Hydrogen costs 2.4 EUR." in shown
    assert energy("search", "nonesuch", "--mode", "bm25").out == (
        "The documents hold nothing like that.\n"
    )


def test_list_shows_collections_and_documents(energy: Docs) -> None:
    energy("add", "energy.txt", "--collection", "alice/notes", "--embeddings", "none")
    listed = energy("list").out
    assert "alice/notes: 1 document" in listed
    assert "default: 1 document" in listed
    record = json.loads(energy("list", "--collection", "default", "--json").out)
    assert record["default"][0]["name"] == "energy.txt"
    assert record["default"][0]["pages"] == 2
    assert list(json.loads(energy("list", "--json").out)) == ["alice/notes", "default"]


def test_nothing_to_list(docs: Docs) -> None:
    assert docs("list").out == "There are no documents yet. Add some: planweave docs add FILE\n"


def test_bad_files_are_a_line_each_and_do_not_stop_the_rest(energy: Docs, tmp_path: Path) -> None:
    encrypt(write_pdf(tmp_path / "locked.pdf", ["Secret"]), "x")
    (tmp_path / "broken.pdf").write_bytes(b"%PDF")
    write_pdf(tmp_path / "scan.pdf", ["Text", None, None, "More", None])
    told = energy("add", "locked.pdf", "absent.pdf", "broken.pdf", "scan.pdf", "energy.txt")
    assert told.code == 1
    assert told.out.splitlines() == [
        "scan.pdf: added, 5 pages, 2 chunks",
        "energy.txt: unchanged, 2 pages, 2 chunks",
    ]
    problems = told.err.splitlines()
    assert [line.partition(":")[0] for line in problems] == [
        *("locked.pdf", "absent.pdf", "broken.pdf", "scan.pdf"),
    ]
    assert "only images on 2-3, 5" in problems[-1]


def test_a_change_is_told(energy: Docs, tmp_path: Path) -> None:
    (tmp_path / "energy.txt").write_text("Wind turbines stand at sea.\fHydrogen costs 3 EUR.")
    assert energy("add", "energy.txt").out == (
        "energy.txt: changed, 2 pages, 2 chunks, 1 of them new\n"
    )


def test_remove(energy: Docs) -> None:
    assert energy("remove", "energy.txt") == (0, "energy.txt: removed\n", "")
    told = energy("remove", "energy.txt")
    assert told.code == 1
    assert "has no document 'energy.txt'" in told.err
    assert "holds no text to search" in energy("search", "hydrogen").err


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("search", "x", "--collection", "../default"), "cannot be the name of a collection"),
        (("search", "x", "--collection", "defalt"), "did you mean default?"),
        (("search", "x", "--mode", "best"), "There is no search mode 'best'"),
        (("search", "  "), "The query is empty"),
        (("add", "energy.txt", "--collection", "new", "--embeddings", "what"), "embedding model"),
    ],
)
def test_mistakes_are_one_sentence(arguments: tuple[str, ...], problem: str, energy: Docs) -> None:
    told = energy(*arguments)
    assert told.code == 1
    assert problem in told.err
    assert told.err.count("Error:") == 1


def test_a_terminal_obeys_no_document(energy: Docs, tmp_path: Path) -> None:
    (tmp_path / "evil.txt").write_text("Zebra \x1b[2J clears the screen.")
    energy("add", "evil.txt")
    assert "\x1b[2J" not in energy("search", "zebra").out
