"""The first hour of a person at the studio: from a file of one's own to an answer that is shared.

By keys alone on a phone, where the views that ``test_studio_page.py`` lacks are looked at.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe import Look
from browser import complaints, new_page
from offers import DECISION, FINISH, PLAN, by_task, querying
from openai_server import serving
from playwright.sync_api import Browser, Locator, Page, expect
from serve import serving_planweave

pytestmark = pytest.mark.server

OFFERS = "name,price\nash,7.5\nbirch,5.25\ncedar,6\n"
BOTH = querying("SELECT name, price FROM offer ORDER BY price")
ASK = "Which offer has the lowest price?"
_MOST_TABS = 120
_WHERE = "it => it === document.activeElement ? 'focused' : it.isConnected ? 'there' : 'gone'"


@pytest.fixture
def model() -> Iterator[str]:
    """A model that plans, queries, finishes and decides, again and again."""
    acts = [BOTH, FINISH] * 6
    with serving(
        by_task("the plan", PLAN),
        *(by_task("the next action", act) for act in acts),
        by_task("the one query", BOTH),
        by_task("the decision", DECISION),
    ) as served:
        yield served.name


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving_planweave(tmp_path_factory.mktemp("hour")) as served:
        yield served.url


class Visitor:
    """Somebody at the page with keys alone; a finger would reach each control as well."""

    def __init__(self, page: Page, look: Look) -> None:
        self.page, self._look = page, look

    def press(self, control: Locator) -> None:
        """Press a button or a link."""
        self.reach(control)
        self.page.keyboard.press("Enter")

    def write(self, control: Locator, text: str) -> None:
        """Put a text into a field, in place of what it holds."""
        self.reach(control)
        self.page.keyboard.press("Control+A")
        self.page.keyboard.type(text)

    def reach(self, control: Locator) -> None:
        """Go to a control with the Tab key."""
        control.click(trial=True)
        element = control.element_handle()  # found once: to find it by its role takes long
        for _ in range(_MOST_TABS):
            where = element.evaluate(_WHERE)
            if where == "focused":
                return
            if where == "gone":
                element = control.element_handle()
            self.page.keyboard.press("Tab")
        pytest.fail(f"Tab does not reach {control}")

    def look(self, view: str) -> None:
        """Look at the view that is shown."""
        self._look(self.page, f"hour-{view}")


def test_the_first_hour(
    browser: Browser, look: Look, server: str, model: str, tmp_path: Path
) -> None:
    page = new_page(browser, base_url=server, viewport={"width": 360, "height": 740})
    heard = complaints(page)
    visitor = Visitor(page, look)
    page.goto("/studio/")
    expect(page.locator("h1").first).to_be_attached()
    choose_a_model(visitor, model)
    upload(visitor, tmp_path)
    ask_and_approve(visitor)
    use_the_rows(visitor)
    shared = share(visitor, tmp_path)
    rewind(visitor)
    trace(visitor)
    compare(visitor)
    assert heard == []
    open_shared(page.context.new_page(), shared)
    delete(page.context.new_page())
    page.context.close()


def choose_a_model(visitor: Visitor, model: str) -> None:
    """Without a source nothing is asked yet, and the question stays."""
    page = visitor.page
    visitor.press(page.get_by_role("button", name=re.compile("^Model:")))
    visitor.look("models")
    visitor.write(page.get_by_label("Another model"), model)
    visitor.press(page.get_by_role("button", name="Use this model"))
    question = page.get_by_role("textbox", name="Ask a question")
    visitor.write(question, ASK)
    page.keyboard.press("Enter")
    expect(page.get_by_text("Nothing is connected yet: choose what to ask")).to_be_visible()
    visitor.look("no-source")
    expect(question).to_have_value(ASK)


def upload(visitor: Visitor, folder: Path) -> None:
    """A file becomes a database, is looked at, and is asked about."""
    page, file = visitor.page, folder / "offer.csv"
    file.write_text(OFFERS, "utf-8")
    with page.expect_file_chooser() as chooser:
        visitor.press(page.get_by_role("button", name="Upload a file"))
    chooser.value.set_files(str(file))
    expect(examples(page).nth(1)).to_have_text(ASK)
    expect(page.get_by_text("planrag answers: a capable model plans")).to_be_visible()
    visitor.look("connected")
    visitor.press(page.get_by_role("link", name="Databases", exact=True))
    ask = page.get_by_role("button", name="Ask about this").first
    visitor.press(ask)
    expect(page.get_by_role("list", name="Sources in use")).to_contain_text("offer")


def examples(page: Page) -> Locator:
    return page.get_by_role("list", name="Example questions").get_by_role("button")


def ask_and_approve(visitor: Visitor) -> None:
    """The approval is a setting, which this test sets as another tab would have."""
    page = visitor.page
    page.evaluate(
        "() => { const all = JSON.parse(sessionStorage.getItem('planweave.settings'));"
        " all.approve = true; sessionStorage.setItem('planweave.settings', JSON.stringify(all)); }"
    )
    page.reload()
    visitor.press(examples(page).nth(1))
    approve = page.get_by_role("button", name="Approve the plan")
    expect(approve).to_be_focused()
    visitor.press(approve)
    answered(page)


def answered(page: Page) -> None:
    expect(page.get_by_role("region", name="Answer")).to_contain_text("Birch")
    expect(page.get_by_role("button", name="Stop")).to_be_hidden()


def use_the_rows(visitor: Visitor) -> None:
    page = visitor.page
    fact = page.get_by_role("region", name="Fact 1")
    visitor.press(fact.get_by_role("button", name="price"))
    expect(fact.get_by_role("row").nth(1)).to_contain_text("ash")
    visitor.press(fact.get_by_role("button", name="Chart"))
    chart = fact.get_by_role("img", name="price by name: 3 values, the highest for ash")
    expect(chart).to_be_visible()
    with page.expect_download() as download:
        visitor.press(fact.get_by_role("button", name="CSV"))
    rows = Path(download.value.path()).read_text("utf-8").splitlines()
    assert rows == ["name,price", "birch,5.25", "cedar,6", "ash,7.5"]
    visitor.press(fact.locator("summary", has_text="SQL"))
    visitor.press(fact.get_by_role("button", name="Edit and run"))
    visitor.write(fact.get_by_label("Query", exact=True), "SELECT count(*) AS offers FROM offer")
    visitor.press(fact.get_by_role("button", name="Run the query"))
    expect(fact.get_by_role("columnheader", name="offers")).to_be_visible()
    visitor.look("rows")


def share(visitor: Visitor, folder: Path) -> Path:
    page = visitor.page
    with page.expect_download() as download:
        visitor.press(page.get_by_role("button", name="Save as a page of its own"))
    assert download.value.suggested_filename == "which-offer-has-the-lowest-price.html"
    path = folder / "shared.html"
    download.value.save_as(path)
    return path


def open_shared(page: Page, path: Path) -> None:
    """The file stands alone: it asks for nothing and runs nothing."""
    heard, asked = complaints(page), []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(path.as_uri())
    expect(page.get_by_role("region", name="Answer")).to_contain_text("Birch")
    expect(page.get_by_role("heading", name=ASK)).to_be_visible()
    expect(page.get_by_role("table").first).to_contain_text("5.25")
    assert page.locator("script, button").count() == 0
    assert (heard, asked) == ([], [path.as_uri()])


def rewind(visitor: Visitor) -> None:
    page = visitor.page
    visitor.press(page.get_by_role("button", name="Rewind to before selector").first)
    dialog = page.get_by_role("dialog")
    visitor.write(dialog.get_by_label("Plan, one step per line"), "Compare the prices.")
    visitor.press(dialog.get_by_role("button", name="Run again from here"))
    expect(page.get_by_text("Plan as edited").locator("..")).to_contain_text("Compare the prices.")
    answered(page)
    visitor.look("rewound")


def trace(visitor: Visitor) -> None:
    page = visitor.page
    visitor.press(page.get_by_role("link", name="Traces", exact=True))
    expect(page.get_by_role("heading", name="Traces", level=1)).to_be_visible()
    visitor.press(page.get_by_role("link", name=ASK).first)
    calls = page.locator(".waterfall").first.get_by_role("listitem")
    expect(calls.first).to_contain_text("planner")
    visitor.press(calls.first.locator("summary"))
    expect(calls.first).to_contain_text("# Your task now: the plan")
    visitor.look("trace")


def compare(visitor: Visitor) -> None:
    page = visitor.page
    page.evaluate(
        "() => { const all = JSON.parse(sessionStorage.getItem('planweave.settings'));"
        " delete all.approve; sessionStorage.setItem('planweave.settings', JSON.stringify(all)); }"
    )
    visitor.press(page.get_by_role("link", name="Compare", exact=True))
    page.reload()
    page.get_by_label("Method", exact=True).nth(1).select_option("single_rag")
    visitor.write(page.get_by_role("textbox", name="Ask both a question"), ASK)
    page.keyboard.press("Enter")
    expect(page.locator(".verdict").get_by_role("table")).to_contain_text("Birch")
    visitor.look("compare")


def delete(page: Page) -> None:
    """In another tab, which has the same sources."""
    page.goto("/studio/")
    expect(page.get_by_role("list", name="Sources in use")).to_contain_text("offer")
    page.goto("/studio/#/databases")
    page.get_by_role("button", name="Delete offer").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.get_by_role("heading", name="offer")).to_have_count(0)
