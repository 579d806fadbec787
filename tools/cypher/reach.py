"""Names that a query gets nearly right, and properties that are one step away.

A small model knows what it looks for better than where a graph keeps it: as in SQL, a name with one
near neighbour is that one, and a property of the node next door is looked up there.
"""

from collections.abc import Iterable

from planweave.tools.cypher.describe import quoted
from planweave.tools.cypher.hints import Names
from planweave.tools.cypher.patterns import Element, PropertyAccess
from planweave.tools.cypher.sql_habits import clauses
from planweave.tools.cypher.tokens import Corrections, CypherToken, Tokens, behind, instead
from planweave.tools.database import Entity
from planweave.tools.linking import parts_of
from planweave.tools.suggest import nearest

_NEXT = "next"
_CLOSE = 0.75
"""Resemblance from which on a name counts as misspelled."""


def properties(entity: Entity) -> set[str]:
    """What nodes of a label, or relationships of a type, may have."""
    return {field.name for field in entity.fields}


def renamed(names: Names, tokens: Tokens) -> Corrections:
    """Labels, types and properties that do not exist, where one that exists is meant."""
    for place, element in names.patterns.elements.items():
        known = names.nodes if element.is_node else names.relationships
        for name in element.names:
            meant = "" if name in known else _near(name, known) or _implied(element, names)
            token = next((t for t in tokens[place:] if t.identifier == name), None)
            if meant and token:
                yield [instead(token, quoted(meant))], f"{name} → {meant}"
    for access, owner in names.owned():
        if access.property in properties(owner):
            continue
        meant = _ends_alike(access.property, properties(owner))
        if not meant and not is_known(access.property, names):
            meant = _near(access.property, properties(owner))
        if meant:
            yield [instead(tokens[access.place + 2], quoted(meant))], f"{access.property} → {meant}"


def _implied(element: Element, names: Names) -> str:
    """The only label that the links of a node leave open; empty if there are several, or none."""
    found = names.entities(element) if element.is_node else []
    return found[0].name if len(found) == 1 else ""


def _near(name: str, known: Iterable[str]) -> str:
    close = nearest(name, sorted(known), 1, close=_CLOSE)
    return close[0] if close else ""


def _ends_alike(name: str, known: Iterable[str]) -> str:
    """The only name that ends with this word: ``full_name`` for ``name``; empty without one."""
    found = [
        one for one in known if parts_of(one)[-1:] and parts_of(one)[-1].lower() == name.lower()
    ]
    return found[0] if len(found) == 1 else ""


def is_known(name: str, names: Names) -> bool:
    """Whether anything in the graph has a property of that name."""
    every = (*names.nodes.values(), *names.relationships.values())
    return any(name in properties(entity) for entity in every)


def joined(names: Names, tokens: Tokens) -> Corrections:
    """Properties of the one label next door that has them: the step there joins the pattern."""
    made: dict[tuple[str, str], str] = {}
    for access, owner in names.owned():
        if owner.name not in names.nodes or access.property in properties(owner):
            continue
        if _is_here(access.property, names):
            continue
        steps = steps_to(owner.name, access.property, names)
        last = last_of_pattern(access, names, tokens)
        if len(steps) != 1 or last is None:
            continue
        step, label = steps[0]
        edits = []
        key = (access.variable, label)
        if key not in made:
            made[key] = f"next{len(made) + 1}"
            edits.append(behind(last, step_from(access.variable, step, made[key])))
        edits.append(instead(tokens[access.place], made[key]))
        yield edits, f"{access.property} is a property of {label}"


def _is_here(name: str, names: Names) -> bool:
    """Whether an element of the query has the property."""
    elements = names.patterns.elements.values()
    return any(name in properties(one) for e in elements for one in names.entities(e))


def step_from(variable: str, step: str, name: str) -> str:
    """A step as a further pattern, in which what it leads to has a name."""
    return f", ({quoted(variable)}){step.replace(_NEXT, name)}"


def steps_to(label: str, name: str, names: Names) -> list[tuple[str, str]]:
    """Steps from a label to what beside it has a property, and the label or type that has it.

    A node goes before a relationship, which often repeats the keys of its nodes.
    """
    nodes, types = [], {}
    for type_, other, left, right in names.ways(label):
        if name in properties(type_):
            types[f"{left}[{_NEXT}:{quoted(type_.name)}]{right}()"] = type_.name
        if name in properties(names.nodes[other]):
            step = f"{left}[:{quoted(type_.name)}]{right}({_NEXT}:{quoted(other)})"
            nodes.append((step, other))
    return nodes or [*types.items()]


def last_of_pattern(access: PropertyAccess, names: Names, tokens: Tokens) -> CypherToken | None:
    """The end of the MATCH that binds a variable; None if the property is read elsewhere."""

    def binds(element: Element) -> bool:
        return element.is_node and element.variable == access.variable

    place = next((p for p, element in names.patterns.elements.items() if binds(element)), -1)
    words = clauses(tokens)
    before = [one for one in words if place >= 0 and one.start < tokens[place].start]
    after = [one for one in words if place >= 0 and one.start > tokens[place].start]
    read_at = tokens[access.place].start
    is_apart = any(one.word in ("WITH", "UNION") and one.start < read_at for one in after)
    if not before or before[-1].word != "MATCH" or not after or is_apart:
        return None
    return last_before(tokens, after[0])


def last_before(tokens: Tokens, following: CypherToken) -> CypherToken:
    """The last token of the clause before another one."""
    return [one for one in tokens if one.start < following.start][-1]
