"""What things are called: names before keys, and before things that a query returns as a whole."""

import re
from collections.abc import Iterator

from planweave.tools.cypher.describe import quoted
from planweave.tools.cypher.hints import Names
from planweave.tools.cypher.reach import is_known, properties
from planweave.tools.cypher.sql_habits import clauses, items
from planweave.tools.cypher.tokens import Edit, Tokens, instead
from planweave.tools.database import Entity, Limits
from planweave.tools.linking import Values

_SHOWN = re.compile(r"RETURN\s+(?P<once>DISTINCT\s+)?(?P<items>.*)", re.I | re.S)
_ITEM = re.compile(r"(?P<variable>[A-Za-z]\w*)(?:\.`?(?P<property>\w+)`?)?(?:\s+AS\s+\S+)?", re.I)
_NAMING = re.compile(r"name$|title", re.I)
_RETURNS = ("RETURN", "return", "DISTINCT", "distinct")
LOOKED_UP = Limits(seconds=1.0, rows=1_000, characters=100_000)


def titled(statement: str, names: Names, tokens: Tokens, values: Values) -> tuple[Edit, str] | None:
    """Show what a thing is called before what is asked about it, or before the thing as a whole.

    Before the whole its key is shown, too, and what the query compares.
    """
    words = clauses(tokens)
    place = next((at for at, one in enumerate(words) if one.word == "RETURN"), -1)
    if place < 0 or any(one.word in ("RETURN", "UNION") for one in words[place + 1 :]):
        return None
    end = words[place + 1].start if place + 1 < len(words) else len(statement)
    shown = _SHOWN.match(statement[words[place].start : end])
    if shown is None:
        return None
    found = [_ITEM.fullmatch(item) for item in items(shown["items"])]
    things = {item["variable"] for item in found if item}
    owners = names.owners(next(iter(things))) if len(things) == 1 and all(found) else []
    if len(owners) != 1 or owners[0].kind != "node" or not (title := title_of(owners[0], values)):
        return None
    asked = {item["property"] for item in found if item and item["property"]}
    thing, is_whole = things.pop(), any(item and not item["property"] for item in found)
    # What is asked for once would be there once for each name.
    if not asked <= properties(owners[0]) or (shown["once"] and not is_whole):
        return None
    told = [f"{thing}.{quoted(name)}" for name in (title, _key(owners[0]) or title)]
    told = told + _compared(thing, names) if is_whole else told[:1]
    listed = {f"{thing}.{quoted(name)}" for name in asked}
    told = [one for one in dict.fromkeys(told) if one not in listed]
    if not told:
        return None
    text = ", ".join(told)
    is_sorted = any(one.word == "ORDER" for one in words[place:])
    once = "DISTINCT " if is_whole and not is_sorted and not shown["once"] else ""
    start = words[place].start + shown.start("items")
    return Edit(start, start, f"{once}{text}, "), f"shows {text}"


def meant_titles(names: Names, tokens: Tokens, values: Values) -> Iterator[Edit]:
    """Properties that no node has and that are called a name: the one that names the thing."""
    for access, owner in names.owned():
        if not _NAMING.search(access.property) or is_known(access.property, names):
            continue
        if title := title_of(owner, values):
            yield instead(tokens[access.place + 2], quoted(title))


def title_of(entity: Entity, values: Values) -> str:
    """The property that names a thing to a reader, else its key; empty if it has neither."""
    for name in (field.name for field in entity.fields if _NAMING.search(field.name)):
        if name.lower() in ("name", "title") or _tells_apart(entity, name, values):
            return name
    return _key(entity)


def tells_apart(entity: Entity, name: str) -> bool:
    """Whether a property names or numbers each node, as far as its name tells."""
    return name == _key(entity) or bool(_NAMING.search(name))


def _key(entity: Entity) -> str:
    """The property that numbers a thing; empty if none does by its name."""
    keys = (f"{entity.name}id".lower(), f"{entity.name}_id".lower(), "id")
    return next((field.name for field in entity.fields if field.name.lower() in keys), "")


def _tells_apart(entity: Entity, name: str, values: Values) -> bool:
    """Whether no two nodes have the same text; of more than are looked up it is not known."""
    count = entity.count
    is_few = count is not None and count <= LOOKED_UP.rows
    return is_few and len(values(entity.name, name)) == count


def _compared(thing: str, names: Names) -> list[str]:
    """What a query reads of a thing and of its links."""
    return [
        f"{access.variable}.{quoted(access.property)}"
        for access in names.patterns.accesses
        if access.variable == thing
        or any(owner.kind == "relationship" for owner in names.owners(access.variable))
    ]
