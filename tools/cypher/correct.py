"""What schema, data and question correct in a Cypher query: directions, owners and names."""

import re
from collections.abc import Callable, Iterable, Sequence

from planweave import PlanweaveError
from planweave.tools.cypher.chains import lengthened
from planweave.tools.cypher.comparisons import compared_as_meant
from planweave.tools.cypher.counted import (
    counts_none,
    counts_once,
    counts_what_is_asked,
    has_both,
)
from planweave.tools.cypher.describe import quoted
from planweave.tools.cypher.guard import guard
from planweave.tools.cypher.hints import Names
from planweave.tools.cypher.meant_links import (
    lacking,
    never_linked,
    retyped,
    routed,
    turned,
    turned_as_said,
)
from planweave.tools.cypher.patterns import PropertyAccess
from planweave.tools.cypher.reach import joined, properties, renamed
from planweave.tools.cypher.sql_habits import lacks_return, without_sql
from planweave.tools.cypher.titles import LOOKED_UP, meant_titles, title_of, titled
from planweave.tools.cypher.tokens import (
    Corrections,
    Edit,
    Tokens,
    behind,
    instead,
    tokenize,
)
from planweave.tools.database import Corrected, Limits, QueryResult, Schema
from planweave.tools.linking import Values, describe_mentions

_ORDER = re.compile(r"\bORDER BY (?P<variable>[A-Za-z]\w*)\.(?P<property>\w+)\b", re.I)
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_PASSES = 6
_ADDED_UP = ("SUM", "AVG", "MIN", "MAX")
_NO_RETURN = "The query has no RETURN: return what the question asks for."


def corrected(query: str, schema: Schema, values: Values, question: str) -> Corrected:
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
            names = Names(schema, tokens)
            found = _found(names, tokens, question)
            if not found:
                break
            statement = _edited(statement, [edit for edits, _ in found for edit in edits])
            tokens = tokenize(statement)
            changes += [change for _, change in found]
        if meant := [*meant_titles(Names(schema, tokens), tokens, values)]:
            statement = _edited(statement, meant)
            tokens = tokenize(statement)
            changes += [f"the name is {edit.text}" for edit in meant]
        names = Names(schema, tokens)
        if shown := titled(statement, names, tokens, values):
            statement = _edited(statement, [shown[0]])
            changes.append(shown[1])
    except PlanweaveError:
        return Corrected(query)
    return Corrected(statement if changes else query, tuple(dict.fromkeys(changes)))


def _found(names: Names, tokens: Tokens, question: str) -> list[tuple[list[Edit], str]]:
    """What schema and question correct, with what is reported of it."""
    corrections = (renamed, turned, routed, _moved)
    found = [one for correction in corrections for one in correction(names, tokens)]
    found = found or [*retyped(names, tokens)]  # a link that was routed has the right type
    found = found or [*joined(names, tokens)]  # what was routed may have the property
    found = found or [*turned_as_said(names, tokens, question)]
    found = found or [*lacking(names, tokens, question)]
    found = found or [*never_linked(names, tokens, question)]
    found = found or [*compared_as_meant(names, tokens, question)]
    found = found or [*lengthened(names, tokens, question)]
    found = found or [*has_both(names, tokens, question)]
    found = found or [*counts_what_is_asked(names, tokens, question)]
    found = found or [*counts_none(names, tokens, question)]
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
    shown = dict.fromkeys((title_of(owners[0], values) or owners[0].fields[0].name, sorts_by))
    items = ", ".join(f"{variable}.{quoted(name)}" for name in shown)
    fixed = f"{query[: order.start()]}RETURN {items} {query[order.start() :]}"
    return Corrected(fixed, (*rewritten, "returns what it sorts"))


def _moved(names: Names, tokens: Tokens) -> Corrections:
    """Properties of another element of the same patterns, if it is the only one that has them."""
    fresh = 0
    named: dict[int, str] = {}
    bound, denied = _bound(tokens), names.patterns.denied
    for access in names.patterns.accesses:
        if access.place < 0 or not (access.variable not in bound or _is_foreign(access, names)):
            continue
        homes = [
            place
            for place, element in names.patterns.elements.items()
            if (place in denied) == (access.place in denied)
            and any(access.property in properties(entity) for entity in names.entities(element))
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


def _bound(tokens: Tokens) -> set[str]:
    """Names that a pattern, AS or a list brings in; before a dot a name is only used."""
    found = set()
    for earlier, token, later in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if (earlier.text in ("(", "[", ",") and later.text != ".") or earlier.word == "AS":
            found.add(token.identifier)
    return found | {tokens[-1].identifier}


def _is_foreign(access: PropertyAccess, names: Names) -> bool:
    owners = names.owners(access.variable)
    return bool(owners) and not any(access.property in properties(one) for one in owners)


def links(question: str, schema: Schema, run: Callable[[str, Limits], QueryResult]) -> list[str]:
    """Lines that say which stored values and which properties a question speaks of."""
    return describe_mentions(question, schema, stored_values(schema, run), quote=_text)


def stored_values(schema: Schema, run: Callable[[str, Limits], QueryResult]) -> Values:
    """What looks up the texts that a property has, by label (or type) and property."""
    labels = {entity.name for entity in schema.entities if entity.kind == "node"}

    def values(name: str, key: str) -> Sequence[str]:
        pattern = f"(x:{quoted(name)})" if name in labels else f"()-[x:{quoted(name)}]->()"
        read = f"MATCH {pattern} RETURN DISTINCT x.{quoted(key)} LIMIT {LOOKED_UP.rows}"
        try:
            return run(read, LOOKED_UP).texts
        except PlanweaveError:
            return ()

    return values


def _text(value: str) -> str:
    """A text as Cypher writes it."""
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
