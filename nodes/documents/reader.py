"""Reader: turns the pages found into facts, each with the words that support it."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from time import perf_counter
from typing import NamedTuple

from langgraph.runtime import Runtime
from pydantic import BaseModel, Field

from planweave.memory import Context, Failure, Found, Page, Quote, Value, WorkingMemory
from planweave.nodes.assist.asking import FEW_FINDINGS, max_findings
from planweave.nodes.assist.replies import quote_if_nearer, quote_if_unstated
from planweave.nodes.support.pages import pages_text
from planweave.nodes.support.role import ask_role, spent
from planweave.nodes.support.turns import chosen_action, turn_taken
from planweave.prompts import load
from planweave.tools.calculator import CURRENCIES
from planweave.tools.checking.words import roots
from planweave.tools.documents.quotes import (
    has_content_of,
    locate,
    missing_numbers,
    numbers,
    sentences,
)
from planweave.tools.documents.tables import Span, add_headings, add_names, paragraph_span

_AMOUNT = re.compile(
    rf"(?P<sign>[-+(\u2212])?\s*(?P<currency>{'|'.join(CURRENCIES)}|[A-Z]{{0,3}}[$€£])?\s*"
    r"(?P<value>[-+]?(?:\d[\d,]*(?:\.\d+)?|\.\d+))"
    r"(?:\s*(?:[\u2010-\u2015-]|to)\s*(?P<to>\d[\d,]*(?:\.\d+)?))?"
    r"\s*\)?\s*(?P<unit>(?![xX\u00d7]\s*\d)[^\W\d].*|[/%€$£].*)?"  # "22 x 14 in" is no one amount
)
_SECOND_UNIT = re.compile(r"\s*[/,;]\s*(?=\d)|\s*\(")  # "62 in / 158 cm" is one value in two units
_WORD = re.compile(r"\w")
_MAX_QUOTABLE = 600
"""Characters of a sentence or paragraph that may be quoted; longer ones hold a table."""
_MIN_WORDS = 5
"""Words at the beginning of a quote by which its sentence is found."""
_MAX_FINDINGS = 10
"""Findings on one page."""


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


class _CheckedFinding(NamedTuple):
    """What becomes a fact, or None, and the failures of the finding."""

    found: Found | None
    failures: list[Failure]


async def reader(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
    """Read the pages and turn what they say about ``action.input`` into facts.

    A finding is dropped and recorded as a failure if no page has its quote, or if a number of its
    statement is neither in the quote nor in the sentence, table or heading around it. If only the
    beginning of a quote is copied word for word, the sentence on the page becomes the statement. A
    quote from a table becomes whole rows with the heading and the column names.
    """
    return await _read(state, runtime, whole=False)


async def whole_reader(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
    """As :func:`reader`, for a whole collection: no page is cut."""
    return await _read(state, runtime, whole=True)


async def _read(state: WorkingMemory, runtime: Runtime[Context], *, whole: bool) -> WorkingMemory:
    pages, context = state["pages"], runtime.context
    if not pages:
        return {}
    started = perf_counter()
    max_found = max_findings(context)
    limit_text = f"{max_found}" if max_found else f"{_MAX_FINDINGS} on a page"
    task = load("documents/whole_reader" if whole else "documents/reader").fill(
        query=chosen_action(state)["input"],
        pages=pages_text(pages, context, whole=whole),
        most=limit_text,
    )
    form: type[Reading | ShortReading] = ShortReading if max_found else Reading
    reply = await ask_role("reader", form, task, state, runtime)
    findings = reply.value.findings if reply.value else []
    asked = roots(state["question"])
    read = [_check(finding, pages, asked, context) for finding in _limit_per_page(findings)]
    found = list({one.found["text"]: one.found for one in read if one.found}.values())
    dropped = [failure for one in read for failure in one.failures]
    problem = "" if found else _problem_text(dropped)
    seconds = perf_counter() - started
    turn = turn_taken(state, found, problem, seconds, calls=reply.calls)
    if whole:
        turn["step"] = state["step"]
    used = spent(reply)
    return turn | used | {"failures": [*used["failures"], *dropped]}


def _limit_per_page(findings: Sequence[Finding]) -> list[Finding]:
    """The first findings of each page."""
    seen: Counter[int] = Counter()
    kept = []
    for finding in findings:
        seen[finding.page] += 1
        if seen[finding.page] <= _MAX_FINDINGS:
            kept.append(finding)
    return kept


def _problem_text(dropped: Sequence[Failure]) -> str:
    reason = next((one["detail"] for one in dropped if one["kind"] == "number_not_quoted"), "")
    problem = "The pages found do not say it."
    return f"{problem} A finding was dropped: {reason}" if reason else problem


class _Quoted(NamedTuple):
    """Words of a page and their place."""

    page: Page
    span: Span

    @property
    def words(self) -> str:
        return self.page["text"][slice(*self.span)]


def _find_quote(finding: Finding, pages: Sequence[Page]) -> _Quoted | None:
    """Find the quote on the page that the finding names, or on another page.

    If it is not there word for word, find the sentence with the same numbers and words, or the
    sentence that begins like it. A place with all numbers of the statement is preferred.
    """
    named = pages[finding.page - 1 : finding.page] if finding.page > 0 else []
    methods: tuple[Callable[[str, str], str | None], ...]
    methods = (locate, _find_stating_sentence, _find_beginning_sentence)
    found: _Quoted | None = None
    for find, page in product(methods, (*named, *pages)):
        copied = finding.quote.removeprefix(f"{page['document']}, p. {page['page']}: ")
        if words := find(copied, page["text"]):
            quoted = _Quoted(page, _find_span(words, page["text"], finding.statement))
            if not missing_numbers(finding.statement, add_names(page["text"], quoted.span)):
                return quoted
            found = found or quoted
    return found


def _find_span(words: str, text: str, statement: str) -> Span:
    """The span of the words that fits the statement best, since several rows may be equal."""
    begins = [match.start() for match in re.finditer(re.escape(words), text)]
    spans = [(begin, begin + len(words)) for begin in begins]
    return max(spans, key=lambda span: _fit(statement, add_names(text, span)))


def _fit(statement: str, quote: str) -> tuple[bool, int]:
    """How well a quote fits a statement: by its numbers, then by the shared words."""
    return not missing_numbers(statement, quote), len(roots(statement) & roots(quote))


def _find_stating_sentence(claim: str, text: str) -> str | None:
    """The first sentence of a page with all numbers and half of the words of a claim."""
    if not numbers(claim):
        return None
    return next((words for words in _quotable(text) if has_content_of(words, claim)), None)


def _find_beginning_sentence(claim: str, text: str) -> str | None:
    """The first sentence of a page that contains the first words of a claim in order."""
    first = claim.split()[:_MIN_WORDS]
    if len(first) < _MIN_WORDS:
        return None
    return next((words for words in _quotable(text) if locate(" ".join(first), words)), None)


def _quotable(text: str) -> Iterator[str]:
    return (words for words in sentences(text) if len(words) <= _MAX_QUOTABLE)


def _check(
    finding: Finding, pages: Sequence[Page], asked: frozenset[str], context: Context
) -> _CheckedFinding:
    """Check a finding and widen its quote to contain its numbers; see :func:`reader`."""
    quoted = _find_quote(finding, pages)
    if quoted is None:
        return _CheckedFinding(None, [_build_failure("quote_not_found", finding.quote)])
    statement = finding.statement.strip()
    if not _WORD.search(statement):
        return _CheckedFinding(None, [])
    if not any(find(finding.quote, quoted.words) for find in (locate, _find_stating_sentence)):
        statement = quote_if_unstated(statement, quoted.words, quoted.page["text"], context)
    statement = quote_if_nearer(statement, quoted.words, asked, context)
    quote = _widen_quote(statement, quoted)
    if missing := missing_numbers(statement, quote):
        reason = f'{missing} is not in the quoted words. Finding: "{statement}"'
        if not max_findings(context):
            return _CheckedFinding(None, [_build_failure("number_not_quoted", reason)])
        statement = quoted.words
    values, unquoted = _read_values(finding, quote)
    page = quoted.page
    place = Quote(document=page["document"], page=page["page"], text=quote)
    return _CheckedFinding(
        Found(text=statement, values=values, quote=place),
        [_build_failure("value_not_quoted", f"{one.name}: {one.value}") for one in unquoted],
    )


def _widen_quote(statement: str, quoted: _Quoted) -> str:
    """The quoted words, widened until they contain the numbers of the statement.

    If nothing around them has the numbers: the words, or the rows with their names.
    """
    text, span = quoted.page["text"], quoted.span
    quote = add_names(text, span)
    for wider in _wider_quotes(statement, text, span):
        if not missing_numbers(statement, quote):
            break
        if not missing_numbers(statement, wider):
            return wider
    return quote


def _wider_quotes(statement: str, text: str, span: Span) -> Iterator[str]:
    """More and more of a page around the quoted words, then another sentence."""
    yield add_headings(text, span)
    around = paragraph_span(text, span)
    if around[1] - around[0] <= _MAX_QUOTABLE:
        yield text[slice(*around)]
        yield add_headings(text, around)
    if sentence := _find_stating_sentence(statement, text):
        begin = text.index(sentence)
        yield add_names(text, (begin, begin + len(sentence)))


def _read_values(finding: Finding, quote: str) -> tuple[dict[str, Value], list[Amount]]:
    """The values of a finding by name, with units, and those that are not in the quote."""
    values: dict[str, Value] = {}
    unquoted: list[Amount] = []
    for amount in finding.values:
        match = _AMOUNT.fullmatch(amount.value.strip())
        if match is None:  # words, such as "not accepted", are in the statement
            continue
        if not numbers(amount.value) <= numbers(quote):
            unquoted.append(amount)
            continue
        name = _unused_name(amount.name, values)
        if match["to"]:
            values[f"{name}_from"] = _to_value(match, match["value"])
            values[f"{name}_to"] = _to_value(match, match["to"])
        else:
            values[name] = _to_value(match, match["value"])
    return values, unquoted


def _unused_name(name: str, taken: dict[str, Value]) -> str:
    """A name for the calculator that the fact does not use yet."""
    plain = re.sub(r"\W+", "_", name.casefold()).strip("_") or "value"
    number = 1
    while (candidate := plain if number == 1 else f"{plain}_{number}") in taken:
        number += 1
    return candidate


def _to_value(match: re.Match[str], digits: str) -> Value:
    """A number, or a text if it has a unit."""
    digits = digits.replace(",", "")
    if match["sign"] and match["sign"] != "+":
        digits = f"-{digits.lstrip('+-')}"  # "(-5)" has only one minus
    currency, unit = match["currency"] or "", _SECOND_UNIT.split(match["unit"] or "")[0]
    between = " " if currency and unit[:1].isalpha() else ""
    unit = f"{currency}{between}{unit}".strip(" )")
    return f"{digits} {unit}" if unit else float(digits)


def _build_failure(kind: str, detail: str) -> Failure:
    return Failure(role="reader", kind=kind, detail=detail)
