"""The studio page in a real browser, as a person uses it: by what it says, by mouse and by keys."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from threading import Barrier, Event

import pytest
from axe import Look
from browser import complaints, new_page
from json_lines import write_lines
from market import DRAFT, NAME, QUESTION, RAT, add_report
from offers import DECISION, FINISH, PLAN, QUERY, SCRIPT, SOUND, querying, scripted
from openai_server import Answer, Script, serving
from playwright.sync_api import Browser, Page, Route, expect
from records import record
from scripted import act, finding, tell
from serve import ready, serving_planweave, start, stop
from servers import free_port

from planweave.learning.experience import Experience
from planweave.learning.paths import TaskPath
from planweave.tools.documents.collection import delete_collection

pytestmark = pytest.mark.server

PARTS = ("ask", "compare", "traces", "documents", "databases", "experience", "results")
HOSTILE = "<img src=x onerror=alert(1)><script>alert(2)</script>"
CHEAPEST = "Which offer is cheapest?"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the server works with: a database, a result file, an owner's experience."""
    folder = tmp_path_factory.mktemp("studio")
    (folder / "offers.sql").write_text(SCRIPT)
    (folder / "hostile.sql").write_text(
        f"CREATE TABLE offer(name TEXT, price REAL); INSERT INTO offer VALUES ('{HOSTILE}', 1);"
    )
    runs = [
        record("locating-1", "planrag", 1.0, plan=["Look."], answer=DECISION | {"decision": "Oak"}),
        record("locating-1", "iter_rag"),
        record("locating-2", "planrag"),
        record("locating-2", "iter_rag"),
    ]
    lines = (run.model_dump(mode="json") for run in runs)
    write_lines(folder / "results" / "small.jsonl", *lines)
    Experience(folder / "state" / "experience", "local").add(
        [TaskPath("hop", "Who was first?", ("Search[Ada]",), reward=0.0)]
    )
    return folder


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[str]:
    with serving_planweave(folder, PLANWEAVE_RESULTS_DIR=str(folder / "results")) as served:
        yield served.url


@pytest.fixture
def page(browser: Browser, server: str) -> Iterator[Page]:
    """A fresh visitor's page; no script may fail and nothing may break the security policy."""
    page = new_page(browser, base_url=server, viewport={"width": 1440, "height": 900})
    heard = complaints(page)
    page.on("dialog", lambda dialog: heard.append(f"a script says {dialog.message}"))
    yield page
    page.context.close()
    assert heard == []


Visit = Callable[..., None]


@pytest.fixture
def visit(page: Page, folder: Path) -> Visit:
    """Open the page with some settings made."""

    def visit(
        part: str = "ask", model: Script | None = None, question: str = "", **settings: object
    ) -> None:
        if model is not None:
            database = str(folder / "offers.sql")
            chosen = json.dumps({"model": model.name, "database": database} | settings)
            page.add_init_script(
                f"localStorage.getItem('planweave.settings') ?? "
                f"localStorage.setItem('planweave.settings', {json.dumps(chosen)})"
            )
        page.goto(f"/studio/#/{part}")
        expect(page.locator("h1").first).to_be_attached()
        if question:
            ask(page, question)

    return visit


def ask(page: Page, question: str) -> None:
    page.get_by_role("textbox", name="Ask a question").fill(question)
    page.keyboard.press("Enter")


def change(*steps: str) -> Mapping[str, object]:
    return {"reason": "The price alone does not decide.", "replan": "Y", "steps": [*steps]}


@pytest.mark.timeout(900)  # each step waits for what it needs; on a busy machine they add up
def test_a_run_is_told_approved_rewound_and_forked(page: Page, visit: Visit, look: Look) -> None:
    both = querying("SELECT name, price FROM offer ORDER BY price", step=2)
    replies = (PLAN, QUERY, change("Find the cheapest offer.", "Compare all."), both, SOUND)
    with serving(*scripted(*replies, FINISH, DECISION)) as model:
        visit(model=model, question=CHEAPEST, approve=True, replan="every_observation")
        plan = page.get_by_label("Steps, one per line")
        expect(plan).to_have_value("Find the cheapest offer in table offer.")
        expect(page.get_by_role("button", name="Approve the plan")).to_be_focused()
        expect(page.locator(".graph .node.lit")).to_have_text("plan_approval")
        look(page, "approval")
        plan.fill("Find the cheapest offer.\nBe sure.")
        page.get_by_role("button", name="Carry out as edited").click()

        answer = page.get_by_role("region", name="Answer")
        expect(answer).to_contain_text("Birch")
        expect(answer.locator(".verdict.good")).to_contain_text("In the facts: the cheapest of")
        story = page.locator(".story")
        expect(story.locator("del")).to_have_text("Be sure.")
        expect(story.locator("ins")).to_have_text("Compare all.")
        steps = page.get_by_text("New plan", exact=True).locator("..").get_by_role("listitem")
        expect(steps.first).to_have_class("done")
        expect(story.get_by_role("table").last).to_contain_text("ash")
        expect(page.locator(".meter")).to_contain_text("7 calls")
        for node in ("tools", "replanner", "closing"):
            expect(page.locator(".visited").get_by_text(node, exact=True)).to_have_count(1)
        look(page, "answer")
        answer.get_by_role("button", name="Fact 1").click()
        expect(page.get_by_role("region", name="Fact 1")).to_be_focused()

    other = DECISION | {"decision": "Ash"}
    anyone = QUERY | {"input": "SELECT name, price FROM offer LIMIT 1"}
    with serving(*scripted(anyone, FINISH, other)) as model:
        page.get_by_role("tab", name="Settings").click()
        page.locator("summary", has_text=re.compile("^Model")).click()
        page.get_by_label("Model", exact=True).fill(model.name)
        page.keyboard.press("Tab")
        page.get_by_role("button", name="Rewind to before selector").first.click()
        page.get_by_role("dialog").get_by_label("Plan, one step per line").fill("Just say ash.")
        look(page, "rewind")
        page.get_by_role("button", name="Run again from here").click()
        expect(answer).to_contain_text("Ash")
        expect(answer).to_have_class(re.compile("doubtful"))
        expect(answer.locator(".verdict.problem")).to_contain_text("Not in the facts: fact [1]")
        expect(answer).to_have_count(1)
        expect(page.get_by_text("Plan as edited").last.locator("..")).to_contain_text("Just say")
        assert "Just say ash." in str(model.requests[0]["messages"])
        page.get_by_role("tab", name="Timeline").click()
        expect(page.locator(".timeline")).to_contain_text("another branch")
        expect(page.locator(".timeline")).to_contain_text("edited")

    meant = {"follows_up": True, "question": "Which offer is dearest?"}
    with serving(*scripted(meant, PLAN, FINISH, DECISION)) as model:
        page.get_by_role("tab", name="Settings").click()
        page.get_by_label("Model", exact=True).fill(model.name)
        page.keyboard.press("Tab")
        ask(page, "And which is dearest?")
        page.get_by_role("button", name="Approve the plan").click()
        expect(answer).to_have_count(2)
    page.get_by_role("link", name="New question").click()
    expect(page.get_by_text("What do you want to know?")).to_be_visible()
    page.get_by_role("link", name=re.compile("Which offer is cheapest")).click()
    expect(page.get_by_role("heading", name="And which is dearest?")).to_be_visible()
    expect(answer).to_have_count(2)
    expect(page.locator(".story")).to_contain_text("Just say ash.")


def test_what_was_corrected_and_another_reading_are_shown(page: Page, visit: Visit) -> None:
    queries = ("SELECT nam FROM offer ORDER BY price LIMIT 1", "SELECT name FROM offer LIMIT 1")
    settings = {"assist": "on", "query_candidates": 2, "least_answerable": 0}
    with serving(*map(Answer, queries)) as model:
        visit(model=model, question=CHEAPEST, **settings)
        answer = page.get_by_role("region", name="Answer")
        expect(answer).to_contain_text(f"Another reading: ash ({queries[1]})")
        expect(page.locator(".story")).to_contain_text("Corrected: nam → offer.name")


@pytest.fixture
def report(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A collection of the server, for one test: others expect that it has no documents."""
    monkeypatch.setenv("PLANWEAVE_DATA_DIR", str(folder / "data"))
    add_report(tmp_path)
    yield NAME
    delete_collection(NAME)


def test_a_revision_tells_what_changed(page: Page, visit: Visit, report: str, look: Look) -> None:
    draft = ["Cost:\nUSD 1/kg in 2023.", DRAFT[1]]
    repaired = {"text": "Cost:\nUSD 5.5/kg in 2023."}
    with serving(*scripted({**RAT[0], "steps": draft}, RAT[1], repaired, *RAT[3:])) as model:
        visit(model=model, collection=report)
        page.get_by_label("Method", exact=True).select_option("rat")
        ask(page, QUESTION)
        expect(page.get_by_role("region", name="Answer")).to_contain_text("USD 5.5/kg")
    story = page.locator(".story")
    titles = story.get_by_role("heading", name=re.compile("^Step "))
    expect(titles).to_have_text(
        ["Step 1: changed (report.txt, p. 1)", "Step 2: unchanged (report.txt, p. 2)"]
    )
    expect(story.locator(".diff li")).to_have_text(
        ["Cost:", "USD 1/kg in 2023.", "USD 5.5/kg in 2023."]
    )
    expect(story.locator("del")).to_have_text("USD 1/kg in 2023.")
    expect(story.locator("ins")).to_have_text("USD 5.5/kg in 2023.")
    story.locator("del").scroll_into_view_if_needed()
    look(page, "revisions")


def test_a_query_is_edited_and_refused_at_a_pause(page: Page, visit: Visit, look: Look) -> None:
    again = querying("SELECT price FROM offer")
    with serving(*scripted(PLAN, QUERY, again, FINISH, DECISION)) as model:
        visit(model=model)
        node = page.get_by_role("button", name="Pause before tools")
        node.focus()
        page.keyboard.press("Enter")
        expect(node).to_have_attribute("aria-pressed", "true")
        ask(page, CHEAPEST)
        expect(page.get_by_text("Paused before tools")).to_be_visible()
        look(page, "paused")
        page.get_by_label("Input of sql").fill("SELECT max(price) AS top FROM offer")
        page.get_by_role("button", name="Go on").click()
        expect(page.get_by_role("region", name="Fact 1")).to_contain_text("7.5")
        expect(page.get_by_label("Input of sql")).to_have_value("SELECT price FROM offer")
        page.get_by_label("Or say why not").fill("No prices, please")
        page.get_by_role("button", name="Reject").dblclick()
        expect(page.get_by_role("region", name="Answer")).to_be_visible()
        expect(page.locator(".story")).to_contain_text("No prices, please")
        thread = page.url.rpartition("/")[2]
        runs = page.request.get(f"/threads/{thread}/runs").json()
        assert len(runs) == 3  # a double click is one
        assert "No prices, please" in str(model.requests[-1]["messages"])


def test_what_a_model_and_a_database_say_stays_text(
    page: Page, visit: Visit, folder: Path, look: Look
) -> None:
    said: list[Mapping[str, object]] = [
        {"steps": [HOSTILE]},
        QUERY | {"thought": HOSTILE, "input": "SELECT * FROM offer"},
        change(HOSTILE, "More."),
        FINISH,
        DECISION | {"decision": HOSTILE, "why": HOSTILE, "unknown": HOSTILE},
    ]
    with serving(*scripted(*said)) as model:
        asked = HOSTILE + "W" * 30_000
        visit(model=model, question=asked, database=str(folder / "hostile.sql"))
        expect(page.get_by_role("region", name="Answer")).to_contain_text("<img src=x")
    box = page.get_by_role("heading", name=HOSTILE).bounding_box()
    assert box is not None
    assert box["height"] < 450  # of 900: the answer is near
    expect(page.get_by_role("table")).to_contain_text("<script>")
    assert page.locator("main img, main script").count() == 0
    page.goto("/studio/#/databases")
    page.get_by_label("Database", exact=True).fill(str(folder / "hostile.sql"))
    page.get_by_role("button", name="Connect").click()
    expect(page.get_by_role("table")).to_contain_text("<img src=x")
    assert page.locator("main img, main script").count() == 0
    look(page, "hostile")


def test_an_error_can_be_tried_again(page: Page, visit: Visit, folder: Path, look: Look) -> None:
    with serving(*scripted(PLAN, FINISH, DECISION)) as model:
        visit(model=model, question=CHEAPEST, database="/nowhere.sql")
        expect(page.locator(".story .failed").get_by_role("alert")).to_contain_text("/nowhere.sql")
        look(page, "failed")
        page.get_by_role("tab", name="Settings").click()
        page.get_by_label("Database", exact=True).fill(str(folder / "offers.sql"))
        page.keyboard.press("Tab")
        page.get_by_role("button", name="Try again").click()
        expect(page.locator(".story")).to_contain_text("Find the cheapest offer")
        expect(page.locator(".story .failed")).to_have_count(0)


def test_a_run_says_what_it_does_and_shows_what_it_writes(page: Page, visit: Visit) -> None:
    planned, answered = Barrier(2), Barrier(2)
    plan, query, finish, decision = scripted(PLAN, QUERY, FINISH, DECISION)
    pausing = (replace(plan, halfway=planned), query, finish, replace(decision, halfway=answered))
    with serving(*pausing) as model:
        visit(model=model, question=CHEAPEST)
        expect(page.locator(".running .working")).to_have_text(
            re.compile(r"^writing the plan, \d+ tokens · \d+ s$")
        )
        earlier = page.get_by_role("list", name="Earlier questions")
        expect(earlier).to_contain_text("Which offer is cheapest?")
        planned.wait(60)
        expect(page.locator(".draft")).to_have_text("It costs least.")
        answered.wait(60)
        expect(page.get_by_role("region", name="Answer")).to_contain_text("Birch")
        expect(page.locator(".draft")).to_be_hidden()


def test_an_earlier_question_is_renamed_and_found(page: Page, visit: Visit) -> None:
    goes_on = Event()
    *rest, decision = scripted(PLAN, QUERY, FINISH, DECISION)
    earlier = page.get_by_role("list", name="Earlier questions")
    current = earlier.get_by_role("listitem").filter(has=page.locator("[aria-current]"))
    with serving(*rest, replace(decision, after=goes_on)) as model:
        visit(model=model, question=CHEAPEST)
        current.hover()
        current.get_by_role("button", name="Rename").click()
        title = page.get_by_label("New title", exact=True)
        expect(title).to_have_value("Which offer is cheapest?")
        title.fill("Wood for the fence")
        with page.expect_response("**/threads/search"):  # at the end of a run
            goes_on.set()
            expect(page.get_by_role("region", name="Answer")).to_contain_text("Birch")
            expect(page.get_by_role("button", name="Stop")).to_be_hidden()
    title.press("Enter")
    expect(current).to_contain_text("Wood for the fence")
    page.reload()
    search = page.get_by_label("Search in earlier questions")
    search.fill("FENCE")
    expect(earlier.get_by_role("link")).to_have_count(1)
    search.fill("no such words")
    expect(earlier).to_have_text("No question has these words.")


def test_a_run_is_stopped(page: Page, visit: Visit) -> None:
    with serving(*scripted(PLAN, delay=300)) as model:
        visit(model=model, question=CHEAPEST)
        expect(page.locator(".graph .lit")).to_have_text("planner")
        page.get_by_role("button", name="Stop").click()
        expect(page.get_by_role("button", name="Stop")).to_be_hidden()
        expect(page.get_by_role("heading", name="Paused before planner")).to_be_visible()


def test_a_run_that_is_left_ends_behind_the_page(page: Page, visit: Visit) -> None:
    goes_on = Event()
    *rest, decision = scripted(PLAN, QUERY, FINISH, DECISION)
    with serving(*rest, replace(decision, after=goes_on)) as model:
        visit(model=model, question="Which wood is left?")
        expect(page).to_have_url(re.compile("#/ask/."))
        page.get_by_role("link", name="New question").click()
        expect(page.get_by_text("What do you want to know?")).to_be_visible()
        with page.expect_response("**/history"):  # at the end of the run
            goes_on.set()
        page.wait_for_timeout(200)
        assert page.url.endswith("#/ask")
        page.get_by_role("link", name="Which wood is left?").click()
        expect(page.get_by_role("region", name="Answer")).to_contain_text("Birch")


def test_one_question_is_asked_at_a_time(page: Page, visit: Visit) -> None:
    """What is sent before the first run has begun stays in its field."""
    twice = """form => {
        form.requestSubmit();
        form.querySelector("textarea").value = "And the dearest?";
        form.requestSubmit();
    }"""
    box = page.get_by_role("textbox", name="Ask a question")
    with serving(*scripted(PLAN, QUERY, FINISH, DECISION)) as model:
        visit(model=model)
        box.fill("Which wood is once?")
        page.locator("form.composer").evaluate(twice)
        expect(page.get_by_role("region", name="Answer")).to_contain_text("Birch")
        expect(page.locator(".asked")).to_have_text("Which wood is once?")
        expect(page.locator("form.composer textarea")).to_have_value("And the dearest?")


def test_a_run_that_has_said_nothing_yet_is_stopped(page: Page, visit: Visit, folder: Path) -> None:
    """As one that waits for its turn: here its stream is held back."""
    page.route("**/runs/stream", lambda _: None)
    with serving(*scripted(PLAN, delay=300)) as model:
        visit(model=model, question=CHEAPEST)
        expect(page).to_have_url(re.compile("#/ask/."))
        runs = f"/threads/{page.url.rpartition('/')[2]}/runs"
        context = {"model": model.name, "database": str(folder / "offers.sql")}
        asked = {"assistant_id": "planrag", "input": {"question": "Which?"}, "context": context}
        run = f"{runs}/{page.request.post(runs, data=asked).json()['run_id']}"
        page.get_by_role("button", name="Stop").click()
        expect(page.get_by_role("button", name="Stop")).to_be_hidden()
        page.request.get(f"{run}/join")
        assert page.request.get(run).json()["status"] == "interrupted"


def test_who_comes_back_goes_along_with_the_run(page: Page, visit: Visit) -> None:
    goes_on = Event()
    plan, query, *rest = scripted(PLAN, QUERY, FINISH, DECISION)
    with serving(plan, replace(query, after=goes_on), *rest) as model:
        visit(model=model, question=CHEAPEST)
        expect(page.locator(".graph .lit")).to_have_text("selector")
        page.reload()
        expect(page.get_by_role("heading", name="Which offer is cheapest?")).to_be_visible()
        expect(page.get_by_role("button", name="Stop")).to_be_visible()
        goes_on.set()
        expect(page.get_by_role("region", name="Answer")).to_contain_text("Birch")
        expect(page.locator(".nodes li.node .name").last).to_have_text("closing")
        expect(page.get_by_role("button", name="Stop")).to_be_hidden()


def test_a_page_goes_on_with_a_server_that_was_started_again(
    browser: Browser, tmp_path: Path
) -> None:
    (tmp_path / "offers.sql").write_text(SCRIPT)
    port, lease = str(free_port()), {"PLANWEAVE_SERVE_LEASE_SECONDS": "1"}
    page = new_page(browser, base_url=f"http://127.0.0.1:{port}")
    with serving(*scripted(PLAN), *scripted(QUERY, delay=300)) as model:
        servers = [start(tmp_path, port=port, **lease)]
        try:
            ready(servers[0])
            chosen = json.dumps({"model": model.name, "database": str(tmp_path / "offers.sql")})
            page.add_init_script(f"localStorage['planweave.settings'] = {json.dumps(chosen)}")
            page.goto("/studio/#/ask")
            ask(page, CHEAPEST)
            expect(page.locator(".graph .lit")).to_have_text("selector")
            servers[0].process.kill()
            expect(page.get_by_text("This page waits for it.")).to_be_visible()
            model.answers[:] = scripted(QUERY, FINISH, DECISION)
            servers += [start(tmp_path, port=port, **lease)]
            ready(servers[1])
            expect(page.get_by_role("region", name="Answer")).to_contain_text("Birch")
            expect(page.get_by_text("This page waits for it.")).to_be_hidden()
        finally:
            page.context.close()
            for server in servers:
                stop(server)


def test_documents_are_put_read_cited_and_deleted(
    page: Page, visit: Visit, browser: Browser, server: str, tmp_path: Path, look: Look
) -> None:
    file = tmp_path / "grid report.md"
    file.write_text("# Grid\n\nLosses fell to 4.2 TWh.\n\n# Storage\n\nBatteries grew.\n")
    visit("documents")
    expect(page.get_by_role("heading", name="No documents yet")).to_be_visible()
    page.get_by_label("Search", exact=True).select_option("none")
    page.get_by_label("Choose files").set_input_files(str(file))
    expect(page.get_by_text("grid report.md: added, 2 pages.")).to_be_visible()
    page.get_by_role("button", name="grid report.md", exact=True).click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Losses fell to 4.2 TWh.")
    page.get_by_role("button", name="Next page").click()
    expect(dialog).to_contain_text("Batteries grew.")
    look(page, "document")
    page.evaluate("location.hash = '#/ask'")
    expect(dialog).to_have_count(0)
    page.goto("/studio/#/documents")
    expect(page.get_by_role("button", name="Use for questions")).to_be_visible()
    look(page, "documents-kept")
    page.get_by_role("button", name="Use for questions").click()
    page.goto("/studio/#/ask")
    page.get_by_role("tab", name="Settings").click()
    expect(page.get_by_label("Collection", exact=True)).to_have_value("default")

    found = finding("Losses fell to 4.2 TWh", "Losses fell to 4.2 TWh.")
    replies = (act("documents", "losses"), found, tell("Losses fell to 4.2 TWh [1]."))
    with serving(*(Answer(text=json.dumps(reply)) for reply in replies)) as model:
        chosen = {"model": model.name, "collection": "default", "whole_collection": "off"}
        store = "value => sessionStorage.setItem('planweave.settings', value)"
        page.evaluate(store, json.dumps(chosen))
        page.reload()
        page.get_by_label("Method", exact=True).select_option("agent_v1")
        ask(page, "To what did losses fall?")
        expect(page.get_by_role("region", name="Answer")).to_contain_text("4.2 TWh")
        page.get_by_role("button", name="grid report.md, p. 1").click()
        expect(dialog.locator("mark")).to_have_text("Losses fell to 4.2 TWh")
    other = new_page(browser, base_url=server)
    other.goto(page.url)
    other.get_by_role("button", name="grid report.md, p. 1").click()
    expect(other.get_by_role("dialog").locator("mark")).to_have_text("Losses fell to 4.2 TWh")
    look(other, "citation")
    other.keyboard.press("Escape")
    expect(other.locator(".sources")).to_contain_text("default")
    other.context.close()

    page.goto("/studio/#/documents")
    delete = page.get_by_role("button", name="Delete grid report.md")
    confirm = dialog.get_by_role("button", name="Delete")
    refused = re.compile(r"documents\?.*name=")
    page.route(refused, lambda route: route.fulfill(status=400, json={"detail": "It is locked."}))
    delete.click()
    confirm.click()
    expect(page.get_by_text("It is locked.")).to_be_visible()
    page.unroute(refused)
    delete.click()
    confirm.click()
    expect(page.get_by_text("Empty.")).to_be_visible()


def test_what_was_chosen_last_is_shown(page: Page, visit: Visit) -> None:
    """The reply to an earlier choice may come after that to a later one."""
    held: list[Route] = []
    settled = "() => new Promise(done => setTimeout(done, 200))"

    def hold(route: Route) -> None:
        held.append(route)

    def asked(number: int) -> Route:
        while len(held) < number:
            page.wait_for_timeout(20)
        return held[number - 1]

    page.route("**/methods/rat/graph", hold)
    visit("compare")
    for method in ("rat", "react"):
        page.get_by_label("Method", exact=True).first.select_option(method)
    drawn = page.locator(".lane").first.locator("svg.graph")
    expect(drawn).to_have_attribute("aria-label", re.compile("react"))
    asked(1).continue_()
    page.evaluate(settled)
    expect(drawn).to_have_attribute("aria-label", re.compile("react"))
    path = {"key": "k", "task": "hop", "question": "Who?", "instructions": ["a"], "reward": 1}
    kept = {"owner": "local", "threshold": 0.5, "paths": [path]}
    graph = {"nodes": [], "edges": [], "all_nodes": 0, "all_edges": 0, "walks": {}}
    page.route("**/studio/api/experience?*", lambda route: route.fulfill(json=kept))
    page.route("**/experience/graph?*", hold)
    page.goto("/studio/#/experience")
    early = asked(2)
    page.get_by_label("Shown, most travelled first").select_option("20")
    asked(3).fulfill(json=graph)
    expect(page.get_by_role("heading", name="No graph yet")).to_be_visible()
    early.fulfill(json=graph | {"nodes": [{"id": 1, "instructions": ["late"], "paths": 1}]})
    page.evaluate(settled)
    expect(page.get_by_role("heading", name="No graph yet")).to_be_visible()


def test_an_address_may_hold_a_percent_sign(page: Page, visit: Visit) -> None:
    visit("experience/100%")
    expect(page.get_by_label("Owner")).to_have_value("100%")


def test_results_are_compared_question_by_question(page: Page, visit: Visit, look: Look) -> None:
    visit("results")
    page.get_by_label("small.jsonl").check()
    compared = page.get_by_role("region", name="Questions on which they differ")
    expect(compared.get_by_role("row")).to_have_count(2)
    expect(page.get_by_text("only iter_rag is right on 0, only planrag on 1.")).to_be_visible()
    compared.get_by_role("button", name="locating-1").click()
    traces = page.get_by_role("region", name="Trace")
    expect(traces.get_by_role("region", name="planrag")).to_contain_text("Oak")
    look(page, "results")
    page.get_by_label("Score", exact=True).select_option("right")
    expect(page.get_by_role("region", name="Runs").get_by_role("row")).to_have_count(2)


def test_paths_are_added_from_a_file(page: Page, visit: Visit, tmp_path: Path, look: Look) -> None:
    good, bad = tmp_path / "two.jsonl", tmp_path / "bad.jsonl"
    steps = [{"action": f"Search[{HOSTILE}]"}]
    lines = ({"question": text, "steps": steps, "reward": 0} for text in (HOSTILE, "Who?"))
    write_lines(good, *lines)
    bad.write_text("no trajectory\n")
    visit("experience/added")
    expect(page.get_by_role("heading", name="No experience yet")).to_be_visible()
    page.get_by_label("Choose files").set_input_files([str(good), str(bad)])
    log = page.get_by_role("region", name="Add paths")
    expect(log).to_contain_text("two.jsonl: 2 new of 2 paths, 0 of them succeeded.")
    expect(log).to_contain_text("bad.jsonl: Line 1 of bad.jsonl is not as it should be")
    page.get_by_role("button", name=HOSTILE, exact=True).click()
    expect(page.locator(".detail")).to_contain_text(f"Search[{HOSTILE}]")
    assert page.locator("main img, main script").count() == 0
    look(page, "experience-added")


def test_a_right_answer_is_kept_when_a_person_agrees(page: Page, visit: Visit, look: Look) -> None:
    with serving(*scripted(PLAN, QUERY, FINISH, DECISION)) as model:
        visit(model=model, question=CHEAPEST, owner="judge")
        page.get_by_role("button", name="Right", exact=True).click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Which offer is cheapest?")
    query = dialog.get_by_label("sql query")
    expect(query).to_have_value(str(QUERY["input"]))
    look(page, "judge")
    dialog.get_by_role("button", name="Cancel").click()
    assert kept_paths(page, "judge") == []
    page.get_by_role("button", name="Right", exact=True).click()
    query.fill("SELECT name FROM offer ORDER BY cost LIMIT 1")
    dialog.get_by_role("button", name="Keep it").click()
    expect(page.get_by_text("Kept as a path that succeeded, with 1 instruction.")).to_be_visible()
    (path,) = kept_paths(page, "judge")
    assert (path["question"], path["reward"]) == ("Which offer is cheapest?", 1.0)
    assert path["instructions"] == ["sql[SELECT name FROM offer ORDER BY cost LIMIT 1]"]
    look(page, "judged")


def kept_paths(page: Page, owner: str) -> list[dict[str, object]]:
    paths: list[dict[str, object]] = page.request.get(
        "/studio/api/experience", params={"owner": owner}
    ).json()["paths"]
    return paths


def test_a_database_is_asked_a_query(page: Page, visit: Visit, folder: Path, look: Look) -> None:
    visit("databases")
    page.get_by_label("Database", exact=True).fill(str(folder / "offers.sql"))
    page.get_by_role("button", name="Connect").click()
    text = page.get_by_label("Query in SQL (SQLite)")
    text.fill("SELECT name, price FROM offer ORDER BY price")
    text.press("Control+Enter")
    rows = page.get_by_role("region", name="Rows")
    expect(rows.get_by_role("row")).to_have_count(3)
    expect(rows).to_contain_text("birch")
    look(page, "query")
    text.fill("DELETE FROM offer")
    page.get_by_role("button", name="Run the query").click()
    expect(page.get_by_role("form", name="Query").get_by_role("alert")).to_be_visible()
    expect(rows).to_have_count(0)


def test_colours_are_switched_and_kept(page: Page, visit: Visit) -> None:
    visit()
    ground = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(ground)
    page.get_by_role("button", name="Dark colours").click()
    assert page.evaluate(ground) != light
    page.reload()
    expect(page.get_by_role("button", name="Light colours")).to_be_visible()
    assert page.evaluate(ground) != light


def test_everything_is_read_and_reached(page: Page, visit: Visit, look: Look) -> None:
    for part in PARTS:
        visit(part)
        page.reload()
        page.wait_for_load_state("networkidle")
        look(page, part)


def test_keys_alone_reach_the_question(page: Page, visit: Visit) -> None:
    visit()
    expect(page.get_by_role("textbox", name="Ask a question")).to_be_focused()
    page.get_by_role("tab", name="Graph").focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("tab", name="Settings")).to_be_focused()
    expect(page.get_by_role("tabpanel", name="Settings")).to_be_visible()


def test_what_is_no_database_is_told(page: Page, visit: Visit, tmp_path: Path, look: Look) -> None:
    (tmp_path / "letter.xlsx").write_text("Dear all")
    (tmp_path / "rows.csv").write_text("name,price\nash,7.5\nodd\n")
    visit("databases")
    page.get_by_label("Choose files").set_input_files(
        [str(tmp_path / name) for name in ("letter.xlsx", "rows.csv", "rows.csv")]
    )
    log = page.get_by_role("region", name="Upload", exact=True)
    expect(log).to_contain_text("letter.xlsx cannot be read as a spreadsheet")
    expect(log).to_contain_text("rows-2: rows (1 row). 1 of 2 rows of rows.csv is broken")
    look(page, "uploaded")
    page.get_by_role("button", name="Look inside").first.click()
    expect(page.get_by_role("form", name="Query")).to_be_visible()
    page.get_by_role("button", name="Ask about this").first.click()
    expect(page.get_by_role("list", name="Sources in use")).to_contain_text("rows")


def test_methods_are_chosen_by_their_figures(page: Page, visit: Visit, look: Look) -> None:
    visit()
    page.get_by_role("button", name="Choose by figure").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("heading", level=3)).to_have_count(3)
    expect(dialog.locator(".figure svg").nth(5)).to_be_visible()
    look(page, "figures")
    dialog.get_by_role("button", name=re.compile("^furepa")).click()
    expect(page.get_by_label("Method", exact=True)).to_have_value("furepa")
    page.get_by_role("tab", name="Settings").click()
    expect(page.get_by_label("Masking")).to_have_count(1)
    look(page, "settings")
    expect(page.get_by_label("Approve", exact=True)).to_have_count(0)
