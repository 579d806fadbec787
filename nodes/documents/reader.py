"""Reader: turns the pages found into facts, each with the words that it rests on."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from time import perf_counter
from typing import NamedTuple

from langgraph.runtime import Runtime
from pydantic import BaseModel, Field

from planweave.memory import Context, Failure, Page, Quote, Value, WorkingMemory
from planweave.nodes.assist.asking import FEW_FINDINGS, few_findings
from planweave.nodes.assist.replies import nearer, stated
from planweave.nodes.support.pages import pages_text
from planweave.nodes.support.role import ask_role, spent
from planweave.nodes.support.turns import Observation, chosen_action, turn_taken
from planweave.prompts import load
from planweave.tools.calculator import CURRENCIES
from planweave.tools.checking.words import roots
from planweave.tools.documents.quotes import locate, numbers, says, sentences, unsaid
from planweave.tools.documents.tables import Span, paragraph, with_headings, with_names

_AMOUNT = re.compile(
    rf"(?P<sign>[-+(\u2212])?\s*(?P<currency>{'|'.join(CURRENCIES)}|[A-Z]{{0,3}}[$€£])?\s*"
    r"(?P<value>[-+]?(?:\d[\d,]*(?:\.\d+)?|\.\d+))"
    r"(?:\s*(?:[\u2010-\u2015-]|to)\s*(?P<to>\d[\d,]*(?:\.\d+)?))?"
    r"\s*\)?\s*(?P<unit>(?![xX\u00d7]\s*\d)[^\W\d].*|[/%€$£].*)?"  # "22 x 14 in" is no one amount
)
_BESIDES = re.compile(r"\s*[/,;]\s*(?=\d)|\s*\(")  # "62 in / 158 cm" says it twice
_WORD = re.compile(r"\w")
_LONGEST = 600
"""Characters of a sentence or paragraph that may be quoted; what is longer holds a table."""
_FEWEST_WORDS = 5
"""Of a quote; by so many a sentence is known."""
_MOST_FINDINGS = 10
"""On one page."""


class Amount(BaseModel):
    """A value that a finding gives, such as "main cabin": "$40"."""

    name: str = Field(max_length=60)
    value: str = Field(max_length=60)


class Finding(BaseModel):
    """One finding; the words come before what they are taken to say."""

    page: int
    quote: str = Field(max_length=600)
    statement: str = Field(max_length=400)
    values: list[Amount] = Field(default=[], max_length=12)


class Reading(BaseModel):
    """The reader's reply."""

    findings: list[Finding] = Field(max_length=60)


class ShortFinding(Finding):
    """A finding whose texts keep a useful length within the reply of a small model."""

    values: list[Amount] = Field(default=[], max_length=2)


class ShortReading(BaseModel):
    """The reply of a reader that is asked for few findings."""

    findings: list[ShortFinding] = Field(max_length=FEW_FINDINGS)


class _Read(NamedTuple):
    """What became of a finding: an observation, or why it is none."""

    seen: Observation | None
    failures: list[Failure]


async def reader(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
    """Read the pages; what they say about ``action.input`` becomes facts.

    A finding whose quote is on none of the pages is dropped and noted as a failure; so is one with
    a number that neither its quote nor the sentence, the table or the heading around it says. Of
    a quote that was copied word for word at its beginning alone, the page's sentence is stated.
    A quote of rows is whole rows with the heading and the column names of their table.
    """
    return await _read(state, runtime, whole=False)


async def whole_reader(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
    """As :func:`reader`, of a whole collection: no page is cut."""
    return await _read(state, runtime, whole=True)


async def _read(state: WorkingMemory, runtime: Runtime[Context], *, whole: bool) -> WorkingMemory:
    pages, context = state["pages"], runtime.context
    if not pages:
        return {}
    started = perf_counter()
    few = few_findings(context)
    most = f"{few}" if few else f"{_MOST_FINDINGS} on a page"
    task = load("documents/whole_reader" if whole else "documents/reader").fill(
        query=chosen_action(state)["input"],
        pages=pages_text(pages, context, whole=whole),
        most=most,
    )
    form: type[Reading | ShortReading] = ShortReading if few else Reading
    reply = await ask_role("reader", form, task, state, runtime)
    findings = reply.value.findings if reply.value else []
    asked = roots(state["question"])
    read = [_checked(finding, pages, asked, context) for finding in _at_most(findings)]
    found = list({one.seen.text: one.seen for one in read if one.seen}.values())
    dropped = [failure for one in read for failure in one.failures]
    problem = "" if found else _nothing(dropped)
    seconds = perf_counter() - started
    turn = turn_taken(state, found, problem, seconds, calls=reply.calls)
    if whole:
        turn["step"] = state["step"]
    used = spent(reply)
    return turn | used | {"failures": [*used["failures"], *dropped]}


def _at_most(findings: Sequence[Finding]) -> list[Finding]:
    """The first findings of each page."""
    seen: Counter[int] = Counter()
    kept = []
    for finding in findings:
        seen[finding.page] += 1
        if seen[finding.page] <= _MOST_FINDINGS:
            kept.append(finding)
    return kept


def _nothing(dropped: Sequence[Failure]) -> str:
    """Why there is no finding, as a problem."""
    reason = next((one["detail"] for one in dropped if one["kind"] == "number_not_quoted"), "")
    problem = "The pages found do not say it."
    return f"{problem} A finding was dropped: {reason}" if reason else problem


class _Quoted(NamedTuple):
    """Words of a page, and where they are."""

    page: Page
    span: Span

    @property
    def words(self) -> str:
        return self.page["text"][slice(*self.span)]


def _quoted(finding: Finding, pages: Sequence[Page]) -> _Quoted | None:
    """The quote as it is on the page that the finding names, or on another that was read.

    One with numbers that is not word for word is the sentence that says the same, another the
    sentence that begins like it. A place that says the numbers of the statement goes before others.
    """
    named = pages[finding.page - 1 : finding.page] if finding.page > 0 else []
    ways: tuple[Callable[[str, str], str | None], ...]
    ways = (locate, _sentence_that_says, _sentence_begun)
    found: _Quoted | None = None
    for way, page in product(ways, (*named, *pages)):
        copied = finding.quote.removeprefix(f"{page['document']}, p. {page['page']}: ")
        if words := way(copied, page["text"]):
            quoted = _Quoted(page, _meant(words, page["text"], finding.statement))
            if not unsaid(finding.statement, with_names(page["text"], quoted.span)):
                return quoted
            found = found or quoted
    return found


def _meant(words: str, text: str, statement: str) -> Span:
    """Where on a page the words are quoted from: equal rows differ by the names of their tables."""
    begins = [match.start() for match in re.finditer(re.escape(words), text)]
    spans = [(begin, begin + len(words)) for begin in begins]
    return max(spans, key=lambda span: _said_with(statement, with_names(text, span)))


def _said_with(statement: str, quote: str) -> tuple[bool, int]:
    """How well a quote fits a statement: by its numbers, then by the words that they share."""
    return not unsaid(statement, quote), len(roots(statement) & roots(quote))


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


def _checked(
    finding: Finding, pages: Sequence[Page], asked: frozenset[str], context: Context
) -> _Read:
    """The finding with words that say its numbers; see :func:`reader`."""
    quoted = _quoted(finding, pages)
    if quoted is None:
        return _Read(None, [_failure("quote_not_found", finding.quote)])
    statement = finding.statement.strip()
    if not _WORD.search(statement):
        return _Read(None, [])
    if not any(way(finding.quote, quoted.words) for way in (locate, _sentence_that_says)):
        statement = stated(statement, quoted.words, quoted.page["text"], context)
    statement = nearer(statement, quoted.words, asked, context)
    quote = _wide_enough(statement, quoted)
    if missing := unsaid(statement, quote):
        reason = f'{missing} is not in the quoted words. Finding: "{statement}"'
        if not few_findings(context):
            return _Read(None, [_failure("number_not_quoted", reason)])
        statement = quoted.words
    values, strange = _values(finding, quote)
    page = quoted.page
    place = Quote(document=page["document"], page=page["page"], text=quote)
    return _Read(
        Observation(statement, values=values, quote=place),
        [_failure("value_not_quoted", f"{one.name}: {one.value}") for one in strange],
    )


def _wide_enough(statement: str, quoted: _Quoted) -> str:
    """The words quoted, or as much around them as says the numbers of the statement.

    Where nothing does, what is quoted of itself: the words, or rows with what names them.
    """
    text, span = quoted.page["text"], quoted.span
    quote = with_names(text, span)
    for wider in _wider(statement, text, span):
        if not unsaid(statement, quote):
            break
        if not unsaid(statement, wider):
            return wider
    return quote


def _wider(statement: str, text: str, span: Span) -> Iterator[str]:
    """Ever more of a page around quoted words, and at last another sentence."""
    yield with_headings(text, span)
    around = paragraph(text, span)
    if around[1] - around[0] <= _LONGEST:
        yield text[slice(*around)]
        yield with_headings(text, around)
    if sentence := _sentence_that_says(statement, text):
        begin = text.index(sentence)
        yield with_names(text, (begin, begin + len(sentence)))


def _values(finding: Finding, quote: str) -> tuple[dict[str, Value], list[Amount]]:
    """The values of a finding by name, with their units, and those that the quote does not say."""
    values: dict[str, Value] = {}
    strange: list[Amount] = []
    for amount in finding.values:
        match = _AMOUNT.fullmatch(amount.value.strip())
        if match is None:  # words, as in "not accepted": the statement holds them
            continue
        if not numbers(amount.value) <= numbers(quote):
            strange.append(amount)
            continue
        name = _free_name(amount.name, values)
        if match["to"]:
            values[f"{name}_from"] = _valued(match, match["value"])
            values[f"{name}_to"] = _valued(match, match["to"])
        else:
            values[name] = _valued(match, match["value"])
    return values, strange


def _free_name(name: str, taken: dict[str, Value]) -> str:
    """A name for the calculator that no other value of the fact has."""
    plain = re.sub(r"\W+", "_", name.casefold()).strip("_") or "value"
    number = 1
    while (wanted := plain if number == 1 else f"{plain}_{number}") in taken:
        number += 1
    return wanted


def _valued(match: re.Match[str], digits: str) -> Value:
    """A number, as a text with its unit where it has one."""
    digits = digits.replace(",", "")
    if match["sign"] and match["sign"] != "+":
        digits = f"-{digits.lstrip('+-')}"  # "(-5)" is negative once
    currency, unit = match["currency"] or "", _BESIDES.split(match["unit"] or "")[0]
    between = " " if currency and unit[:1].isalpha() else ""
    unit = f"{currency}{between}{unit}".strip(" )")
    return f"{digits} {unit}" if unit else float(digits)


def _failure(kind: str, detail: str) -> Failure:
    return Failure(role="reader", kind=kind, detail=detail)
