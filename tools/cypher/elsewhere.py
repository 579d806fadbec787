"""Texts that another property holds: a summary that is looked for in the tagline."""

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from planweave.tools.cypher.comparisons import moved_to_where
from planweave.tools.cypher.describe import quoted
from planweave.tools.cypher.hints import Names
from planweave.tools.cypher.patterns import PropertyAccess
from planweave.tools.cypher.reach import last_of_pattern, properties, step_from, steps_to
from planweave.tools.cypher.titles import LOOKED_UP
from planweave.tools.cypher.tokens import Corrections, CypherToken, Edit, Tokens, behind, instead
from planweave.tools.database import Entity
from planweave.tools.linking import Values, stems_of

_HELD = "held"
"""Name of the neighbour that holds a text."""


class _Sought(NamedTuple):
    """A text that a query looks for, as the whole or as a part of a stored one."""

    value: CypherToken
    is_part: bool


class _Tested(NamedTuple):
    """What moves the test for a text from a property to the one that is meant."""

    edits: list[Edit]
    text: str
    name: str
    meant: str


def held_elsewhere(names: Names, tokens: Tokens, question: str, values: Values) -> Corrections:
    """Tests for a text that the property holds nowhere, and only one other within reach does.

    That may be a property of the query's own nodes and links, else of what is linked to the node.
    The property alone is exchanged: whose it is, other corrections find out. What the question
    asks of the one and not of the other stays: no title may contain what a tagline does.
    """
    values, spoken = cache(values), stems_of(question)
    for tested in ([*_compared(names, tokens, values)], [*_mapped(names, tokens, values)]):
        found = [
            (edits, f"{text} is looked for in {meant}")
            for edits, text, name, meant in tested
            if stems_of(meant) & spoken or not stems_of(name) & spoken
        ]
        yield from found
        if found:
            return


def _compared(names: Names, tokens: Tokens, values: Values) -> Iterator[_Tested]:
    """``m.tagline = 'Silly'``, and ``CONTAINS``."""
    for access, owner in names.owned():
        place = access.place
        if place < 1 or place + 4 >= len(tokens):
            continue
        sign, value = tokens[place + 3], tokens[place + 4]
        is_part, is_denied = sign.word == "CONTAINS", tokens[place - 1].word == "NOT"
        if value.kind != "string" or is_denied or not (is_part or sign.text == "="):
            continue
        sought = _Sought(value, is_part)
        meant, holders = _holder(owner, access.property, sought, names, tokens, values)
        edits = [instead(tokens[place + 2], quoted(meant))] if meant else []
        if meant in properties(owner):  # others have it, too: the one who is meant is named
            edits = _of_neighbour(access, owner, meant, holders, names, tokens)
        if edits:
            yield _Tested(edits, value.text, access.property, meant)


def _of_neighbour(
    access: PropertyAccess,
    owner: Entity,
    meant: str,
    holders: set[str],
    names: Names,
    tokens: Tokens,
) -> list[Edit]:
    """``m.name = 'Codeine'`` of an ingredient: the step to the only neighbour that holds it."""
    near = steps_to(owner.name, meant, names)
    steps = [step for step, label in near if {label} == holders != {owner.name}]
    last = last_of_pattern(access, names, tokens)
    if len(steps) != 1 or last is None:
        return []
    name = f"{_HELD}{access.place}"  # of each test its own
    step = behind(last, step_from(access.variable, steps[0], name))
    key = instead(tokens[access.place + 2], quoted(meant))
    return [step, instead(tokens[access.place], name), key]


def _mapped(names: Names, tokens: Tokens, values: Values) -> Iterator[_Tested]:
    """``(p:Product {categoryID: 'Sweets'})``: the entry goes to WHERE first."""
    for place, element in names.patterns.elements.items():
        owners = names.entities(element)
        for name, literal in element.properties if len(owners) == 1 else ():
            value = next((one for one in tokens[place:] if one.text == literal), tokens[place])
            if value.kind != "string":
                continue
            meant, _ = _holder(owners[0], name, _Sought(value, False), names, tokens, values)
            edits = moved_to_where(names, tokens, place, name, f"= {literal}") if meant else []
            if edits:
                yield _Tested(edits, literal, name, meant)
                return


def _is_said_apart(value: CypherToken, tokens: Tokens) -> bool:
    """Whether the text stands twice in a query of several parts.

    Without this test they would not be linked by anything, and return rows in place of none.
    """
    texts = [token.text for token in tokens]
    return texts.count(value.text) > 1 and [token.word for token in tokens].count("MATCH") > 1


def _holder(
    owner: Entity,
    name: str,
    sought: _Sought,
    names: Names,
    tokens: Tokens,
    values: Values,
) -> tuple[str, set[str]]:
    """The only other property that holds a text, and whose it is.

    The name is empty if its own holds it, or none, or several.
    """
    text = sought.value.text[1:-1]

    def holds(entity: Entity, key: str) -> bool | None:
        found = values(entity.name, key)
        if text in found or (sought.is_part and text.casefold() in "\n".join(found).casefold()):
            return True
        return None if len(found) >= LOOKED_UP.rows else False  # there may be more

    if not text or _is_said_apart(sought.value, tokens) or holds(owner, name) is not False:
        return "", set()
    for reached in (_here(names), _beside(owner, names)):
        fields = [(entity, field) for entity in reached for field in entity.fields]
        found = [(e.name, f.name) for e, f in fields if f.type == "STRING" and holds(e, f.name)]
        if found:
            keys = {key for _, key in found}
            return (keys.pop() if len(keys) == 1 else ""), {name for name, _ in found}
    return "", set()


def _here(names: Names) -> list[Entity]:
    """What the query's own nodes and links are."""
    elements = names.patterns.elements.values()
    found = {one.name: one for e in elements for one in names.entities(e)}
    return [*found.values()]


def _beside(owner: Entity, names: Names) -> list[Entity]:
    """What is linked to nodes of a label."""
    types = [one for one in names.relationships.values() if owner.name in (*one.start, *one.end)]
    labels = {label for one in types for label in (*one.start, *one.end)}
    return [names.nodes[label] for label in sorted(labels) if label in names.nodes]
