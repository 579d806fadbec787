"""Query writer: one query for a need in words, chosen among several by what they return.

A small model writes a query better in plain text than inside JSON, and better still when the
program corrects what schema and data can tell, runs the candidates, and follows the result that
most of them agree on.
"""

import asyncio
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from itertools import permutations
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage

from planweave.nodes.assist.yes_or_no import Sure, YesOrNo, answerable_prompt, right_prompt
from planweave.nodes.support.decision_form import Ranking, form, ranking_for
from planweave.nodes.support.each_form import each_form
from planweave.nodes.support.pattern_form import pattern_form
from planweave.nodes.support.present_form import present_form
from planweave.nodes.support.ratio_form import ratio_form
from planweave.prompts import load
from planweave.texts import listed, without_gaps
from planweave.tools import Database, Limits, QueryFailed, QueryRefused, QueryResult, QueryTimeout
from planweave.tools.asked_attribute import find_unknown_attribute
from planweave.tools.checking import asks_for_order
from planweave.tools.database import Entity, Schema
from planweave.tools.linking import select_mentioned
from planweave.tools.schema_text import schema_text
from planweave.tools.sql import SqlDatabase

Ask: TypeAlias = Callable[[Sequence[BaseMessage], int, float], Awaitable[Sequence[str]]]
"""Asks the model for so many replies at a temperature; fewer come where the time is over."""

_FENCED = re.compile(r"```[a-zA-Z]*[ \t]*\n(.*?)(?:```|\Z)", re.DOTALL)
_START = re.compile(r"^\s*(SELECT|WITH|MATCH|OPTIONAL\s+MATCH|CALL|UNWIND|RETURN)\b", re.I | re.M)
_EACH = re.compile(r"\b(each|every|per|across|monthly|yearly|daily|weekly)\b", re.IGNORECASE)
_ADDS_UP = re.compile(r"\b(sum|count|avg|min|max|collect)\s*\(", re.IGNORECASE)
_SORTS = re.compile(r"\border\s+by\b", re.IGNORECASE)
_LISTED = 8
_VARIETY = 0.8
"""Temperature of the candidates beside the first."""
_MOST_COLUMNS = 6
"""Results with more are compared as they are."""
_RESCUERS = 2
"""Candidates that are tried where the only one does not run."""
_NO_TIME = "No query was written in time."
_EMPTY_VOTE = 0.3
"""A query that finds nothing is more often wrong than right."""


class Need(NamedTuple):
    """What a query is to find.

    Attributes:
        question: In words.
        rules: Business rules by which the result decides; empty if it is no decision.
        instructions: What else holds for this question.
        background: What is known about the database besides its schema.
        options: The decisions that the question admits; empty if any value may be one.
        now: The moment of the question; the database's own clock if empty.
    """

    question: str
    rules: str = ""
    instructions: str = ""
    background: str = ""
    options: tuple[str, ...] = ()
    now: str = ""


class Candidate(NamedTuple):
    """A query, what the program changed in it, what it returned or why it failed.

    ``doubts`` says which values it looks for that the data does not hold.
    """

    query: str
    changes: tuple[str, ...]
    result: QueryResult | None
    problem: str
    doubts: tuple[str, ...] = ()

    @property
    def vote(self) -> float:
        """How much it counts; nothing if it failed."""
        if self.result is None:
            return 0.0
        return 1.0 if says_something(self.result) else _EMPTY_VOTE


class Written(NamedTuple):
    """The query that was chosen.

    Attributes:
        best: The query and its result.
        agreement: Share of the candidates that returned the same; None if there was only one.
        candidates: All that were tried.
        ranking: What the rows rank, if the query decides; None else.
        chance: How likely the model finds it that the rows are the answer; None if not asked.
        refused: The database can hardly answer; no query is kept.
    """

    best: Candidate
    agreement: float | None
    candidates: tuple[Candidate, ...]
    ranking: Ranking | None = None
    chance: float | None = None
    refused: bool = False


async def write_query(
    need: Need,
    database: Database,
    ask: Ask,
    limits: Limits,
    *,
    candidates: int,
    schema_limit: int,
    yes_or_no: YesOrNo | None = None,
) -> Written:
    """Write a query for ``need``, run it, and choose among ``candidates`` by what they return.

    The first candidate is the most likely reply, repaired once with the engine's message; the
    others are asked for together. Queries that return the same rows vote together.

    Args:
        need: What is to be found.
        database: Runs the candidates under its guard.
        ask: Asks the model.
        limits: Bounds of each query.
        candidates: How many at most; 1 for the most likely alone.
        schema_limit: Characters of the schema in the prompt at most.
        yes_or_no: Asks the model about question and query; neither is asked about if None.

    Raises:
        DatabaseUnavailable: The connection is gone.
    """
    ground = await asyncio.to_thread(ground_of, need, database, schema_limit)
    if yes_or_no and (problem := await _unanswerable(ground, need, database, yes_or_no)):
        return _refused(problem)
    ranking = await asyncio.to_thread(
        ranking_for, need.question, need.rules, need.options, database
    )
    prompt = [ground, await asyncio.to_thread(task_of, need, database, ranking)]
    writing = _Writing(need, database, ask, limits, ranking, {})
    likeliest = await _likeliest(prompt, writing)
    if yes_or_no and (name := await asyncio.to_thread(_invented, likeliest, writing)):
        return _refused(load("query_writer/invented").fill(name=name))
    first = await _repaired(likeliest, prompt, writing)
    tried = [first]
    # A query that fails is often written again word for word: others are asked for.
    others = candidates - 1 or (_RESCUERS if first.result is None else 0)
    if others:
        replies = await ask(prompt, others, _VARIETY)
        for query, times in Counter(map(query_in, replies)).items():
            tried += [await _tried(query, writing)] * times
    chances = {}
    if yes_or_no and yes_or_no.right and len(tried) > 1 and not ranking:
        chances = await _chances(tried, ground, need, yes_or_no.right)
    return chosen_among(tried, ranking, sorts=asks_for_order(need.question), chances=chances)


async def _chances(
    candidates: Sequence[Candidate], ground: BaseMessage, need: Need, right: Sure
) -> dict[object, float]:
    """How likely the model finds each result to be the answer."""
    results = {_rows_of(one.result): one.result for one in candidates if one.result}
    return {
        rows: await right(right_prompt(ground, need.question, notes_of(need), result))
        for rows, result in results.items()
    }


async def _unanswerable(
    ground: BaseMessage, need: Need, database: Database, yes_or_no: YesOrNo
) -> str:
    """Why the database hardly holds what is asked; empty if it may.

    A decision by rules is not judged: the rules say what counts.
    """
    if need.rules.strip() or not yes_or_no.least_answerable:
        return ""
    if name := await asyncio.to_thread(unknown_in, need, database):
        return load("query_writer/invented").fill(name=name)
    asked = answerable_prompt(ground, need.question, notes_of(need))
    chance = await yes_or_no.answerable(asked)
    if chance >= yes_or_no.least_answerable:
        return ""
    said, value = await asyncio.to_thread(database.misspelt, need.question)
    if said:
        return load("query_writer/misspelt").fill(said=said, value=value)
    return load("query_writer/unanswerable").fill()


def unknown_in(need: Need, database: Database) -> str:
    """What is asked of a thing though the database has no word for it; empty if there is none."""
    explained = [need.instructions, need.background, *database.linked(need.question)]
    return find_unknown_attribute(need.question, database.schema(), " ".join(explained))


def _refused(problem: str) -> Written:
    return Written(Candidate("", (), None, problem), None, (), refused=True)


class _Writing(NamedTuple):
    """What every candidate for one need is written for and run with.

    ``tried`` has what came of each query: one that runs for ever is run once.
    """

    need: Need
    database: Database
    ask: Ask
    limits: Limits
    ranking: Ranking | None
    tried: dict[str, Candidate]


class _Likeliest(NamedTuple):
    """The most likely query as the model wrote it, and what came of it."""

    query: str
    candidate: Candidate


async def _likeliest(prompt: Sequence[BaseMessage], writing: _Writing) -> _Likeliest:
    replies = await writing.ask(prompt, 1, 0.0)
    if not replies:
        return _Likeliest("", Candidate("", (), None, _NO_TIME))
    query = query_in(replies[0])
    return _Likeliest(query, await _tried(query, writing))


def _invented(likeliest: _Likeliest, writing: _Writing) -> str:
    """A name that only the question has and by which the query fails; empty if none does."""
    need = writing.need
    if need.rules.strip() or likeliest.candidate.result is not None:
        return ""
    known = f"{need.instructions} {need.background}"
    return writing.database.invented(likeliest.query, need.question, known)


async def _repaired(
    likeliest: _Likeliest, prompt: Sequence[BaseMessage], writing: _Writing
) -> Candidate:
    """The likeliest query; one that is objected to is written once more, and the better stays."""
    query, first = likeliest
    problem = objection(first, writing.need, writing.ranking) if query else ""
    if not problem:
        return first
    language = writing.database.language
    complaint = load("query_writer/repair").fill(problem=problem, language=language)
    again = [*prompt, AIMessage(query), HumanMessage(complaint)]
    corrected = await writing.ask(again, 1, 0.0)
    if not corrected:
        return first
    second = await _tried(query_in(corrected[0]), writing)
    return second if second.vote >= max(first.vote, _EMPTY_VOTE) else first


def objection(candidate: Candidate, need: Need, ranking: Ranking | None = None) -> str:
    """What speaks against a query: it fails, finds nothing, no option, or tells no groups apart."""
    if candidate.result is None:
        return load("query_writer/fails").fill(problem=candidate.problem)
    if not says_something(candidate.result):
        return load("query_writer/finds_nothing").fill(hint=candidate.result.hint)
    return _unfit(candidate, candidate.result, need, ranking)


def _unfit(candidate: Candidate, result: QueryResult, need: Need, ranking: Ranking | None) -> str:
    """Why rows that were found do not answer the need; empty if nothing speaks against them."""
    if ranking and isinstance(result.rows[0][-1], str):
        return load("query_writer/no_number").fill()
    if candidate.doubts:
        return load("query_writer/doubts").fill(doubts=" ".join(candidate.doubts))
    if need.options and not _shows_option(result, need.options):
        return load("query_writer/shows_no_option").fill(options=_listed(need.options))
    is_one = _ADDS_UP.search(candidate.query) and len(result.rows) == 1
    return load("query_writer/not_grouped").fill() if is_one and _EACH.search(need.question) else ""


def _shows_option(result: QueryResult, options: Sequence[str]) -> bool:
    """Whether some cell is a decision that the question admits."""
    known = {option.casefold() for option in options}
    return any(str(cell).casefold() in known for row in result.rows for cell in row)


def _listed(options: Sequence[str]) -> str:
    """The first few options, and how many more there are."""
    return listed(options, _LISTED)


async def _tried(query: str, writing: _Writing) -> Candidate:
    need, database, _, limits, ranking, tried = writing
    if query not in tried:
        tried[query] = await asyncio.to_thread(try_query, query, need, database, limits, ranking)
    return tried[query]


def try_query(
    query: str, need: Need, database: Database, limits: Limits, ranking: Ranking | None = None
) -> Candidate:
    """Correct a query as far as schema and data can tell, and run it.

    Raises:
        DatabaseUnavailable: The connection is gone.
    """
    changes: tuple[str, ...] = ()
    try:
        if ranking and isinstance(database, SqlDatabase):
            query = database.ranking(
                query, ranking.option, highest=ranking.highest, missing=ranking.missing
            )
        query, changes, doubts = database.corrected(
            query,
            question=need.question,
            instructions=need.instructions,
            now=need.now,
            ranks=ranking is not None,
        )
        result = database.run(query, limits)
    except (QueryFailed, QueryRefused, QueryTimeout) as error:
        return Candidate(query, changes, None, str(error))
    return Candidate(result.query, changes, result, "", doubts)


def chosen_among(
    candidates: Sequence[Candidate],
    ranking: Ranking | None = None,
    *,
    sorts: bool = False,
    chances: Mapping[object, float] = MappingProxyType({}),
) -> Written:
    """The candidate whose result has most votes; among equals the earliest result wins.

    Where ``chances`` has how likely a result is the answer, that is added to its share of the
    votes. Of a ranking the first option counts: what decides is the same, however it was computed.
    Of queries with the same rows the shortest is kept; if an order is asked for, one that sorts.
    """
    groups: dict[object, list[Candidate]] = {}
    for candidate in candidates:
        if candidate.result is not None:
            rows = candidate.result.rows
            key = str(rows[0][0]) if ranking and rows else _rows_of(candidate.result)
            groups.setdefault(key, []).append(candidate)
    if not groups:
        return Written(candidates[0], None, tuple(candidates))
    votes = {key: sum(one.vote for one in group) for key, group in groups.items()}
    chosen = max(groups, key=lambda key: votes[key] / len(candidates) + chances.get(key, 0.0))
    winners = groups[chosen]
    best = min(winners, key=lambda one: (sorts and not _SORTS.search(one.query), len(one.query)))
    alike = winners if ranking else [one for one in candidates if _says_the_same(one, best)]
    agreement = len(alike) / len(candidates) if len(candidates) > 1 else None
    return Written(best, agreement, tuple(candidates), ranking, chances.get(chosen))


def _says_the_same(one: Candidate, other: Candidate) -> bool:
    """Whether two results have the same rows, apart from columns that only one of them shows."""
    if one.result is None or other.result is None:
        return False
    results = sorted((one.result, other.result), key=lambda result: len(result.columns))
    few, many = ([[_cell(cell) for cell in row] for row in result.rows] for result in results)
    if _rows_of(one.result) == _rows_of(other.result):
        return True
    if len(few) != len(many) or not few or len(many[0]) > _MOST_COLUMNS:
        return False
    wanted = sorted(few)
    return any(
        sorted([row[at] for at in places] for row in many) == wanted
        for places in permutations(range(len(many[0])), len(few[0]))
    )


def _rows_of(result: QueryResult) -> object:
    """What a result says, whatever the order and names of its columns and the order of rows.

    A list of one column says a thing once, however often it stands there.
    """
    rows = [repr(sorted(map(_cell, row))) for row in result.rows]
    return tuple(sorted(set(rows) if len(result.columns) == 1 else rows))


def _cell(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, int | float) else repr(value)


def says_something(result: QueryResult) -> bool:
    """Whether a result has any value; a single 0 is what aggregates give for no rows."""
    if len(result.rows) == 1:
        return any(cell is not None and cell != 0 for cell in result.rows[0])
    return any(cell is not None for row in result.rows for cell in row)


def ground_of(need: Need, database: Database, schema_limit: int) -> BaseMessage:
    """What stays for all questions, so that it is read once: the schema and what is known."""
    notes = load("query_writer/cypher").fill() if database.kind == "graph" else ""
    ground = load("query_writer/ground").fill(
        language=database.language,
        schema=definitions(database, schema_limit, need.question),
        background=f"{notes}\n{need.background}".strip(),
    )
    return SystemMessage(ground.rstrip())


def task_of(need: Need, database: Database, ranking: Ranking | None) -> BaseMessage:
    """The question, linked to the data."""
    links = "\n".join(
        database.linked(need.question if ranking else f"{need.question} {need.rules}")
    )
    if ranking:
        asked = form(need.question, ranking, links, database.language, _present(need))
        return HumanMessage(without_gaps(asked))
    parts = {
        "question": need.question,
        "rules": need.rules.strip() or need.instructions.strip(),
        "options": load("query_writer/options").fill(options=_listed(need.options))
        if need.options
        else "",
        "now": _present(need),
        "links": links,
        "form": _form(need.question, database),
        "language": database.language,
    }
    task = load("query_writer/decision" if need.rules.strip() else "query_writer/task").fill(
        **parts
    )
    return HumanMessage(without_gaps(task))


def _form(question: str, database: Database) -> str:
    """The form of what a small model hardly ever writes by itself; empty if none is asked for."""
    forms = (made(question, database) for made in (ratio_form, each_form, pattern_form))
    return next(filter(None, forms), "")


def _present(need: Need) -> str:
    return present_form(need.question, need.now, need.rules, need.instructions, need.background)


def notes_of(need: Need) -> str:
    """What the words of the question mean, the days among them."""
    return f"{need.instructions.strip()}\n{_present(need)}".strip()


def definitions(database: Database, limit: int, question: str) -> str:
    """The schema as models have met it most often, if it fits; else what is asked about."""
    if isinstance(database, SqlDatabase):
        text = database.definitions()
    else:
        text = _graph_definitions(database.schema())
    if len(text) <= limit:
        return text
    return schema_text(select_mentioned(question, database.schema()), max_characters=limit)


def _graph_definitions(schema: Schema) -> str:
    """Labels and types with their properties, then which label leads by which type to which."""
    nodes = [entity for entity in schema.entities if entity.kind == "node"]
    types = [entity for entity in schema.entities if entity.kind == "relationship"]
    paths = [
        f"(:{start})-[:{entity.name}]->(:{end})"
        for entity in types
        for start in entity.start
        for end in entity.end
    ]
    return "\n".join(
        [
            "Node properties:",
            *(_properties(entity) for entity in nodes),
            "Relationship properties:",
            *(_properties(entity) for entity in types if entity.fields),
            "Relationships:",
            *paths,
        ]
    )


def _properties(entity: Entity) -> str:
    fields = ", ".join(f"{field.name}: {field.type.upper()}" for field in entity.fields)
    return f"{entity.name} {{{fields}}}"


def query_in(reply: str) -> str:
    """The query in a reply: what is fenced, else from the first word of a query on."""
    fenced = _FENCED.search(reply)
    text = fenced[1] if fenced else reply
    start = _START.search(text)
    if start:
        text = text[start.start() :]
    return text.partition(";")[0].strip()


def is_query(text: str) -> bool:
    """Whether a text is a query, and not a need in words."""
    return _START.match(text) is not None
