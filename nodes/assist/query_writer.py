"""Query writer: one query for a need in words, chosen among several by their results.

A small model writes a query better in plain text than inside JSON. The program corrects the
candidates by schema and data, runs them, and chooses the result on which most of them agree.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from itertools import permutations
from typing import NamedTuple, TypeAlias

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage

from planweave.learning.question_words import correct_chance, find_suspicious_words
from planweave.nodes.assist.answerable import Refusal, answerable_prompt
from planweave.nodes.assist.confirmed import ConfirmedQuery
from planweave.nodes.assist.forms import (
    fill_each_form,
    fill_pattern_form,
    fill_present_form,
    fill_ratio_form,
)
from planweave.nodes.support.decision_form import Ranking, fill_ranking_form, find_ranking
from planweave.prompts import load
from planweave.texts import listed, without_gaps
from planweave.tools import Database, Limits, QueryFailed, QueryRefused, QueryResult, QueryTimeout
from planweave.tools.checking import asks_for_order
from planweave.tools.database import Entity, Schema
from planweave.tools.linking import select_mentioned
from planweave.tools.missing_words import find_missing_words, find_unknown_attribute
from planweave.tools.schema_text import schema_text
from planweave.tools.sql import SqlDatabase

Ask: TypeAlias = Callable[[Sequence[BaseMessage], int, float], Awaitable[Sequence[str]]]
"""Asks the model for a number of replies at a temperature; fewer come if the time is over."""

_FENCED = re.compile(r"```[a-zA-Z]*[ \t]*\n(.*?)(?:```|\Z)", re.DOTALL)
_START = re.compile(r"^\s*(SELECT|WITH|MATCH|OPTIONAL\s+MATCH|CALL|UNWIND|RETURN)\b", re.I | re.M)
_EACH = re.compile(r"\b(each|every|per|across|monthly|yearly|daily|weekly)\b", re.IGNORECASE)
_AGGREGATES = re.compile(r"\b(sum|count|avg|min|max|collect)\s*\(", re.IGNORECASE)
_SORTS = re.compile(r"\border\s+by\b", re.IGNORECASE)
_MAX_OPTIONS = 8
"""Most options that a prompt lists."""
_MAX_MISSING = 3
"""Most missing words that a refusal names."""
_TEMPERATURE = 0.8
"""Temperature of all candidates but the first."""
_MAX_COLUMNS = 6
"""Results with more columns agree only if all columns are equal."""
_RESCUERS = 2
"""Further candidates if the only one fails."""
_NO_TIME = "No query was written in time."
_EMPTY_VOTE = 0.3
"""A query that finds nothing is more often wrong than right."""


class Need(NamedTuple):
    """What a query must find.

    Attributes:
        question: The need in words.
        rules: Business rules for a decision; empty if the question asks for none.
        instructions: Explanations for this question.
        background: Notes on the database besides its schema.
        options: The decisions that the question admits; empty if it admits any value.
        now: The time of the question; the database's own clock if empty.
        confirmed: Earlier questions to this database with the queries that answered them.
    """

    question: str
    rules: str = ""
    instructions: str = ""
    background: str = ""
    options: tuple[str, ...] = ()
    now: str = ""
    confirmed: tuple[ConfirmedQuery, ...] = ()


class Candidate(NamedTuple):
    """A query and its outcome.

    Attributes:
        changes: What the program corrected in the query.
        result: The result; None if the query failed.
        problem: Why the query failed.
        doubts: Values that the query looks for and the data does not contain.
    """

    query: str
    changes: tuple[str, ...]
    result: QueryResult | None
    problem: str
    doubts: tuple[str, ...] = ()

    @property
    def vote(self) -> float:
        """The weight of its vote; 0 if it failed."""
        if self.result is None:
            return 0.0
        return 1.0 if has_value(self.result) else _EMPTY_VOTE


class Written(NamedTuple):
    """The query that was chosen.

    Attributes:
        best: The query and its result.
        agreement: Share of the candidates that returned the same; None if there was only one.
        candidates: All candidates.
        ranking: What the rows rank, if the query decides; None otherwise.
        refused: The database can hardly answer; there is no query.
        other: The best candidate with another result; None if all results are the same.
    """

    best: Candidate
    agreement: float | None
    candidates: tuple[Candidate, ...]
    ranking: Ranking | None = None
    refused: bool = False
    other: Candidate | None = None


async def write_query(
    need: Need,
    database: Database,
    ask: Ask,
    limits: Limits,
    *,
    candidates: int,
    schema_limit: int,
    refusal: Refusal | None = None,
) -> Written:
    """Write candidates for a query, run them, and choose one by their results.

    The first candidate is the most likely reply, repaired once with the engine's message; the
    others are written together. Queries that return the same rows vote together.

    Args:
        need: What the query must find.
        database: Runs the candidates under its guard.
        ask: Asks the model.
        limits: Limits of each query.
        candidates: Most candidates; 1 for the most likely alone.
        schema_limit: Most characters of the schema in the prompt.
        refusal: Decides whether the database can hardly answer; None if every question is tried.

    Raises:
        DatabaseUnavailable: The connection is lost.
    """
    ground = await asyncio.to_thread(schema_prompt, need, database, schema_limit)
    if refusal and (problem := await _find_refusal(ground, need, database, refusal)):
        return _refuse(problem)
    ranking = await asyncio.to_thread(
        find_ranking, need.question, need.rules, need.options, database
    )
    task = await asyncio.to_thread(task_prompt, need, database, ranking)
    prompt = [ground, *confirmed_prompt(need, database.language), task]
    writer = _Writer(need, database, ask, limits, ranking, prompt)
    query, first = await writer.write_first()
    if refusal and (name := await asyncio.to_thread(writer.find_invented_name, query, first)):
        return _refuse(load("query_writer/invented").fill(name=name))
    tried = [await writer.repair(query, first)]
    # A query that fails is often written again word for word: others are asked for.
    others = candidates - 1 or (_RESCUERS if tried[0].result is None else 0)
    tried += await writer.write_others(others)
    return choose_candidate(tried, ranking, sorts=asks_for_order(need.question))


@dataclass
class _Writer:
    """Writes the candidates for one need and runs each query once."""

    need: Need
    database: Database
    ask: Ask
    limits: Limits
    ranking: Ranking | None
    prompt: Sequence[BaseMessage]
    tried: dict[str, Candidate] = field(default_factory=dict)

    async def write_first(self) -> tuple[str, Candidate]:
        """The most likely query as the model wrote it, and its candidate."""
        replies = await self.ask(self.prompt, 1, 0.0)
        if not replies:
            return "", Candidate("", (), None, _NO_TIME)
        query = extract_query(replies[0])
        return query, await self._try(query)

    async def repair(self, query: str, first: Candidate) -> Candidate:
        """The better of the first candidate and its repair, if there is an objection to it."""
        problem = find_objection(first, self.need, self.ranking) if query else ""
        if not problem:
            return first
        language = self.database.language
        complaint = load("query_writer/repair").fill(problem=problem, language=language)
        again = [*self.prompt, AIMessage(query), HumanMessage(complaint)]
        replies = await self.ask(again, 1, 0.0)
        if not replies:
            return first
        second = await self._try(extract_query(replies[0]))
        return second if second.vote >= max(first.vote, _EMPTY_VOTE) else first

    async def write_others(self, count: int) -> list[Candidate]:
        """Further candidates, written together."""
        replies = await self.ask(self.prompt, count, _TEMPERATURE) if count else ()
        return [await self._try(extract_query(reply)) for reply in replies]

    def find_invented_name(self, query: str, first: Candidate) -> str:
        """A name that only the question has and that makes the query fail; empty if none does."""
        need = self.need
        if need.rules.strip() or first.result is not None:
            return ""
        known = f"{need.instructions} {need.background}"
        return self.database.invented(query, need.question, known)

    async def _try(self, query: str) -> Candidate:
        if query not in self.tried:
            self.tried[query] = await asyncio.to_thread(
                try_query, query, self.need, self.database, self.limits, self.ranking
            )
        return self.tried[query]


async def _find_refusal(
    ground: BaseMessage, need: Need, database: Database, refusal: Refusal
) -> str:
    """Why the database can hardly answer; empty if it may.

    A decision by rules is not judged: the rules say what counts.
    """
    if need.rules.strip() or not refusal.least:
        return ""
    name, missing = await asyncio.to_thread(find_unknown_words, need, database)
    if name:
        return load("query_writer/invented").fill(name=name)
    chance = await refusal.chance(answerable_prompt(ground, need.question, explain_terms(need)))
    if correct_chance(chance, missing) >= refusal.least:
        return ""
    words, value = await asyncio.to_thread(database.misspelt, need.question)
    if words:
        return load("query_writer/misspelt").fill(said=words, value=value)
    words = listed(find_suspicious_words(missing), _MAX_MISSING)
    named = f" {load('query_writer/missing').fill(words=words)}" if words else ""
    return load("query_writer/unanswerable").fill(missing=named)


def _refuse(problem: str) -> Written:
    return Written(Candidate("", (), None, problem), None, (), refused=True)


def find_unknown_words(need: Need, database: Database) -> tuple[str, dict[str, str]]:
    """The attribute asked for that the database has no word for, and all missing words by singular.

    The attribute is empty if the database has a word for it.
    """
    schema, question = database.schema(), need.question
    known = " ".join([need.instructions, need.background, *database.linked(question)])
    attribute = find_unknown_attribute(question, schema, known)
    return attribute, find_missing_words(question, schema, known)


def find_objection(candidate: Candidate, need: Need, ranking: Ranking | None = None) -> str:
    """Why a query does not answer the need, as a text for the model; empty if nothing is wrong."""
    result = candidate.result
    if result is None:
        return load("query_writer/fails").fill(problem=candidate.problem)
    if not has_value(result):
        return load("query_writer/finds_nothing").fill(hint=result.hint)
    if ranking and isinstance(result.rows[0][-1], str):
        return load("query_writer/no_number").fill()
    if candidate.doubts:
        return load("query_writer/doubts").fill(doubts=" ".join(candidate.doubts))
    options = {option.casefold() for option in need.options}
    cells = {str(cell).casefold() for row in result.rows for cell in row}
    if options and options.isdisjoint(cells):
        shown = listed(need.options, _MAX_OPTIONS)
        return load("query_writer/shows_no_option").fill(options=shown)
    is_one = _AGGREGATES.search(candidate.query) and len(result.rows) == 1
    return load("query_writer/not_grouped").fill() if is_one and _EACH.search(need.question) else ""


def try_query(
    query: str, need: Need, database: Database, limits: Limits, ranking: Ranking | None = None
) -> Candidate:
    """Correct a query as far as schema and data permit, and run it.

    Raises:
        DatabaseUnavailable: The connection is lost.
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


def choose_candidate(
    candidates: Sequence[Candidate],
    ranking: Ranking | None = None,
    *,
    sorts: bool = False,
) -> Written:
    """Choose the result with most votes; among equals the earliest.

    For a ranking only the first option counts. Of queries with the same rows the shortest is
    chosen; if ``sorts``, one that sorts.
    """
    groups: dict[object, list[Candidate]] = {}
    for candidate in candidates:
        if candidate.result is not None:
            rows = candidate.result.rows
            key = str(rows[0][0]) if ranking and rows else _comparable_rows(candidate.result)
            groups.setdefault(key, []).append(candidate)
    if not groups:
        return Written(candidates[0], None, tuple(candidates))
    winners, *losers = sorted(groups.values(), key=lambda group: -sum(one.vote for one in group))
    best = _choose_query(winners, sorts=sorts)
    others = [group for group in losers if ranking or not _agree(group[0], best)]
    other = _choose_query(others[0], sorts=sorts) if others else None
    alike = winners if ranking else [one for one in candidates if _agree(one, best)]
    agreement = len(alike) / len(candidates) if len(candidates) > 1 else None
    return Written(best, agreement, tuple(candidates), ranking, other=other)


def _choose_query(group: Sequence[Candidate], *, sorts: bool) -> Candidate:
    return min(group, key=lambda one: (sorts and not _SORTS.search(one.query), len(one.query)))


def _agree(one: Candidate, other: Candidate) -> bool:
    """Whether two results have the same rows, except for columns that only one of them has."""
    if one.result is None or other.result is None:
        return False
    if _comparable_rows(one.result) == _comparable_rows(other.result):
        return True
    results = sorted((one.result, other.result), key=lambda result: len(result.columns))
    few, many = ([[_cell_text(cell) for cell in row] for row in one.rows] for one in results)
    if len(few) != len(many) or not few or len(many[0]) > _MAX_COLUMNS:
        return False
    wanted = sorted(few)
    return any(
        sorted([row[at] for at in places] for row in many) == wanted
        for places in permutations(range(len(many[0])), len(few[0]))
    )


def _comparable_rows(result: QueryResult) -> object:
    """The rows in a form that ignores the order of rows and the order and names of columns.

    For a single column it also ignores repeated values.
    """
    rows = [repr(sorted(map(_cell_text, row))) for row in result.rows]
    return tuple(sorted(set(rows) if len(result.columns) == 1 else rows))


def _cell_text(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, int | float) else repr(value)


def has_value(result: QueryResult) -> bool:
    """Whether a result has any value; a single 0 is what aggregates return for no rows."""
    empty = (None, 0) if len(result.rows) == 1 else (None,)
    return any(cell not in empty for row in result.rows for cell in row)


def schema_prompt(need: Need, database: Database, schema_limit: int) -> BaseMessage:
    """The prompt with the schema, which is the same for all questions and read only once."""
    notes = load("query_writer/cypher").fill() if database.kind == "graph" else ""
    ground = load("query_writer/ground").fill(
        language=database.language,
        schema=describe_schema(database, schema_limit, need.question),
        background=f"{notes}\n{need.background}".strip(),
    )
    return SystemMessage(ground.rstrip())


def confirmed_prompt(need: Need, language: str) -> list[BaseMessage]:
    """The confirmed queries as earlier turns of the conversation."""
    prompt: list[BaseMessage] = []
    for question, query in need.confirmed:
        asked = load("query_writer/confirmed").fill(question=question, language=language)
        prompt += [HumanMessage(asked), AIMessage(f"```\n{query}\n```")]
    return prompt


def task_prompt(need: Need, database: Database, ranking: Ranking | None) -> BaseMessage:
    """The prompt with the question, linked to the data."""
    is_decision, language = bool(need.rules.strip()), database.language
    asked = need.question if ranking else f"{need.question} {need.rules}"
    links = "\n".join(database.linked(asked))
    if ranking:
        task = fill_ranking_form(need.question, ranking, links, language, _present(need))
        return HumanMessage(without_gaps(task))
    options = listed(need.options, _MAX_OPTIONS)
    forms = (
        fill(need.question, database)
        for fill in (fill_ratio_form, fill_each_form, fill_pattern_form)
    )
    task = load("query_writer/decision" if is_decision else "query_writer/task").fill(
        question=need.question,
        rules=need.rules.strip() or need.instructions.strip(),
        options=load("query_writer/options").fill(options=options) if options else "",
        now=_present(need),
        links=links,
        form=next(filter(None, forms), ""),
        language=language,
    )
    return HumanMessage(without_gaps(task))


def _present(need: Need) -> str:
    notes = need.rules, need.instructions, need.background
    return fill_present_form(need.question, need.now, *notes)


def explain_terms(need: Need) -> str:
    """What the words of the question mean, with the days that it names."""
    return f"{need.instructions.strip()}\n{_present(need)}".strip()


def describe_schema(database: Database, limit: int, question: str) -> str:
    """The schema in the form that models know best; if too long, only the part for the question."""
    if isinstance(database, SqlDatabase):
        text = database.definitions()
    else:
        text = _describe_graph(database.schema())
    if len(text) <= limit:
        return text
    return schema_text(select_mentioned(question, database.schema()), max_characters=limit)


def _describe_graph(schema: Schema) -> str:
    """Labels and types with their properties, then the labels that each type connects."""
    nodes = [entity for entity in schema.entities if entity.kind == "node"]
    types = [entity for entity in schema.entities if entity.kind == "relationship"]
    return "\n".join(
        [
            "Node properties:",
            *map(_describe_properties, nodes),
            "Relationship properties:",
            *(_describe_properties(type_) for type_ in types if type_.fields),
            "Relationships:",
            *(
                f"(:{start})-[:{type_.name}]->(:{end})"
                for type_ in types
                for start in type_.start
                for end in type_.end
            ),
        ]
    )


def _describe_properties(entity: Entity) -> str:
    fields = ", ".join(f"{field.name}: {field.type.upper()}" for field in entity.fields)
    return f"{entity.name} {{{fields}}}"


def extract_query(reply: str) -> str:
    """The query in a reply: the fenced text, or else the text from the first query word on."""
    fenced = _FENCED.search(reply)
    text = fenced[1] if fenced else reply
    if start := _START.search(text):
        text = text[start.start() :]
    return text.partition(";")[0].strip()


def is_query(text: str) -> bool:
    """Whether a text is a query, and not a need in words."""
    return _START.match(text) is not None
