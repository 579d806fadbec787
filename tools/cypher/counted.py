"""Correct what a query counts: add what the question counts, drop what multiplies the rows.

"The categories with the most products" needs the products of each category for the count.
"""

import re
from collections.abc import Iterator
from itertools import pairwise, permutations

from planweave.tools.cypher.patterns import Element, PatternLink
from planweave.tools.cypher.resolved import ResolvedQuery
from planweave.tools.cypher.titles import identifies
from planweave.tools.cypher.tokens import Corrections, Edit, Tokens, quote_name, token_at
from planweave.tools.linking import singular

_COUNTED = re.compile(
    r"\b(?:(?:most|fewest|least|many)(?: number of)?|number of)"
    r"(?: (?:different|distinct|unique))? (?P<noun>\w+)",
    re.I,
)
_DONE = re.compile(
    r"\bmost (?:(?:frequently|often|commonly) )?(?P<before>\w+ed)\b"
    r"|\b(?P<behind>\w+ed) (?:the )?(?:most|least|more) (?:often|times|frequently)\b",
    re.I,
)
_BOTH = (
    r"\bboth\b[^.?;]*{first}[^.?;]*\band\b[^.?;]*{second}",
    r"{first}[^.?;]*\b(?:as well as|and also)\b[^.?;]*{second}",
)
_WITH_NONE = re.compile(
    r"\b(?:including|even|also (?:those|the ones))\b[^.?;,]*"
    r"\b(?:no|none|nothing|nobody|never|without|0|zero|not)\b|\b(?:0|zero) (?:for|if|where)\b",
    re.I,
)
_VARIABLE = "counted"
_AGGREGATES = ("COUNT", "SUM", "AVG")
_ROOT_LENGTH = 5


def count_asked(query: ResolvedQuery) -> Corrections:
    """Count what the question names, if only one node of the query is linked to it."""
    label, type_ = _find_counted_label(query), _find_counted_type(query)
    asked, count = label or type_, _count_variable(query.tokens)
    elements, clauses = query.elements, query.clauses
    if not asked or count is None or any(asked in one.names for one in elements.values()):
        return
    steps = [
        (start, step)
        for start, element in elements.items()
        if element.is_node and len(element.names) == 1
        for step in _steps_to_counted(query, element.names[0], label, type_)
    ]
    if len(steps) != 1 or len(clauses) < 2 or clauses[0].word != "MATCH":
        return
    start, step = steps[0]
    variable = elements[start].variable
    edits = [] if variable else [query.tokens[start].insert_after(f"{_VARIABLE}_by")]
    pattern = f", ({quote_name(variable or f'{_VARIABLE}_by')}){step}"
    edits += [query.token_before(clauses[1]).insert_after(pattern), count]
    yield edits, f"counts {asked}"


def keep_zero_counts(query: ResolvedQuery) -> Corrections:
    """Keep nodes that have nothing to count, if the question includes them.

    ``MATCH (c:Club)<-[:IN]-(p) RETURN c.name, count(p)`` omits clubs without members.
    """
    tokens, clauses, count = query.tokens, query.clauses, _count_variable(query.tokens)
    is_plain = [clause.word for clause in clauses[:2]] == ["MATCH", "RETURN"]
    if not _WITH_NONE.search(query.question) or not is_plain or len(query.links) != 1:
        return
    returned = tokens.index(clauses[1])
    shown = {access.variable for access in query.accesses if access.index > returned}
    kept = shown.pop() if len(shown) == 1 else ""
    (link,), owners = query.links, query.owners_of(kept)
    ends = [end for end in (link.left, link.right) if end.variable == kept and not end.properties]
    if count is None or len(owners) != 1 or len(ends) != 1:
        return
    label = owners[0].name
    edits = [clauses[0].insert_after(f" ({quote_name(kept)}:{quote_name(label)}) OPTIONAL MATCH")]
    inside = {t.identifier or t.text for t in tokens if count.start <= t.start < count.end}
    if inside & {"*", kept}:
        name = link.relationship.variable or _VARIABLE
        edits += [] if link.relationship.variable else [tokens[link.start].insert_after(name)]
        edits.append(count._replace(text=f"DISTINCT {quote_name(name)}"))
    yield edits, f"counts 0 for each {label} that has none"


def drop_multiplying_link(query: ResolvedQuery) -> Corrections:
    """Drop the end of a pattern that multiplies a number, if the question does not mention it.

    ``(c)-[:PURCHASED]->(:Order)-[:ORDERS]->(:Product)`` counts the products of an order.
    """
    links = [link for link in query.links if link.arrow]
    if not any(token.word in _AGGREGATES for token in query.tokens):
        return
    if len(links) == 1 and (
        any(token.word == "DISTINCT" for token in query.tokens)  # nothing is multiplied
        # Without the link each count would be 1: "the busiest doctor" has the most of something.
        or (not _find_counted_label(query) and _is_for_each_node(query))
    ):
        return
    for link in links:
        for node, without_node in _final_nodes(link, query):
            is_idle = _is_idle(node, query.tokens) and _is_idle(link.relationship, query.tokens)
            if is_idle and not _is_mentioned(link, node, query):
                yield [without_node], f"counts no {node.names[0]}"
                return


def require_both_values(query: ResolvedQuery) -> Corrections:
    """Require links to both values, if the question asks for both.

    ``(p)-[:TOOK]->(c) WHERE c.name IN ['art', 'music']`` finds who took either.
    """
    tokens, clauses = query.tokens, query.clauses
    if [clause.word for clause in clauses] != ["MATCH", "WHERE", "RETURN"]:
        return
    where, returned = tokens.index(clauses[1]), tokens.index(clauses[2])
    shown = {access.variable for access in query.accesses if access.index > returned}
    listed = [
        access
        for access in query.accesses
        if access.index > where
        and _asks_for_both(tokens[access.index + 3 : access.index + 9], query.question)
    ]
    if len(shown) != 1 or len(listed) != 1 or any(t.text == "(" for t in tokens[returned:]):
        return
    (variable,), (value,) = shown, listed
    if value.variable != variable:
        either = f"{quote_name(value.variable)}.{quote_name(value.property)}"
        both = f"WITH {quote_name(variable)}, count(DISTINCT {either}) AS found WHERE found = 2 "
        yield [clauses[2].insert_before(both)], f"has both values of {value.property}"


def _is_for_each_node(query: ResolvedQuery) -> bool:
    """Whether a query returns nodes or what identifies them, not a property that nodes share."""
    tokens = query.tokens
    start = next((i for i, token in enumerate(tokens) if token.word in ("WITH", "RETURN")), 0)
    variables = {element.variable for element in query.elements.values()} - {""}
    return any(
        owner.kind == "node" and identifies(owner, access.property)
        for access in query.accesses
        for owner in query.owners_of(access.variable)
        if access.index > start
    ) or any(
        token.identifier in variables and following.text not in (".", ")")
        for token, following in pairwise(tokens[start:])
    )


def _final_nodes(link: PatternLink, query: ResolvedQuery) -> Iterator[tuple[Element, Edit]]:
    """Each node of a link at the end of a pattern, with the edit that drops it and the link."""
    tokens = query.tokens
    right_end, left_start = query.closing[link.right_start], query.opening[link.left_end]
    if token_at(tokens, right_end + 1).text not in ("-", "<", ">"):
        yield link.right, Edit(tokens[link.left_end + 1].start, tokens[right_end].end, "")
    if token_at(tokens, left_start - 1).text not in ("-", "<", ">"):
        yield link.left, Edit(tokens[left_start].start, tokens[link.right_start].start, "")


def _asks_for_both(tokens: Tokens, question: str) -> bool:
    """Whether tokens are ``IN`` and a list of two values, and the question asks for both."""
    marks = [token.text for token in tokens]
    if len(marks) < 6 or marks[0].upper() != "IN" or marks[1::2] != ["[", ",", "]"]:
        return False
    values = [re.escape(mark.strip("'\"")) for mark in marks[2::2]]
    return any(
        re.search(pattern.format(first=first, second=second), question, re.IGNORECASE)
        for first, second in permutations(values)
        for pattern in _BOTH
    )


def _is_idle(element: Element, tokens: Tokens) -> bool:
    """Whether an element has one label or type, and the query uses nothing else of it."""
    uses = [token for token in tokens if element.variable and token.identifier == element.variable]
    return len(element.names) == 1 and not element.properties and len(uses) <= 1


def _is_mentioned(link: PatternLink, node: Element, query: ResolvedQuery) -> bool:
    """Whether the question has the label, or the verb of the link apart from other labels."""
    words = [word.lower() for word in re.findall(r"\w+", query.question)]
    label = node.names[0].lower()
    if label in {*words, *map(singular, words)}:
        return True
    elements = [element for element in query.elements.values() if element.is_node]
    others = {name.lower() for element in elements for name in element.names} - {label}
    verb = _verb_root(link.relationship.names[0].partition("_")[0])[:_ROOT_LENGTH]
    return any(word.startswith(verb) for word in words if singular(word) not in others)


def _find_counted_label(query: ResolvedQuery) -> str:
    """The label that the question counts; empty if it counts something else."""
    asked = _COUNTED.search(query.question)
    nouns = {singular(asked["noun"].lower()), asked["noun"].lower()} if asked else set()
    return next((label for label in query.nodes if label.lower() in nouns), "")


def _find_counted_type(query: ResolvedQuery) -> str:
    """The type of the most frequent action: "the most ordered products"; empty if none."""
    done = _DONE.search(query.question)
    verb = _verb_root(done[done.lastgroup or 0]) if done else ""
    return next((type_ for type_ in query.relationships if _verb_root(type_) == verb), "")


def _verb_root(word: str) -> str:
    return re.sub(r"(?:ed|s)$", "", word.lower())


def _count_variable(tokens: Tokens) -> Edit | None:
    """Count the added variable in the only ``count(…)``; None if there are several."""
    starts = [
        index + 2
        for index, token in enumerate(tokens[:-3])
        if token.word == "COUNT" and tokens[index + 1].text == "("
    ]
    if len(starts) != 1:
        return None
    start = starts[0]
    end = next((i for i in range(start, len(tokens)) if tokens[i].text == ")"), -1)
    inside = tokens[start:end]
    if end <= start or any(token.text in ("(", ".") for token in inside):
        return None
    return Edit(inside[0].start, tokens[end].start, f"DISTINCT {_VARIABLE}")


def _steps_to_counted(query: ResolvedQuery, start: str, label: str, type_: str) -> list[str]:
    """The steps from a label to another one, or else the relationships of a type."""
    steps = query.steps_from(start)
    if label:
        node = f"({_VARIABLE}:{quote_name(label)})"
        return [f"{step.link()}{node}" for step in steps if step.label == label]
    return [*{f"{step.link(_VARIABLE)}()" for step in steps if step.type.name == type_}]
