"""The names of a query, resolved against the schema."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from planweave.texts import listed
from planweave.tools.cypher.patterns import Element, PatternLink, Patterns, PropertyAccess
from planweave.tools.cypher.tokens import Tokens, quote_name
from planweave.tools.database import Entity, Schema
from planweave.tools.suggest import nearest

_LISTED = 12
"""Most names in one message."""
_COMPONENTS = {"year", "month", "day", "hour", "minute", "second", "week", "quarter", "dayOfWeek"}
_COMPONENTS |= {"days", "months", "seconds", "epochSeconds", "epochMillis", "x", "y", "z"}
_COMPONENTS |= {"longitude", "latitude"}
"""Properties of dates, durations and points."""


class Step(NamedTuple):
    """A relationship type that leads from a label to another.

    Attributes:
        label: The label that the step leads to.
        left: The marks before the brackets of the relationship.
        right: The marks after them.
    """

    type: Entity
    label: str
    left: str
    right: str

    def link(self, variable: str = "") -> str:
        """The relationship as Cypher, such as ``-[:OWNS]->``."""
        return f"{self.left}[{variable}:{quote_name(self.type.name)}]{self.right}"


def property_names(entity: Entity) -> set[str]:
    """The properties of a label or relationship type."""
    return {field.name for field in entity.fields}


class ResolvedQuery(Patterns):
    """The patterns of a query, resolved against a schema.

    Args:
        schema: Labels, relationship types and their properties.
        tokens: The tokens of the query.
        question: The question that the query answers.
    """

    def __init__(self, schema: Schema, tokens: Tokens, question: str = "") -> None:
        super().__init__(tokens)
        self.question = question
        self.nodes = {e.name: e for e in schema.entities if e.kind == "node"}
        self.relationships = {e.name: e for e in schema.entities if e.kind == "relationship"}
        self._owners: dict[str, dict[str, Entity]] = {}
        for element in self.elements.values():
            if element.variable:
                owners = self._owners.setdefault(element.variable, {})
                owners.update({e.name: e for e in self.entities_of(element)})
        for link in self.links:
            self._infer_labels(link)

    def entities_of(self, element: Element) -> list[Entity]:
        """The labels or types that an element may have; empty if the query names none."""
        known = self.nodes if element.is_node else self.relationships
        named = [known[name] for name in element.names if name in known]
        return named or list(self._owners.get(element.variable, {}).values())

    def types_of(self, link: PatternLink) -> list[Entity]:
        """The types of the schema that a link names."""
        named = link.relationship.names
        return [self.relationships[name] for name in named if name in self.relationships]

    def only_type_of(self, link: PatternLink) -> Entity | None:
        """The type of a link that names a single one; None if the schema does not have it."""
        named = link.relationship.names
        return self.relationships.get(named[0]) if len(named) == 1 else None

    def owners_of(self, variable: str) -> list[Entity]:
        """The labels or types of a variable; empty if they are not certain."""
        is_rebound = variable in self.rebound
        return [] if is_rebound else list(self._owners.get(variable, {}).values())

    def owned_accesses(self) -> Iterator[tuple[PropertyAccess, Entity]]:
        """Each property of a variable with one label or type, and this; no map projections."""
        for access in self.accesses:
            owners = self.owners_of(access.variable)
            if access.index >= 0 and len(owners) == 1:
                yield access, owners[0]

    def is_property(self, name: str) -> bool:
        """Whether any label or relationship type has a property of this name."""
        entities = (*self.nodes.values(), *self.relationships.values())
        return any(name in property_names(entity) for entity in entities)

    def steps_from(self, label: str) -> Iterator[Step]:
        """Every step from a label; a type that leads both ways gives one step for each."""
        for type_ in self.relationships.values():
            if label in type_.start:
                yield from (Step(type_, end, "-", "->") for end in type_.end)
            if label in type_.end:
                yield from (Step(type_, end, "<-", "-") for end in type_.start)

    def can_join(self, type_: Entity, link: PatternLink, *, is_reversed: bool = False) -> bool:
        """Whether a relationship of this type can join the link's nodes in its direction.

        ``is_reversed`` asks for the opposite direction.
        """
        left, right = (
            {entity.name for entity in self.entities_of(node)} for node in (link.left, link.right)
        )

        def leads(start: set[str], end: set[str]) -> bool:
            starts = not start or not start.isdisjoint(type_.start)
            return starts and (not end or not end.isdisjoint(type_.end))

        forward, backward = leads(left, right), leads(right, left)
        if is_reversed:
            forward, backward = backward, forward
        return {">": forward, "<": backward}.get(link.arrow, forward or backward)

    def unknown_names(self) -> Iterator[tuple[str, str]]:
        """A sentence for every unknown name, and one that suggests the nearest names."""
        for element in self.elements.values():
            known = self.nodes if element.is_node else self.relationships
            kind = "label" if element.is_node else "relationship type"
            for name in element.names:
                if name not in known:
                    yield f"There is no {kind} {name}.", _suggest(name, known)
            for name, _ in element.properties:
                yield from self._check_property(name, self.entities_of(element))
        for access in self.accesses:
            owners = self.owners_of(access.variable)
            if owners or access.property not in self.map_keys | _COMPONENTS:
                yield from self._check_property(access.property, owners)

    def _check_property(self, name: str, owners: Sequence[Entity]) -> Iterator[tuple[str, str]]:
        """Report a property that none of its possible owners has."""
        entities = [*self.nodes.values(), *self.relationships.values()]
        names = dict.fromkeys(field.name for e in owners or entities for field in e.fields)
        if name in names:
            return
        who = " or ".join(entity.name for entity in owners)
        elsewhere = [entity.name for entity in entities if name in property_names(entity)]
        also = f" {name} is a property of {', '.join(elsewhere)}." if owners and elsewhere else ""
        problem = f"{who} has no property {name}." if who else f"There is no property {name}."
        yield problem, _suggest(name, names) + also

    def _infer_labels(self, link: PatternLink) -> None:
        """Give each node without a label the labels that the relationship permits."""
        hops = link.relationship.many_hops
        types = self.entities_of(link.relationship) or list(self.relationships.values())
        possible = types if hops else [type_ for type_ in types if self.can_join(type_, link)]
        if not link.arrow or (hops and not link.relationship.names):
            return
        for element, is_start in ((link.left, link.arrow == ">"), (link.right, link.arrow == "<")):
            labels = {name for e in possible for name in (e.start if is_start else e.end)}
            if element.variable and not self.entities_of(element):
                known = {name: node for name, node in self.nodes.items() if name in labels}
                self._owners[element.variable] = known


def _suggest(name: str, known: Iterable[str]) -> str:
    candidates = list(known)
    if close := nearest(name, candidates):
        return f"Did you mean {' or '.join(close)}?"
    return f"There is: {listed(candidates, _LISTED)}." if candidates else ""
