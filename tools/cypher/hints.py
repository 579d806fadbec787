"""Explain why a result may be empty: a relationship in the wrong direction, an unknown value."""

from collections.abc import Iterator, Sequence
from contextlib import suppress

from planweave import PlanweaveError
from planweave.tools.cypher.describe import ReadRows
from planweave.tools.cypher.resolved import ResolvedQuery
from planweave.tools.cypher.tokens import quote_name
from planweave.tools.database import Cell, Entity
from planweave.tools.suggest import values_near

_LITERALS = 3
"""Most literals that are looked up for one hint."""
_VALUES = 500
"""Most values that a literal is compared with."""


def explain_result(query: ResolvedQuery, rows: Sequence[Sequence[Cell]], read: ReadRows) -> str:
    """Sentences that explain why a result may be empty or wrong; empty if nothing is suspicious.

    ``read`` runs a small query that looks up which values exist.
    """
    sentences = list(dict.fromkeys(_check_directions(query)))
    if all(cell in (None, 0, []) for row in rows for cell in row):
        with suppress(PlanweaveError):  # a failed look-up only costs the hint
            for compared in list(_compared_literals(query))[:_LITERALS]:
                sentences += _check_value(*compared, read)
    return " ".join(sentences)


def _check_directions(query: ResolvedQuery) -> Iterator[str]:
    """For each link that the schema excludes, the direction that exists."""
    for link in query.links:
        types = query.types_of(link)
        is_chain = link.relationship.many_hops and len(types) > 1
        if not types or is_chain or any(query.can_join(type_, link) for type_ in types):
            continue
        type_ = types[0]
        exists = f"({'|'.join(type_.start)})-[:{type_.name}]->({'|'.join(type_.end)})"
        is_reversed = query.can_join(type_, link, is_reversed=True)
        yield f"{exists} exists, not the reverse." if is_reversed else f"Only {exists} exists."


def _compared_literals(query: ResolvedQuery) -> Iterator[tuple[Entity, str, str]]:
    """Every property of a known label or type that is compared with a literal."""
    for element in query.elements.values():
        entities = query.entities_of(element)
        for name, literal in element.properties:
            if literal and len(entities) == 1:
                yield entities[0], name, literal
    for access, owner in query.owned_accesses():
        if access.literal:
            yield owner, access.property, access.literal


def _check_value(entity: Entity, name: str, literal: str, read: ReadRows) -> list[str]:
    """The values nearest to a literal that no element has; empty if one has it."""
    label, field = quote_name(entity.name), f"x.{quote_name(name)}"
    pattern = f"(x:{label})" if entity.kind == "node" else f"()-[x:{label}]->()"
    if read(f"MATCH {pattern} WHERE {field} = {literal} RETURN 1 LIMIT 1"):
        return []
    distinct = f"WHERE {field} IS NOT NULL RETURN DISTINCT {field} LIMIT {_VALUES}"
    values = [row[0] for row in read(f"MATCH {pattern} {distinct}")]
    is_complete = len(values) < _VALUES
    if texts := [value for value in values if isinstance(value, str)]:
        near = values_near(literal.strip("'\""), texts, every=is_complete)
    else:
        others = [str(value).lower() for value in values]
        near = values_near(literal, others, every=is_complete, shown=str)
    return [f"No {entity.name} has {name} = {literal}; {near}."]
