"""The path through a graph that a question speaks of, so that a small model need not find it."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain, count
from typing import NamedTuple

from planweave.tools.cypher.describe import quoted
from planweave.tools.database import Entity, Schema
from planweave.tools.linking import parts_of, plain
from planweave.tools.unlinked import QUOTED

_AGENT = re.compile(r"(?:ation|ings?|ies?|e?d|e?rs?|ors?|e?s|e|y|i)$")
"""Endings that the forms of a word differ in: ``directors`` and ``DIRECTED``."""
_IRREGULAR = {"wrote": "writ", "written": "writ", "bought": "buy", "sold": "sell", "sent": "send"}
_PLAIN = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_SMALL = frozenset(("in", "of", "by", "to", "has", "is"))
_TITLES = ("name", "title")
_VAGUE = frozenset(("name", "title", "id", "type", "kind", "description"))
_SAME = re.compile(r"\b(?:same|both|also|themselves)\b", re.IGNORECASE)
_MOST = 2
"""Relationships between the same two labels that one pattern can hold."""


class _Step(NamedTuple):
    """A relationship type between two labels."""

    start: str
    type: Entity
    end: str


def way(question: str, schema: Schema, spoken: Sequence[tuple[str, str, Sequence[str]]]) -> str:
    """The pattern that joins the labels and types which a question names.

    Args:
        question: In the user's words.
        schema: The graph's.
        spoken: Labels, properties and those of their values that the question speaks of.

    Returns:
        A pattern such as ``(c:Customer)-[:PURCHASED]->(o:Order)``; empty if the question names
        no two labels, or leaves open by which relationship they are joined.
    """
    labels, types = _named(question, schema, spoken)
    for type_ in types:
        if len(type_.start) == len(type_.end) == 1:
            labels += [label for label in (*type_.start, *type_.end) if label not in labels]
    if not labels:
        return ""
    steps = _joined(labels, types, _steps(schema))
    if not steps:  # what stands alone needs no path; a pattern for it misleads
        return ""
    return _written(steps, same=_SAME.search(question) is not None)


def _named(
    question: str, schema: Schema, spoken: Sequence[tuple[str, str, Sequence[str]]]
) -> tuple[list[str], list[Entity]]:
    """Labels and relationship types by their names, by properties of their own, and by values."""
    words = [root(word) for word in plain(QUOTED.sub(" ", question)).split()]
    owners = _owners_of_named_properties(words, schema)
    said = set(words)
    nodes = [entity for entity in schema.entities if entity.kind == "node"]
    labels = [one.name for one in nodes if _roots(one.name) <= said or one.name in owners]
    names = [_roots(one.name) for one in nodes]
    types = [
        one
        for one in schema.entities
        if one.kind == "relationship"
        and (one.name in owners or (_roots(one.name) <= said and _roots(one.name) not in names))
    ]
    types.sort(key=lambda one: min(map(words.index, _roots(one.name) & said), default=len(words)))
    for label, key, values in spoken:
        elsewhere = any(one in labels and {*texts} & {*values} for one, _, texts in spoken)
        is_node = any(one.name == label for one in nodes)
        if is_node and label not in labels and (key.lower() in _TITLES or not elsewhere):
            labels.append(label)
    return labels, types


def _owners_of_named_properties(words: list[str], schema: Schema) -> set[str]:
    """Entities that alone have a property which is named; long names are taken out of ``words``.

    The words of ``units on order`` name a property, and no order.
    """
    homes: dict[tuple[str, ...], set[str]] = {}
    for entity in schema.entities:
        for field in entity.fields:
            if field.name.lower() not in _VAGUE:
                parts = tuple(root(part.casefold()) for part in parts_of(field.name))
                homes.setdefault(parts, set()).add(entity.name)
    owners: set[str] = set()
    for parts in sorted(homes, key=len, reverse=True):
        for at in range(len(words) - len(parts) + 1):
            if parts and tuple(words[at : at + len(parts)]) == parts:
                owners |= homes[parts] if len(homes[parts]) == 1 else set()
                if len(parts) > 1:
                    words[at : at + len(parts)] = [""] * len(parts)
    return owners


def root(word: str) -> str:
    """What the forms of a word have in common."""
    short = _AGENT.sub("", word, count=1)
    return _IRREGULAR.get(word, short if len(short) > 2 else word)


def _roots(name: str) -> set[str]:
    return {root(part.casefold()) for part in parts_of(name) if part.casefold() not in _SMALL}


def _steps(schema: Schema) -> Mapping[frozenset[str], list[_Step]]:
    """The relationship types between each two labels."""
    found: dict[frozenset[str], list[_Step]] = {}
    for type_ in schema.entities:
        for start in type_.start:
            for end in type_.end:
                found.setdefault(frozenset((start, end)), []).append(_Step(start, type_, end))
    return found


def _joined(
    labels: Sequence[str], types: Sequence[Entity], steps: Mapping[frozenset[str], list[_Step]]
) -> list[_Step] | None:
    """Steps that join the labels, the fewest to each; None if they leave a choice."""
    joined, chosen = [labels[0]], list[_Step]()
    for goal in labels[1:]:
        path = _path(joined, goal, steps)
        if path is None:
            return None
        for pair in path:
            possible = steps[pair]
            named = [one for type_ in types for one in possible if one.type is type_]
            taken = named or possible
            if len(taken) > (_MOST if named else 1):
                return None
            chosen += taken
            joined += [label for label in pair if label not in joined]
    return chosen


def _path(
    starts: Sequence[str], goal: str, steps: Mapping[frozenset[str], list[_Step]]
) -> list[frozenset[str]] | None:
    """The fewest pairs of labels that lead from any of ``starts`` to ``goal``."""
    reached: dict[str, list[frozenset[str]]] = {label: [] for label in starts}
    frontier = list(starts)
    while goal not in reached and frontier:
        following: list[str] = []
        for label in frontier:
            for pair in steps:
                for other in pair - {label} if label in pair else ():
                    if other not in reached:
                        reached[other] = [*reached[label], pair]
                        following.append(other)
        frontier = following
    return reached.get(goal)


def _written(steps: Sequence[_Step], *, same: bool) -> str:
    """The steps as one pattern, or several with commas between.

    Two relationships between the same labels start at one node only if the question says so.
    """
    names = _Names()
    row = _in_a_row(steps)
    patterns: list[str] = []
    at, before = "", frozenset[str]()
    for (start, type_, end), following in zip(row, [*row[1:], row[0]], strict=True):
        pair = frozenset((start, end))
        if at not in pair:
            known = [label for label in (start, end) if names.knows(label)]
            goes_on = {following.start, following.end}
            at = known[0] if known else end if start in goes_on and end not in goes_on else start
            patterns.append(names.node(at))
        goal = end if at == start else start
        if pair == before and not same:
            names.forget(goal)
        between = names.relationship(type_)
        arrow = f"-{between}->" if at == start else f"<-{between}-"
        patterns[-1] += f"{arrow}{names.node(goal)}"
        at, before = goal, pair
    return ", ".join(patterns)


def _in_a_row(steps: Sequence[_Step]) -> list[_Step]:
    """The steps so that each goes on from the one before, as far as they can."""
    left = list(steps)
    often = Counter(label for one in left for label in {one.start, one.end})
    first = next((one for one in left if 1 in (often[one.start], often[one.end])), left[0])
    at = first.start if often[first.end] == 1 and often[first.start] > 1 else first.end
    left.remove(first)
    row = [first]
    while left:
        following = next((one for one in left if at in (one.start, one.end)), left[0])
        left.remove(following)
        at = following.end if at == following.start else following.start
        row.append(following)
    return row


class _Names:
    """Variables for nodes and relationships."""

    def __init__(self) -> None:
        self._now: dict[str, str] = {}
        self._used: set[str] = set()

    def knows(self, label: str) -> bool:
        """Whether a node of the label has been written."""
        return label in self._now

    def forget(self, label: str) -> None:
        """Give the next node of the label another variable."""
        self._now.pop(label, None)

    def node(self, label: str) -> str:
        """A node: with its label the first time."""
        if label in self._now:
            return f"({self._now[label]})"
        self._now[label] = self._new(label)
        return f"({self._now[label]}:{_name(label)})"

    def relationship(self, type_: Entity) -> str:
        """A relationship; it has a variable if it has properties to be read."""
        variable = self._new("r") if type_.fields else ""
        return f"[{variable}:{_name(type_.name)}]"

    def _new(self, label: str) -> str:
        """A variable: the first letter, the first two, or the first with a number."""
        letters = label[:2].lower() if _PLAIN.match(label) else "n"
        numbered = (f"{letters[0]}{number}" for number in count(2))
        tries = chain((letters[0], letters), numbered)
        name = next(name for name in tries if name not in self._used)
        self._used.add(name)
        return name


def _name(name: str) -> str:
    return name if _PLAIN.fullmatch(name) else quoted(name)
