"""Whether a decision follows from the facts that it cites, by rules that are carried out here.

A decision follows if the question singles out one row, or one rank of a column, and the decision
is there. What cannot be followed is not in the facts: a wrong yes is worse than a wrong no.
"""

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Literal, NamedTuple

from planweave.memory import Fact, Value
from planweave.texts import listed as in_part
from planweave.tools.checking.claims import facts_text, judge
from planweave.tools.checking.known_words import is_known
from planweave.tools.checking.otherwise import otherwise
from planweave.tools.checking.passages import find_clause_problem, find_unknown_name
from planweave.tools.checking.tables import (
    TOTAL,
    FactRows,
    Ranked,
    Row,
    aggregated,
    bounded_rows,
    cell_equals,
    meaning,
    named_rows,
    ordered_alike,
    place,
    query_ranks,
    ranked,
    same_number,
    senses_of,
    views,
)
from planweave.tools.checking.units import foreign_unit
from planweave.tools.checking.words import (
    GENERIC_ROOTS,
    Condition,
    Superlative,
    conditions,
    denies,
    listed,
    negations,
    numbers_of,
    root,
    roots,
    superlatives,
    tokens,
)
from planweave.tools.present import without_counted_spans
from planweave.tools.result_text import cell_text

_COMPARED = re.compile(r"([\w\"`]+)\s*=\s*'([^']*)'")
COUNTING = re.compile(r"\b(?:how many|number of)\s+(?:different |distinct )?(\w+)", re.I)
_ASKING = re.compile(
    r"\b(?:which|what|whose|who|how much|how many|when|where)\b(?P<rest>[^?.;]*)", re.I
)
_STOPS = listed(
    "of for in at from on by to with that who is are was were has have had does do did should "
    "can will would could must may the a an be been being"
)
_CHOICE = re.compile(r"\b(which|who|whom|best|choose|should|recommend|pick|select)\b", re.I)
_ADVICE = re.compile(r"\b(should|choose|recommend\w*|pick|select|prefer|better|like)\b", re.I)
_NAMED = 5
"""Decisions that are equally good and named."""
_TIES = re.compile(r"\b(ties?|tied|equal|equally|same)\b", re.I)
_CALENDAR = (
    "january february march april may june july august september october november december monday "
    "tuesday wednesday thursday friday saturday sunday jan feb mar apr jun jul aug sep sept oct "
    "nov dec i id ids eur usd gbp kwh mwh celsius fahrenheit"
)
_FORM = re.compile(r"\b(?:Answer|Reply) with\b[^.?!]*", re.I)
"""What a question says of the form of its answer."""
_NARROWING = re.compile(
    r"\b(?:in|from|at|of|for|on|to|by|within|during|with|which|that)\s+(?=([^,.;:?]{0,300}))", re.I
)
_ENDING = listed(
    "be been being has have had is are was were does do did can could should would will must may "
    "than and or to in from at of for on by with that which who when if so make makes made sell "
    "sells sold bring brings brought cost costs earn earns earned open opens offer offers deliver "
    "delivers take takes took get got gets give gives gave use uses used need needs show "
    "shows serve serves run runs ran hold holds held go goes come comes came work works "
    "worked live lives lived"
)
_COMMON = listed(
    "the a an all our us we i you it its this these those them their one ones any each every "
    "some company database shop list table data moment time total world way mind row rows "
    "option options candidate candidates thing things kind number value amount person other "
    "others question answer second third fourth fifth first more less much many most least "
    "now today currently"
)
_COMPARING = listed(
    "before after above below within without greater smaller larger higher lower over under across "
    "between both someone he she they whose unique distinct different relationship relationships "
    "past current first last alphabetical alphabetically ascending descending order per inclusive "
    "never exclusive starts ends contains id ids name names"
)
_LEFT = _COMPARING | listed(_CALENDAR)
"""Words that rows need not say: their query compares, orders and picks the time."""
_PLACED = listed("there work live exist listed based located found belong")
"""Verbs that say no more than that things are somewhere."""
_VERB = re.compile(r"(?:ing|ed)$")
_PER = re.compile(r"\bper (\w+)", re.IGNORECASE)
_NONE = re.compile(
    r"\bnot\s+(?:in|exists)\b|\bnot\s*\(|\bnot\s+\S+\s+in\s*\(\s*select\b|\bis\s+null\b|\bexcept\b",
    re.IGNORECASE,
)
"""What a query for things that lack something says; "<>" is no such thing."""
_THERE = re.compile(r"\bnot\s+[\w.\"`]+\s+is\s+null\b", re.IGNORECASE)
"""The opposite: that there is a value."""
_SAYS_NO = re.compile(r"=\s*(?:'(?:no|n|false)'|false\b)", re.IGNORECASE)
_NEVER = re.compile(r"\b(?:never|no|none|neither|nobody|nothing)\b", re.IGNORECASE)
_LISTED = re.compile(r"^\s*\d+[.)]\s", re.MULTILINE)


class Following(NamedTuple):
    """Whether a decision follows, why, from which facts, and what a rule gives in its place."""

    kind: Literal["supported", "not_in_facts", "contradicted"]
    reason: str
    facts: tuple[int, ...] = ()
    gives: str = ""


class Requirements(NamedTuple):
    """What is asked, and what must hold for an answer."""

    question: str
    rules: str
    spoken: frozenset[str]
    bounds: list[Condition]


def follow(
    decision: str,
    facts: Sequence[Fact],
    *,
    question: str,
    rules: str = "",
    how: str = "stated",
    column: str = "",
    read: Sequence[Fact] = (),
) -> Following:
    """Whether ``decision`` follows from ``facts``.

    Args:
        decision: A name, a number with its unit, or yes or no.
        facts: Those that it cites.
        question: What was asked.
        rules: The rules that the decision must follow.
        how: How it follows, as the model says; a rank is carried out as well.
        column: The column of that rank.
        read: All facts of the run: a calculation that is cited may rest on any of them.
    """
    if not facts:
        return no("No fact is cited.")
    if decision.strip().strip(".").lower() in ("yes", "no", "true", "false"):
        return _yes_or_no(decision, facts, question, rules)
    bounds = [*conditions(question), *conditions(_LISTED.sub("", rules))]
    asked = Requirements(question, rules, roots(question), bounds)
    tables = views(facts)
    if problem := unspoken(asked, facts, tables):
        return no(problem)
    found = [_in_table(decision, view, asked, facts) for view in tables]
    found += [_in_words(decision, fact, asked) for fact in facts if fact["quote"]]
    found += [
        _calculated(decision, fact, [*facts, *read], asked)
        for fact in facts
        if fact["source"] == "calculator"
    ]
    declared = _declared(decision, tables, how, column, asked)
    # A table of several facts knows more than each of them.
    for kind in ("contradicted", "supported"):
        for one in reversed(found):
            if one.kind == kind:
                return one
    nothing = no("No cited fact holds rows or words that can be checked.")
    return declared or next(reversed(found), nothing)


def no(reason: str) -> Following:
    """That a decision does not follow, and why."""
    return Following("not_in_facts", reason)


def cites(numbers: Iterable[int]) -> str:
    """Citations of facts, as in "[1][2]"."""
    return "".join(f"[{number}]" for number in numbers)


# -- what no table can make up for -----------------------------------------------------------------


def unspoken(
    asked: Requirements,
    facts: Sequence[Fact],
    tables: Sequence[FactRows],
    *,
    in_rows: bool = False,
    trusted: bool = False,
) -> str:
    """Why the facts are not about what is asked; empty if nothing speaks against it.

    Where the rows are the answer, verbs and comparing words are the query's to take account of,
    and if the query is trusted, so are the other words. A denial is left to a model that has judged
    the rows.
    """
    named = " ".join(map(_read, facts))
    named += " ".join(f" {cell}" for view in tables for row in view.rows for cell in row)
    if name := find_unknown_name(asked.question, f"{named} {_CALENDAR}"):
        return f"No cited fact speaks of {name}."
    word = "" if trusted else _unaccounted(asked.question, roots(named), strict=not in_rows)
    if tables and word:
        return f"No cited fact takes account of “{word}”."
    spoken = roots(f"{asked.question} {asked.rules}")
    if len(tables) > 1:
        spoken |= roots(" ".join(str(cell) for v in tables for row in v.rows for cell in row))
    for view in tables:
        for name in view.reading.names:
            if (
                (words := roots(name))
                and not words & spoken
                and not _is_said(name, view, spoken, asked.question)
                and not (trusted and len(name) == 1)  # a code, for some word of the question
            ):
                return f"The query asks for {name!r}, of which the question says nothing."
        if problem := otherwise(f"{asked.question} {asked.rules}", view.reading):
            return problem
    looks_for_none = in_rows and all(
        "agreement" in fact and _NONE.search(_THERE.sub("", fact["query"])) for fact in facts
    )
    is_judged = trusted and all("chance" in fact for fact in facts)
    is_followed = is_judged or looks_for_none or _is_row_by_row(asked.question, tables)
    if not is_followed and denies(asked.question):
        return "The question denies something, which the check cannot follow."
    return ""


def _is_row_by_row(question: str, tables: Sequence[FactRows]) -> bool:
    """Whether "not paid" is asked of each row of one table, which says no there.

    Who has *never* paid is another thing, and so is who has no paid order.
    """
    return not _NEVER.search(question) and all(
        _SAYS_NO.search(view.reading.text) and not view.reading.joins for view in tables
    )


def _is_said(name: str, view: FactRows, spoken: frozenset[str], question: str) -> bool:
    """Whether a query asks for yes, or a denying question's for no, of a column spoken of."""
    yes, no = ("yes", "true", "y"), ("no", "false", "n")
    if name.casefold() not in (yes + no if denies(question) else yes):
        return False
    columns = _COMPARED.findall(view.reading.text)
    return any(value == name and roots(column) & spoken for column, value in columns)


def _unaccounted(question: str, known: frozenset[str], *, strict: bool) -> str:
    """A word by which the question narrows what it asks for, and that no fact knows of.

    Such words are behind a preposition, before the noun that "which" asks for, or behind what is
    counted.
    """
    counted = COUNTING.search(question)
    if strict and counted:
        for word in tokens(_FORM.sub("", question[counted.end() :])):
            is_plain = word in _ENDING | _COMMON | _PLACED or word[0].isdigit()
            if not (is_plain or superlatives(word) or is_known(word, known)):
                return word
    for phrase in _NARROWING.findall(_FORM.sub("", question)):
        for before, word in pairwise(["", *tokens(phrase)]):
            if word in _ENDING or before in ("all", "every", "each"):
                break
            ordinary = word in _COMMON or word[0].isdigit() or superlatives(word)
            left_to_query = not strict and (word in _LEFT or _VERB.search(word))
            if not (ordinary or left_to_query or is_known(word, known)):
                return word
    return ""


def unbound(left: Sequence[Condition], facts: Sequence[Fact]) -> str:
    """A number of the question or the rules that nothing has taken account of; or nothing."""
    for bound in left:
        if not _taken(bound.number, _queried(facts)):
            return f"No cited fact takes account of “{bound.text}”."
    return ""


def _taken(number: float, used: Iterable[float]) -> bool:
    shapes = (number, number / 100, 1 + number / 100, 1 - number / 100)
    return any(abs(one - shape) < 1e-9 for one in used for shape in shapes)


# -- decisions in tables ---------------------------------------------------------------------------


def _in_table(
    decision: str, view: FactRows, asked: Requirements, facts: Sequence[Fact]
) -> Following:
    """Whether a decision is where the question points in a table."""
    used: set[int] = set()
    named = named_rows(view, asked.question, used)
    bound, left = bounded_rows(named, asked.bounds, used)
    problem = unbound(left, facts) or numbers_unused(asked, view, used, facts)
    if not bound.rows:
        problem = f"No row of fact {cites(view.facts)} has all that the question asks for."
    problem = problem or undivided(asked, view)
    superlative = _superlative(asked, view)
    if problem or isinstance(superlative, str):
        return no(problem or str(superlative))
    if superlative:
        problem = _rules_unused(asked, facts)
        return no(problem) if problem else _by_rank(decision, view, bound, superlative, used, asked)
    counted = COUNTING.search(asked.question)
    found = _by_count(decision, bound, counted[1], asked, used) if counted else None
    return found or _by_value(decision, bound, asked, used, facts)


def _by_value(
    decision: str, view: FactRows, asked: Requirements, used: set[int], facts: Sequence[Fact]
) -> Following:
    """Whether a decision is a sum of the rows, or the value that the question points at."""
    words = set(tokens(asked.question))
    if words & TOTAL and len(view.rows) > 1:
        return _by_sum(decision, view, asked, used)
    if problem := aggregated(words, view):
        return no(problem)
    if view.reading.limited and not used:
        return no(f"Nothing says why fact {cites(view.facts)} shows this row and no other.")
    if _ADVICE.search(asked.question) and not numbers_of(decision):
        return no("Neither the question nor the rules say what decides.")
    found = _by_lookup(decision, view, asked, used)
    if found.kind == "contradicted" and any(fact["source"] == "calculator" for fact in facts):
        return no(found.reason)  # what was worked out may be what is asked for
    return found


def _rules_unused(asked: Requirements, facts: Sequence[Fact]) -> str:
    """A number of the rules that no query takes account of; or nothing."""
    bounds = {bound.number for bound in asked.bounds}
    for number in numbers_of(_LISTED.sub("", asked.rules)):
        if number not in bounds and not _taken(number, _queried(facts)):
            return f"No cited fact takes account of the {number:g} in the rules."
    return ""


def _queried(facts: Sequence[Fact]) -> set[float]:
    """The numbers that are in the queries and calculations of facts."""
    texts = [re.sub(r"[-_/'():,*<>=]", " ", fact["query"]) for fact in facts]
    return {number for text in texts for number in numbers_of(text)}


def numbers_unused(
    asked: Requirements, view: FactRows, used: set[int], facts: Sequence[Fact]
) -> str:
    """A plain number of the question that no query, bound, row or rank takes account of."""
    queries = _queried(facts) | {
        float(n) for fact in facts for n in re.findall(r"\d+(?:\.\d+)?", fact["query"])
    }
    cells = {row[column] for column in used for row in view.rows}
    named = " ".join(str(cell) for cell in cells if isinstance(cell, str))
    within = {float(n) for n in re.findall(r"\d+(?:\.\d+)?", named)}
    bounds = {bound.number for bound in asked.bounds}
    # That a query bounds the days of a span is checked by itself.
    for number in numbers_of(without_counted_spans(asked.question)):
        plain = number in bounds or number in within or number in cells
        if not (plain or _taken(number, queries)):
            return f"No cited fact takes account of the {number:g} in the question."
    return ""


def _superlative(asked: Requirements, view: FactRows) -> Superlative | str | None:
    """The superlative that decides, or why none can be followed; None where none is asked for."""
    own = superlatives(asked.question)
    if own:
        if len({one.senses for one in own}) > 1:
            return "The question asks for several ranks at once."
        if _meant(own[0], view, asked.spoken):
            return own[0]
    if not own and not _CHOICE.search(asked.question):
        return None
    sentences = re.split(r"(?<=[.!?;])\s+|\n+", asked.rules)
    ruling = [one for s in sentences if not _TIES.search(s) for one in superlatives(s)]
    if ruling and len({one.senses for one in ruling}) == 1:
        return ruling[0]
    if ruling:
        return "The rules name several ranks, and the facts do not show which decides."
    return own[0] if own else None


def _meant(superlative: Superlative, view: FactRows, spoken: frozenset[str]) -> bool:
    """Whether a column of the table, or what its query orders by, may be what is meant."""
    order, extremes = view.reading.order, view.reading.extremes
    every = [view.roots(c) for c in range(len(view.columns)) if view.is_ordered(c)]
    every += [order.roots] if order else []
    every += [words for _, words in extremes]
    known = any(senses_of(superlative, words, spoken)[0] for words in every)
    return known or bool(ranked(view, superlative, spoken))


def _by_rank(
    decision: str,
    whole: FactRows,
    view: FactRows,
    superlative: Superlative,
    used: set[int],
    asked: Requirements,
) -> Following:
    """Whether a decision is what a superlative picks."""
    spoken = asked.spoken | roots(asked.rules)
    asked_first = ranked(view, superlative, asked.spoken)
    picks = asked_first or ranked(view, superlative, spoken)
    shown = len(set(whole.rows))
    if shown > 1 and picks and (whole.complete or ordered_alike(whole.reading, picks)):
        return _picked(decision, view, picks, used, asked, superlative)
    if query_ranks(whole.reading, superlative, asked.spoken, spoken) and len(view.rows) == len(
        whole.rows
    ):
        top = view.where(view.rows[:1]) if shown > 1 else view
        pick = Ranked(top.rows, -1, "highest")
        return _picked(decision, top, [pick], used, asked, superlative)
    if shown == 1:
        return no(
            f"Fact {cites(whole.facts)} shows one row, and its query does not rank: nothing says "
            f"that it is the {superlative.word}."
        )
    return no(f"No column of fact {cites(whole.facts)} says which is the {superlative.word}.")


def _picked(
    decision: str,
    view: FactRows,
    picks: Sequence[Ranked],
    used: set[int],
    asked: Requirements,
    superlative: Superlative,
) -> Following:
    """Whether the decision is in the picked rows, in a column that is asked for."""
    verdicts = []
    for pick in picks:
        columns = _answering(view, asked, used | {pick.column}, decision)
        if pick.column >= 0 and numbers_of(decision) and not columns:
            columns = [pick.column]
        if pick.column >= 0 and asks_amount(asked, view):
            columns = [*columns, pick.column]
        if pick.column < 0 and not columns:
            columns = [c for c in range(len(view.columns)) if view.is_ordered(c)][:1]
        hit = [c for c in columns for row in pick.rows if _says(decision, row, c, view, asked)]
        given = list(dict.fromkeys(cell_text(row[c]) for c in columns[:1] for row in pick.rows))
        verdicts.append((bool(hit), pick, given))
    good = [pick for hit, pick, _ in verdicts if hit]
    if good and len(good) == len(verdicts):
        what = view.columns[good[0].column] if good[0].column >= 0 else superlative.word
        rule = f"{good[0].direction} {what}" if good[0].column >= 0 else superlative.word
        tied = next(given for hit, _, given in verdicts if hit)
        equal = f"; {len(tied)} are equal: {in_part(tied, _NAMED)}" if len(tied) > 1 else ""
        reason = f"The {rule} of fact {cites(view.facts)}{equal}."
        return Following("supported", reason, view.facts)
    if not good and len(verdicts) == 1 and verdicts[0][2] and verdicts[0][1].column >= 0:
        pick, gives = verdicts[0][1], " or ".join(verdicts[0][2])
        rule = f"the {pick.direction} {view.columns[pick.column]} of fact {cites(view.facts)}"
        return Following("contradicted", f"By {rule} it is {gives}.", view.facts, gives)
    return no(f"Fact {cites(view.facts)} does not say that this is the {superlative.word}.")


def asks_amount(asked: Requirements, view: FactRows) -> bool:
    """Whether the ranked column itself is asked for, as in "What is the lowest price?"."""
    phrase = phrase_of(asked.question)
    texts = [c for c in range(len(view.columns)) if not view.is_ordered(c)]
    named = any(view.roots(c) & phrase for c in texts)
    opening = re.search(r"\b(what|how much|how many|when)\b", asked.question, re.I)
    return opening is not None and not named


def _answering(view: FactRows, asked: Requirements, used: set[int], decision: str) -> list[int]:
    """The columns in which the answer is to stand: what is asked for by name, else the key."""
    free = [c for c in range(len(view.columns)) if c not in used]
    phrase = phrase_of(asked.question, view)
    scores = {c: len(meaning(view.roots(c)) & phrase) for c in free}
    best = max(scores.values(), default=0)
    if best:
        named = [c for c in free if scores[c] == best]
        same = (
            [c for c in free if view.identifies(c) and view.is_text(c)]
            if _names(view, phrase)
            else []
        )
        return list(dict.fromkeys([*named, *same]))
    if re.search(r"\b(which|who|whom|what)\b", asked.question, re.I):
        keys = [c for c in free if view.identifies(c)]
        names = [row[c] for row in view.rows for c in keys if view.is_text(c)]
        if not numbers_of(decision) or any(cell_equals(name, decision) for name in names):
            return keys
    spoken = {c: len(meaning(view.roots(c)) & asked.spoken) for c in free}
    most = max(spoken.values(), default=0)
    if most:
        return [c for c in free if spoken[c] == most]
    return []


def _names(view: FactRows, phrase: frozenset[str]) -> bool:
    """Whether the phrase asks for the things themselves that the rows are."""
    key = view.key()
    return key is not None and bool(phrase & (view.reading.tables | view.roots(key)))


def phrase_of(question: str, view: FactRows | None = None) -> frozenset[str]:
    """The roots of the words that say what is asked for: those behind the question word."""
    found = _ASKING.search(question)
    if not found:
        return roots(question)
    rest = found["rest"]
    for mention in reversed(view.mentions(rest)) if view else ():
        rest = f"{rest[: mention.begin]} , {rest[mention.end :]}"
    words: list[str] = []
    for word in tokens(rest):
        if word in _STOPS or superlatives(word):
            if words:
                break
            continue
        words.append(word)
    return frozenset(map(root, words))


def _says(decision: str, row: Row, column: int, view: FactRows, asked: Requirements) -> bool:
    """Whether a decision is this cell, its unit included."""
    cell = row[column]
    if isinstance(cell, int | float) and not isinstance(cell, bool):
        return cell_equals(cell, decision) and not _foreign_unit(decision, view, column, asked)
    return cell_equals(cell, decision)


def _foreign_unit(decision: str, view: FactRows, column: int, asked: Requirements) -> str:
    """A unit or other word beside a number that neither table nor question speaks of."""
    named = f"{asked.question} {asked.rules} {' '.join(view.columns)} {view.reading.text}"
    return foreign_unit(decision, named, view.columns[column])


def _by_count(
    decision: str, view: FactRows, noun: str, asked: Requirements, used: set[int]
) -> Following | None:
    """Whether a decision is the number of rows or of different cells; None: none is counted."""
    if "count" in view.reading.aggregates or any(
        view.is_ordered(c) and meaning(view.roots(c)) & {root(noun)}
        for c in range(len(view.columns))
        if c not in used
    ):
        return None
    if not view.complete:
        return no("Rows were cut off, so that they cannot be counted.")
    texts = [c for c in range(len(view.columns)) if root(noun) in view.roots(c)]
    if texts:
        count = len({row[texts[0]] for row in view.rows if row[texts[0]] is not None})
    elif root(noun) in view.reading.tables and not view.reading.joins:
        count = len(view.rows)
    else:
        return no(f"The rows of fact {cites(view.facts)} are not {noun}.")
    behind = roots(asked.question.partition(noun)[2])
    others = (c for c in range(len(view.columns)) if c not in used and c not in texts)
    if other := next((c for c in others if roots(view.columns[c]) & behind), None):
        return no(f"Nothing says which {view.columns[other]} the counted rows have.")
    named, reason = numbers_of(decision), f"Fact {cites(view.facts)} lists {count}."
    if named == [count] and not foreign_unit(decision, f"{asked.question} {view.reading.text}"):
        return Following("supported", reason, view.facts)
    return Following("contradicted", reason, view.facts, str(count))


def _by_sum(decision: str, view: FactRows, asked: Requirements, used: set[int]) -> Following:
    """Whether a decision is the sum of the column that is asked for."""
    columns = [
        c
        for c in range(len(view.columns))
        if c not in used and view.is_ordered(c) and meaning(view.roots(c)) & asked.spoken
    ]
    if len(columns) != 1 or not view.complete:
        return no(f"Fact {cites(view.facts)} does not show one column to add up.")
    cells = [row[columns[0]] for row in view.rows if isinstance(row[columns[0]], int | float)]
    total = float(sum(cells))  # type: ignore[arg-type]
    named = numbers_of(decision)
    name = view.columns[columns[0]]
    reason = f"The {name} of fact {cites(view.facts)} adds up to {total:.12g}."
    if len(named) != 1 or not same_number(round(total, 9), named[0], 9):
        return Following("contradicted", reason, view.facts, f"{total:.12g}")
    if unit := _foreign_unit(decision, view, columns[0], asked):
        return no(f"No fact speaks of {unit}.")
    return Following("supported", reason, view.facts)


def undivided(asked: Requirements, view: FactRows) -> str:
    """Why a number is none "per person"; empty if the query divides, groups or takes a mean."""
    query = view.reading.text.lower()
    known = {one for c in range(len(view.columns)) for one in view.roots(c)}
    said = [word for word in _PER.findall(asked.question) if root(word) not in known]
    if not said or "/" in query or "group by" in query or "avg" in query:
        return ""
    return f"The query of fact {cites(view.facts)} divides nothing “per {said[0]}”."


def _by_lookup(decision: str, view: FactRows, asked: Requirements, used: set[int]) -> Following:
    """Whether a decision is the one value that the question points at."""
    free = [c for c in range(len(view.columns)) if c not in used]
    columns = _answering(view, asked, used, decision)
    phrase = phrase_of(asked.question, view)
    columns = columns or _only_column(view, free, decision)
    if not columns:
        return no(f"Fact {cites(view.facts)} has no column that the question asks for.")
    if numbers_of(decision) and not any(view.is_ordered(c) for c in columns):
        columns = _only_column(view, [c for c in free if view.is_ordered(c)], decision) or columns
    hits = [c for c in columns if any(_says(decision, row, c, view, asked) for row in view.rows)]
    where = f"fact {cites(view.facts)}"
    for column in hits:
        if all(_says(decision, row, column, view, asked) for row in view.rows):
            reason = f"It is the {view.columns[column]} in {where}."
            return Following("supported", reason, view.facts)
    if hits:
        count = len({row[hits[0]] for row in view.rows})
        return no(f"It is one of {count} that {where} shows, and nothing says why this one.")
    values = {row[columns[0]] for row in view.rows}
    exact = meaning(view.roots(columns[0])) & phrase
    if len(columns) == 1 and len(values) == 1 and exact and used:
        gives = cell_text(next(iter(values)))
        if not any(cell_equals(value, decision) for value in values):
            reason = f"The {view.columns[columns[0]]} in {where} is {gives}."
            return Following("contradicted", reason, view.facts, gives)
    return no(f"It is not in {where} where the question points.")


def _only_column(view: FactRows, free: Sequence[int], decision: str) -> list[int]:
    """The one column that is left, or the one number of which nothing says what it holds."""
    numeric = [c for c in free if view.is_ordered(c)]
    vague = len(numeric) == 1 and not meaning(view.roots(numeric[0])) - GENERIC_ROOTS
    if numbers_of(decision) and vague:
        return numeric
    return list(free) if len(free) == 1 and free != numeric else []


# -- decisions from words, calculations, comparisons, and as the model says ------------------------


def _in_words(decision: str, fact: Fact, asked: Requirements) -> Following:
    """Whether a decision is in the clause of a document that speaks of what is asked."""
    quote = fact["quote"] or {"text": ""}
    if superlatives(asked.question) and not superlatives(f"{fact['text']} {quote['text']}"):
        return no(f"Fact {cites([fact['number']])} says nothing of a rank.")
    problem = find_clause_problem(decision, f"{fact['text']}\n{quote['text']}", asked.question)
    if problem:
        return no(problem)
    number = fact["number"]
    return Following("supported", f"It is in fact [{number}].", (number,))


def _read(fact: Fact) -> str:
    """What a fact says, the words that it quotes, and how it was looked for."""
    return f"{facts_text([fact])} {fact['query']}"


def _calculated(decision: str, fact: Fact, facts: Sequence[Fact], asked: Requirements) -> Following:
    """Whether a decision is the result of a calculation on numbers that were read or given."""
    expression, _, result = fact["text"].rpartition(" = ")
    if working := fact.get("working"):
        expression = " ".join(step["expression"] for step in working)
        result = working[-1]["result"]
    where = f"fact [{fact['number']}]"
    known = {n for f in facts if f is not fact for n in numbers_of(_read(f))}
    known |= {n for f in facts for n in f["values"].values() if isinstance(n, int | float)}
    known |= set(numbers_of(f"{asked.question} {asked.rules}"))
    plain = re.sub(r"\b[^\W\d]\w*", " ", expression)
    invented = [
        n
        for n in numbers_of(re.sub(r"[-+*/()^,]", " ", plain))
        if n not in (1, 2, 100) and not _taken(n, known)
    ]
    if invented:
        return no(f"The {invented[0]:g} in {where} was neither read nor given.")
    named, value = numbers_of(decision), numbers_of(result)
    if len(named) != 1 or not value or not same_number(abs(value[0]), abs(named[0]), 1):
        return no(f"It is not what {where} came to.")
    if unit := foreign_unit(decision, f"{result} {asked.question} {asked.rules}", result):
        return no(f"No fact speaks of {unit}.")
    return Following("supported", f"It is what {where} came to.", (fact["number"],))


def _yes_or_no(decision: str, facts: Sequence[Fact], question: str, rules: str) -> Following:
    """Yes if the question is true as a statement on the facts, no if it is false."""
    if negations(question):
        return no("The question denies something, which the check cannot follow.")
    found = judge(question, facts, question="", rules=rules)
    numbers = tuple(fact["number"] for fact in facts)
    if found.truth is None:
        return no(found.reason or "The facts do not show it.")
    right = "yes" if found.truth else "no"
    agrees = decision.strip().strip(".").lower() in (
        ("yes", "true") if found.truth else ("no", "false")
    )
    if agrees:
        return Following("supported", f"The comparison of fact {cites(numbers)} says so.", numbers)
    reason = found.reason or f"By the comparison of fact {cites(numbers)} it is {right}."
    return Following("contradicted", reason, numbers, right)


def _declared(
    decision: str, tables: Sequence[FactRows], how: str, column: str, asked: Requirements
) -> Following | None:
    """What the rank that the model names gives, where it is another decision."""
    if how not in ("highest", "lowest"):
        return None
    wanted = roots(column)
    for view in reversed(tables):
        columns = [
            c
            for c in range(len(view.columns))
            if view.is_ordered(c)
            and (
                view.columns[c].lower() == column.strip().lower()
                or roots(view.columns[c]) == wanted
            )
        ]
        if len(columns) != 1 or not view.complete or len(view.rows) < 2:
            continue
        used: set[int] = set()
        left = named_rows(view, asked.question, used)
        bound, _ = bounded_rows(left, asked.bounds, used)
        top = place(bound, columns[0], "highest" if how == "highest" else "lowest")
        if not top or any(cell_equals(cell, decision) for row in top for cell in row):
            return None
        key = view.key()
        shown: Value = top[0][key] if key is not None else top[0][columns[0]]
        gives = cell_text(shown)
        reason = (
            f"By the {how} {view.columns[columns[0]]} of fact {cites(view.facts)} it is {gives}."
        )
        return Following("contradicted", reason, view.facts, gives)
    return None
