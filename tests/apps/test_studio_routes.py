"""The studio's own routes: what they tell, and what they refuse."""

import asyncio
import gzip
import os
import re
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from cases import cases
from httpx import ASGITransport, AsyncClient
from json_lines import write_lines
from records import record
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.testclient import TestClient
from starlette.types import Message

from planweave import BadInput
from planweave.apps import request_body, studio
from planweave.apps.service import Service
from planweave.apps.studio import documents, methods, uploads
from planweave.graphs import METHODS, method
from planweave.graphs.support.builder import Builder
from planweave.graphs.support.parts import begin, tools
from planweave.learning.experience import Experience
from planweave.learning.paths import TaskPath
from planweave.memory import Context
from planweave.models import process_settings
from planweave.tools.documents.collection import Added

STATIC = Path(studio.__file__).parent / "static"
OWN_SCRIPTS = sorted(STATIC.glob("*.js"))
DOCUMENTS = "/studio/api/documents"
DATABASES = "/studio/api/databases"


def client(access: studio.Access | None = None) -> TestClient:
    routes = studio.routes(access) if access else studio.routes()
    return TestClient(Starlette(routes=routes), base_url="http://127.0.0.1")


@pytest.fixture
def page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, word_search: None
) -> Iterator[TestClient]:
    monkeypatch.setenv("PLANWEAVE_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("PLANWEAVE_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("PLANWEAVE_RESULTS_DIR", str(tmp_path / "results"))
    (tmp_path / "results").mkdir()
    with client() as opened:
        yield opened


def upload(page: TestClient, name: str, text: str, collection: str = "energy") -> Any:
    asked = {"collection": collection, "name": name, "embeddings": "none"}
    return page.put(DOCUMENTS, params=asked, content=text.encode())


def detail(reply: Any) -> str:
    assert reply.status_code == 400
    return str(reply.json()["detail"])


@cases("/studio", "/studio/main.js", "/studio/api/methods", "/studio/api/results/record")
def test_every_answer_forbids_foreign_scripts(path: str, page: TestClient) -> None:
    headers = page.get(path).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert headers["x-content-type-options"] == "nosniff"


def test_the_page_has_no_script_of_its_own_and_loads_nothing_from_elsewhere() -> None:
    html = (STATIC / "index.html").read_text("utf-8")
    assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=|https?://", html)


@pytest.mark.parametrize("script", OWN_SCRIPTS, ids=lambda path: path.name)
def test_no_script_reads_text_as_html(script: Path) -> None:
    code = script.read_text("utf-8")
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", code)


def test_tells_every_method_and_every_setting_once(page: TestClient) -> None:
    told = page.get("/studio/api/methods").json()
    assert [method["name"] for method in told["methods"]] == [*METHODS]
    fields = [field for group in told["settings"]["groups"] for field in group["fields"]]
    assert sorted(fields) == sorted(Context.model_fields)
    assert told["settings"]["schema"]["properties"].keys() == Context.model_fields.keys()
    of_some = told["settings"]["only"].values()
    assert {name for names in of_some for name in names} <= set(METHODS)
    assert "no method 'magic'" in detail(page.get("/studio/api/methods/magic/graph"))


@pytest.fixture
def stranger() -> Iterator[None]:
    """A method of another package, which only searches documents."""

    @method("stranger", family="documents")
    def wire(graph: Builder) -> None:
        begin(graph, "tools")
        graph.add_node("tools", tools(("documents",)))
        graph.add_edge("tools", "closing")

    methods.form.cache_clear()
    yield
    METHODS.remove("stranger")
    methods.form.cache_clear()


@pytest.mark.usefixtures("stranger")
def test_a_method_from_outside_has_the_settings_that_its_nodes_read(page: TestClient) -> None:
    only = page.get("/studio/api/methods").json()["settings"]["only"]
    reads = {setting for setting, names in only.items() if "stranger" in names}
    assert {"pages", "search"} <= reads
    assert reads.isdisjoint({"approve", "replan", "evaluations", "database", "query_rows"})


@pytest.mark.parametrize("method", METHODS)
def test_tells_the_graph_of_a_method(page: TestClient, method: str) -> None:
    graph = page.get(f"/studio/api/methods/{method}/graph").json()
    names = {node["id"] for node in graph["nodes"]}
    assert {"__start__", "opening", "closing", "__end__"} <= names
    assert all({edge["source"], edge["target"]} <= names for edge in graph["edges"])
    inside = graph["subgraphs"]
    assert {"opening", "closing"} <= inside.keys()
    assert "intake" in {node["id"] for node in inside["opening"]["nodes"]}


def test_documents_are_uploaded_replaced_read_and_deleted(page: TestClient, tmp_path: Path) -> None:
    assert upload(page, "grid report.md", "# Grid\n\nLosses fell.").json()["status"] == "added"
    assert upload(page, "grid report.md", "# Grid\n\nLosses rose.").json()["status"] == "changed"
    listed = page.get(DOCUMENTS).json()["collections"]
    assert [info["name"] for info in listed["energy"]] == ["grid report.md"]
    bad = tmp_path / "data" / "documents" / "bad.sqlite"
    bad.write_text("This is no database.")
    told = page.get(DOCUMENTS).json()
    assert told["collections"] == listed
    assert ["'bad' is damaged" in problem for problem in told["problems"]] == [True]
    bad.unlink()
    place = {"collection": "energy", "name": "grid report.md"}
    text = page.get(f"{DOCUMENTS}/page", params=place | {"page": "1"}).json()["text"]
    assert "Losses rose." in text
    detail(upload(page, "broken.pdf", "no PDF"))
    uploads_left = (tmp_path / "data" / "uploads").rglob("*")
    assert not [file for file in uploads_left if file.is_file()]
    assert "no page 9" in detail(page.get(f"{DOCUMENTS}/page", params=place | {"page": "9"}))
    for number in ("x", "9" * 30):
        wrong = page.get(f"{DOCUMENTS}/page", params=place | {"page": number})
        assert "is not a page number" in detail(wrong)
    assert page.delete(DOCUMENTS, params=place).status_code == 200
    assert page.get(DOCUMENTS).json()["collections"] == {"energy": []}
    page.delete(DOCUMENTS, params={"collection": "energy"})
    assert page.get(DOCUMENTS).json()["collections"] == {}


def test_where_things_are_kept_is_shown_to_no_user(page: TestClient, tmp_path: Path) -> None:
    alice = client(studio.Access(owner=lambda _: "alice"))
    assert upload(alice, "one.md", "# One\n\nText.", "alice/a").status_code == 200
    assert alice.post(EXPERIENCE, json=judged()).is_success
    for file in tmp_path.rglob("*.sqlite"):
        file.write_bytes(b"no database" * 99)
    told = alice.get(DOCUMENTS).json()["problems"] + [detail(alice.get(EXPERIENCE))]
    assert [one.split(".")[0] for one in told] == [
        "What is kept here cannot be used at present"
    ] * 2


NAMES = (
    *("../outside.md", "a/b.md", "a\\b.md", "/etc/passwd.md", "..md", ".hidden.md", "a\n.md"),
    *("nul\0.md", "x" * 200 + ".md", "<img src=x>.md", "program.exe", "noending", ""),
)
COLLECTIONS = ("../energy", "a/b/c", "", "/energy", "a b")


@cases(*((name, "energy") for name in NAMES), *(("report.md", one) for one in COLLECTIONS))
def test_names_that_lead_elsewhere_or_are_of_no_known_kind_are_refused(
    name: str, collection: str, page: TestClient, tmp_path: Path
) -> None:
    detail(upload(page, name, "text", collection))
    assert not [file for file in tmp_path.rglob("*") if file.is_file()]


def test_a_too_large_upload_is_refused_unread(
    page: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLANWEAVE_DOCUMENT_MEGABYTES", "1")
    for sent_bytes, headers in ((b"x" * 1_000_001, {}), (b"x", {"content-length": "1000001"})):
        asked = {"collection": "energy", "name": "long.txt"}
        reply = page.put(DOCUMENTS, params=asked, content=iter([sent_bytes]), headers=headers)
        assert "larger than 1,000,000 bytes" in detail(reply)


def sending(*parts: bytes, last: bool = True) -> tuple[Request, list[bytes]]:
    """A request whose body comes in parts, and those taken; without a last one it waits."""
    taken: list[bytes] = []

    async def receive() -> Message:
        if len(taken) == len(parts):
            await asyncio.Event().wait()
        taken.append(parts[len(taken)])
        more = not last or len(taken) < len(parts)
        return {"type": "http.request", "body": taken[-1], "more_body": more}

    return Request({"type": "http", "method": "PUT", "headers": []}, receive), taken


async def test_what_is_sent_without_end_is_cut_short(tmp_path: Path) -> None:
    async def upload(request: Request, most: int) -> None:
        async with uploads.receive_file(request, tmp_path, "a.txt", most):
            pass

    for read in (request_body.read_bytes, upload):
        request, taken = sending(*[b"x" * 100_000] * 50)
        with pytest.raises(BadInput, match="larger than 1,000,000 bytes"):
            await read(request, 1_000_000)
        assert len(taken) == 11
    assert not os.listdir(tmp_path)


async def test_an_upload_goes_to_disk_and_is_deleted_after(tmp_path: Path) -> None:
    request, _ = sending(b"one ", b"two")
    async with uploads.receive_file(request, tmp_path, "a.txt", 7) as path:
        assert (path.name, path.read_bytes()) == ("a.txt", b"one two")
        assert path.is_relative_to(tmp_path)
    assert not os.listdir(tmp_path)


async def test_an_upload_whose_sender_is_gone_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploads, "_MAX_SILENT_SECONDS", 0.05)
    request, _ = sending(b"one ", last=False)
    with pytest.raises(BadInput, match="The upload sent nothing"):
        async with uploads.receive_file(request, tmp_path, "a.txt", 1_000_000):
            pass


async def test_ones_own_uploads_wait_for_one_another_and_nobody_elses_do(
    page: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Alice's document is not added before bob's is: her database waits, and her quota holds."""
    told: list[str] = []
    begun, bobs = threading.Event(), threading.Event()

    def add(collection: str, name: str, *_: object) -> Added:
        if name == "first.txt":
            begun.set()
            assert bobs.wait(60)
        told.append(name)
        if name == "bobs.txt":
            bobs.set()
        return Added(document=name, status="added")

    monkeypatch.setattr(documents, "_add", add)
    access = studio.Access(owner=lambda request: request.headers["who"])
    transport = ASGITransport(Starlette(routes=studio.routes(access)))
    async with AsyncClient(transport=transport, base_url="http://127.0.0.1") as http:

        async def put(who: str, name: str, where: str = DOCUMENTS) -> int:
            asked = {"collection": f"{who}/notes", "name": name}
            content = b"name,price\nash,1\n"
            reply = await http.put(where, params=asked, content=content, headers={"who": who})
            return reply.status_code

        alices = [asyncio.create_task(put("alice", "first.txt"))]
        assert await asyncio.to_thread(begun.wait, 60)
        alices.append(asyncio.create_task(put("alice", "second.csv", DATABASES)))
        done, _ = await asyncio.wait(alices, timeout=0.4)
        assert not done
        assert await put("bob", "bobs.txt") == 200
        assert await asyncio.gather(*alices) == [200, 200]
    assert told == ["bobs.txt", "first.txt"]


def test_a_person_keeps_no_more_than_their_quota(page: TestClient) -> None:
    few = client(studio.Access(owner=lambda _: "alice", quota=lambda _: studio.Quota(documents=2)))
    assert upload(few, "one.md", "# One\n\nText.", "alice/a").status_code == 200
    detail(upload(few, "broken.pdf", "no PDF", "alice/b"))  # its collection is there, and counts
    told = detail(upload(few, "two.md", "# Two\n\nText.", "alice/a"))
    assert told.startswith("Your quota of documents (2) is used up.")
    assert "ask the operator to raise your quota" in told
    few.delete(DOCUMENTS, params={"collection": "alice/b"})
    assert upload(few, "two.md", "# Two\n\nText.", "alice/a").status_code == 200
    bob = client(studio.Access(owner=lambda _: "bob", quota=lambda _: studio.Quota(documents=2)))
    assert upload(bob, "one.md", "# One\n\nText.", "bob/a").status_code == 200


def test_a_person_keeps_no_more_bytes_than_their_quota(page: TestClient) -> None:
    quota = studio.Quota(bytes=300_000)
    alice = client(studio.Access(owner=lambda _: "alice", quota=lambda _: quota))
    text = " ".join(f"word{number}" for number in range(20_000))
    assert upload(alice, "one.txt", text, "alice/a").status_code == 200
    assert "quota for documents (0.3 MB)" in detail(upload(alice, "two.txt", "text", "alice/a"))
    alice.delete(DOCUMENTS, params={"collection": "alice/a", "name": "one.txt"})
    assert upload(alice, "two.txt", "text", "alice/a").status_code == 200
    assert "larger than" in detail(upload(alice, "three.txt", text * 2, "alice/a"))
    poor = client(studio.Access(owner=lambda _: "poor", quota=lambda _: studio.Quota(bytes=9)))
    assert poor.post(EXPERIENCE, json=judged()).is_success
    assert "is used up" in detail(poor.post(EXPERIENCE, json=judged(right=False)))
    assert "is used up" in detail(upload(poor, "one.txt", "text", "poor/a"))


def test_whoever_has_a_name_sees_only_what_is_theirs(page: TestClient) -> None:
    upload(page, "report.md", "# Grid\n\nLosses fell.", "bob/energy")
    alice = client(studio.Access(owner=lambda _: "alice"))
    assert alice.get(DOCUMENTS).json()["collections"] == {}
    assert upload(alice, "mine.md", "# Mine\n\nAlone.", "alice/notes").status_code == 200
    assert [*alice.get(DOCUMENTS).json()["collections"]] == ["alice/notes"]
    theirs = {"collection": "bob/energy", "name": "report.md"}
    assert "not yours" in detail(alice.get(f"{DOCUMENTS}/page", params=theirs | {"page": "1"}))
    assert "not yours" in detail(alice.delete(DOCUMENTS, params=theirs))
    assert "not yours" in detail(upload(alice, "x.md", "text", "bob/energy"))
    assert "not yours" in detail(upload(alice, "x.md", "text", "alice"))


def send(page: TestClient, name: str, content: bytes, **asked: str) -> Any:
    return page.put(DATABASES, params={"name": name, **asked}, content=content)


def test_a_file_becomes_a_database_that_is_listed_asked_and_deleted(page: TestClient) -> None:
    made = send(page, "offers.csv", b"name,price\nash,7.5\nbirch,5.25\nodd\n").json()
    assert made["tables"] == [
        {"name": "offers", "rows": 2, "columns": {"name": "TEXT", "price": "REAL"}}
    ]
    assert made["notes"] == ["1 of 3 rows of offers.csv is broken and was left out (line 4)."]
    again = send(page, "offers.csv", b"name,price\nash,8\n").json()
    assert again["name"] == "offers-2"
    joined = send(page, "extra.csv", b"name,stock\nash,3\n", into="offers").json()
    assert [table["name"] for table in joined["tables"]] == ["offers", "extra"]
    listed = page.get(DATABASES).json()
    assert {one["name"] for one in listed["databases"]} == {"offers", "offers-2"}
    asked = {"url": made["url"], "query": "SELECT name FROM offers ORDER BY price"}
    assert page.post("/studio/api/databases/query", json=asked).json()["rows"][0] == ["birch"]
    assert page.delete(DATABASES, params={"name": "offers"}).status_code == 200
    assert "no database" in detail(page.delete(DATABASES, params={"name": "offers"}))
    assert detail(page.post(DATABASES, json={"url": made["url"]}))


@cases(
    ("a.db", b"hello", "a.db is no SQLite database."),
    ("../a.csv", b"a\n1\n", "cannot be a file name"),
    ("表" * 100 + ".csv", b"a\n1\n", "cannot be a file name"),
    ("a.txt", b"a\n1\n", "a.txt is not a kind of file that can be read."),
    ("a.csv", b"a\n" + b"1\n" * 600_000, "larger than 1,000,000 bytes"),
)
def test_a_file_that_is_no_database_is_refused_and_leaves_nothing(
    name: str,
    content: bytes,
    problem: str,
    page: TestClient,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setenv("PLANWEAVE_DOCUMENT_MEGABYTES", "1")
    assert problem in detail(send(page, name, content))
    assert page.get(DATABASES).json()["databases"] == []
    assert [path for path in (tmp_path / "data").rglob("*") if path.is_file()] == []


def test_a_database_is_its_owners_alone(page: TestClient) -> None:
    with client(studio.Access(owner=lambda _: "ada")) as ada:
        made = send(ada, "offers.csv", b"name,price\nash,7.5\n").json()
        assert made["url"] == "ada/offers"
        assert ada.post(DATABASES, json={"url": "ada/offers"}).status_code == 200
    with client(studio.Access(owner=lambda _: "bob")) as bob:
        assert bob.get(DATABASES).json()["databases"] == []
        for url in ("ada/offers", "bob/../ada/offers", "bob/offers"):
            assert detail(bob.post(DATABASES, json={"url": url}))
    full = studio.Access(owner=lambda _: "ada", quota=lambda _: studio.Quota(documents=1))
    with client(full) as ada:
        assert "used up" in detail(send(ada, "more.csv", b"a\n1\n"))


def test_samples_are_made_once_and_asked(page: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLANWEAVE_WEIGHTS_DIR", "/nowhere")  # words alone are searched
    process_settings.cache_clear()
    for _ in range(2):
        url = page.post("/studio/api/databases/sample").json()["url"]
        collection = page.post("/studio/api/documents/sample").json()["collection"]
    assert len(page.get(DATABASES).json()["databases"]) == 1
    found = page.post("/studio/api/databases/questions", json={"url": url}).json()["questions"]
    assert len(found) == 3
    assert "Which product has the highest price?" in found
    asked = {"collection": collection}
    found = page.get("/studio/api/documents/questions", params=asked).json()["questions"]
    assert "What does returns.md say about Returns?" in found
    process_settings.cache_clear()


def test_a_method_is_chosen_and_models_are_listed(page: TestClient) -> None:
    chosen = page.post("/studio/api/methods/choice", json={"database": "shop.db"}).json()
    assert (chosen["method"], bool(chosen["reason"])) == ("single_rag", True)
    chosen = page.post("/studio/api/methods/choice", json={"model": "openai:x", "max": 1}).json()
    assert chosen["method"] == "planrag"
    listed = page.get("/studio/api/models").json()["models"]
    assert [one["name"] for one in listed[:2]] == ["embedded", "embedded:0.5b"]


def test_the_root_leads_to_the_page(page: TestClient) -> None:
    assert page.get("/", follow_redirects=False).headers["location"] == "/studio/"


def test_a_database_that_does_not_answer_is_told_without_its_password(page: TestClient) -> None:
    url = "postgresql://u:geheim@127.0.0.1:1/shop"
    told = detail(page.post(DATABASES, json={"url": url}))
    assert "does not answer" in told
    assert "geheim" not in told
    told = detail(page.post(DATABASES, content=b'{"url": ["geheim"'))
    assert "geheim" not in told


def test_where_others_call_too_sources_are_named_and_offered(page: TestClient, offers: str) -> None:
    upload(page, "report.md", "# Grid\n\nLosses fell.", "shared")
    offer = Service(databases={"shop": offers}, collections=("shared",))
    alice = client(studio.Access(owner=lambda _: "alice", service=lambda: offer))
    offered = alice.get("/studio/api/methods").json()["offered"]
    assert offered == {"model": [], "database": ["shop"], "graph": [], "collection": ["shared"]}
    assert alice.post(DATABASES, json={"url": "shop"}).json()["kind"] == "relational"
    told = detail(alice.post(DATABASES, json={"url": offers}))
    assert "The databases are: shop." in told
    place = {"collection": "shared", "name": "report.md"}
    assert alice.get(f"{DOCUMENTS}/page", params=place | {"page": "1"}).status_code == 200
    assert "not yours" in detail(alice.delete(DOCUMENTS, params=place))
    assert page.get("/studio/api/methods").json()["offered"] == {}


QUERY = "/studio/api/databases/query"


def test_a_database_is_asked_as_a_method_would(page: TestClient, offers: str) -> None:
    asked = {"url": offers, "query": "SELECT name, price FROM offer ORDER BY price"}
    told = page.post(QUERY, json=asked).json()
    assert told["columns"] == ["name", "price"]
    assert told["rows"][0] == ["birch", 5.25]
    assert told["total_rows"] == len(told["rows"])
    big = {"url": offers, "query": "SELECT 9007199254740993 AS n, 1e308 * 10 AS x"}
    assert page.post(QUERY, json=big).json()["rows"] == [["9007199254740993", "inf"]]
    assert "query: Field required" in detail(page.post(QUERY, json={"url": offers}))
    assert "url: Field required" in detail(page.post(QUERY, json={"query": "SELECT 1"}))


@cases(
    "DELETE FROM offer",
    "SELECT 1; DROP TABLE offer",
    "SELECT load_extension('x')",
)
def test_a_query_of_a_persons_passes_the_same_guard(
    query: str, page: TestClient, tmp_path: Path
) -> None:
    file = tmp_path / "offers.sqlite"
    with closing(sqlite3.connect(file)) as database:
        database.executescript("CREATE TABLE offer(name TEXT); INSERT INTO offer VALUES ('ash');")
    before = file.read_bytes()
    detail(page.post(QUERY, json={"url": str(file), "query": query}))
    assert file.read_bytes() == before


def test_a_query_is_limited_and_asks_only_what_is_offered(page: TestClient, offers: str) -> None:
    offer = Service(context=Context(query_rows=1), databases={"shop": offers})
    alice = client(studio.Access(owner=lambda _: "alice", service=lambda: offer))
    asked = {"url": "shop", "query": "SELECT name FROM offer"}
    told = alice.post(QUERY, json=asked).json()
    assert (len(told["rows"]), told["total_rows"]) == (1, 2)
    assert "The databases are: shop." in detail(alice.post(QUERY, json=asked | {"url": offers}))


def test_results_are_told_with_intervals_and_traces(page: TestClient, tmp_path: Path) -> None:
    runs = [record("locating-1", "planrag", 1.0), record("locating-1", "iter_rag")]
    lines = [run.model_dump(mode="json") for run in runs]
    write_lines(tmp_path / "results" / "dqa" / "small.jsonl", *lines)
    found = page.get("/studio/api/results").json()
    named = client(studio.Access(owner=lambda _: "alice")).get("/studio/api/results").json()
    assert (found["folder"], named["folder"]) == (str(tmp_path / "results"), "results")
    listed = found["files"]
    assert [one["name"] for one in listed] == ["dqa/small.jsonl"]
    told = page.get("/studio/api/results/report", params={"file": "dqa/small.jsonl"}).json()
    assert told["tables"][0]["title"] == "Accuracy"
    assert {"low", "high", "n"} <= told["tables"][0]["rows"][0][1].keys()
    assert [(one["group"], one["value"]) for one in told["records"]] == [
        ("iter_rag", 0.0),
        ("planrag", 1.0),
    ]
    key = told["records"][1]["key"]
    asked = {"file": "dqa/small.jsonl", "key": key}
    assert page.get("/studio/api/results/record", params=asked).json()["method"] == "planrag"
    asked["key"] = "nobody"
    assert "no run 'nobody'" in detail(page.get("/studio/api/results/record", params=asked))


@cases("../secret.jsonl", "link.jsonl", "/etc/passwd", "plan.txt", "a\0.jsonl")
def test_files_outside_the_folder_of_results_are_not_read(
    name: str, page: TestClient, tmp_path: Path
) -> None:
    secret = tmp_path / "secret.jsonl"
    secret.write_text(record().model_dump_json())
    (tmp_path / "results" / "link.jsonl").symlink_to(secret)
    (tmp_path / "results" / "plan.txt").write_text("x")
    assert page.get("/studio/api/results").json()["files"] == []
    for file in (name, ""):
        reply = page.get("/studio/api/results/report", params={"file": file})
        assert "There is no result file" in detail(reply)


@pytest.mark.usefixtures("word_vectors")
def test_experience_is_browsed_and_forgotten(page: TestClient, tmp_path: Path) -> None:
    kept = Experience(tmp_path / "state" / "experience", "local")
    paths = [
        TaskPath("hop", "Who?", ("Search[Ada]", "Finish[Ada]")),
        TaskPath("hop", "When?", ("Search[Ada]", "Lookup[year]", "Finish[1815]")),
        TaskPath("hop", "Why?", ("Search[x]",), reward=0.0),
    ]
    kept.add(paths)
    told = page.get("/studio/api/experience").json()
    assert [path["question"] for path in told["paths"]] == ["Who?", "When?", "Why?"]
    graph = page.get("/studio/api/experience/graph", params={"threshold": "0.95"}).json()
    meeting = [node for node in graph["nodes"] if node["instructions"] == ["Search[Ada]"]]
    assert meeting[0]["paths"] == 2
    assert graph["walks"].keys() == {paths[0].key, paths[1].key}  # the third did not succeed
    asked = {"threshold": "0.95", "most": "1"}
    assert len(page.get("/studio/api/experience/graph", params=asked).json()["nodes"]) == 1
    assert "is not a number" in detail(
        page.get("/studio/api/experience/graph", params={"most": "x"})
    )
    alice = client(studio.Access(owner=lambda _: "alice"))
    assert alice.get("/studio/api/experience", params={"owner": "local"}).json()["paths"] == []
    asked = {"owner": "local", "key": paths[0].key}
    assert "no path" in detail(alice.delete("/studio/api/experience", params=asked))
    assert page.delete("/studio/api/experience", params=asked).status_code == 200
    assert len(page.get("/studio/api/experience").json()["paths"]) == 2


EXPERIENCE = "/studio/api/experience"


def test_paths_are_added_from_a_file(page: TestClient, tmp_path: Path) -> None:
    steps = {"steps": [{"action": "Search[Ada]"}]}
    lines = ({"question": "Who?", "reward": 1} | steps, {"question": "When?", "reward": 0} | steps)
    file = write_lines(tmp_path / "paths.jsonl", *lines).read_bytes()
    for name, content, new in (
        ("paths.jsonl", file, 2),
        ("paths.jsonl.gz", gzip.compress(file), 0),  # they are there already
    ):
        told = page.put(EXPERIENCE, params={"name": name}, content=content).json()
        assert told == {"new": new, "paths": 2, "succeeded": 1}
    kept = page.get(EXPERIENCE).json()["paths"]
    assert [(path["question"], path["reward"]) for path in kept] == [("Who?", 1), ("When?", 0)]


@cases(
    ("../paths.jsonl", b"", "is not a file of trajectories"),
    ("paths.csv", b"", "is not a file of trajectories"),
    ("paths.jsonl", b'{"question": "Who?"}', "Line 1 of paths.jsonl is not"),
    ("paths.jsonl", b"\xff", "The file paths.jsonl cannot be read"),
    ("paths.jsonl.gz", b"no gzip", "The file paths.jsonl.gz cannot be read"),
    ("paths.jsonl.gz", gzip.compress(b" " * 50_000_001), "more than 50 MB"),
)
def test_what_is_no_file_of_paths_is_refused(
    name: str, content: bytes, told: str, page: TestClient, tmp_path: Path
) -> None:
    assert told in detail(page.put(EXPERIENCE, params={"name": name}, content=content))
    assert not [file for file in tmp_path.rglob("*") if file.is_file()]


def judged(**changes: object) -> dict[str, object]:
    did = {"tool": "sql", "input": " SELECT 1\n", "facts": [1], "problem": ""}
    empty = {"tool": "sql", "input": "SELECT 2", "facts": [], "problem": "No rows."}
    run = {"thread": "t", "task": "planrag", "question": "Which?", "turns": [did, empty]}
    return run | {"right": True} | changes


def test_an_answer_that_a_person_judges_is_kept_for_them_alone(page: TestClient) -> None:
    told = page.post(EXPERIENCE, json=judged()).json()
    assert told["instructions"] == ["sql[SELECT 1]"]
    assert (told["task"], told["reward"], told["origin"]) == ("planrag", 1.0, "thread t")
    alice = client(studio.Access(owner=lambda _: "alice"))
    assert alice.post(EXPERIENCE, params={"owner": "local"}, json=judged(right=False)).is_success
    (hers,) = alice.get(EXPERIENCE).json()["paths"]
    assert hers["reward"] == 0.0
    (ours,) = page.get(EXPERIENCE).json()["paths"]
    assert ours["reward"] == 1.0
    assert "no answer from an action" in detail(page.post(EXPERIENCE, json=judged(turns=[])))
    assert "cannot be used: right" in detail(page.post(EXPERIENCE, json=judged(right="perhaps")))
    assert "cannot be used" in detail(page.post(EXPERIENCE, json=judged(question="x" * 20_000)))
