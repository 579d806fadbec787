"""Collections: what is added is found on its page, and nothing is lost or done twice."""

import sqlite3
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path

import pytest
from bag_of_words import WordEmbeddings
from cases import cases
from documents import encrypt, write_pdf

from planweave import BadInput
from planweave.memory import SearchMode
from planweave.models import ModelUnavailable, register_embeddings
from planweave.tools.documents import collection, store
from planweave.tools.documents.collection import Collection, delete_collection, open_collection
from planweave.tools.documents.store import collections

ENERGY = [
    "Hydrogen costs 2.4 EUR per kilogram in Chile.",
    "Offshore wind turbines stand in the North Sea.",
    "Batteries store electricity for four hours.",
    "Pipelines carry natural gas to Europe.",
    "Solar panels cover the roofs of Munich.",
]


@pytest.fixture(autouse=True)
def embedder(word_search: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> WordEmbeddings:
    monkeypatch.setenv("PLANWEAVE_DATA_DIR", str(tmp_path / "data"))
    made = WordEmbeddings()
    register_embeddings("words", lambda _: made)
    return made


@pytest.fixture(params=["file", pytest.param("postgresql", marks=pytest.mark.server)])
def _place(request: pytest.FixtureRequest) -> None:
    if request.param == "postgresql":
        request.getfixturevalue("shared")


in_both = pytest.mark.usefixtures("_place")
"""Collections are kept in files, and then in PostgreSQL."""


@pytest.fixture
def energy() -> Collection:
    """An empty collection."""
    return open_collection("energy", embeddings="words:64", create=True)


@pytest.fixture
def filled(energy: Collection, tmp_path: Path) -> Collection:
    """The collection with the report."""
    energy.add(report(tmp_path))
    return energy


def report(folder: Path, pages: Sequence[str] = ENERGY, name: str = "report.txt") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text("\f".join(pages))
    return path


@cases("fused", "dense", "bm25")
def test_a_page_is_found_by_its_words(mode: SearchMode, energy: Collection, tmp_path: Path) -> None:
    told: list[tuple[str, int, int]] = []
    (made,) = energy.add(report(tmp_path), progress=lambda *step: told.append(step))
    assert (made.document, made.status, made.pages, made.chunks) == ("report.txt", "added", 5, 5)
    assert told == [("report.txt", 5, 5)]
    first, *others = energy.search("wind turbines in the sea", mode=mode)
    assert (first.document, first.page) == ("report.txt", 2)
    assert first.text == energy.page("report.txt", 2) == ENERGY[1]
    assert first.chunk in first.text
    assert all(first.score >= other.score for other in others)


def test_pages_are_distinct_and_no_more_than_asked_for(energy: Collection, tmp_path: Path) -> None:
    page = "\n".join(f"Hydrogen line {number} with " + "words " * 40 for number in range(30))
    (added,) = energy.add(report(tmp_path, [page, *ENERGY]))
    assert added.chunks > 12
    for k in (1, 3, 4, 6):
        found = energy.search("hydrogen", k=k, mode="dense")
        assert len({page.page for page in found}) == len(found) == k
    assert {page.page for page in energy.search("hydrogen", mode="bm25")} == {1, 2}


@cases(
    ("Стоимость водорода снизится к 2030 году.", "стоимость водорода"),
    ("电解槽的成本正在下降。", "电解槽成本"),
    ("تكلفة الهيدروجين الأخضر", "الهيدروجين"),
    ("גז המימן הירוק יקר", "המימן"),
)
def test_text_of_other_alphabets(page: str, query: str, energy: Collection, tmp_path: Path) -> None:
    energy.add(report(tmp_path, [*ENERGY, page]))
    assert energy.search(query, mode="bm25")[0].page == 6
    assert energy.search(query)[0].text == page


@in_both
def test_removed_can_come_back(energy: Collection, tmp_path: Path) -> None:
    path = report(tmp_path, ["Unobtainium is secret."])
    energy.add(path)
    energy.add(report(tmp_path, name="other.txt"))
    assert energy.search("unobtainium")[0].document == "report.txt"
    energy.remove("report.txt")
    assert [info.name for info in energy.documents()] == ["other.txt"]
    assert energy.search("unobtainium", mode="bm25") == []
    kept = [file for file in (tmp_path / "data").rglob("*") if file.is_file()]
    assert kept
    assert not any(b"nobtainium" in file.read_bytes() for file in kept)
    assert energy.add(path)[0].status == "added"
    assert energy.search("unobtainium", mode="bm25")[0].page == 1


@in_both
def test_embeds_what_is_new(energy: Collection, tmp_path: Path, embedder: WordEmbeddings) -> None:
    path = report(tmp_path)
    assert energy.add(path)[0].embedded == 5
    (again,) = energy.add(path)
    assert (again.status, again.embedded, len(embedder.texts)) == ("unchanged", 0, 5)
    report(tmp_path, [*ENERGY[1:], "Ammonia is shipped."])
    (changed,) = energy.add(path)
    assert (changed.document, changed.status, changed.embedded) == ("report.txt", "changed", 1)
    assert embedder.texts[5:] == ["Ammonia is shipped."]
    assert [info.pages for info in energy.documents()] == [5]
    assert energy.search("ammonia", mode="bm25")[0].page == 5
    assert energy.search("Chile", mode="bm25") == []


def test_chunk_sizes(energy: Collection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = report(tmp_path, ["One two three four five six. " * 20])
    assert energy.add(path)[0].chunks == 2
    monkeypatch.setenv("PLANWEAVE_CHUNK_TOKENS", "14")
    (added,) = energy.add(path)
    assert (added.status, added.chunks) == ("changed", 10)


@in_both
def test_files_of_one_name_or_of_the_same_bytes(energy: Collection, tmp_path: Path) -> None:
    paths = [report(tmp_path / folder, [f"Text of {folder}."]) for folder in ("a", "b", "c/b")]
    names = [energy.add(path)[0].document for path in paths]
    assert names == ["report.txt", "b/report.txt", "c/b/report.txt"]
    assert [energy.add(path)[0].status for path in paths] == ["unchanged"] * 3
    assert energy.search("text", mode="bm25", k=9)[2].text.startswith("Text of")
    (copy,) = energy.add(report(tmp_path, ["Text of b."], "copy.txt"))
    assert (copy.document, copy.status) == ("b/report.txt", "unchanged")
    assert [info.name for info in energy.documents()] == sorted(names)


def test_a_folder_is_added_and_bad_files_do_not_stop_the_rest(
    energy: Collection, tmp_path: Path
) -> None:
    folder = tmp_path / "reports"
    report(folder, name="good.txt")
    report(folder / "deep" / "er", ["Deep down."], "deep.md")
    encrypt(write_pdf(folder / "locked.pdf", ["Secret"]), "x")
    (folder / "broken.pdf").write_bytes(b"%PDF-1.4 and no more")
    (folder / "table.xlsx").write_bytes(b"PK")
    report(folder, ["Hidden"], ".hidden.txt")
    report(tmp_path, ["Outside"], "outside.txt")
    (folder / "link.txt").symlink_to(tmp_path / "outside.txt")
    became = {added.document: added for added in energy.add(folder)}
    wanted = {"good.txt": "added", "deep.md": "added", "table.xlsx": "skipped"}
    wanted |= {"locked.pdf": "failed", "broken.pdf": "failed"}
    assert {name: added.status for name, added in became.items()} == wanted
    assert became["locked.pdf"].problem.startswith("locked.pdf is encrypted")
    assert [info.name for info in energy.documents()] == ["deep.md", "good.txt"]


@in_both
def test_pages_of_images_are_listed(energy: Collection, tmp_path: Path) -> None:
    (added,) = energy.add(write_pdf(tmp_path / "scan.pdf", [None, "Text", None]))
    assert added.image_pages == energy.documents()[0].image_pages == (1, 3)
    (scan,) = energy.add(write_pdf(tmp_path / "all.pdf", [None, None]))
    assert (scan.chunks, scan.image_pages) == (0, (1, 2))


@in_both
def test_texts_are_documents_page_by_page(energy: Collection, embedder: WordEmbeddings) -> None:
    texts = {"Chile": ENERGY[:1], "Europe": ENERGY[1:4]}
    told: list[tuple[str, int, int]] = []
    energy.add_texts(texts, progress=lambda *step: told.append(step))
    assert told == [("Europe", 2, 2), ("", 4, 4)]  # stored, then embedded
    assert [(info.name, info.pages) for info in energy.documents()] == [("Chile", 1), ("Europe", 3)]
    (found,) = energy.search("wind turbines in the sea", k=1)
    assert (found.document, found.page, found.text) == ("Europe", 1, ENERGY[1])
    embedder.texts.clear()
    energy.add_texts(texts | {"Munich": ENERGY[4:]})
    assert embedder.texts == ENERGY[4:]
    assert [info.name for info in energy.documents()] == ["Chile", "Europe", "Munich"]


@in_both
def test_other_texts_of_the_same_name_are_refused(filled: Collection) -> None:
    filled.add_texts({"Chile": ENERGY[:1]})
    for name in ("Chile", "report.txt"):
        with pytest.raises(BadInput, match=f"has another document '{name}'"):
            filled.add_texts({name: ENERGY[1:]})
    assert filled.page("Chile", 1) == ENERGY[0]


def test_texts_whose_embedding_was_stopped_are_embedded_the_next_time(
    energy: Collection, embedder: WordEmbeddings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(*_: object, **__: object) -> int:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(collection, "_embed_missing", stopped)
        with pytest.raises(KeyboardInterrupt):
            energy.add_texts({"Europe": ENERGY})
    assert embedder.texts == []
    energy.add_texts({"Europe": ENERGY})
    assert embedder.texts == ENERGY


def test_collections_are_listed_and_deleted() -> None:
    for name in ("energy", "alice/energy", "bob/notes"):
        open_collection(name, embeddings="none", create=True)
    assert collections() == ["alice/energy", "bob/notes", "energy"]
    assert collections("alice") == ["alice/energy"]
    delete_collection("alice/energy")
    assert collections() == ["bob/notes", "energy"]
    with pytest.raises(BadInput, match="There is no document collection"):
        open_collection("alice/energy")


def test_folders_are_for_their_owner_alone(tmp_path: Path) -> None:
    open_collection("alice/energy", embeddings="none", create=True)
    for folder in ("documents", "documents/alice"):
        assert (tmp_path / "data" / folder).stat().st_mode & 0o777 == 0o700


@cases(
    *("", "..", "../x", "a/../../x", "/etc/x", "a/b/c", "a\\b", ".hidden", "a/", "x\0y"),
    *("x" * 99, "𠀀" * 64),
)
def test_names_that_lead_elsewhere_are_refused(name: str, tmp_path: Path) -> None:
    for call in (open_collection, delete_collection):
        with pytest.raises(BadInput, match="cannot be the name of a collection"):
            call(name)
    with pytest.raises(BadInput):
        open_collection(name, create=True)
    assert not list(tmp_path.rglob("*.sqlite"))


@in_both
def test_what_is_not_there(energy: Collection, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"no document collection 'enrgy'; did you mean energy\?"):
        open_collection("enrgy")
    for _ in range(2):
        with pytest.raises(BadInput, match="'energy' holds no text to search"):
            energy.search("hydrogen")
        energy.add(write_pdf(tmp_path / "scan.pdf", [None]))
    energy.add(report(tmp_path))
    calls: dict[str, Callable[[], object]] = {
        r"did you mean report\.txt": lambda: energy.remove("reprt.txt"),
        "has no page 6; it has pages 1 to 5": lambda: energy.page("report.txt", 6),
        "has no document": lambda: energy.page("none.txt", 1),
        "The query is empty": lambda: energy.search(" "),
        "No such file": lambda: energy.add(tmp_path / "absent.pdf"),
    }
    for problem, call in calls.items():
        with pytest.raises(BadInput, match=problem):
            call()


def test_a_collection_remembers_its_embeddings() -> None:
    open_collection("energy", embeddings="words:64", create=True)
    assert open_collection("energy") is open_collection("energy", embeddings="words:64")
    with pytest.raises(ModelUnavailable):
        open_collection("other", embeddings="nonesuch", create=True)
    assert collections() == ["energy"]


def test_without_embeddings_words_are_searched(tmp_path: Path, embedder: WordEmbeddings) -> None:
    plain = open_collection("plain", embeddings="none", create=True)
    assert plain.add(report(tmp_path))[0].embedded == 0
    assert plain.search("turbines")[0].page == 2
    with pytest.raises(BadInput, match="has no embeddings"):
        plain.search("turbines", mode="dense")
    assert open_collection("plain", embeddings="words:1").search("turbines")[0].page == 2
    assert len(embedder.texts) == 5


def test_caches_are_rebuilt(filled: Collection, tmp_path: Path, embedder: WordEmbeddings) -> None:
    filled.search("turbines")
    files = [path for path in (tmp_path / "data").rglob("*.index/**/*") if path.is_file()]
    assert len(files) > 2
    for path, kept in product(files, (-7, 9, 5, 0, None)):
        whole = path.read_bytes()
        path.write_bytes(b"nothing of the kind" if kept is None else whole[:kept])
        collection._open.clear()
        assert open_collection("energy").search("turbines")[0].page == 2
    assert len(embedder.texts) == 5


def test_an_unwritable_cache(filled: Collection, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, save: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(collection, "_save_whole", full)
    assert filled.search("turbines")[0].page == 2


def test_a_full_disk(filled: Collection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    connect = sqlite3.connect

    def small(*arguments: object, **options: object) -> sqlite3.Connection:
        database: sqlite3.Connection = connect(*arguments, **options)  # type: ignore[call-overload]
        database.execute("PRAGMA max_page_count = 20")
        return database

    monkeypatch.setattr(sqlite3, "connect", small)
    long = report(tmp_path, [f"{number} " + "word " * 500 for number in range(90)], "long.txt")
    with pytest.raises(BadInput, match="The disk is full"):
        filled.add(long)
    monkeypatch.undo()
    monkeypatch.setenv("PLANWEAVE_DATA_DIR", str(tmp_path / "data"))
    assert [info.name for info in filled.documents()] == ["report.txt"]
    assert filled.search("turbines")[0].page == 2


@in_both
def test_a_kill_while_embedding_is_made_good(
    energy: Collection, tmp_path: Path, embedder: WordEmbeddings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(collection, "_BATCH", 2)
    path = report(tmp_path)

    def killed(document: str, done: int, total: int) -> None:
        if done == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        energy.add(path, progress=killed)
    (again,) = energy.add(path)
    assert (again.status, again.embedded, len(embedder.texts)) == ("unchanged", 1, 5)
    assert energy.search("Munich", mode="dense")[0].page == 5


@in_both
def test_a_kill_leaves_no_half(
    filled: Collection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(text: str) -> bytes:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(store, "_hash_text", killed)
        with pytest.raises(KeyboardInterrupt):
            filled.add(report(tmp_path, ["Half a document."], "half.txt"))
    assert [info.name for info in filled.documents()] == ["report.txt"]
    assert filled.search("turbines")[0].page == 2


def test_a_damaged_or_deleted_file_is_a_sentence(filled: Collection, tmp_path: Path) -> None:
    file = tmp_path / "data" / "documents" / "energy.sqlite"
    file.write_bytes(b"rubbish" * 1000)
    with pytest.raises(BadInput, match="The collection 'energy' is damaged"):
        filled.documents()
    file.unlink()
    with pytest.raises(BadInput, match="cannot be opened"):
        filled.search("turbines")
    assert not file.exists()


def test_many_threads_add_and_search_at_once(filled: Collection, tmp_path: Path) -> None:
    def work(number: int) -> None:
        path = report(tmp_path, [f"Topic{number} is rare."], f"{number}.txt")
        other = Collection("energy", filled._store, "words:64")  # as another process has it
        other.add(path)
        assert filled.search(f"topic{number}", mode="bm25")[0].document == path.name
        assert filled.search("turbines", k=1)[0].page == 2

    with ThreadPoolExecutor(8) as pool:
        assert len(list(pool.map(work, range(8)))) == 8  # raises what a thread raised
    assert len(filled.documents()) == 9
