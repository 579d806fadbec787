"""Reader: turns the pages found into facts, each with the words that it rests on."""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from itertools import product
from time import perf_counter

from langgraph.runtime import Runtime
from pydantic import BaseModel, Field

from planweave.memory import (
    Context,
    Failure,
    Page,
    Quote,
    Value,
    WorkingMemory,
    add_usage,
)
from planweave.nodes.assist.replies import stated
from planweave.nodes.faithfulness import faithfulness_of
from planweave.nodes.pages import excerpt, pages_text
from planweave.nodes.rag_metrics import Faithfulness
from planweave.nodes.role import ask_role, failures, usage
from planweave.nodes.turns import Observation, chosen_action, turn_taken
from planweave.prompts import load
from planweave.tools.calculator import CURRENCIES
from planweave.tools.documents.quotes import locate, numbers, says, sentences, unsaid

_NUMBER = re.compile(  # no range such as 2-9: that is no one number
    rf"(?P<currency>{'|'.join(CURRENCIES)}|[$€£])?\s*"
    r"(?P<value>[-+]?\d[\d,]*(?:\.\d+)?)\s*(?P<unit>[^\W\d].*|[/%€$£].*)?"
)

_WORD = re.compile(r"\w")
_LONGEST = 600
"""Characters of a sentence that may be quoted; what is longer on a page is a table."""
_FEWEST_WORDS = 5
"""Of a quote; by so many a sentence is known."""


class Finding(BaseModel):
    """One finding; the words come before what they are taken to say."""

    page: int
    quote: str = Field(max_length=400)
    statement: str = Field(max_length=300)
    number: str = Field(max_length=40)


class Reading(BaseModel):
    """The reader's reply."""

    findings: list[Finding] = Field(max_length=3)


async def reader(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
    """Read the pages; what they say about ``action.input`` becomes facts.

    A finding whose quote stands on none of the pages is dropped and noted as a failure. A statement
    with numbers that its quote does not say gets the sentence of the page that says them; where
    there is none, or where only the beginning of the quote stands on the page, see :func:`stated`.
    """
    if not state["pages"]:
        return {}
    started = perf_counter()
    task = load("documents/reader").fill(
        query=chosen_action(state)["input"], pages=pages_text(state["pages"], runtime.context)
    )
    reply = await ask_role("reader", Reading, task, state, runtime)
    findings = reply.value.findings if reply.value else []
    pairs = [(finding, _quote(finding, state["pages"])) for finding in findings]
    found = [
        _observed(finding, quote, state["pages"], runtime.context)
        for finding, quote in pairs
        if quote and _WORD.search(finding.statement)
    ]
    different = {seen.text: seen for seen in found}.values()
    measured = [await _measured(seen, state, runtime) for seen in different]
    judged = [measure for _, measure in measured if measure]
    problem = "" if found else "The pages found do not say it."
    turn = turn_taken(state, [seen for seen, _ in measured], problem, perf_counter() - started)
    return turn | {
        "usage": reduce(add_usage, (measure.usage for measure in judged), usage(reply)),
        "failures": [
            *failures(reply),
            *(_misquoted(finding) for finding, quote in pairs if not quote),
            *(failure for measure in judged for failure in measure.failures),
        ],
    }


async def _measured(
    seen: Observation, state: WorkingMemory, runtime: Runtime[Context]
) -> tuple[Observation, Faithfulness | None]:
    """The finding with its faithfulness to what was read, where the context asks for it."""
    quote = seen.quote
    if not runtime.context.faithfulness or quote is None:
        return seen, None
    page = next(page for page in state["pages"] if _place(page) == _place(quote))
    read = excerpt(page, runtime.context.page_characters)
    measured = await faithfulness_of(seen.text, read, state, runtime)
    return seen._replace(faithfulness=measured.value), measured


def _quote(finding: Finding, pages: Sequence[Page]) -> Quote | None:
    """The quote as it stands on the page that the finding names, or on another that was read.

    One with numbers that is not word for word is the sentence that says the same, another the
    sentence that begins like it.
    """
    named = pages[finding.page - 1 : finding.page] if finding.page > 0 else []
    ways: tuple[Callable[[str, str], str | None], ...]
    ways = (locate, _sentence_that_says, _sentence_begun)
    for way, page in product(ways, (*named, *pages)):
        copied = finding.quote.removeprefix(f"{page['document']}, p. {page['page']}: ")
        if words := way(copied, page["text"]):
            return Quote(document=page["document"], page=page["page"], text=words)
    return None


def _sentence_that_says(claim: str, text: str) -> str | None:
    """The first sentence of a page with the numbers and half of the words of a claim."""
    if not numbers(claim):
        return None
    return next((words for words in _quotable(text) if says(words, claim)), None)


def _sentence_begun(claim: str, text: str) -> str | None:
    """The first sentence of a page that holds the first words of a claim, one behind the other."""
    first = claim.split()[:_FEWEST_WORDS]
    if len(first) < _FEWEST_WORDS:
        return None
    return next((words for words in _quotable(text) if locate(" ".join(first), words)), None)


def _quotable(text: str) -> Iterator[str]:
    return (words for words in sentences(text) if len(words) <= _LONGEST)


def _observed(
    finding: Finding, quote: Quote, pages: Sequence[Page], context: Context
) -> Observation:
    """The finding with words that say its numbers; see :func:`reader`."""
    statement = finding.statement.strip()
    page = next(page for page in pages if _place(page) == _place(quote))
    if not any(way(finding.quote, quote["text"]) for way in (locate, _sentence_that_says)):
        statement = stated(statement, quote["text"], page["text"], context)
    if unsaid(statement, quote["text"]):
        if words := _sentence_that_says(statement, page["text"]):
            quote = quote | {"text": words}
        else:
            statement = stated(statement, quote["text"], page["text"], context)
    return Observation(statement, values=_number(finding, quote), quote=quote)


def _place(of: Page | Quote) -> tuple[str, int]:
    return of["document"], of["page"]


def _number(finding: Finding, quote: Quote | None) -> dict[str, Value]:
    """The finding's number with its unit, if the number stands in the quote."""
    match = _NUMBER.fullmatch(finding.number.strip())
    if not match or not quote or not numbers(match["value"]) <= numbers(quote["text"]):
        return {}
    unit = f"{match['currency'] or ''}{match['unit'] or ''}"
    return {"value": float(match["value"].replace(",", "")), "unit": unit}


def _misquoted(finding: Finding) -> Failure:
    return Failure(role="reader", kind="quote_not_found", detail=finding.quote)
