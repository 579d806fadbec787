"""Pages as text for a prompt."""

from collections.abc import Sequence

from planweave.memory import Context, Page
from planweave.prompts import load
from planweave.tools.documents.tables import names_above


def pages_text(pages: Sequence[Page], context: Context, *, whole: bool = False) -> str:
    """The pages, numbered from 1, each cut to the length in the context."""
    return "\n\n".join(
        load("documents/page").fill(
            number=str(number),
            document=page["document"],
            page=str(page["page"]),
            text=page["text"] if whole else excerpt(page, context.page_characters),
        )
        for number, page in enumerate(pages, start=1)
    )


def excerpt(page: Page, limit: int) -> str:
    """The page, or at most ``limit`` characters around its nearest passage.

    An excerpt that begins inside a table gets the heading and column names of the table first.
    """
    text = page["text"]
    if len(text) <= limit:
        return text
    middle = max(text.find(page["nearest"]), 0) + len(page["nearest"]) // 2
    start = min(max(middle - limit // 2, 0), len(text) - limit)
    names = names_above(text, start)
    before, after = "… " if start else "", " …" if start + limit < len(text) else ""
    shown = f"{before}{text[start : start + limit].strip()}{after}"
    return f"{names}\n{shown}" if names else shown
