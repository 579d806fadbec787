"""Correct names that a query gets nearly right, and properties that are one step away.

A small model knows what it wants better than where the graph stores it. A name with one near
neighbour means that neighbour. A property of an adjacent node is read there.
"""

from collections.abc import Iterable

from planweave.tools.cypher.patterns import Element, PropertyAccess
from planweave.tools.cypher.resolved import ResolvedQuery, property_names
from planweave.tools.cypher.tokens import Corrections, CypherToken, quote_name
from planweave.tools.linking import parts_of
from planweave.tools.suggest import nearest

_CLOSE = 0.75
"""Least similarity of a misspelt name."""


def correct_names(query: ResolvedQuery) -> Corrections:
    """Replace labels, types and properties that do not exist by the intended ones."""
    for start, element in query.elements.items():
        known = query.nodes if element.is_node else query.relationships
        for name in element.names:
            meant = "" if name in known else _nearest(name, known) or _only_label(element, query)
            token = next((t for t in query.tokens[start:] if t.identifier == name), None)
            if meant and token:
                yield [token.replace_with(quote_name(meant))], f"{name} → {meant}"
    for access, owner in query.owned_accesses():
        name, names = access.property, property_names(owner)
        if name in names:
            continue
        meant = _only_with_last_word(name, names)
        if not meant and not query.is_property(name):
            meant = _nearest(name, names)
        if meant:
            token = query.tokens[access.index + 2]
            yield [token.replace_with(quote_name(meant))], f"{name} → {meant}"


def join_owners(query: ResolvedQuery) -> Corrections:
    """Read a property from the one adjacent label or type that has it: add the step there."""
    joined: dict[tuple[str, str], str] = {}
    for access, owner in query.owned_accesses():
        name = access.property
        if owner.kind != "node" or name in property_names(owner) or _is_in_query(name, query):
            continue
        variable = f"next{len(joined) + 1}"
        steps = _steps_to(owner.name, name, variable, query)
        end = _end_of_match(access, query)
        if len(steps) != 1 or end is None:
            continue
        step, label = steps[0]
        edits, key = [], (access.variable, label)
        if key not in joined:
            joined[key] = variable
            edits.append(end.insert_after(f", ({quote_name(access.variable)}){step}"))
        edits.append(query.tokens[access.index].replace_with(joined[key]))
        yield edits, f"{name} is a property of {label}"


def _only_label(element: Element, query: ResolvedQuery) -> str:
    """The only label that the links of a node permit; empty if there is not exactly one."""
    found = query.entities_of(element) if element.is_node else []
    return found[0].name if len(found) == 1 else ""


def _nearest(name: str, known: Iterable[str]) -> str:
    return next(iter(nearest(name, sorted(known), 1, close=_CLOSE)), "")


def _only_with_last_word(name: str, known: Iterable[str]) -> str:
    """The only name that ends with this word: ``full_name`` for ``name``; empty without one."""
    found = [one for one in known if [*map(str.lower, parts_of(one)[-1:])] == [name.lower()]]
    return found[0] if len(found) == 1 else ""


def _is_in_query(name: str, query: ResolvedQuery) -> bool:
    """Whether an element of the query has the property."""
    elements = query.elements.values()
    return any(name in property_names(e) for one in elements for e in query.entities_of(one))


def _steps_to(label: str, name: str, variable: str, query: ResolvedQuery) -> list[tuple[str, str]]:
    """Steps from a label to the owners of a property, each with its label or type.

    Nodes take precedence over relationships, which often repeat the keys of their nodes.
    """
    nodes, types = [], {}
    for step in query.steps_from(label):
        if name in property_names(step.type):
            types[f"{step.link(variable)}()"] = step.type.name
        if name in property_names(query.nodes[step.label]):
            nodes.append((f"{step.link()}({variable}:{quote_name(step.label)})", step.label))
    return nodes or [*types.items()]


def _end_of_match(access: PropertyAccess, query: ResolvedQuery) -> CypherToken | None:
    """The last token of the MATCH that binds a variable; None if it ends before the access."""
    elements = query.elements.items()
    bound = [i for i, one in elements if one.is_node and one.variable == access.variable]
    if not bound:
        return None
    before, after = query.clauses_around(bound[0])
    read = query.tokens[access.index].start
    is_apart = any(clause.word in ("WITH", "UNION") and clause.start < read for clause in after)
    if not before or before[-1].word != "MATCH" or not after or is_apart:
        return None
    return query.token_before(after[0])
