"""Checks the names of a query against the schema, and says why a result may be empty."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress

from planweave import PlanweaveError
from planweave.texts import listed
from planweave.tools.cypher.describe import ReadRows, quoted
from planweave.tools.cypher.patterns import Element, PatternLink, Patterns, PropertyAccess
from planweave.tools.cypher.tokens import Tokens
from planweave.tools.database import Cell, Entity, QueryFailed, Schema
from planweave.tools.suggest import nearest, values_near

_LISTED = 12  # names in one hint
_LITERALS = 3  # literals looked up for one hint
_NUMBERS = 5  # that are named of many
_VALUES = 500  # values that a literal is compared with
_PARTS = {"year", "month", "day", "hour", "minute", "second", "week", "quarter", "dayOfWeek"}
_PARTS |= {"days", "months", "seconds", "epochSeconds", "epochMillis", "x", "y", "z"}
_PARTS |= {"longitude", "latitude"}  # of dates, durations and points


class Names:
    """The names in a query beside those of the schema."""

    def __init__(self, schema: Schema, tokens: Tokens) -> None:
        self.patterns = Patterns(tokens)
        self.nodes = {e.name: e for e in schema.entities if e.kind == "node"}
        self.relationships = {e.name: e for e in schema.entities if e.kind == "relationship"}
        self._owners: dict[str, dict[str, Entity]] = {}
        for element in self.patterns.elements.values():
            if element.variable:
                owners = self._owners.setdefault(element.variable, {})
                owners.update({e.name: e for e in self.entities(element)})
        for link in self.patterns.links:
            self._infer(link)

    def entities(self, element: Element) -> list[Entity]:
        """The labels or types of the schema that an element may be of; empty when it says none."""
        known = self.nodes if element.is_node else self.relationships
        own = [known[name] for name in element.names if name in known]
        return own or list(self._owners.get(element.variable, {}).values())

    def types(self, link: PatternLink) -> list[Entity]:
        """The types of the schema that a link names."""
        named = link.relationship.names
        return [self.relationships[name] for name in named if name in self.relationships]

    def only_type(self, link: PatternLink) -> Entity | None:
        """The type of a link that names a single one; None if the schema does not have it."""
        named = link.relationship.names
        return self.relationships.get(named[0]) if len(named) == 1 else None

    def _infer(self, link: PatternLink) -> None:
        """Give a node without label those labels that the relationship leaves open."""
        hops = link.relationship.many_hops
        types = self.entities(link.relationship) or list(self.relationships.values())
        possible = types if hops else [entity for entity in types if runs(entity, link, self)]
        if not link.arrow or (hops and not link.relationship.names):
            return
        for element, is_start in ((link.left, link.arrow == ">"), (link.right, link.arrow == "<")):
            labels = {name for e in possible for name in (e.start if is_start else e.end)}
            if element.variable and not self.entities(element):
                known = {name: node for name, node in self.nodes.items() if name in labels}
                self._owners[element.variable] = known

    def owners(self, variable: str) -> list[Entity]:
        """What a variable stands for, or nothing when that is not sure."""
        rebound = variable in self.patterns.rebound
        return [] if rebound else list(self._owners.get(variable, {}).values())

    def owned(self) -> Iterator[tuple[PropertyAccess, Entity]]:
        """Each property that is read of a single label or type, and this; no map projections."""
        for access in self.patterns.accesses:
            owners = self.owners(access.variable)
            if access.place >= 0 and len(owners) == 1:
                yield access, owners[0]

    def ways(self, label: str) -> Iterator[tuple[Entity, str, str, str]]:
        """Every way from a label: the type, the label it leads to, and the arrow before and behind.

        Of a type that leads both ways, each is one.
        """
        for type_ in self.relationships.values():
            for here, there, left, right in (
                (type_.start, type_.end, "-", "->"),
                (type_.end, type_.start, "<-", "-"),
            ):
                yield from ((type_, end, left, right) for end in there if label in here)

    def check(self) -> None:
        """Raise for the first name that does not exist.

        Raises:
            QueryFailed: A label, type or property is unknown; ``fix`` names the nearest ones.
        """
        for problem, fix in self.problems():
            raise QueryFailed(problem, fix=fix)

    def problems(self) -> Iterator[tuple[str, str]]:
        """Every unknown name, as a sentence and its fix."""
        for element in self.patterns.elements.values():
            known = self.nodes if element.is_node else self.relationships
            kind = "label" if element.is_node else "relationship type"
            for name in element.names:
                if name not in known:
                    yield f"There is no {kind} {name}.", _nearest(name, known)
            for name, _ in element.properties:
                yield from self._unknown(self.entities(element), name)
        for access in self.patterns.accesses:
            owners = self.owners(access.variable)
            if owners or access.property not in self.patterns.map_keys | _PARTS:
                yield from self._unknown(owners, access.property)

    def _unknown(self, owners: Sequence[Entity], name: str) -> Iterator[tuple[str, str]]:
        """Report a property that none of its possible owners has."""
        everything = [*self.nodes.values(), *self.relationships.values()]
        possible = owners or everything
        if any(name == field.name for entity in possible for field in entity.fields):
            return
        who = " or ".join(e.name for e in owners)
        fields = dict.fromkeys(f.name for e in possible for f in e.fields)
        elsewhere = [e.name for e in everything if name in {f.name for f in e.fields}]
        also = f" {name} is a property of {', '.join(elsewhere)}." if owners and elsewhere else ""
        problem = f"{who} has no property {name}." if who else f"There is no property {name}."
        yield problem, _nearest(name, fields) + also


def _nearest(name: str, known: Iterable[str]) -> str:
    candidates = list(known)
    if close := nearest(name, candidates):
        return f"Did you mean {' or '.join(close)}?"
    return f"There is: {listed(candidates, _LISTED)}." if candidates else ""


def hint(names: Names, rows: Sequence[Sequence[Cell]], read: ReadRows) -> str:
    """Say why a result may be empty: a relationship the wrong way round, a value nobody has.

    ``read`` runs a small query, to look up which values exist.
    """
    sentences = list(dict.fromkeys(_directions(names)))
    if all(cell in (None, 0, []) for row in rows for cell in row):
        with suppress(PlanweaveError):  # a hint is not worth an error
            sentences += _values(names, read)
    return " ".join(sentences)


def _directions(names: Names) -> Iterator[str]:
    """For each link that the schema rules out, the direction that does exist."""
    for link in names.patterns.links:
        known = names.types(link)
        is_chain = link.relationship.many_hops and len(known) > 1
        if not known or is_chain or any(runs(entity, link, names) for entity in known):
            continue
        entity = known[0]
        exists = f"({'|'.join(entity.start)})-[:{entity.name}]->({'|'.join(entity.end)})"
        yield (
            f"{exists} exists, not the reverse."
            if runs(entity, link.turned, names)
            else f"Only {exists} exists."
        )


def _labels(names: Names, element: Element) -> set[str]:
    return {entity.name for entity in names.entities(element)}


def runs(entity: Entity, link: PatternLink, names: Names) -> bool:
    """Whether a relationship of this type can join the link's nodes in its direction."""
    left, right = _labels(names, link.left), _labels(names, link.right)

    def joins(start: set[str], end: set[str]) -> bool:
        return (not start or bool(start & set(entity.start))) and (
            not end or bool(end & set(entity.end))
        )

    forward, backward = joins(left, right), joins(right, left)
    return {">": forward, "<": backward}.get(link.arrow, forward or backward)


def _values(names: Names, read: ReadRows) -> list[str]:
    """For literals that no element has, the nearest values that exist."""
    return [
        sentence
        for entity, name, literal in list(_equalities(names))[:_LITERALS]
        if (sentence := _missing(entity, name, literal, read))
    ]


def _equalities(names: Names) -> Iterator[tuple[Entity, str, str]]:
    """Every comparison of a known element's property with a literal."""
    for element in names.patterns.elements.values():
        entities = names.entities(element)
        for name, literal in element.properties:
            if literal and len(entities) == 1:
                yield entities[0], name, literal
    for access, owner in names.owned():
        if access.literal:
            yield owner, access.property, access.literal


def _missing(entity: Entity, name: str, literal: str, read: ReadRows) -> str:
    end = "(x:{})" if entity.kind == "node" else "()-[x:{}]->()"
    pattern, field = end.format(quoted(entity.name)), f"x.{quoted(name)}"
    if read(f"MATCH {pattern} WHERE {field} = {literal} RETURN 1 LIMIT 1"):
        return ""
    values = [
        row[0]
        for row in read(
            f"MATCH {pattern} WHERE {field} IS NOT NULL RETURN DISTINCT {field} LIMIT {_VALUES}"
        )
    ]
    there = _there(literal, values, every=len(values) < _VALUES)
    return f"No {entity.name} has {name} = {literal}; {there}."


def _there(literal: str, values: Sequence[Cell], *, every: bool) -> str:
    """Which values there are near the literal, written as literals."""
    numbers = sorted({v for v in values if isinstance(v, int | float) and type(v) is not bool})
    if literal[0] not in "'\"" and len(numbers) > _NUMBERS:
        wanted = float(literal) if literal[-1].isdigit() else 0.0
        close = sorted(numbers, key=lambda v: abs(v - wanted))[:_NUMBERS]
        count = f"{len(values):,}" if every else f"more than {len(values):,}"
        return f"of its {count} values the nearest are {', '.join(map(str, close))}"
    texts = [v for v in values if isinstance(v, str)]
    if not texts:  # few numbers, or the literal is of another type
        others = [str(v).lower() for v in (numbers or values)]
        return values_near(literal, others, every=every, shown=str)
    return values_near(literal.strip("'\""), texts, every=every)
