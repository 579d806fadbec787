"""Checks by rules whether a decision follows from the facts that it cites.

A decision follows if the question selects one row, or one rank of a column, and the decision is
there. If the check cannot tell, the decision is "not in the facts": a wrong yes is worse than a
wrong no.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, NamedTuple

from planweave.memory import Fact, Value
from planweave.texts import listed
from planweave.tools.checking.claims import facts_text, judge
from planweave.tools.checking.deviations import find_deviation
from planweave.tools.checking.known_words import is_known
from planweave.tools.checking.passages import find_clause_problem, find_unknown_name
from planweave.tools.checking.tables import (
    TOTAL,
    FactRows,
    Ranked,
    Row,
    best_columns,
    equals_cell,
    find_direction,
    find_missing_aggregate,
    is_ordered_alike,
    is_ranked_by_query,
    is_same_number,
    rank_rows,
    select_bounded_rows,
    select_named_rows,
    select_rank,
    specific_roots,
    views,
)
from planweave.tools.checking.units import find_foreign_unit
from planweave.tools.checking.words import (
    GENERIC_ROOTS,
    Bound,
    Superlative,
    count_negations,
    denies,
    find_bounds,
    find_numbers,
    find_superlatives,
    root,
    roots,
    tokens,
    word_set,
)
from planweave.tools.present import remove_counted_spans
from planweave.tools.result_text import cell_text

_COMPARED = re.compile(r"([\w\"`]+)\s*=\s*'([^']*)'")
COUNTING = re.compile(r"\b(?:how many|number of)\s+(?:different |distinct )?(\w+)", re.I)
_ASKING = re.compile(
    r"\b(?:which|what|whose|who|how much|how many|when|where)\b(?P<rest>[^?.;]*)", re.I
)
_STOPS = word_set(
    "of for in at from on by to with that who is are was were has have had does do did should "
    "can will would could must may the a an be been being"
)
_CHOICE = re.compile(r"\b(which|who|whom|best|choose|should|recommend|pick|select)\b", re.I)
_ADVICE = re.compile(r"\b(should|choose|recommend\w*|pick|select|prefer|better|like)\b", re.I)
_SHOWN_TIES = 5
_TIES = re.compile(r"\b(ties?|tied|equal|equally|same)\b", re.I)
_CALENDAR = (
    "january february march april may june july august september october november december monday "
    "tuesday wednesday thursday friday saturday sunday jan feb mar apr jun jul aug sep sept oct "
    "nov dec i id ids eur usd gbp kwh mwh celsius fahrenheit"
)
_FORM = re.compile(r"\b(?:Answer|Reply) with\b[^.?!]*", re.I)
"""The part of a question that prescribes the form of the answer."""
_NARROWING = re.compile(
    r"\b(?:in|from|at|of|for|on|to|by|within|during|with|which|that)\s+(?=([^,.;:?]{0,300}))", re.I
)
_ENDING = word_set(
    "be been being has have had is are was were does do did can could should would will must may "
    "than and or to in from at of for on by with that which who when if so make makes made sell "
    "sells sold bring brings brought cost costs earn earns earned open opens offer offers deliver "
    "delivers take takes took get got gets give gives gave use uses used need needs show "
    "shows serve serves run runs ran hold holds held go goes come comes came work works "
    "worked live lives lived"
)
_COMMON = word_set(
    "the a an all our us we i you it its this these those them their one ones any each every "
    "some company database shop list table data moment time total world way mind row rows "
    "option options candidate candidates thing things kind number value amount person other "
    "others question answer second third fourth fifth first more less much many most least "
    "now today currently how isn aren don doesn didn hasn haven wasn weren can couldn among "
    "overall values nodes case calendar t"
)
_COMPARING = word_set(
    "before after above below within without greater smaller larger higher lower over under across "
    "between both someone he she they whose unique distinct different relationship relationships "
    "past current first last alphabetical alphabetically ascending descending order per inclusive "
    "never exclusive starts ends contains id ids name names"
)
_LEFT = _COMPARING | word_set(_CALENDAR)
"""Words that may be missing in rows, because their query compares, sorts and filters by time."""
_PLACED = word_set("there work live exist listed based located found belong")
"""Verbs that only state that something exists."""
_VERB = re.compile(r"(?:ing|ed)$")
_PER = re.compile(r"\bper (\w+)", re.IGNORECASE)
_NONE = re.compile(
    r"\bnot\s+(?:in|exists)\b|\bnot\s*\(|\bnot\s+(?:\w+\.)?(?:\w+|\"[^\"]+\")\s+in\s*\(\s*select\b"
    r"|\bis\s+null\b|\bexcept\b",
    re.IGNORECASE,
)
"""Matches a query for things that lack something; "<>" does not express that."""
_THERE = re.compile(r"\bnot\s+[\w.\"`]+\s+is\s+null\b", re.IGNORECASE)
"""The opposite: there is a value."""
_ABSENT = re.compile(
    r"\bnot\s+(?:(?:\w+\.)?(?:\w+|\"[^\"]+\")\s+)?in\s*\(\s*select\b|\bnot\s+exists\b|\bexcept\s+select\b|\bnot\s*\(\w*[:)]|"
    r"\bleft\s+(?:outer\s+)?join\s+(?:\S+\s+(?:as\s+)?)?(\w+)\s+on\b.*\b\1\.\w+\s+is\s+null\b",
    re.IGNORECASE | re.DOTALL,
)
"""Matches a query for things that nothing is linked to."""
_MAY_BE_ABSENT = re.compile(
    r"\b(?:un\w+|\w+less|free|vacant|idle|missing|empty|only|absent|remain\w*|left|available|spare|"
    r"other|rest|inactive|orphan\w*|zero|0|all|every|each|always|exclusively|outside|discontinued|out|"
    r"fail\w*|skip\w*|avoid\w*|stop\w*|new|first|yet|\w+est)\b",
    re.IGNORECASE,
)
"""Matches a question that may ask for what is absent, or for what is true of all."""
_SAYS_NO = re.compile(r"=\s*(?:'(?:no|n|false)'|false\b)", re.IGNORECASE)
_NEVER = re.compile(r"\b(?:never|no|none|neither|nobody|nothing)\b", re.IGNORECASE)
_LISTED = re.compile(r"^\s*\d+[.)]\s", re.MULTILINE)


class DecisionCheck(NamedTuple):
    """Whether a decision follows, the reason, its facts, and the decision that a rule gives."""

    kind: Literal["supported", "not_in_facts", "contradicted"]
    reason: str
    facts: tuple[int, ...] = ()
    gives: str = ""


class Requirements(NamedTuple):
    """The question, the rules, the roots of the question's words, and the bounds of both."""

    question: str
    rules: str
    roots: frozenset[str]
    bounds: list[Bound]


def check_decision(
    decision: str,
    facts: Sequence[Fact],
    *,
    question: str,
    rules: str = "",
    how: str = "stated",
    column: str = "",
    read: Sequence[Fact] = (),
) -> DecisionCheck:
    """Check whether ``decision`` follows from ``facts``.

    Args:
        decision: A name, a number with its unit, or yes or no.
        facts: The facts that it cites.
        question: The question.
        rules: The rules that the decision must follow.
        how: How the decision follows, according to the model; ``highest`` or ``lowest`` is checked.
        column: The column of that rank.
        read: All facts of the run; a cited calculation may use any of them.
    """
    if not facts:
        return reject("No fact is cited.")
    if decision.strip().strip(".").lower() in ("yes", "no", "true", "false"):
        return _check_yes_or_no(decision, facts, question, rules)
    bounds = [*find_bounds(question), *find_bounds(_LISTED.sub("", rules))]
    asked = Requirements(question, rules, roots(question), bounds)
    tables = views(facts)
    if problem := find_mismatch(asked, facts, tables):
        return reject(problem)
    found = [_TableCheck(decision, view, asked, facts).check() for view in tables]
    found += [_check_quote(decision, fact, asked) for fact in facts if fact["quote"]]
    found += [
        _check_calculation(decision, fact, [*facts, *read], asked)
        for fact in facts
        if fact["source"] == "calculator"
    ]
    declared = _check_declared_rank(decision, tables, how, column, asked)
    # The last table may combine several facts, so it goes first.
    for kind in ("contradicted", "supported"):
        for one in reversed(found):
            if one.kind == kind:
                return one
    nothing = reject("No cited fact holds rows or words that can be checked.")
    return declared or next(reversed(found), nothing)


def reject(reason: str) -> DecisionCheck:
    """The result for a decision that does not follow."""
    return DecisionCheck("not_in_facts", reason)


def cite(numbers: Iterable[int]) -> str:
    """Cite facts, as in "[1][2]"."""
    return "".join(f"[{number}]" for number in numbers)


def find_mismatch(
    asked: Requirements,
    facts: Sequence[Fact],
    tables: Sequence[FactRows],
    *,
    in_rows: bool = False,
    trusted: bool = False,
) -> str:
    """Find why facts are not about what is asked; empty if they may be.

    If the rows are the answer (``in_rows``), verbs and comparing words need not be in the facts,
    and if their query is ``trusted``, no word of the question need be.
    """
    unranked = [fact for fact in facts if "ranks" not in fact]
    if doubts := [doubt for fact in unranked for doubt in fact.get("doubts", ())]:
        return doubts[0]
    named = " ".join(map(_full_text, facts))
    named += " ".join(f" {cell}" for view in tables for row in view.rows for cell in row)
    if name := find_unknown_name(asked.question, f"{named} {_CALENDAR}"):
        return f"No cited fact speaks of {name}."
    word = "" if trusted else _find_unknown_word(asked.question, roots(named), strict=not in_rows)
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
                and not _is_asked_flag(name, view, spoken, asked.question)
                and not (trusted and len(name) == 1)  # a code for some word of the question
            ):
                return f"The query asks for {name!r}, of which the question says nothing."
        if problem := find_deviation(asked.question, asked.rules, view.reading):
            return problem
    return _find_wrong_denial(asked, facts, tables, in_rows=in_rows)


def _find_wrong_denial(
    asked: Requirements, facts: Sequence[Fact], tables: Sequence[FactRows], *, in_rows: bool
) -> str:
    """Find a denial that only the question or only a query makes; empty if there is none."""
    if denies(asked.question):
        looks_for_none = in_rows and all(
            "agreement" in fact and _NONE.search(_THERE.sub("", fact["query"])) for fact in facts
        )
        if looks_for_none or _is_row_by_row(asked.question, tables):
            return ""
        return "The question denies something, which the check cannot follow."
    spoken = f"{asked.question} {asked.rules}"
    if denies(asked.rules) or _MAY_BE_ABSENT.search(spoken):
        return ""
    if any(_ABSENT.search(fact["query"]) for fact in facts):
        return "The query looks for what is absent, and the question denies nothing."
    return ""


def _is_row_by_row(question: str, tables: Sequence[FactRows]) -> bool:
    """Whether the question, as "not paid", asks for rows of one table that say no.

    "Who has *never* paid" is another question, and so is "who has no paid order".
    """
    return not _NEVER.search(question) and all(
        _SAYS_NO.search(view.reading.text) and not view.reading.joins for view in tables
    )


def _is_asked_flag(name: str, view: FactRows, spoken: frozenset[str], question: str) -> bool:
    """Whether a query compares a column of the question with yes (in a denial, also with no)."""
    yes, no = ("yes", "true", "y"), ("no", "false", "n")
    if name.casefold() not in (yes + no if denies(question) else yes):
        return False
    columns = _COMPARED.findall(view.reading.text)
    return any(value == name and roots(column) & spoken for column, value in columns)


def _find_unknown_word(question: str, known: frozenset[str], *, strict: bool) -> str:
    """A word that narrows the question and is in no fact; empty if there is none.

    Such words come after a preposition, or after the noun that is counted.
    """
    counted = COUNTING.search(question)
    if strict and counted:
        for word in tokens(_FORM.sub("", question[counted.end() :])):
            is_plain = word in _ENDING | _COMMON | _PLACED or word[0].isdigit()
            if not (is_plain or find_superlatives(word) or is_known(word, known)):
                return word
    for phrase in _NARROWING.findall(_FORM.sub("", question)):
        for before, word in pairwise(["", *tokens(phrase)]):
            if word in _ENDING or before in ("all", "every", "each"):
                break
            ordinary = word in _COMMON or word[0].isdigit() or find_superlatives(word)
            left_to_query = not strict and (word in _LEFT or _VERB.search(word))
            if not (ordinary or left_to_query or is_known(word, known)):
                return word
    return ""


def find_open_bound(left: Sequence[Bound], facts: Sequence[Fact]) -> str:
    """Find a bound of the question or the rules that no query uses; empty if there is none."""
    for bound in left:
        if not _is_used(bound.number, _queried_numbers(facts)):
            return f"No cited fact takes account of “{bound.text}”."
    return ""


def _is_used(number: float, used: Iterable[float]) -> bool:
    """Whether a number is used, perhaps as a percentage; 100 is no part of anything."""
    part = number / 100
    shapes = (number,) if part == 1 else (number, part, 1 + part, 1 - part)
    return any(abs(one - shape) < 1e-9 for one in used for shape in shapes)


# -- decisions in tables ---------------------------------------------------------------------------


@dataclass
class _TableCheck:
    """The check of a decision on the rows of a table that the question selects."""

    decision: str
    whole: FactRows
    asked: Requirements
    facts: Sequence[Fact]

    def __post_init__(self) -> None:
        self.used: set[int] = set()  # columns by which the question selects rows
        named = select_named_rows(self.whole, self.asked.question, self.used)
        self.view, self.left = select_bounded_rows(named, self.asked.bounds, self.used)
        self.numbers = find_numbers(self.decision)
        self.where = cite(self.whole.facts)

    def check(self) -> DecisionCheck:
        """Check the decision by a rank, a count, a sum, or a look at the one value."""
        asked, whole, facts = self.asked, self.whole, self.facts
        problem = find_open_bound(self.left, facts)
        problem = problem or find_unused_number(asked, whole, self.used, facts)
        if not self.view.rows:
            problem = f"No row of fact {self.where} has all that the question asks for."
        problem = problem or find_missing_division(asked, whole)
        superlative = _find_deciding_superlative(asked, whole)
        if problem or isinstance(superlative, str):
            return reject(problem or str(superlative))
        if superlative:
            problem = _find_unused_rule(asked, facts)
            return reject(problem) if problem else self._check_rank(superlative)
        counted = COUNTING.search(asked.question)
        found = self._check_row_count(counted[1]) if counted else None
        return found or self._check_value()

    def _support(self, reason: str) -> DecisionCheck:
        return DecisionCheck("supported", reason, self.view.facts)

    def _contradict(self, reason: str, decision: str) -> DecisionCheck:
        return DecisionCheck("contradicted", reason, self.view.facts, decision)

    # .. ranks ..

    def _check_rank(self, superlative: Superlative) -> DecisionCheck:
        """The decision must be in the rows that a superlative selects."""
        whole, view, asked = self.whole, self.view, self.asked
        spoken, count = asked.roots | roots(asked.rules), len(set(whole.rows))
        picks = rank_rows(view, superlative, asked.roots) or rank_rows(view, superlative, spoken)
        if count > 1 and picks and (whole.complete or is_ordered_alike(whole.reading, picks)):
            return self._check_picks(picks, superlative)
        is_ranked = is_ranked_by_query(whole.reading, superlative, asked.roots, spoken)
        if is_ranked and len(view.rows) == len(whole.rows):
            self.view = view.where(view.rows[:1]) if count > 1 else view
            return self._check_picks([Ranked(self.view.rows, -1, "highest")], superlative)
        if count == 1:
            return reject(
                f"Fact {self.where} shows one row, and its query does not rank: nothing says "
                f"that it is the {superlative.word}."
            )
        return reject(f"No column of fact {self.where} says which is the {superlative.word}.")

    def _check_picks(self, picks: Sequence[Ranked], superlative: Superlative) -> DecisionCheck:
        """The decision must be in the selected rows, in a column that is asked for."""
        view, verdicts = self.view, []
        for pick in picks:
            columns = self._find_answer_columns(self.used | {pick.column})
            if pick.column >= 0 and self.numbers and not columns:
                columns = [pick.column]
            if pick.column >= 0 and asks_amount(self.asked, view):
                columns = [*columns, pick.column]
            if pick.column < 0 and not columns:
                columns = [c for c in range(len(view.columns)) if view.is_ordered(c)][:1]
            is_hit = any(self._is_cell(row, c) for c in columns for row in pick.rows)
            given = list(dict.fromkeys(cell_text(row[c]) for c in columns[:1] for row in pick.rows))
            verdicts.append((is_hit, pick, given))
        good = [pick for is_hit, pick, _ in verdicts if is_hit]
        if good and len(good) == len(verdicts):
            first, ties = good[0], verdicts[0][2]
            rule = superlative.word
            if first.column >= 0:
                rule = f"{first.direction} {view.columns[first.column]}"
            equal = f"; {len(ties)} are equal: {listed(ties, _SHOWN_TIES)}" if len(ties) > 1 else ""
            return self._support(f"The {rule} of fact {self.where}{equal}.")
        if not good and len(verdicts) == 1 and verdicts[0][2] and verdicts[0][1].column >= 0:
            pick, given_text = verdicts[0][1], " or ".join(verdicts[0][2])
            rule = f"the {pick.direction} {view.columns[pick.column]} of fact {self.where}"
            return self._contradict(f"By {rule} it is {given_text}.", given_text)
        return reject(f"Fact {self.where} does not say that this is the {superlative.word}.")

    # .. counts, sums and single values ..

    def _check_row_count(self, noun: str) -> DecisionCheck | None:
        """The decision must be the number of rows or distinct cells.

        None if the query has counted itself.
        """
        view, asked = self.view, self.asked
        free = self._free_columns()
        if "count" in view.reading.aggregates or any(
            view.is_ordered(c) and root(noun) in specific_roots(view.roots(c)) for c in free
        ):
            return None
        if not view.complete:
            return reject("Rows were cut off, so that they cannot be counted.")
        counted = [c for c in range(len(view.columns)) if root(noun) in view.roots(c)]
        if counted:
            count = len({row[counted[0]] for row in view.rows if row[counted[0]] is not None})
        elif root(noun) in view.reading.tables and not view.reading.joins:
            count = len(view.rows)
        else:
            return reject(f"The rows of fact {self.where} are not {noun}.")
        behind = roots(asked.question.partition(noun)[2])
        for column in free:
            if column not in counted and roots(view.columns[column]) & behind:
                return reject(f"Nothing says which {view.columns[column]} the counted rows have.")
        reason, known = f"Fact {self.where} lists {count}.", f"{asked.question} {view.reading.text}"
        if self.numbers == [count] and not find_foreign_unit(self.decision, known):
            return self._support(reason)
        return self._contradict(reason, str(count))

    def _check_value(self) -> DecisionCheck:
        """The decision must be the sum of a column, or the one value that is asked for."""
        words = set(tokens(self.asked.question))
        if words & TOTAL and len(self.view.rows) > 1:
            return self._check_sum()
        if problem := find_missing_aggregate(words, self.view):
            return reject(problem)
        if self.view.reading.limited and not self.used:
            return reject(f"Nothing says why fact {self.where} shows this row and no other.")
        if _ADVICE.search(self.asked.question) and not self.numbers:
            return reject("Neither the question nor the rules say what decides.")
        found = self._check_lookup()
        if found.kind == "contradicted" and any(f["source"] == "calculator" for f in self.facts):
            return reject(found.reason)  # the question may ask for the calculated value
        return found

    def _check_sum(self) -> DecisionCheck:
        """The decision must be the sum of the column that is asked for."""
        view = self.view
        columns = [
            c
            for c in self._free_columns()
            if view.is_ordered(c) and specific_roots(view.roots(c)) & self.asked.roots
        ]
        if len(columns) != 1 or not view.complete:
            return reject(f"Fact {self.where} does not show one column to add up.")
        column = columns[0]
        cells = [row[column] for row in view.rows if isinstance(row[column], int | float)]
        total = float(sum(cells))  # type: ignore[arg-type]
        reason = f"The {view.columns[column]} of fact {self.where} adds up to {total:.12g}."
        if len(self.numbers) != 1 or not is_same_number(round(total, 9), self.numbers[0], 9):
            return self._contradict(reason, f"{total:.12g}")
        if unit := self._find_wrong_unit(column):
            return reject(f"No fact speaks of {unit}.")
        return self._support(reason)

    def _check_lookup(self) -> DecisionCheck:
        """The decision must be the one value that the question asks for."""
        view, where, free = self.view, self.where, self._free_columns()
        columns = self._find_answer_columns(self.used) or self._only_column(free)
        if not columns:
            return reject(f"Fact {where} has no column that the question asks for.")
        if self.numbers and not any(map(view.is_ordered, columns)):
            columns = self._only_column([c for c in free if view.is_ordered(c)]) or columns
        hits = [c for c in columns if any(self._is_cell(row, c) for row in view.rows)]
        for column in hits:
            if all(self._is_cell(row, column) for row in view.rows):
                return self._support(f"It is the {view.columns[column]} in fact {where}.")
        if hits:
            count = len({row[hits[0]] for row in view.rows})
            return reject(
                f"It is one of {count} that fact {where} shows, and nothing says why this one."
            )
        column, values = columns[0], {row[columns[0]] for row in view.rows}
        phrase = find_asked_roots(self.asked.question, view)
        is_exact = specific_roots(view.roots(column)) & phrase
        if len(columns) == 1 and len(values) == 1 and is_exact and self.used:
            value = next(iter(values))
            if not equals_cell(value, self.decision):
                given = cell_text(value)
                return self._contradict(
                    f"The {view.columns[column]} in fact {where} is {given}.", given
                )
        return reject(f"It is not in fact {where} where the question points.")

    # .. columns and cells ..

    def _free_columns(self) -> list[int]:
        """The columns by which the question does not select rows."""
        return [c for c in range(len(self.view.columns)) if c not in self.used]

    def _find_answer_columns(self, used: set[int]) -> list[int]:
        """The columns that must contain the answer: those that the question names, else the key."""
        view, asked = self.view, self.asked
        free = [c for c in range(len(view.columns)) if c not in used]
        phrase = find_asked_roots(asked.question, view)
        if named := best_columns(view, free, phrase):
            key = view.key()
            # The question may refer to the things that the rows describe.
            if key is not None and phrase & (view.reading.tables | view.roots(key)):
                named += [c for c in free if view.identifies(c) and view.is_text(c)]
            return list(dict.fromkeys(named))
        if re.search(r"\b(which|who|whom|what)\b", asked.question, re.I):
            keys = [c for c in free if view.identifies(c)]
            names = [row[c] for row in view.rows for c in keys if view.is_text(c)]
            if not self.numbers or any(equals_cell(name, self.decision) for name in names):
                return keys
        return best_columns(view, free, asked.roots)

    def _only_column(self, free: Sequence[int]) -> list[int]:
        """The only free column, or for a number the only numeric one if its name is generic."""
        numeric = [c for c in free if self.view.is_ordered(c)]
        is_vague = not any(specific_roots(self.view.roots(c)) - GENERIC_ROOTS for c in numeric)
        if self.numbers and len(numeric) == 1 and is_vague:
            return numeric
        return list(free) if len(free) == 1 and free != numeric else []

    def _is_cell(self, row: Row, column: int) -> bool:
        """Whether the decision is this cell, including its unit."""
        cell = row[column]
        is_number = isinstance(cell, int | float) and not isinstance(cell, bool)
        is_equal = equals_cell(cell, self.decision)
        return is_equal and not (is_number and self._find_wrong_unit(column))

    def _find_wrong_unit(self, column: int) -> str:
        """A unit or other word beside a number that is in neither table nor question."""
        asked, view = self.asked, self.view
        known = f"{asked.question} {asked.rules} {' '.join(view.columns)} {view.reading.text}"
        return find_foreign_unit(self.decision, known, view.columns[column])


def _find_unused_rule(asked: Requirements, facts: Sequence[Fact]) -> str:
    """A number of the rules that no query uses; empty if there is none."""
    bounds = {bound.number for bound in asked.bounds}
    for number in find_numbers(_LISTED.sub("", asked.rules)):
        if number not in bounds and not _is_used(number, _queried_numbers(facts)):
            return f"No cited fact takes account of the {number:g} in the rules."
    return ""


def _queried_numbers(facts: Sequence[Fact]) -> set[float]:
    """The numbers in the queries and calculations of facts."""
    texts = [re.sub(r"[-_/'():,*<>=]", " ", fact["query"]) for fact in facts]
    return {number for text in texts for number in find_numbers(text)}


def find_unused_number(
    asked: Requirements, view: FactRows, used: set[int], facts: Sequence[Fact]
) -> str:
    """Find a number of the question that no query, bound or row uses; empty if there is none."""
    queries = _queried_numbers(facts) | {
        float(n) for fact in facts for n in re.findall(r"\d+(?:\.\d+)?", fact["query"])
    }
    cells = {row[column] for column in used for row in view.rows}
    named = " ".join(str(cell) for cell in cells if isinstance(cell, str))
    within = {float(n) for n in re.findall(r"\d+(?:\.\d+)?", named)}
    bounds = {bound.number for bound in asked.bounds}
    # Another check compares spans such as "the last 30 days".
    for number in find_numbers(remove_counted_spans(asked.question)):
        is_plain = number in bounds or number in within or number in cells
        if not (is_plain or _is_used(number, queries)):
            return f"No cited fact takes account of the {number:g} in the question."
    return ""


def _find_deciding_superlative(asked: Requirements, view: FactRows) -> Superlative | str | None:
    """The superlative that decides, or why the check cannot apply one; None if there is none."""
    own = find_superlatives(asked.question)
    if own:
        if len({one.senses for one in own}) > 1:
            return "The question asks for several ranks at once."
        if _has_column_for(own[0], view, asked.roots):
            return own[0]
    if not own and not _CHOICE.search(asked.question):
        return None
    sentences = re.split(r"(?<=[.!?;])\s+|\n+", asked.rules)
    ruling = [one for s in sentences if not _TIES.search(s) for one in find_superlatives(s)]
    if ruling and len({one.senses for one in ruling}) == 1:
        return ruling[0]
    if ruling:
        return "The rules name several ranks, and the facts do not show which decides."
    return own[0] if own else None


def _has_column_for(superlative: Superlative, view: FactRows, spoken: frozenset[str]) -> bool:
    """Whether the superlative may refer to a column of the table or to what its query sorts by."""
    order, extremes = view.reading.order, view.reading.extremes
    every = [view.roots(c) for c in range(len(view.columns)) if view.is_ordered(c)]
    every += [order.roots] if order else []
    every += [words for _, words in extremes]
    known = any(find_direction(superlative, words, spoken)[0] for words in every)
    return known or bool(rank_rows(view, superlative, spoken))


def asks_amount(asked: Requirements, view: FactRows) -> bool:
    """Whether the question asks for the ranked value itself, as in "What is the lowest price?"."""
    phrase = find_asked_roots(asked.question)
    texts = [c for c in range(len(view.columns)) if not view.is_ordered(c)]
    named = any(view.roots(c) & phrase for c in texts)
    opening = re.search(r"\b(what|how much|how many|when)\b", asked.question, re.I)
    return opening is not None and not named


def find_asked_roots(question: str, view: FactRows | None = None) -> frozenset[str]:
    """Find the roots of the words for the requested thing: those after the question word."""
    found = _ASKING.search(question)
    if not found:
        return roots(question)
    rest = found["rest"]
    for mention in reversed(view.mentions(rest)) if view else ():
        rest = f"{rest[: mention.begin]} , {rest[mention.end :]}"
    words: list[str] = []
    for word in tokens(rest):
        if word in _STOPS or find_superlatives(word):
            if words:
                break
            continue
        words.append(word)
    return frozenset(map(root, words))


def find_missing_division(asked: Requirements, view: FactRows) -> str:
    """Find why a number is not "per person"; empty if the query divides, groups or averages."""
    query = view.reading.text.lower()
    known = {one for c in range(len(view.columns)) for one in view.roots(c)}
    units = [word for word in _PER.findall(asked.question) if root(word) not in known]
    if not units or "/" in query or "group by" in query or "avg" in query:
        return ""
    return f"The query of fact {cite(view.facts)} divides nothing “per {units[0]}”."


# -- decisions from quotes, calculations, comparisons and declared ranks ---------------------------


def _check_quote(decision: str, fact: Fact, asked: Requirements) -> DecisionCheck:
    """Check a decision that must be in the clause of a document that is about the question."""
    quote = fact["quote"] or {"text": ""}
    text, number = f"{fact['text']}\n{quote['text']}", fact["number"]
    if find_superlatives(asked.question) and not find_superlatives(text):
        return reject(f"Fact [{number}] says nothing of a rank.")
    if problem := find_clause_problem(decision, text, asked.question):
        return reject(problem)
    return DecisionCheck("supported", f"It is in fact [{number}].", (number,))


def _full_text(fact: Fact) -> str:
    """The text, the quote and the query of a fact."""
    return f"{facts_text([fact])} {fact['query']}"


def _check_calculation(
    decision: str, fact: Fact, facts: Sequence[Fact], asked: Requirements
) -> DecisionCheck:
    """Check a decision that must be the result of a calculation with known numbers."""
    expression, _, result = fact["text"].rpartition(" = ")
    if working := fact.get("working"):
        expression = " ".join(step["expression"] for step in working)
        result = working[-1]["result"]
    where = f"fact [{fact['number']}]"
    known = {n for f in facts if f is not fact for n in find_numbers(_full_text(f))}
    known |= {n for f in facts for n in f["values"].values() if isinstance(n, int | float)}
    known |= set(find_numbers(f"{asked.question} {asked.rules}"))
    plain = re.sub(r"\b[^\W\d]\w*(?:\[\d+\])?", " ", expression)
    invented = [
        n
        for n in find_numbers(re.sub(r"[-+*/()^,]", " ", plain))
        if n not in (1, 2, 100) and not _is_used(n, known)
    ]
    if invented:
        return reject(f"The {invented[0]:g} in {where} was neither read nor given.")
    named, value = find_numbers(decision), find_numbers(result)
    if len(named) != 1 or not value or not is_same_number(abs(value[0]), abs(named[0]), 1):
        return reject(f"It is not what {where} came to.")
    if unit := find_foreign_unit(decision, f"{result} {asked.question} {asked.rules}", result):
        return reject(f"No fact speaks of {unit}.")
    return DecisionCheck("supported", f"It is what {where} came to.", (fact["number"],))


def _check_yes_or_no(
    decision: str, facts: Sequence[Fact], question: str, rules: str
) -> DecisionCheck:
    """Check yes or no: the question, read as a statement, must be true or false of the facts."""
    if count_negations(question):
        return reject("The question denies something, which the check cannot follow.")
    found = judge(question, facts, question="", rules=rules)
    numbers = tuple(fact["number"] for fact in facts)
    if found.truth is None:
        return reject(found.reason or "The facts do not show it.")
    right = "yes" if found.truth else "no"
    agrees = decision.strip().strip(".").lower() in (
        ("yes", "true") if found.truth else ("no", "false")
    )
    if agrees:
        return DecisionCheck(
            "supported", f"The comparison of fact {cite(numbers)} says so.", numbers
        )
    reason = found.reason or f"By the comparison of fact {cite(numbers)} it is {right}."
    return DecisionCheck("contradicted", reason, numbers, right)


def _check_declared_rank(
    decision: str, tables: Sequence[FactRows], how: str, column: str, asked: Requirements
) -> DecisionCheck | None:
    """The contradiction by the rank that the model declares; None if it gives the decision."""
    if how not in ("highest", "lowest") or any(
        one.place > 1 for one in find_superlatives(asked.question)
    ):
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
        left = select_named_rows(view, asked.question, used)
        bound, _ = select_bounded_rows(left, asked.bounds, used)
        top = select_rank(bound, columns[0], "highest" if how == "highest" else "lowest")
        if not top or any(equals_cell(cell, decision) for row in top for cell in row):
            return None
        key = view.key()
        shown: Value = top[0][key] if key is not None else top[0][columns[0]]
        gives = cell_text(shown)
        reason = (
            f"By the {how} {view.columns[columns[0]]} of fact {cite(view.facts)} it is {gives}."
        )
        return DecisionCheck("contradicted", reason, view.facts, gives)
    return None
