"""Return names: before keys, and before nodes that a query returns as a whole."""

import re
from collections.abc import Iterator

from planweave.tools.cypher.resolved import ResolvedQuery, property_names
from planweave.tools.cypher.tokens import Edit, quote_name, split_items
from planweave.tools.database import Entity, Limits
from planweave.tools.linking import Values

_RETURN = re.compile(r"RETURN\s+(?P<distinct>DISTINCT\s+)?(?P<items>.*)", re.I | re.S)
_ITEM = re.compile(r"(?P<variable>[A-Za-z]\w*)(?:\.`?(?P<property>\w+)`?)?(?:\s+AS\s+\S+)?", re.I)
_NAME = re.compile(r"name$|title", re.I)
VALUE_LIMITS = Limits(seconds=1.0, rows=1_000, characters=100_000)
"""Limits of a query that looks up the values of a property."""


def show_names(statement: str, query: ResolvedQuery, values: Values) -> tuple[Edit, str] | None:
    """Return the name of a node before its properties, or before the node as a whole.

    Before the whole node, return its key and the compared properties, too.
    """
    clauses = query.clauses
    place = next((at for at, one in enumerate(clauses) if one.word == "RETURN"), -1)
    if place < 0 or any(one.word in ("RETURN", "UNION") for one in clauses[place + 1 :]):
        return None
    end = clauses[place + 1].start if place + 1 < len(clauses) else len(statement)
    returned = _RETURN.match(statement[clauses[place].start : end])
    if returned is None:
        return None
    items = [_ITEM.fullmatch(item) for item in split_items(returned["items"])]
    variables = {item["variable"] for item in items if item}
    owners = query.owners_of(next(iter(variables))) if len(variables) == 1 and all(items) else []
    if len(owners) != 1 or owners[0].kind != "node" or not (name := find_name(owners[0], values)):
        return None
    variable = variables.pop()
    listed = {item["property"] for item in items if item and item["property"]}
    is_whole = any(item and not item["property"] for item in items)
    # A distinct property would be repeated for each name.
    if not listed <= property_names(owners[0]) or (returned["distinct"] and not is_whole):
        return None
    added = [f"{variable}.{quote_name(name)}"]
    if is_whole:
        added.append(f"{variable}.{quote_name(_find_key(owners[0]) or name)}")
        added += _compared_properties(variable, query)
    known = {f"{variable}.{quote_name(name)}" for name in listed}
    text = ", ".join(one for one in dict.fromkeys(added) if one not in known)
    if not text:
        return None
    is_sorted = any(one.word == "ORDER" for one in clauses[place:])
    distinct = "DISTINCT " if is_whole and not is_sorted and not returned["distinct"] else ""
    start = clauses[place].start + returned.start("items")
    return Edit(start, start, f"{distinct}{text}, "), f"shows {text}"


def replace_unknown_names(query: ResolvedQuery, values: Values) -> Iterator[Edit]:
    """Replace unknown properties that are called a name by the one that names the node."""
    for access, owner in query.owned_accesses():
        if not _NAME.search(access.property) or query.is_property(access.property):
            continue
        if name := find_name(owner, values):
            yield query.tokens[access.index + 2].replace_with(quote_name(name))


def find_name(entity: Entity, values: Values) -> str:
    """The property that names a node for a reader, or else its key; empty if it has neither."""
    for name in (field.name for field in entity.fields if _NAME.search(field.name)):
        if name.lower() in ("name", "title") or _is_unique(entity, name, values):
            return name
    return _find_key(entity)


def identifies(entity: Entity, name: str) -> bool:
    """Whether a property is a name or a key, judged by its name."""
    return name == _find_key(entity) or bool(_NAME.search(name))


def _find_key(entity: Entity) -> str:
    """The property that is called a key; empty without one."""
    keys = (f"{entity.name}id".lower(), f"{entity.name}_id".lower(), "id")
    return next((field.name for field in entity.fields if field.name.lower() in keys), "")


def _is_unique(entity: Entity, name: str, values: Values) -> bool:
    """Whether no two nodes have the same text; False if there are too many to look up."""
    count = entity.count
    is_few = count is not None and count <= VALUE_LIMITS.rows
    return is_few and len(values(entity.name, name)) == count


def _compared_properties(variable: str, query: ResolvedQuery) -> list[str]:
    """The properties of a node and of relationships that a query reads."""
    return [
        f"{access.variable}.{quote_name(access.property)}"
        for access in query.accesses
        if access.variable == variable
        or any(owner.kind == "relationship" for owner in query.owners_of(access.variable))
    ]
