"""Pages as text for a prompt."""

from collections.abc import Sequence

from planweave.memory import Context, Page
from planweave.prompts import load
from planweave.tools.documents.tables import above


def pages_text(pages: Sequence[Page], context: Context, *, whole: bool = False) -> str:
    """The pages found, numbered from 1 in their order, each cut to the context's length."""
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
    """The page, or so many characters of it around the words that were nearest.

    An excerpt that begins inside a table begins with its heading and column names.
    """
    text = page["text"]
    if len(text) <= limit:
        return text
    middle = max(text.find(page["nearest"]), 0) + len(page["nearest"]) // 2
    start = min(max(middle - limit // 2, 0), len(text) - limit)
    names = above(text, start)
    before, after = "… " if start else "", " …" if start + limit < len(text) else ""
    shown = f"{before}{text[start : start + limit].strip()}{after}"
    return f"{names}\n{shown}" if names else shown
