"""Correct a Cypher query by schema, data and question: directions, owners and names."""

import re
from collections.abc import Callable, Sequence
from typing import TypeAlias

from planweave import PlanweaveError
from planweave.tools.cypher import counted, links, names
from planweave.tools.cypher.comparisons import correct_comparisons
from planweave.tools.cypher.guard import guard
from planweave.tools.cypher.resolved import ResolvedQuery, property_names
from planweave.tools.cypher.sql_habits import rewrite_sql
from planweave.tools.cypher.titles import VALUE_LIMITS, find_name, replace_unknown_names, show_names
from planweave.tools.cypher.tokens import (
    Corrections,
    Edit,
    Tokens,
    apply_edits,
    lacks_return,
    quote_name,
    tokenize,
)
from planweave.tools.database import Corrected, Limits, QueryResult, Schema
from planweave.tools.linking import Values

Correction: TypeAlias = Callable[[ResolvedQuery], Corrections]

_ORDER = re.compile(r"\bORDER BY (?P<variable>[A-Za-z]\w*)\.(?P<property>\w+)\b", re.I)
_PASSES = 6
_NO_RETURN = "The query has no RETURN: return what the question asks for."


def correct_query(query: str, schema: Schema, values: Values, question: str) -> Corrected:
    """Correct a query if schema, data and question permit only one reading.

    A query that the guard refuses stays unchanged. ``values`` looks up the texts of a property, by
    label and property.
    """
    try:
        query, rewritten = rewrite_sql(query)
        statement, tokens = guard(query)
        if lacks_return(query):
            return _return_sorted(query, ResolvedQuery(schema, tokens), rewritten, values)
        changes = list(rewritten)
        for _ in range(_PASSES):  # a corrected label permits further corrections
            found = _find_corrections(ResolvedQuery(schema, tokens, question))
            if not found:
                break
            statement = apply_edits(statement, [edit for edits, _ in found for edit in edits])
            tokens = tokenize(statement)
            changes += [change for _, change in found]
        if renamed := [*replace_unknown_names(ResolvedQuery(schema, tokens), values)]:
            statement = apply_edits(statement, renamed)
            tokens = tokenize(statement)
            changes += [f"the name is {edit.text}" for edit in renamed]
        if shown := show_names(statement, ResolvedQuery(schema, tokens), values):
            statement = apply_edits(statement, [shown[0]])
            changes.append(shown[1])
    except PlanweaveError:
        return Corrected(query)
    return Corrected(statement if changes else query, tuple(dict.fromkeys(changes)))


def look_up_values(schema: Schema, run: Callable[[str, Limits], QueryResult]) -> Values:
    """A function that looks up the texts of a property, by label (or type) and property."""
    labels = {entity.name for entity in schema.entities if entity.kind == "node"}

    def values(name: str, key: str) -> Sequence[str]:
        pattern = f"(x:{quote_name(name)})" if name in labels else f"()-[x:{quote_name(name)}]->()"
        query = f"MATCH {pattern} RETURN DISTINCT x.{quote_name(key)} LIMIT {VALUE_LIMITS.rows}"
        try:
            return run(query, VALUE_LIMITS).texts
        except PlanweaveError:
            return ()

    return values


def quote_text(value: str) -> str:
    """A text as a Cypher literal."""
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def _find_corrections(query: ResolvedQuery) -> list[tuple[list[Edit], str]]:
    """The corrections of the first group that has any."""
    groups = ([one for correct in group for one in correct(query)] for group in _CORRECTIONS)
    return next(filter(None, groups), [])


def _return_sorted(
    query: str, resolved: ResolvedQuery, rewritten: tuple[str, ...], values: Values
) -> Corrected:
    """Add a RETURN of the property that a query sorts by, with a name."""
    order = _ORDER.search(query)
    owners = resolved.owners_of(order["variable"]) if order else []
    if not order or len(owners) != 1:
        return Corrected(query, rewritten, (_NO_RETURN,))
    variable, sorts_by = order["variable"], order["property"]
    shown = dict.fromkeys((find_name(owners[0], values) or owners[0].fields[0].name, sorts_by))
    items = ", ".join(f"{variable}.{quote_name(name)}" for name in shown)
    fixed = f"{query[: order.start()]}RETURN {items} {query[order.start() :]}"
    return Corrected(fixed, (*rewritten, "returns what it sorts"))


def _move_properties(query: ResolvedQuery) -> Corrections:
    """Read a property from the only element of the same patterns that has it."""
    variables: dict[int, str] = {}
    bound, denied = _bound_names(query.tokens), query.denied
    for access in query.accesses:
        name, index = access.property, access.index
        owners = query.owners_of(access.variable)
        is_foreign = owners and not any(name in property_names(owner) for owner in owners)
        if index < 0 or (access.variable in bound and not is_foreign):
            continue
        homes = [
            start
            for start, element in query.elements.items()
            if (start in denied) == (index in denied)
            and any(name in property_names(entity) for entity in query.entities_of(element))
        ]
        found = {query.elements[start].variable for start in homes}
        if len(found) != 1 or (found == {""} and len(homes) != 1):
            continue
        edits = []
        variable = found.pop() or variables.get(homes[0], "")
        if not variable:
            variable = variables[homes[0]] = f"it{len(variables) + 1}"
            edits.append(query.tokens[homes[0]].insert_after(variable))
        edits.append(query.tokens[index].replace_with(variable))
        yield edits, f"{access.variable}.{name} → {variable}.{name}"


def _bound_names(tokens: Tokens) -> set[str]:
    """Names that a pattern, AS or a list introduces; before a dot a name is only used."""
    found = {tokens[-1].identifier}
    for earlier, token, later in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if (earlier.text in ("(", "[", ",") and later.text != ".") or earlier.word == "AS":
            found.add(token.identifier)
    return found


_CORRECTIONS: tuple[tuple[Correction, ...], ...] = (
    (names.correct_names, links.correct_directions, links.insert_skipped_nodes, _move_properties),
    (links.correct_types,),
    (names.join_owners,),
    (links.correct_asked_directions,),
    (links.ask_for_unlinked,),
    (links.deny_all_links,),
    (correct_comparisons,),
    (links.repeat_link,),
    (counted.require_both_values,),
    (counted.count_asked,),
    (counted.keep_zero_counts,),
    (counted.drop_multiplying_link,),
)
"""Groups of corrections; a group is tried if the groups before it found nothing to correct."""
