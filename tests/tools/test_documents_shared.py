"""Collections in PostgreSQL: the same as in files, for several machines at once."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from cases import cases
from servers import PASSWORD, Server

from planweave import BadInput
from planweave.memory import SearchMode
from planweave.tools.documents import collection, shared_store
from planweave.tools.documents.collection import (
    Collection,
    delete_collection,
    open_collection,
    usage,
)
from planweave.tools.documents.store import collections

_ROOT = Path(__file__).parents[2]
PAGES = [
    "Hydrogen costs 2.4 EUR per kilogram in Chile.",
    "Offshore wind turbines stand in the North Sea.",
    "Batteries store electricity for four hours.",
    "Copper and lithium come from Chile.",
    "Pipelines carry natural gas and hydrogen to Europe. 100 % of it?",
]
MODES: tuple[SearchMode, ...] = ("dense", "bm25", "fused")
QUERIES = ["hydrogen in Chile", "wind in the sea", "electricity", "what? 100 %"]


@pytest.fixture(autouse=True)
def _folder(word_search: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLANWEAVE_DATA_DIR", str(tmp_path / "data"))


def filled(name: str) -> Collection:
    made = open_collection(name, embeddings="words:64", create=True)
    made.add_texts({"first": PAGES, "second": ["Solar panels in Chile.", "Wind."]})
    return made


Found = dict[tuple[str, SearchMode], list[tuple[object, ...]]]


def search_all(where: Collection) -> Found:
    """What each query finds in each mode; scores are rounded."""
    return {
        (query, mode): [
            (f.document, f.page, f.text, f.chunk, round(f.score, 5))
            for f in where.search(query, mode=mode)
        ]
        for query in QUERIES
        for mode in MODES
    }


@pytest.mark.server
def test_the_same_is_found_as_in_a_file(shared: str, monkeypatch: pytest.MonkeyPatch) -> None:
    there = filled("energy")
    in_database = search_all(there)
    infos = there.documents()
    monkeypatch.delenv("PLANWEAVE_DOCUMENTS_URL")
    here = filled("energy")
    assert in_database == search_all(here)
    assert all(in_database[query, "dense"] for query in QUERIES)
    assert [(i.name, i.pages, i.chunks, i.digest) for i in infos] == [
        (i.name, i.pages, i.chunks, i.digest) for i in here.documents()
    ]


@pytest.mark.server
def test_a_graph_in_a_database_finds_the_same(shared: str, monkeypatch: pytest.MonkeyPatch) -> None:
    exact = search_all(filled("energy"))
    monkeypatch.setattr(shared_store, "HNSW_ABOVE", 2)
    collection._open.clear()
    assert search_all(open_collection("energy")) == exact
    with shared_store._transaction(shared) as database:
        made = database.execute("SELECT indexdef FROM pg_indexes WHERE indexname ^@ 'graph_'")
        assert "hnsw" in made.fetchone()[0]


@pytest.mark.server
def test_a_collection_deleted_by_another_process(shared: str) -> None:
    energy = filled("energy")
    delete_collection("energy")
    with pytest.raises(BadInput, match="deleted meanwhile"):
        energy.documents()


@pytest.mark.server
def test_a_text_on_two_pages_is_found_on_both(shared: str) -> None:
    energy = filled("energy")
    energy.add_texts({"copy": PAGES[:1]})
    first, second = energy.search(PAGES[0], mode="dense", k=2)
    assert {first.document, second.document} == {"first", "copy"}
    assert first.score == second.score


@pytest.mark.server
def test_collections_are_apart_and_have_owners(shared: str) -> None:
    filled("ann/energy")
    other = open_collection("bob/energy", embeddings="words:64", create=True)
    assert other.documents() == []
    assert collections() == ["ann/energy", "bob/energy"]
    assert collections("ann") == ["ann/energy"]
    with pytest.raises(BadInput, match="did you mean ann/energy"):
        open_collection("ann/enery")


@pytest.mark.server
def test_what_an_owner_keeps_is_counted(shared: str) -> None:
    energy = filled("ann/energy")
    open_collection("ann/empty", embeddings="words:64", create=True)
    kept = usage("ann")
    assert kept.documents == len(energy.documents()) + 1
    assert kept.bytes > 2 * sum(map(len, PAGES))  # pages, chunks and vectors
    for info in energy.documents():
        energy.remove(info.name)
    assert usage("ann") == (2, 0)
    assert usage("bob") == (0, 0)


@pytest.mark.server
def test_two_processes_share_it(shared: str, tmp_path: Path) -> None:
    energy = filled("energy")
    energy.search("hydrogen")
    elsewhere = (
        "from planweave.tools.documents.collection import open_collection\n"
        "shared = open_collection('energy')\n"
        "print(shared.search('turbines', mode='bm25')[0].page)\n"
        "shared.remove('first')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", elsewhere],
        env=os.environ | {"PYTHONPATH": str(_ROOT), "PLANWEAVE_DATA_DIR": str(tmp_path / "other")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.strip() == "2", done.stderr
    for mode in MODES:
        assert {found.document for found in energy.search("wind", mode=mode)} == {"second"}


@cases(
    ("postgresql://me:${SECRET}@127.0.0.1:1/x", "cannot be used: connection"),
    ("postgresql://me:${UNSET_NAME}@host/x", "UNSET_NAME, which is not set"),
    ("mysql://host/x", "through PostgreSQL only"),
    ("nonsense", "is not the URL of a database. Write PLANWEAVE_DOCUMENTS_URL=postgresql://user:"),
    ids=["nobody there", "variable", "scheme", "no URL"],
)
def test_what_is_of_no_use_is_told(url: str, problem: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET", "h0nter2")
    monkeypatch.setenv("PLANWEAVE_DOCUMENTS_URL", url)
    with pytest.raises(BadInput) as caught:
        open_collection("energy", embeddings="words:64", create=True)
    assert problem in str(caught.value)
    assert caught.value.problem.endswith(".")
    assert caught.value.fix.endswith(".")
    assert "h0nter2" not in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.server
def test_a_refused_password_is_not_shown(
    pgvector_server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLANWEAVE_DOCUMENTS_URL", pgvector_server.url("owner", "wr0ng"))
    with pytest.raises(BadInput, match="password authentication failed") as caught:
        collections()
    assert "wr0ng" not in str(caught.value)
    assert PASSWORD not in str(caught.value)
