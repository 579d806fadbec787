"""What schema, data and question correct in a Cypher query: directions, owners and names."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeAlias

from planweave import PlanweaveError
from planweave.tools.cypher.comparisons import compared_as_meant
from planweave.tools.cypher.counted import counts_once, counts_those_who_do, counts_what_is_asked
from planweave.tools.cypher.describe import quoted
from planweave.tools.cypher.guard import guard
from planweave.tools.cypher.hints import Names, runs
from planweave.tools.cypher.patterns import Access, Link
from planweave.tools.cypher.reach import found_next_door, is_known, joined, properties, renamed
from planweave.tools.cypher.sql_habits import clauses, items, lacks_return, without_sql
from planweave.tools.cypher.tokens import Edit, Token, before, behind, instead, tokenize
from planweave.tools.database import Corrected, Entity, Limits, QueryResult, Schema
from planweave.tools.linking import linked

_SHOWN = re.compile(r"RETURN\s+(?P<once>DISTINCT\s+)?(?P<items>.*)", re.I | re.S)
_ITEM = re.compile(r"(?P<variable>[A-Za-z]\w*)(?:\.`?(?P<property>\w+)`?)?(?:\s+AS\s+\S+)?", re.I)
_ORDER = re.compile(r"\bORDER BY (?P<variable>[A-Za-z]\w*)\.(?P<property>\w+)\b", re.I)
_NAMING = re.compile(r"name$|title", re.I)
_WORD = re.compile(r"[A-Za-z]+")
_ENDING = re.compile(r"(?:e?d|s)$")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_PASSES = 6
_RETURNS = ("RETURN", "return", "DISTINCT", "distinct")
_ADDED_UP = ("SUM", "AVG", "MIN", "MAX")
_NO_RETURN = "The query has no RETURN: return what the question asks for."
_LOOKED_UP = Limits(seconds=1.0, rows=1_000, characters=100_000)
Values: TypeAlias = Callable[[str, str], Sequence[str]]


def _no_values(_label: str, _property: str) -> Sequence[str]:
    return ()


def corrected(
    query: str, schema: Schema, values: Values = _no_values, question: str = ""
) -> Corrected:
    """Correct a query as far as schema, data and question leave one reading.

    What the guard refuses is left as it is. ``values`` looks up the texts that a property has, by
    label and property.
    """
    try:
        query, rewritten = without_sql(query)
        statement, tokens = guard(query)
        if lacks_return(query):
            return _returning(query, Names(schema, tokens), rewritten, values)
        changes = list(rewritten)
        for _ in range(_PASSES):  # a label that is known by now tells more
            if not (found := _found(Names(schema, tokens), tokens, question)):
                break
            statement = _edited(statement, [edit for edits, _ in found for edit in edits])
            tokens = tokenize(statement)
            changes += [change for _, change in found]
        if meant := [*_meant_titles(Names(schema, tokens), tokens, values)]:
            statement = _edited(statement, meant)
            tokens = tokenize(statement)
            changes += [f"the name is {edit.text}" for edit in meant]
        names = Names(schema, tokens)
        if shown := _titled(statement, names, tokens, values) or _keyed(names, tokens, values):
            statement = _edited(statement, [shown[0]])
            changes.append(shown[1])
    except PlanweaveError:
        return Corrected(query)
    return Corrected(statement if changes else query, tuple(dict.fromkeys(changes)))


def _found(names: Names, tokens: Sequence[Token], question: str) -> list[tuple[list[Edit], str]]:
    """What schema and question correct, with what is reported of it."""
    corrections = (renamed, _retyped, _turned, _routed, _moved, _as_numbers)
    found = [one for correction in corrections for one in correction(names, tokens)]
    found = found or [*joined(names, tokens)]  # what was routed may have the property
    found = found or [*found_next_door(names, tokens, _bound(tokens))]
    found = found or [*_named_types(names, tokens, question)]
    found = found or [*compared_as_meant(names, tokens, question)]
    found = found or [*counts_what_is_asked(names, tokens, question)]
    found = found or [*counts_those_who_do(names, tokens, question)]
    return found or [*counts_once(names, tokens, question)]


def _edited(statement: str, edits: Iterable[Edit]) -> str:
    for edit in sorted({*edits}, reverse=True):
        statement = statement[: edit.start] + edit.text + statement[edit.end :]
    return statement


def _returning(query: str, names: Names, rewritten: tuple[str, ...], values: Values) -> Corrected:
    """A query that sorts and returns nothing, with what it sorts as its result."""
    order = _ORDER.search(query)
    owners = names.owners(order["variable"]) if order else []
    if not order or len(owners) != 1:
        return Corrected(query, rewritten, (_NO_RETURN,))
    variable, sorts_by = order["variable"], order["property"]
    shown = dict.fromkeys((_title(owners[0], values) or owners[0].fields[0].name, sorts_by))
    items = ", ".join(f"{variable}.{quoted(name)}" for name in shown)
    fixed = f"{query[: order.start()]}RETURN {items} {query[order.start() :]}"
    return Corrected(fixed, (*rewritten, "returns what it sorts"))


def _title(entity: Entity, values: Values) -> str:
    """The property that names a thing to a reader, else its key; empty if it has neither."""
    for name in (field.name for field in entity.fields if _NAMING.search(field.name)):
        if name.lower() in ("name", "title") or _tells_apart(entity, name, values):
            return name
    return _key(entity)


def _key(entity: Entity) -> str:
    """The property that numbers a thing; empty if none does by its name."""
    keys = (f"{entity.name}id".lower(), f"{entity.name}_id".lower(), "id")
    return next((field.name for field in entity.fields if field.name.lower() in keys), "")


def _tells_apart(entity: Entity, name: str, values: Values) -> bool:
    """Whether no two nodes have the same text; of more than are looked up it is not known."""
    count = entity.count
    is_few = count is not None and count <= _LOOKED_UP.rows
    return is_few and len(values(entity.name, name)) == count


def _titled(
    statement: str, names: Names, tokens: Sequence[Token], values: Values
) -> tuple[Edit, str] | None:
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
    if len(owners) != 1 or owners[0].kind != "node" or not (title := _title(owners[0], values)):
        return None
    asked = {item["property"] for item in found if item and item["property"]}
    if not asked <= properties(owners[0]):
        return None
    thing, is_whole = things.pop(), any(item and not item["property"] for item in found)
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


def _compared(thing: str, names: Names) -> list[str]:
    """What a query reads of a thing and of its links."""
    return [
        f"{access.variable}.{quoted(access.property)}"
        for access in names.patterns.accesses
        if access.variable == thing
        or any(owner.kind == "relationship" for owner in names.owners(access.variable))
    ]


def _keyed(names: Names, tokens: Sequence[Token], values: Values) -> tuple[Edit, str] | None:
    """Show what a thing is called before its key, also beside what is counted of it."""
    words = clauses(tokens)
    last = next((one for one in reversed(words) if one.word == "RETURN"), None)
    if last is None or any(one.word == "UNION" for one in words):
        return None
    begin = tokens.index(last)
    shown = [a for a in names.patterns.accesses if a.place > begin]
    sorts = next((one.start for one in words if one.start > last.start), tokens[-1].end)
    for access in shown:
        inside = [token.text for token in tokens[begin : access.place]]
        if inside.count("(") > inside.count(")") or inside[-1] not in (",", *_RETURNS):
            continue
        owners = names.owners(access.variable)
        if len(owners) != 1 or owners[0].kind != "node" or access.property != _key(owners[0]):
            continue
        title, token = _title(owners[0], values), tokens[access.place]
        called = {one.property for one in shown if one.variable == access.variable}
        if title and title not in called and token.start < sorts:
            text = f"{access.variable}.{quoted(title)}"
            return before(token, f"{text}, "), f"shows {text}"
    return None


def _meant_titles(names: Names, tokens: Sequence[Token], values: Values) -> Iterator[Edit]:
    """Properties that no node has and that are called a name: the one that names the thing."""
    for access in names.patterns.accesses:
        owners = names.owners(access.variable)
        if access.place < 0 or len(owners) != 1 or not _NAMING.search(access.property):
            continue
        if not is_known(access.property, names) and (title := _title(owners[0], values)):
            yield instead(tokens[access.place + 2], quoted(title))


def _retyped(names: Names, tokens: Sequence[Token]) -> Iterator[tuple[list[Edit], str]]:
    """Links of a type that leads from neither label to the other, where one other type does."""
    for link in names.patterns.links:
        type_ = names.only_type(link)
        left, right = names.entities(link.left), names.entities(link.right)
        if type_ is None or len(left) != 1 or len(right) != 1:
            continue
        if _connects(type_, left[0], right[0]):
            continue
        meant = [one for one in names.relationships.values() if _connects(one, left[0], right[0])]
        token = next(t for t in tokens[link.place :] if t.identifier == type_.name)
        if len(meant) == 1:
            name = meant[0].name
            yield [instead(token, quoted(name))], f"{type_.name} → {name}"


def _named_types(
    names: Names, tokens: Sequence[Token], question: str
) -> Iterator[tuple[list[Edit], str]]:
    """Links of a type that the question does not speak of, where it speaks of one other."""
    words = [word.lower() for word in _WORD.findall(question)]

    def is_said(name: str) -> bool:
        begins = _ENDING.sub("", name.partition("_")[0].lower())
        return any(word.startswith(begins) for word in words)

    said = [one for one in names.relationships.values() if is_said(one.name)]
    links = [link for link in names.patterns.links if names.only_type(link)]
    if len(said) != 1 or len(links) != 1:
        return
    (link,), (meant,) = links, said
    type_ = names.only_type(link)
    if type_ is None or is_said(type_.name) or link.relationship.properties:
        return
    if names.entities(link.left) and runs(meant, link, names):
        token = next(t for t in tokens[link.place :] if t.identifier == type_.name)
        yield [instead(token, quoted(meant.name))], f"{type_.name} → {meant.name}"


def _connects(type_: Entity, one: Entity, other: Entity) -> bool:
    """Whether relationships of a type lead from one label to the other, or back."""
    ways = ((one.name, other.name), (other.name, one.name))
    return any(start in type_.start and end in type_.end for start, end in ways)


def _turned(names: Names, tokens: Sequence[Token]) -> Iterator[tuple[list[Edit], str]]:
    """Links that run the other way only."""
    for link in names.patterns.links:
        types = names.types(link)
        if not link.arrow or not types or any(runs(one, link, names) for one in types):
            continue
        if not all(runs(one, link.turned, names) for one in types):
            continue
        change = f"[:{types[0].name}] runs the other way"
        if link.arrow == ">":
            head, tail = tokens[link.end + 2], before(tokens[link.place - 1], "<")
        else:
            head, tail = tokens[link.place - 2], behind(tokens[link.end + 1], ">")
        yield [instead(head, ""), tail], change


def _routed(names: Names, tokens: Sequence[Token]) -> Iterator[tuple[list[Edit], str]]:
    """Links that skip a node: what lies between is put in, where one label and type lead there."""
    for link in names.patterns.links:
        type_ = names.only_type(link)
        if type_ is None or not link.arrow or link.relationship.many_hops:
            continue
        if runs(type_, link, names) or runs(type_, link.turned, names):
            continue
        if back := _back(link, type_, names, tokens):
            yield back, f"the same {link.left.variable} is linked by {type_.name}"
            return  # the next link begins where this one ends
        forward = link.arrow == ">"
        left, right = names.entities(link.left), names.entities(link.right)
        left_ends, right_ends = (type_.start, type_.end) if forward else (type_.end, type_.start)
        fits_left = any(one.name in left_ends for one in left)
        fits_right = any(one.name in right_ends for one in right)
        if fits_left == fits_right:
            continue
        between, others = (left_ends, left) if fits_right else (right_ends, right)
        steps = [
            (label, step)
            for label in between
            for other in others
            for step in _steps(names, (other.name, label) if fits_right else (label, other.name))
        ]
        if len(steps) != 1:
            continue
        label, step = steps[0]
        change = f"goes through {label}"
        if fits_right:
            closing = tokens[link.place - (2 if forward else 3)]
            yield [behind(closing, f"{step}(:{quoted(label)})")], change
        else:
            opening = tokens[link.end + (3 if forward else 2)]
            yield [before(opening, f"(:{quoted(label)}){step}")], change


def _back(link: Link, type_: Entity, names: Names, tokens: Sequence[Token]) -> list[Edit]:
    """``(p)-[:WROTE]->(m)-[:DIRECTED]->(m2)`` means ``(m)<-[:DIRECTED]-(p)``: p did both.

    So does ``(m)<-[:DIRECTED]-(m)``.

    Empty where the relationship does not lead from the node before to the one in between.
    """
    over = link.left.variable
    meets = (one for one in names.patterns.links if over and one.right.variable == over)
    earlier = next(meets, None)
    if earlier is None or not link.arrow or not earlier.left.variable:
        return []
    if not _leads(type_, names.entities(earlier.left), names.entities(link.left)):
        return []
    opening = link.end + (3 if link.arrow == ">" else 2)
    closing = names.patterns.closing[opening]
    turned = [before(tokens[link.place - 1], "<"), instead(tokens[link.end + 2], "")]
    edits = turned if link.arrow == ">" else []
    edits.append(Edit(tokens[opening].start, tokens[closing].end, f"({earlier.left.variable})"))
    gone = link.right.variable if link.right.variable != over else ""
    for at, token in enumerate(tokens[:-1]):
        if gone and token.identifier == gone:
            meant = over if tokens[at + 1].text == "." else earlier.left.variable
            edits += [instead(token, meant)] if not opening <= at <= closing else []
    return edits


def _leads(type_: Entity, start: Sequence[Entity], end: Sequence[Entity]) -> bool:
    return any(one.name in type_.start for one in start) and any(
        one.name in type_.end for one in end
    )


def _steps(names: Names, ends: tuple[str, str]) -> Iterator[str]:
    """Relationships between two labels, as they stand between their nodes."""
    start, end = ends
    for type_ in names.relationships.values():
        if start in type_.start and end in type_.end:
            yield f"-[:{quoted(type_.name)}]->"
        elif end in type_.start and start in type_.end:
            yield f"<-[:{quoted(type_.name)}]-"


def _moved(names: Names, tokens: Sequence[Token]) -> Iterator[tuple[list[Edit], str]]:
    """Properties of another element of the same patterns, if it is the only one that has them."""
    fresh = 0
    named: dict[int, str] = {}
    bound = _bound(tokens)
    for access in names.patterns.accesses:
        if access.place < 0 or not (access.variable not in bound or _is_foreign(access, names)):
            continue
        homes = [
            place
            for place, element in names.patterns.elements.items()
            if any(access.property in properties(entity) for entity in names.entities(element))
        ]
        variables = {names.patterns.elements[place].variable for place in homes}
        if len(variables) != 1 or (variables == {""} and len(homes) != 1):
            continue
        edits = []
        variable = variables.pop() or named.get(homes[0], "")
        if not variable:
            fresh += 1
            variable = named[homes[0]] = f"it{fresh}"
            edits.append(behind(tokens[homes[0]], variable))
        edits.append(instead(tokens[access.place], variable))
        yield edits, f"{access.variable}.{access.property} → {variable}.{access.property}"


def _as_numbers(names: Names, tokens: Sequence[Token]) -> Iterator[tuple[list[Edit], str]]:
    """Numbers that the data writes as texts, where a query compares them or adds them up."""
    for access in names.patterns.accesses:
        owners = names.owners(access.variable)
        if access.place < 0 or len(owners) != 1:
            continue
        samples = next((f.samples for f in owners[0].fields if f.name == access.property), ())
        is_text = any(f.name == access.property and f.type == "STRING" for f in owners[0].fields)
        if not is_text or not samples or not all(map(_NUMBER.fullmatch, samples)):
            continue
        function = tokens[access.place - 2].word if access.place > 1 else ""
        if function in _ADDED_UP or _is_compared_with_number(tokens, access.place + 3):
            first, last = tokens[access.place], tokens[access.place + 2]
            edits = [before(first, "toFloat("), behind(last, ")")]
            yield edits, f"{access.variable}.{access.property} is read as a number"


def _is_compared_with_number(tokens: Sequence[Token], place: int) -> bool:
    marks = 0
    while place + marks < len(tokens) and tokens[place + marks].text in ("<", ">", "="):
        marks += 1
    following = tokens[place + marks : place + marks + 1]
    return marks > 0 and any(token.kind == "number" for token in following)


def _bound(tokens: Sequence[Token]) -> set[str]:
    """Names that a pattern, AS or a list brings in; before a dot a name is only used."""
    found = set()
    for earlier, token, later in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if (earlier.text in ("(", "[", ",") and later.text != ".") or earlier.word == "AS":
            found.add(token.identifier)
    return found | {tokens[-1].identifier}


def _is_foreign(access: Access, names: Names) -> bool:
    owners = names.owners(access.variable)
    return bool(owners) and not any(access.property in properties(one) for one in owners)


def links(question: str, schema: Schema, run: Callable[[str, Limits], QueryResult]) -> list[str]:
    """Lines that say which stored values and which properties a question speaks of."""
    return linked(question, schema, stored_values(schema, run), quote=_text)


def stored_values(
    schema: Schema, run: Callable[[str, Limits], QueryResult]
) -> Callable[[str, str], Sequence[str]]:
    """What looks up the texts that a property has, by label (or type) and property."""
    labels = {entity.name for entity in schema.entities if entity.kind == "node"}

    def values(name: str, key: str) -> Sequence[str]:
        pattern = f"(x:{quoted(name)})" if name in labels else f"()-[x:{quoted(name)}]->()"
        read = f"MATCH {pattern} RETURN DISTINCT x.{quoted(key)} LIMIT {_LOOKED_UP.rows}"
        try:
            return run(read, _LOOKED_UP).texts
        except PlanweaveError:
            return ()

    return values


def _text(value: str) -> str:
    """A text as Cypher writes it."""
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
