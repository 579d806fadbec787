"""Generates facts, and right and wrong decisions and sentences about them.

Tables, names and numbers are drawn from ``pairs.yaml``. A wrong text differs from a right one in
one respect, which names its case.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple

import yaml
from pydantic import TypeAdapter

from planweave.memory import Fact, Quote, Table, Value

Kind = Literal["decision", "claim", "ranking", "rows"]


class Pair(NamedTuple):
    """A text, the facts that it cites, and whether they support it."""

    kind: (
        Kind  # a decision, a sentence of its reasons, a ranking query, or a query whose rows answer
    )
    case: str  # what is right or wrong in the text
    text: str
    supported: bool
    facts: tuple[Fact, ...]
    question: str
    rules: str = ""


@dataclass(frozen=True)
class _Measure:
    """A column of numbers, and phrases for it and for its least and largest value."""

    column: str
    words: str
    unit: str
    rival: str
    low: float
    high: float
    digits: int
    least: tuple[str, ...] = ()
    most: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Domain:
    """A table: its rows, their groups and their measures."""

    table: str
    thing: str
    things: str
    key: str
    group: str
    where: str
    groups: tuple[str, ...]
    measures: tuple[_Measure, ...]


class _Page(NamedTuple):
    """A sentence of a page about two parties, and a question about the first."""

    text: str
    question: str
    parties: tuple[tuple[str, str], tuple[str, str]]
    unit: str
    rival: str
    low: int
    high: int


class _Words(NamedTuple):
    """The contents of ``pairs.yaml``: tables, pages, and parts of names."""

    domains: tuple[_Domain, ...]
    pages: tuple[_Page, ...]
    heads: tuple[str, ...]
    tails: tuple[str, ...]
    seconds: tuple[str, ...]


@cache
def _load_words() -> _Words:
    text = Path(__file__).with_name("pairs.yaml").read_text("utf-8")
    return TypeAdapter(_Words).validate_python(yaml.safe_load(text))


def _draw_names(rng: random.Random, count: int) -> list[str]:
    words = _load_words()
    style = rng.choice(("plain", "plain", "lower", "two", "code"))
    found: dict[str, None] = {}
    while len(found) < count:
        name = rng.choice(words.heads) + rng.choice(words.tails)
        if style == "lower":
            name = name.lower()
        elif style == "two":
            name = f"{name} {rng.choice(words.seconds)}"
        elif style == "code":
            name = f"{name[:2].upper()}-{rng.randint(10, 99)}"
        found[name] = None
    return list(found)


def query_fact(
    number: int, columns: Sequence[str], rows: Sequence[Sequence[Value]], query: str
) -> Fact:
    """A fact as a query node makes it."""
    lines = [" | ".join(columns), *(" | ".join(map(str, row)) for row in rows)]
    return Fact(
        number=number,
        text="\n".join(lines),
        values=dict(zip(columns, rows[0], strict=True)) if len(rows) == 1 else {},
        source="sql",
        query=query,
        quote=None,
        table=Table(columns=list(columns), rows=[list(row) for row in rows], complete=True),
    )


def quote_fact(number: int, text: str) -> Fact:
    """A fact as the reader makes it from a page with this text."""
    return Fact(
        number=number,
        text=text,
        values={},
        source="documents",
        query="",
        quote=Quote(document="contract.pdf", page=number, text=text),
    )


class _World:
    """One drawn table and the measures that questions are about."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.domain = domain = rng.choice(_load_words().domains)
        count = rng.randint(4, 8)
        *self.names, self.stranger = _draw_names(rng, count + 1)
        self.measure, self.other = rng.sample(domain.measures, 2)
        self.groups = [rng.choice(domain.groups) for _ in self.names]
        self.groups[0] = self.groups[1]
        self.values = self._column(self.measure, count)
        self.others = self._column(self.other, count)
        order = sorted(range(count), key=lambda i: self.values[i])
        self.low, self.high = order[0], order[-1]
        self.columns = [domain.key, domain.group, self.measure.column, self.other.column]
        columns = (self.names, self.groups, self.values, self.others)
        self.rows = [list(row) for row in zip(*columns, strict=True)]

    def _column(self, measure: _Measure, count: int) -> list[int | float]:
        found: dict[int | float, None] = {}
        while len(found) < count:
            drawn = round(self.rng.uniform(measure.low, measure.high), measure.digits)
            found[int(drawn) if measure.digits == 0 else drawn] = None
        return list(found)

    # -- facts --

    def all_rows(self) -> Fact:
        listed = ", ".join(self.columns)
        return query_fact(1, self.columns, self.rows, f"SELECT {listed} FROM {self.domain.table}")

    def row(self, at: int, measure: _Measure, *, down: bool | None = None) -> Fact:
        """One row: the first by a measure, or, without ``down``, a row without any order."""
        d, m = self.domain, measure.column
        value = (self.values if measure is self.measure else self.others)[at]
        order = "" if down is None else f" ORDER BY {m}{' DESC' * down}"
        query = f"SELECT {d.key}, {m} FROM {d.table}{order} LIMIT 1"
        return query_fact(1, [d.key, m], [[self.names[at], value]], query)

    def value_of(self, at: int, number: int = 1) -> Fact:
        d, m = self.domain, self.measure.column
        name = self.names[at].replace("'", "''")
        query = f"SELECT {m} FROM {d.table} WHERE {d.key} = '{name}'"
        return query_fact(number, [m], [[self.values[at]]], query)

    # -- words --

    def number(self, at: int) -> str:
        value = self.values[at]
        return f"{value:,}" if value >= 10000 and self.rng.random() < 0.3 else f"{value}"

    def with_unit(self, at: int, unit: str = "") -> str:
        unit = unit or self.measure.unit
        return f"{self.number(at)}{'' if unit == '%' else ' '}{unit}"

    def other_than(self, *taken: int) -> int:
        return self.rng.choice([i for i in range(len(self.names)) if i not in taken])


def generate_pairs(seed: int, count: int) -> list[Pair]:
    """Generate about ``count`` pairs; a seed always gives the same."""
    rng = random.Random(seed)
    pairs: list[Pair] = []
    while len(pairs) < count:
        make = rng.choice((_decisions, _decisions, _claims, _claims, _documents))
        pairs += make(rng)
    return pairs


def _decisions(rng: random.Random) -> Iterator[Pair]:
    world = _World(rng)
    make = rng.choice((_superlative, _superlative, _value, _grouped, _counted, _compared, _summed))
    for case, text, supported, facts, question in make(world, rng):
        yield Pair("decision", case, text, supported, tuple(facts), question)


_Cases = Iterator[tuple[str, str, bool, Sequence[Fact], str]]


def _superlative(w: _World, rng: random.Random) -> _Cases:
    d, m = w.domain, w.measure
    down = rng.random() < 0.5
    right, wrong = (w.high, w.low) if down else (w.low, w.high)
    word = "highest" if down else "lowest"
    superlatives = (f"has the {word} {m.words}", *(m.most if down else m.least))
    question = f"Which {d.thing} {rng.choice(superlatives)}?"
    table, top = [w.all_rows()], [w.row(right, m, down=down)]
    middle = w.other_than(right, wrong)
    yield "right, all rows", w.names[right], True, table, question
    yield "right, ordered query", w.names[right], True, top, question
    yield "other end of the rank", w.names[wrong], False, table, question
    yield "middle of the rank", w.names[middle], False, table, question
    yield "name that no row holds", w.stranger, False, table, question
    turned = [w.row(wrong, m, down=not down)]
    yield "query ordered the other way", w.names[wrong], False, turned, question
    alone, right_alone = [w.row(middle, m)], [w.row(right, m)]
    yield "one row without a rank", w.names[middle], False, alone, question
    yield "right, but one row without a rank", w.names[right], False, right_alone, question
    at = w.others.index((max if down else min)(w.others))
    if at != right:
        one = [w.row(at, w.other, down=down)]
        yield "ranked by another column", w.names[at], False, one, question
        rows = [[n, o] for n, o in zip(w.names, w.others, strict=True)]
        every = f"SELECT {d.key}, {w.other.column} FROM {d.table}"
        listed = query_fact(1, [d.key, w.other.column], rows, every)
        yield "rows of another column", w.names[at], False, [listed], question
    amount = f"What is the {word} {m.words}?"
    yield "right amount", w.with_unit(right), True, table, amount
    yield "amount of another row", w.with_unit(middle), False, table, amount
    yield "amount in another unit", w.with_unit(right, m.rival), False, table, amount


def _value(w: _World, rng: random.Random) -> _Cases:
    d, m = w.domain, w.measure
    at = rng.randrange(len(w.names))
    question = rng.choice(
        (f"What is the {m.words} of {w.names[at]}?", f"Which {m.words} does {w.names[at]} have?")
    )
    other = w.other_than(at)
    table, one = [w.all_rows()], [w.value_of(at)]
    yield "right, all rows", w.number(at), True, table, question
    yield "right, one value", w.with_unit(at), True, one, question
    yield "number of another row", w.number(other), False, table, question
    yield "value of another row", w.with_unit(other), False, [w.value_of(other)], question
    yield "number of another column", f"{w.others[at]}", False, table, question
    invented = f"{round(w.values[at] * 1.17 + 1, m.digits)}"
    yield "number that stands nowhere", invented, False, table, question
    yield "another unit", w.with_unit(at, m.rival), False, one, question
    stranger = question.replace(w.names[at], w.stranger)
    yield "asked of something else", w.number(at), False, one, stranger
    which = f"In which {d.group.replace('_', ' ')} is {w.names[at]}?"
    yield "right group", w.groups[at], True, table, which
    for group in d.groups:
        if group != w.groups[at]:
            yield "wrong group", group, False, table, which
            break


def _grouped(w: _World, rng: random.Random) -> _Cases:
    d, m = w.domain, w.measure
    group = w.groups[0]
    inside = [i for i, one in enumerate(w.groups) if one == group]
    down = rng.random() < 0.5
    best = (max if down else min)(inside, key=lambda i: w.values[i])
    overall = w.high if down else w.low
    word = "highest" if down else "lowest"
    question = f"Which {d.thing} {d.where.format(group)} has the {word} {m.words}?"
    table = [w.all_rows()]
    yield "right within a group", w.names[best], True, table, question
    if overall not in inside:
        yield "first of all groups", w.names[overall], False, table, question
        top = [w.row(overall, m, down=down)]
        yield "first of all groups by a query", w.names[overall], False, top, question
    others = [i for i in inside if i != best]
    yield "another of the group", w.names[others[0]], False, table, question


def _counted(w: _World, _: random.Random) -> _Cases:
    d = w.domain
    group = w.groups[0]
    inside = w.groups.count(group)
    question = f"How many {d.things} are {d.where.format(group)}?"
    query = f"SELECT COUNT(*) AS n FROM {d.table} WHERE {d.group} = '{group}'"
    one = [query_fact(1, ["n"], [[inside]], query)]
    groups = {g: w.groups.count(g) for g in w.groups}
    grouping = f"SELECT {d.group}, COUNT(*) AS n FROM {d.table} GROUP BY {d.group}"
    every = [query_fact(1, [d.group, "n"], [[g, n] for g, n in groups.items()], grouping)]
    yield "right count", f"{inside}", True, one, question
    yield "right count among groups", f"{inside}", True, every, question
    yield "wrong count", f"{inside + 1}", False, one, question
    yield "count of all", f"{len(w.names)}", len(w.names) == inside, every, question
    for g, n in groups.items():
        if n != inside:
            yield "count of another group", f"{n}", False, every, question
            q = f"SELECT COUNT(*) AS n FROM {d.table} WHERE {d.group} = '{g}'"
            other = [query_fact(1, ["n"], [[n]], q)]
            yield "query on another group", f"{n}", False, other, question
            break


def _compared(w: _World, rng: random.Random) -> _Cases:
    m = w.measure
    first, second = rng.sample(range(len(w.names)), 2)
    less = rng.random() < 0.5
    word = "lower" if less else "higher"
    question = rng.choice(
        (
            f"Is the {m.words} of {w.names[first]} {word} than that of {w.names[second]}?",
            f"Does {w.names[first]} have a {word} {m.words} than {w.names[second]}?",
        )
    )
    true = (w.values[first] < w.values[second]) == less
    right, wrong = ("yes", "no") if true else ("no", "yes")
    table = [w.all_rows()]
    single = [w.value_of(first), w.value_of(second, 2)]
    yield "right yes or no", right, True, table, question
    yield "wrong yes or no", wrong, False, table, question
    yield "right yes or no, two facts", right, True, single, question
    yield "wrong yes or no, two facts", wrong, False, single, question
    yield "yes or no on one row of two", right, False, [w.value_of(first)], question


def _summed(w: _World, _: random.Random) -> _Cases:
    d, m = w.domain, w.measure
    total = round(sum(w.values), m.digits)
    question = f"What is the total {m.words} of all {d.things}?"
    query = f"SELECT SUM({m.column}) AS total FROM {d.table}"
    summed = [query_fact(1, ["total"], [[total]], query)]
    yield "right sum", f"{total}", True, summed, question
    yield "wrong sum", f"{round(total * 1.1 + 1, m.digits)}", False, summed, question
    yield "one value for a sum", f"{w.values[0]}", False, [w.value_of(0)], question
    average = round(total / len(w.values), 2)
    mean = [query_fact(1, ["mean"], [[average]], f"SELECT AVG({m.column}) AS mean FROM {d.table}")]
    yield "mean for a sum", f"{average}", False, mean, question


_Claims = Iterator[tuple[str, str, bool, Sequence[Fact]]]


def _claims(rng: random.Random) -> Iterator[Pair]:
    w = _World(rng)
    down = rng.random() < 0.5
    word = "highest" if down else "lowest"
    question = f"Which {w.domain.thing} has the {word} {w.measure.words}?"

    def made() -> _Claims:
        yield from _superlatives(w, rng, down=down)
        a, b = rng.sample(range(len(w.names)), 2)
        yield from _listings(w, rng, a, b)
        yield from _comparisons(w, rng, a, b)
        yield from _memberships(w, a)

    for case, text, supported, facts in made():
        yield Pair("claim", case, text, supported, tuple(facts), question)


def _superlatives(w: _World, rng: random.Random, *, down: bool) -> _Claims:
    d, m = w.domain, w.measure
    right = w.high if down else w.low
    word, opposite = ("highest", "lowest") if down else ("lowest", "highest")
    other = w.other_than(w.high, w.low)

    def say(at: int, rank: str, value: int, name: str = "", unit: str = "") -> list[str]:
        name, number = name or w.names[at], w.with_unit(value, unit)
        return [
            f"{name} has the {rank} {m.words} with {number}.",
            f"The {rank} {m.words}, {number}, belongs to {name}.",
            f"{name} has the {rank} {m.words} of all {len(w.names)} {d.things}: {number}.",
            f"With {number}, {name} has the {rank} {m.words}.",
            f"The {d.thing} with the {rank} {m.words} is {name} at {number}.",
            f"{name} stands out because its {m.words} of {number} is the {rank}.",
        ]

    table, top = [w.all_rows()], [w.row(right, m, down=down)]
    which = rng.randrange(6)
    alone = which if which != 2 else 0  # the third wording counts all rows
    yield "right superlative", say(right, word, right)[which], True, table
    yield "right superlative, ordered query", say(right, word, right)[alone], True, top
    yield "wrong name", say(other, word, right)[which], False, table
    yield "name that no row holds", say(right, word, right, w.stranger)[which], False, table
    yield "superlative of another row", say(other, word, other)[which], False, table
    yield "opposite superlative", say(right, opposite, right)[which], False, table
    yield "number of another row", say(right, word, other)[which], False, table
    yield "unit changed", say(right, word, right, unit=m.rival)[which], False, table
    ones = [w.row(other, m)], [w.row(right, m)]
    yield "superlative over one row", say(other, word, other)[alone], False, ones[0]
    yield "right superlative over one row", say(right, word, right)[alone], False, ones[1]
    yield "negation", f"{w.names[right]} does not have the {word} {m.words}.", False, table


def _listings(w: _World, rng: random.Random, a: int, b: int) -> _Claims:
    m, table = w.measure, [w.all_rows()]
    listing = rng.choice(
        (
            "The {m} of {a} is {x} and that of {b} is {y}.",
            "{a} has a {m} of {x}, while {b} has {y}.",
            "{a}: {x}, {b}: {y}.",
            "{a} and {b} have a {m} of {x} and {y}.",
        )
    )

    def listed(x: str, y: str) -> str:
        return listing.format(m=m.words, a=w.names[a], b=w.names[b], x=x, y=y)

    yield "right listing", listed(w.with_unit(a), w.with_unit(b)), True, table
    yield "numbers swapped", listed(x=w.with_unit(b), y=w.with_unit(a)), False, table
    invented = f"{round(w.values[b] * 1.3 + 1, m.digits)} {m.unit}"
    yield "one number wrong", listed(w.with_unit(a), invented), False, table


def _comparisons(w: _World, rng: random.Random, a: int, b: int) -> _Claims:
    lower, higher = (a, b) if w.values[a] < w.values[b] else (b, a)
    low, high = w.names[lower], w.names[higher]
    comparing = rng.choice(
        (
            "{a} has a {c} {m} than {b}.",
            "The {m} of {a} is {c} than that of {b}.",
            "{a}, at {x}, has a {c} {m} than {b} at {y}.",
        )
    )
    numbers = {"x": w.with_unit(lower), "y": w.with_unit(higher), "m": w.measure.words}
    for case, one, two, way in (
        ("right comparison", low, high, "lower"),
        ("comparison turned round", low, high, "higher"),
        ("names turned round", high, low, "lower"),
        ("comparison with nobody known", low, w.stranger, "lower"),
    ):
        text = comparing.format(a=one, b=two, c=way, **numbers)
        yield case, text, case == "right comparison", [w.all_rows()]


def _memberships(w: _World, at: int) -> _Claims:
    """Claims on the group of a row, and one with a number of another column."""
    words, table = w.measure.words, [w.all_rows()]
    if w.groups[at]:
        tail = f" and has a {words} of {w.with_unit(at)}."
        wrong = next(g for g in w.domain.groups if g != w.groups[at])
        for case, group in (("right group", w.groups[at]), ("wrong group", wrong)):
            text = f"{w.names[at]} is {w.domain.where.format(group)}{tail}"
            yield case, text, case == "right group", table
    if w.others[at] != w.values[at]:
        swapped = f"{w.names[at]} has a {words} of {w.others[at]}."
        yield "number of another column", swapped, False, table


_DENIALS = ((" may ", " may not "), (" is ", " is not "), (" produced ", " never produced "))


def _documents(rng: random.Random) -> Iterator[Pair]:
    text, first, parties, unit, rival, low, high = rng.choice(_load_words().pages)
    a, b = rng.choice(parties)
    x, y = rng.sample(range(low, high), 2)
    fill = {"a": a, "b": b, "x": x, "y": y, "u": unit}
    page = text.format(**fill)
    question = first.format(**fill)
    plain, foreign = unit.rstrip("'"), rival.rstrip("'")
    denied = page
    for stated, negated in _DENIALS:
        denied = denied.replace(stated, negated)
    made: list[tuple[Kind, str, str, bool]] = [
        ("decision", "right, from words", f"{x} {plain}", True),
        ("decision", "number of the other party", f"{y} {plain}", False),
        ("decision", "another unit, from words", f"{x} {foreign}", False),
        ("decision", "number that no page says", f"{x + 100} {plain}", False),
        ("claim", "right quotation", page, True),
        ("claim", "numbers swapped in words", text.format(**{**fill, "x": y, "y": x}), False),
        ("claim", "unit changed in words", page.replace(unit, rival), False),
        ("claim", "negation in words", denied, False),
    ]
    for kind, case, claimed, supported in made:
        yield Pair(kind, case, claimed, supported, (quote_fact(1, page),), question)
