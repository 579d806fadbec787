"""Checks by rules whether a sentence is true of the facts that it cites."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise, product
from typing import NamedTuple

from planweave.memory import Fact, Value
from planweave.tools.checking.deviations import find_unasked_number
from planweave.tools.checking.known_words import is_known
from planweave.tools.checking.listed_values import check_count, find_tie, has_first_value
from planweave.tools.checking.passages import (
    find_changed_amount,
    find_changed_unit,
    find_misplaced_name,
    find_unknown_name,
    find_wrong_clause,
    is_negated_differently,
    is_opposite,
)
from planweave.tools.checking.queries import column_roots
from planweave.tools.checking.tables import (
    MEAN,
    FactRows,
    Mention,
    Row,
    best_columns,
    find_missing_aggregate,
    is_ordered_alike,
    is_ranked_by_query,
    is_same_number,
    rank_rows,
    views,
)
from planweave.tools.checking.units import (
    find_foreign_unit,
    find_units,
    find_units_at,
    is_unit_word,
)
from planweave.tools.checking.words import (
    GENERIC_ROOTS,
    KINDS,
    NUMBER,
    Bound,
    Superlative,
    denies,
    find_bounds,
    find_comparatives,
    find_superlatives,
    is_of_kind,
    root,
    roots,
    tokens,
    word_set,
)
from planweave.tools.documents.quotes import (
    has_number_of,
    is_new,
    is_worded_like,
    missing_numbers,
    numbers,
)

CITATION = re.compile(r"\[(\d+)\]")
_PRONOUN = re.compile(
    r"^(it|this|that|he|she|they|this \w+|the (?:decision|choice|answer))\b(?!'s)", re.I
)
_POSSESSIVE = re.compile(r"^(?:its|his|her|their)\b", re.IGNORECASE)
_CHOOSES = re.compile(
    r"\b(choose|chosen|choice|recommend\w*|select\w*|decision|answer|take|pick\w*|prefer\w*)\b",
    re.I,
)
_OF_ALL = re.compile(
    rf"\b(?:of|among|all|the|are)\s+(?:all\s+|the\s+)*({NUMBER})\s+([a-z]\w+)", re.I
)
_BEFORE_NAMES = re.compile(r"\b(?:in|at|from|of|for|than|by|to|versus|vs|against|is|are)\s+", re.I)
_OPENING_WORDS = word_set(
    "the it its this that these those a an all of in on at by for from with among because "
    "since as based according both only there total average thus therefore so hence we i our "
    "however within is are was were does do did has have had can will its their his her he "
    "she they each every which what who how and but compared while although given after "
    "before looking fact facts first second third one two three"
)

_COUNTED_LIST = re.compile(
    r"\b(?P<count>\d{1,2}) (?P<what>[^\W\d_]+)[^\d:(]*[\d.,%]*[^\d:(]*[:(](?P<list>[^:()]+)"
)
_LIST_SEPARATOR = re.compile(r",\s*(?:and\s+)?|\s+and\s+")


class ClaimTruth(NamedTuple):
    """True, false, or None if the facts do not show it; and the reason unless it is true."""

    truth: bool | None
    reason: str = ""


_EXCLUSIVE = re.compile(r"\balone\b|\bsolely\b|\bthe (?:only|sole)\b|^only\b", re.IGNORECASE)
_CHANGE = "change growth increase decrease rise fall difference drop gain loss"
_CHANGES = re.compile(
    r"\b(?:rose|risen|grew|grown|fell|fallen|(?:in|de)creased|dropped|shrank|climbed|doubled)\b",
    re.IGNORECASE,
)
_EACH = re.compile(r"\b(?:each|every|all|both)\b", re.IGNORECASE)
_GROUP_PREPOSITION = re.compile(
    r"\b(?:in|at|of|from|for|among|within|on|to|by)\s+(?:the\s+|all\s+)*(?:\w+\s+)?$", re.IGNORECASE
)
_NAME_SEPARATOR = re.compile(r"\s*(?:,|and|,\s*and|&|as well as)\s+(?:the\s+)?", re.IGNORECASE)
_COSTS_LEAST = re.compile(r"\bcosts?(?: the)? least\b", re.IGNORECASE)
_COSTS_MOST = re.compile(r"\bcosts?(?: the)? most\b", re.IGNORECASE)


_LOOSE = re.compile(r"\b(or|not|case|having|left|union)\b|\bselect\b.*\bselect\b", re.I | re.S)
"""Matches a query whose conditions need not hold for every row that it returns."""


def judge(
    claim: str,
    facts: Sequence[Fact],
    *,
    question: str,
    rules: str = "",
    subject: str = "",
    settled: bool = False,
) -> ClaimTruth:
    """Judge whether ``claim`` is true of ``facts``.

    Args:
        claim: A sentence; its citations do not count.
        facts: The facts that it cites.
        question: The question; the claim may repeat its words.
        rules: The rules of the run.
        subject: The decision, which "it" refers to.
        settled: Whether the decision follows from the facts.
    """
    plain = _COSTS_LEAST.sub("is the cheapest", CITATION.sub("", claim).strip())
    plain = _COSTS_MOST.sub("is the most expensive", plain)
    tables = views(facts)
    if not tables:
        reason = _words_problem(plain, facts, question)
        return ClaimTruth(None if reason else True, reason)
    judged = [
        _TableClaim(plain, view, question, rules, subject, settled=settled).judge()
        for view in tables
    ]
    if others := [f for f in facts if f["quote"] or f["source"] == "calculator"]:
        reason = _words_problem(plain, others, question)
        judged.append(ClaimTruth(None if reason else True, reason))
    true = next((one for one in judged if one.truth), None)
    false = next((one for one in reversed(judged) if one.truth is False), None)
    return true or false or judged[-1]


# -- words of documents, and results ---------------------------------------------------------------


def _words_problem(claim: str, facts: Sequence[Fact], question: str) -> str:
    """Why facts from documents and calculations do not support a claim; empty if they do."""
    return next(filter(None, _find_problems(claim, facts, question)), "")


def _remove_count(claim: str) -> str:
    """Remove the number of listed items from a claim, as in "3 years: 2020, 2021 and 2023".

    The list itself must be in the facts. A quantity, as in "2 tonnes: wheat and corn", stays.
    """
    counted = _COUNTED_LIST.search(claim)
    if counted is None:
        return claim
    items = _LIST_SEPARATOR.split(counted["list"].strip(" ."))
    is_quantity = is_unit_word(root(counted["what"])) and not all(map(numbers, items))
    if is_quantity or len(items) != int(counted["count"]):
        return claim
    return f"{claim[: counted.start('count')]}{claim[counted.end('count') :]}"


def _find_problems(claim: str, facts: Sequence[Fact], question: str) -> Iterator[str]:
    """The reasons against a claim on words and results."""
    stated = facts_text(facts)
    known_text = f"{stated} {question}"
    has_results = any(fact["source"] == "calculator" for fact in facts)
    has_quotes = any(fact["quote"] for fact in facts)
    count = check_count(claim, facts)
    if count and count.problem:
        yield count.problem
    known_numbers = f"{known_text} {count.figures if count else ''}"
    if missing := missing_numbers(_remove_count(claim), known_numbers):
        yield f"{missing} is in no fact that it cites"
    if has_results and not has_quotes and numbers(claim) and not has_result(claim, facts):
        yield "it does not say what was worked out"
    if has_quotes:
        yield from _find_quote_problems(claim, facts, question)
        yield _find_difference(claim, stated, question)
    if has_quotes and not has_results:
        yield find_wrong_clause(claim, stated)


def _find_quote_problems(claim: str, facts: Sequence[Fact], question: str) -> Iterator[str]:
    """The reasons against a claim on the words of documents."""
    stated = facts_text(facts)
    known_text = f"{stated} {question}"
    if not is_worded_like(claim, known_text):
        yield "its words are not in the facts that it cites"
    is_stated = is_new(claim, stated, question) or is_worded_like(claim, stated)
    if not (is_stated or check_count(claim, facts)):
        yield "it says again what was asked, and nothing from the facts that it cites"
    if name := find_unknown_name(claim, known_text):
        yield f"the facts that it cites do not speak of {name}"
    if unit := find_changed_unit(claim, stated, question):
        yield f"the facts that it cites do not say {unit}"
    if is_negated_differently(claim, stated):
        yield "it denies what the fact says, or the other way round"
    has_rank = find_superlatives(known_text) or has_first_value(claim, facts)
    if find_superlatives(claim) and not has_rank:
        yield "the facts that it cites say nothing of a rank"
    if tie := find_tie(claim, facts):
        yield tie


def _find_difference(claim: str, stated: str, question: str) -> str:
    """The first difference between a claim and the words of documents."""
    if other := find_changed_amount(claim, stated, question):
        return f"the facts that it cites do not say {other}"
    if name := find_misplaced_name(claim, stated):
        return f"the facts that it cites do not say it of {name}"
    if is_opposite(claim, stated):
        return "it says the opposite of the fact"
    compares = numbers(claim) or find_comparatives(f"{stated} {question}")
    if find_comparatives(claim) and not compares:
        return "the facts that it cites compare nothing"
    return ""


def has_result(claim: str, facts: Sequence[Fact]) -> bool:
    """Whether a claim has a number that the calculator returned in one of the facts."""
    results: list[str] = []
    for fact in facts:
        if "working" in fact:
            results += [step["result"] for step in fact["working"]]
        elif fact["source"] == "calculator":
            results.append(fact["text"].rpartition("=")[2])
    return has_number_of(claim, " ".join(results))


def facts_text(facts: Sequence[Fact]) -> str:
    """The texts and quotes of facts."""
    return " ".join(f"{fact['text']} {(fact['quote'] or {'text': ''})['text']}" for fact in facts)


# -- rows ------------------------------------------------------------------------------------------


class _Place(NamedTuple):
    """Something in the claim, and its place."""

    begin: int
    end: int
    what: object


class _TableClaim:
    """A claim about the rows of one table."""

    def __init__(
        self, claim: str, view: FactRows, question: str, rules: str, subject: str, *, settled: bool
    ) -> None:
        self.settled = settled
        self.subject = subject
        if subject and _PRONOUN.match(claim):
            claim = _PRONOUN.sub(lambda _: subject, claim, count=1)
        elif subject:
            claim = _POSSESSIVE.sub(lambda _: f"The {subject}", claim, count=1)
        self.claim, self.view = claim, view
        self.question, self.rules = question, rules
        self.roots = roots(claim)
        self.key = view.key()
        mentions = view.mentions(claim)
        keyed = [m for m in mentions if m.column == self.key]
        taken = {(m.begin, m.end) for m in keyed}
        self.names = [_Place(m.begin, m.end, m.cell) for m in keyed] + self._find_ids(claim)
        self.attributes = [m for m in mentions if (m.begin, m.end) not in taken]
        self.covered = [(name.begin, name.end) for name in self.names]
        self.covered += [(mention.begin, mention.end) for mention in self.attributes]
        self.ordered = [c for c in range(len(view.columns)) if c != self.key and view.is_ordered(c)]

    def _find_ids(self, claim: str) -> list[_Place]:
        """The numbers that name rows, if the key is a number."""
        if self.key is None or self.view.is_text(self.key):
            return []
        cells = {row[self.key] for row in self.view.rows}
        nouns = self.view.roots(self.key) | self.view.reading.tables
        found = []
        for match in re.finditer(NUMBER, claim):
            number = float(match[0].replace(",", ""))
            before = tokens(claim[: match.start()])[-1:]
            if number in cells and root("".join(before)) in nouns:
                found.append(_Place(match.start(), match.end(), number))
        return found

    def _rows_of(self, *names: _Place) -> list[Row]:
        """The rows with these names."""
        key = self.key or 0
        return [row for row in self.view.rows for name in names if row[key] == name.what]

    def judge(self) -> ClaimTruth:
        """Whether everything in the claim is true of the table."""
        if problem := next(filter(None, self._find_problems()), ""):
            return ClaimTruth(None, problem)
        checks = (self._values, self._lists, self._ranks, self._comparisons, self._bounds)
        found = [
            ClaimTruth(truth, "" if truth else why) for check in checks for truth, why in check()
        ]
        for worst in (None, False):
            if wrong := next((one for one in found if one.truth is worst), None):
                return wrong
        if found or self._is_decision():
            return ClaimTruth(True)
        return ClaimTruth(None, "it says nothing that the rows show")

    def _find_problems(self) -> Iterator[str]:
        """Reasons why the rows do not show whether the claim is true."""
        if denies(self.claim):
            yield "it denies something, which rows do not show"
        if _EXCLUSIVE.search(self.claim):
            yield "it says that there is no other, which rows do not show"
        if _CHANGES.search(self.claim) and not roots(_CHANGE) & roots(self._unit_text()):
            yield "it speaks of a change, which rows do not show"
        if unknown := self._unknown_name() or self._unknown_measure():
            yield f"the facts that it cites do not hold {unknown}"
        yield self._other_rows_problem()

    def _unknown_measure(self) -> str:
        """The word after "highest" or "average" that is in no column or query."""
        view = self.view
        columns = (view.roots(c) for c in range(len(view.columns)))
        known = frozenset().union(*columns, view.reading.tables, roots(self._unit_text()))
        words = tokens(self.claim)
        for word, behind in pairwise(words):
            if word in MEAN or (word in ("highest", "lowest") and find_superlatives(word)):
                plain = behind in _SMALL_WORDS or behind[0].isdigit() or _is_ordinary(behind)
                if not plain and not is_known(behind, known):
                    return behind
        return ""

    def _other_rows_problem(self) -> str:
        """Why a rank or total may be of other rows than the claim says."""
        view, words = self.view, set(tokens(self.claim)) - {"overall"}
        is_mean_of_each = "avg" in view.reading.aggregates and _EACH.search(self.claim)
        if is_mean_of_each or find_missing_aggregate(words, view):
            return "the query does not compute that"
        if not (find_superlatives(self.claim) or view.reading.aggregates):
            return ""
        known_text = f"{self.claim} {self.question} {self.rules} {self.subject}"
        for name in view.reading.names:
            if (own := roots(name)) and not own & roots(known_text):
                return f"its query is about {name!r}, which it does not say"
        if number := find_unasked_number(known_text, view.reading):
            return f"its query compares with {number}, which it does not say"
        return ""

    def _is_decision(self) -> bool:
        """Whether it only states the decision, and the decision follows from the facts."""
        named = {str(name.what).casefold() for name in self.names}
        chooses = _CHOOSES.search(self.claim) is not None
        return self.settled and chooses and named == {self.subject.strip().casefold()}

    # .. names ..

    def _unknown_name(self) -> str:
        """A name that is neither in the table nor in the question; empty if there is none."""
        view = self.view
        besides = [*view.columns, view.reading.text, self.question, self.rules]
        cells = [cell for row in view.rows for cell in row if isinstance(cell, str)]
        given = " ".join([*cells, *besides])
        if name := find_unknown_name(self.claim, given):
            return name
        known, general = roots(given), roots(" ".join(besides))
        ends: frozenset[str] = frozenset()  # the roots of the words in the names of rows
        if self.key is not None and view.is_text(self.key):
            ends = roots(" ".join(str(row[self.key]) for row in view.rows))
        strict = {*self._places_beside_groups()}
        loose = {0, *(m.end() for m in re.finditer(r"[,;:]\s+", self.claim))}
        loose |= {m.end() for m in _BEFORE_NAMES.finditer(self.claim)}
        for match in re.finditer(r"[^\W\d_][\w'-]*", self.claim):
            word, start = match[0], match.start()
            plain = [w for w in tokens(word) if not w[0].isdigit()]
            if any(a <= start < b for a, b in self.covered) or find_superlatives(word):
                continue
            if any(w not in _SMALL_WORDS and root(w) in ends - general for w in plain):
                return word  # a part of another name
            if start not in strict | loose or find_comparatives(f"{word} than"):
                continue
            fine = all(w in _OPENING_WORDS or root(w) in known for w in plain)
            if not fine and not (start not in strict and _is_ordinary(word)):
                return word
        return ""

    def _places_beside_groups(self) -> Iterator[int]:
        """The places of words beside a word for a text column, as in "of the genre drama"."""
        texts = [c for c in range(len(self.view.columns)) if self.view.is_text(c)]
        words = frozenset().union(*(roots(self.view.columns[c]) for c in texts)) - GENERIC_ROOTS
        found = list(re.finditer(r"[^\W\d_][\w'-]*", self.claim))
        for at, match in enumerate(found):
            if root(match[0]) in words:
                near = (*found[at - 1 : at], match, *found[at + 1 : at + 2])
                for left, right in pairwise(near):
                    if self.claim[left.end() : right.start()].isspace():
                        yield (left if right is match else right).start()

    # .. values ..

    def _values(self) -> Iterator[tuple[bool | None, str]]:
        """Check that each number and text cell is in the row and column that the claim names."""
        values = [*self._numbers(), *(_Place(m.begin, m.end, m) for m in self.attributes)]
        values.sort(key=lambda one: one.begin)
        if not values:
            return
        for value in values:
            if isinstance(value.what, float) and not self._columns_of(value.what):
                # It contradicts the row that is named.
                is_single = len(self.names) == 1 or len(self.view.rows) == 1
                yield False if is_single else None, f"{value.what:g} is in no fact that it cites"
                return
        for unit in [*find_units(self.claim), *self._counted_words(values)]:
            if find_foreign_unit(unit, self._unit_text(), ""):
                yield None, f"the facts that it cites do not say {unit}"
                return
        if self._has_wrong_unit():
            yield None, "a number has another unit in the facts that it cites"
            return
        rows = self._named_rows()
        if rows is None:
            yield None, "it does not say of which row"
            return
        amounts = [value for value in values if isinstance(value.what, float)]
        columns = self._named_columns(values)
        for row_labels, column_labels in product(
            _label_values(rows, values), _label_values(columns, amounts)
        ):
            named = {value.begin: c for value, c in zip(amounts, column_labels, strict=True)}
            if all(
                self._is_cell(value, r, named.get(value.begin))
                for value, r in zip(values, row_labels, strict=True)
            ):
                yield True, ""
                return
        yield False, "the cited rows say it of something else"

    def _unit_text(self) -> str:
        view = self.view
        return f"{' '.join(view.columns)} {view.reading.text} {self.question} {self.rules}"

    def _counted_words(self, values: Sequence[_Place]) -> Iterator[str]:
        """The words right after numbers that are neither function words nor verbs."""
        for value in values:
            match = re.match(r"\s([a-z][a-zß-ÿ]+)", self.claim[value.end :])
            if isinstance(value.what, float) and match:
                word = match[1]
                is_plain = word in _SMALL_WORDS or _is_ordinary(word)
                if not (is_plain or find_comparatives(f"{word} than")):
                    yield word

    def _has_wrong_unit(self) -> bool:
        """Whether a number has another unit than its column."""
        known = self._unit_text()
        for match in re.finditer(NUMBER, self.claim):
            own = find_units_at(self.claim, *match.span())
            columns = self._columns_of(float(match[0].replace(",", "").replace("\u00a0", "")))
            names = [self.view.columns[c] for c in columns] if own else []
            if names and all(find_foreign_unit(own[0], known, name) for name in names):
                return True
        return False

    def _columns_of(self, number: float) -> list[int]:
        return [
            c
            for c in range(len(self.view.columns))
            if any(_is_number(row[c], number) for row in self.view.rows)
        ]

    def _numbers(self) -> list[_Place]:
        """The numbers of the claim, except those in names, bounds, counts and given amounts."""
        bounds = {bound.number for bound in find_bounds(self.claim)}
        own = self.view.roots(self.key) if self.key is not None else frozenset()
        row_words = self.view.reading.tables | own | roots("rows options candidates results")
        total = {
            match.start(1)
            for match in _OF_ALL.finditer(self.claim)
            if self.view.complete
            and float(match[1].replace(",", "")) == len(self.view.rows)
            and root(match[2]) in row_words
        }
        found = []
        for match in re.finditer(
            rf"(?<![\w.-])(-?)(?:[$€£]|[A-Z]{{3}}\s?)?({NUMBER})(?!\d)", self.claim
        ):
            begin = match.start(2)
            number = float(match[1] + re.sub(r"[^\d.]", "", match[2]))
            within = any(a <= begin < b for a, b in self.covered)
            if within or number in bounds or begin in total or self._is_given(match):
                continue
            found.append(_Place(begin, match.end(), number))
        return found

    def _is_given(self, match: re.Match[str]) -> bool:
        """Whether the question or the rules contain the number with its word."""
        if self._columns_of(float(re.sub(r"[^\d.]", "", match[2]))):
            return False
        behind = re.match(r"\s?[\w%€$£]+", self.claim[match.end() :])
        phrase = match[2] + (behind[0] if behind else "")
        return phrase.lower() in f"{self.question} {self.rules}".lower()

    def _named_rows(self) -> list[_Place] | None:
        """The rows in the claim, by the places of their names; None if it names none."""
        view = self.view
        if self.names:
            return [_Place(name.begin, name.end, self._rows_of(name)) for name in self.names]
        if len(view.rows) == 1:
            return [_Place(-1, -1, list(view.rows))]
        top = [row for one in find_superlatives(self.claim) for row in self._top_rows(one) or ()]
        if top:
            return [_Place(-1, -1, top)]
        if self.subject and self.key is not None:
            subject = self.subject.casefold()
            own = [row for row in view.rows if str(row[self.key]).casefold() == subject]
            if own and not self.attributes:
                return [_Place(-1, -1, own)]
        return None

    def _named_columns(self, values: Sequence[_Place]) -> list[_Place]:
        """The columns in the claim, by the places of their names."""
        view = self.view
        covered = [(p.begin, p.end) for p in self.names]
        covered += [(v.begin, v.end) for v in values]
        found, vague = [], []
        for match in re.finditer(r"[^\W\d_]+", self.claim):
            if any(a <= match.start() < b for a, b in covered):
                continue
            word = root(match[0])
            if find_superlatives(match[0]) or find_comparatives(f"{match[0]} than"):
                continue
            columns = [c for c in self.ordered if word in roots(view.columns[c])]
            if columns and word in GENERIC_ROOTS:
                vague.append(_Place(match.start(), match.end(), columns))
                continue
            if columns := columns or self._columns_of_kind({match[0].lower()}):
                found.append(_Place(match.start(), match.end(), columns))
        return _merge_places(found) or _merge_places(vague)

    def _columns_of_kind(self, words: set[str]) -> list[int]:
        """The ordered columns of a kind that one of the words names."""
        kinds = [kind for kind, own in KINDS.items() if own & words]
        return [c for c in self.ordered if any(is_of_kind(k, self.view.roots(c)) for k in kinds)]

    def _is_cell(self, value: _Place, rows: object, columns: object) -> bool:
        """Whether a value is a cell of these rows and columns; None means all of them."""
        what = value.what
        chosen: Iterable[Row] = rows if isinstance(rows, list) else self.view.rows
        if not isinstance(what, float):
            mention = what
            return any(row[mention.column] == mention.cell for row in chosen)  # type: ignore[attr-defined]
        wanted = columns if isinstance(columns, list) else range(len(self.view.columns))
        numeric = [c for c in wanted if self.view.is_ordered(c)]
        return any(_is_number(row[c], what) for row in chosen for c in numeric)

    def _lists(self) -> Iterator[tuple[bool | None, str]]:
        """Check that a statement on listed names is true of each: "in Sales are Ann and Bob"."""
        columns = [m.column for m in self.attributes]
        if find_comparatives(self.claim) or len(set(columns)) < len(columns):
            return
        for names in _listed_names(self.names, self.claim):
            rows = self._rows_of(*names)
            for mention in self.attributes:
                if any(row[mention.column] != mention.cell for row in rows):
                    yield False, f"not all of them are {mention.cell}"

    # .. ranks ..

    def _ranks(self) -> Iterator[tuple[bool | None, str]]:
        """Check that each superlative is true of a named row."""
        for one in find_superlatives(self.claim):
            top = self._top_rows(one)
            if top is None:
                yield None, f"its facts do not show that it is the {one.word}"
                continue
            if not self.names:
                groups = [m for m in self.attributes if m not in self._rank_groups()]
                if any(row[m.column] != m.cell for m in groups for row in top):
                    yield False, f"the rows show another as the {one.word}"
                    continue
                is_about_rows = self._numbers() or self.attributes
                yield (True, "") if is_about_rows else (None, "it names no row")
                continue
            is_top = any(row in top for row in self._rows_of(*self.names))
            yield is_top, f"the rows show another as the {one.word}"

    def _rank_groups(self) -> list[Mention]:
        """The groups that limit a rank, as in "the cheapest in the west"."""
        return [
            mention
            for mention in self.attributes
            if _GROUP_PREPOSITION.search(before := self.claim[: mention.begin])
            or find_superlatives(" ".join(tokens(before)[-2:]))
        ]

    def _top_rows(self, superlative: Superlative) -> list[Row] | None:
        """The rows of which a superlative is true; None if the fact does not show it."""
        view, within = self.view, self._rank_groups()
        if within and len(find_superlatives(self.claim)) > 1:
            return None  # it is unknown which superlative the group limits
        for mention in within:
            if mention.column != self.key:
                left = [row for row in view.rows if row[mention.column] == mention.cell]
                view = view.where(left)
        asked = self.roots | roots(self.question) | roots(self.rules)
        if len(self.view.rows) > 1:
            for about in (self.roots, asked):
                picks = rank_rows(view, superlative, about)
                if picks and (view.complete or is_ordered_alike(view.reading, picks)):
                    common = [row for row in picks[0].rows if all(row in p.rows for p in picks)]
                    return common if common or len(picks) == 1 else None
        if is_ranked_by_query(view.reading, superlative, self.roots, asked):
            return list(view.rows[:1])
        return None

    # .. comparisons ..

    def _comparisons(self) -> Iterator[tuple[bool | None, str]]:
        """Check each "cheaper than" with the rows named before and after it."""
        bounds = find_bounds(self.claim)
        for one in find_comparatives(self.claim):
            if any(one.word in tokens(bound.text) for bound in bounds):
                continue
            match = re.search(rf"\b{one.word}\b", self.claim, re.I)
            than = re.search(r"\bthan\b", self.claim[match.end() :], re.I) if match else None
            if not match:
                continue
            split = match.end() + (than.end() if than else 0)
            left = [n for n in self.names if n.end <= match.start()] or [
                n for n in self.names if n.end <= split
            ]
            right = [n for n in self.names if n.begin >= split]
            if not left and self.claim[: match.start()].strip().lower() in ("is", ""):
                left = self.names[:1]
            if len(left) != 1 or not right:
                yield None, f"it does not say what is {one.word} than what"
                continue
            yield self._compare(one, left[0].what, [n.what for n in right])

    def _compare(
        self, one: Superlative, left: object, right: Sequence[object]
    ) -> tuple[bool | None, str]:
        about = self.roots | (frozenset() if one.senses else roots(self.question))
        view, key = self.view, self.key or 0
        picks = rank_rows(view, one, about) or rank_rows(view, one, about | roots(self.question))
        found = set()
        for pick in picks:
            mine = [row[pick.column] for row in view.rows if row[key] == left]
            theirs = [row[pick.column] for row in view.rows if row[key] in right]
            if len(mine) != 1 or len(theirs) != len(set(map(str, right))):
                return None, f"the rows do not show what is {one.word}"
            sign = 1 if pick.direction == "highest" else -1
            if not all(isinstance(cell, int | float) for cell in (*mine, *theirs)):
                return None, f"the rows do not show what is {one.word}"
            own = float(mine[0])  # type: ignore[arg-type]
            found.add(all((own - float(other)) * sign > 0 for other in theirs))  # type: ignore[arg-type]
        if len(found) != 1:
            return None, f"no column says what is {one.word}"
        return found.pop(), f"the rows do not show that it is {one.word}"

    def _bounds(self) -> Iterator[tuple[bool | None, str]]:
        """Check each "more than 10" with the named row."""
        for bound in find_bounds(self.claim):
            if self._is_filter(bound):
                yield True, ""
                continue
            rows = self._named_rows()
            if not rows or len(rows) > 1:
                yield None, f"it does not say what is {bound.text}"
                continue
            chosen = best_columns(self.view, self.ordered, bound.roots | self.roots)
            chosen = chosen or self._columns_of_kind(set(tokens(self.claim)))
            if len(chosen) != 1:
                yield None, f"no column says what is {bound.text}"
                continue
            cells = [row[chosen[0]] for row in rows[0].what]  # type: ignore[attr-defined]
            is_met = all(isinstance(c, int | float) and bound.is_met_by(float(c)) for c in cells)
            yield bool(cells) and is_met, f"it is not {bound.text}"

    def _is_filter(self, bound: Bound) -> bool:
        """Whether the query itself keeps only rows that meet a bound."""
        query = self.view.reading.text
        sign = "<" if bound.relation in ("at_most", "less") else ">"
        equal = "=?" if bound.relation.startswith("at_") else ""
        number = re.escape(f"{bound.number:g}")
        found = re.search(rf"([\w.]+)[`\"\]]?\s*{sign}{equal}\s*{number}(?![\w.])", query)
        if not found or _LOOSE.search(query):
            return False
        return bool(column_roots(found[1], self.view.reading) & bound.roots)


def _is_ordinary(word: str) -> bool:
    """Whether a word is an ordinary word and not a name, by its ending or a word list."""
    plain = word.lower()
    return plain.endswith(("ly", "ing", "ed")) or plain in _ORDINARY


_SMALL_WORDS = _OPENING_WORDS | word_set(
    "to or is are was were belongs makes being than or as per each while whereas that against "
    "versus followed compared out per cent"
)
_ORDINARY = word_set(
    "belongs makes reaches appears follows remains holds meets charges earns delivers sits "
    "needs has have offers takes needs shows gives stands comes lies ranks leads wins which "
    "whereas best better good also still then other others any more less most least one not "
    "well about around exactly far much available cost costs price prices number value right "
    "clear shown larger smaller times which rank first second top"
)


def _listed_names(names: Sequence[_Place], claim: str) -> Iterator[list[_Place]]:
    """Groups of names with only commas and "and" between them."""
    group = list(names[:1])
    for before, name in pairwise(names):
        if not _NAME_SEPARATOR.fullmatch(claim[before.end : name.begin]):
            yield group
            group = []
        group.append(name)
    yield group


def _is_number(cell: Value, number: float) -> bool:
    if not isinstance(cell, int | float) or isinstance(cell, bool):
        return False
    text = f"{number:.12g}"
    decimals = len(text.partition(".")[2]) if "e" not in text else 0
    return is_same_number(float(cell), number, decimals)


def _merge_places(found: Sequence[_Place]) -> list[_Place]:
    """Merge adjacent words; they mean what all of them may mean, as in "unit price"."""
    merged: list[_Place] = []
    for place in found:
        if merged and place.begin - merged[-1].end <= 1:
            before: list[int] = merged[-1].what  # type: ignore[assignment]
            both = [c for c in before if c in place.what]  # type: ignore[operator]
            merged[-1] = _Place(merged[-1].begin, place.end, both or place.what)
        else:
            merged.append(place)
    return merged


def _label_values(labels: Sequence[_Place], values: Sequence[_Place]) -> Iterator[list[object]]:
    """The possible labels of the values: the label before each, after each, or in order.

    Without labels a value may belong to anything.
    """
    if not (labels and values):
        yield [None] * len(values)
        return
    if len(labels) == 1:
        yield [labels[0].what] * len(values)
        return
    before = [[x.what for x in labels if x.end <= v.begin][-1:] for v in values]
    if all(before):
        yield [one[0] for one in before]
    after = [[x.what for x in labels if x.begin >= v.end][:1] for v in values]
    if all(after):
        yield [one[0] for one in after]
    is_separate = labels[-1].end <= values[0].begin or values[-1].end <= labels[0].begin
    if len(labels) == len(values) and is_separate:
        yield [one.what for one in labels]
