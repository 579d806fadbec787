"""What the question counts or asks for twice and the query does not look for: it is put in.

"The categories with the most products" needs products beside each category to be counted.
"""

import re
from collections.abc import Iterator
from itertools import pairwise, permutations
from typing import NamedTuple

from planweave.tools.cypher.describe import quoted
from planweave.tools.cypher.hints import Names
from planweave.tools.cypher.patterns import Element, PatternLink
from planweave.tools.cypher.reach import last_before
from planweave.tools.cypher.sql_habits import clauses
from planweave.tools.cypher.titles import tells_apart
from planweave.tools.cypher.tokens import Corrections, Edit, Tokens, before, behind
from planweave.tools.linking import stem

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
_NAME = "counted"
_AGGREGATES = ("COUNT", "SUM", "AVG")
_ROOT = 5


def counts_what_is_asked(names: Names, tokens: Tokens, question: str) -> Corrections:
    """Count the nodes that the question names, next door to one of the query, and nothing else."""
    label, type_, count = _label(names, question), _type(names, question), _count(tokens)
    asked = label or type_
    if (
        not asked
        or count is None
        or any(asked in e.names for e in names.patterns.elements.values())
    ):
        return
    steps = [
        (place, step)
        for place, element in names.patterns.elements.items()
        if element.is_node and len(element.names) == 1
        for step in (
            steps_between(names, element.names[0], label, _NAME)
            if label
            else _steps_over(names, element.names[0], type_)
        )
    ]
    words = clauses(tokens)
    if len(steps) != 1 or len(words) < 2 or words[0].word != "MATCH":
        return
    place, step = steps[0]
    variable = names.patterns.elements[place].variable
    edits = [] if variable else [behind(tokens[place], f"{_NAME}_by")]
    pattern = f", ({quoted(variable or f'{_NAME}_by')}){step}"
    edits.append(behind(last_before(tokens, words[1]), pattern))
    edits.append(count)
    yield edits, f"counts {asked}"


def counts_none(names: Names, tokens: Tokens, question: str) -> Corrections:
    """Keep what has nothing to count, where the question says that it counts, too.

    ``MATCH (c:Club)<-[:IN]-(p) RETURN c.name, count(p)`` has no club without members.
    """
    words, links, count = clauses(tokens), names.patterns.links, _count(tokens)
    starts = [one.word for one in words[:2]] == ["MATCH", "RETURN"]
    if not _WITH_NONE.search(question) or not starts or len(links) != 1 or count is None:
        return
    returned = tokens.index(words[1])
    shown = {access.variable for access in names.patterns.accesses if access.place > returned}
    kept = shown.pop() if len(shown) == 1 else ""
    link, owners = links[0], names.owners(kept)
    ends = [end for end in (link.left, link.right) if end.variable == kept and not end.properties]
    if len(owners) != 1 or len(ends) != 1:
        return
    edits = [behind(words[0], f" ({quoted(kept)}:{quoted(owners[0].name)}) OPTIONAL MATCH")]
    inside = {t.identifier or t.text for t in tokens if count.start <= t.start < count.end}
    if inside & {"*", kept}:
        name = link.relationship.variable or _NAME
        edits += [] if link.relationship.variable else [behind(tokens[link.place], _NAME)]
        edits.append(count._replace(text=f"DISTINCT {quoted(name)}"))
    yield edits, f"counts 0 for each {owners[0].name} that has none"


def counts_once(names: Names, tokens: Tokens, question: str) -> Corrections:
    """Leave out the end of a pattern that nobody asks for, where it would multiply a number.

    ``(c)-[:PURCHASED]->(:Order)-[:ORDERS]->(:Product)`` counts the products of an order.
    """
    links = [one for one in names.patterns.links if one.arrow]
    if not any(token.word in _AGGREGATES for token in tokens):
        return
    if len(links) == 1 and (
        any(token.word == "DISTINCT" for token in tokens)  # it multiplies nothing
        # Each would count as one: "the busiest doctor" has most of something.
        or (not _label(names, question) and _is_for_each(names, tokens))
    ):
        return
    for link in links:
        for end in _ends(link, names, tokens):
            is_idle = _is_idle(end.node, tokens) and _is_idle(link.relationship, tokens)
            if end.is_last and is_idle and not _is_said(link, end.node, names, question):
                yield [end.without], f"counts no {end.node.names[0]}"
                return


def _is_for_each(names: Names, tokens: Tokens) -> bool:
    """Whether what a query returns is told apart by nodes as such, and no property of several."""
    begin = next((at for at, one in enumerate(tokens) if one.word in ("WITH", "RETURN")), 0)
    called = [
        owner.kind == "node" and tells_apart(owner, access.property)
        for access in names.patterns.accesses
        for owner in names.owners(access.variable)
        if access.place > begin
    ]
    variables = {one.variable for one in names.patterns.elements.values()} - {""}
    whole = [
        one
        for one, following in pairwise(tokens[begin:])
        if one.identifier in variables and following.text not in (".", ")")
    ]
    return any(called) or bool(whole)


class _End(NamedTuple):
    """A node of a link, whether the pattern ends with it, and what leaves it out with its link."""

    node: Element
    is_last: bool
    without: Edit


def _ends(link: PatternLink, names: Names, tokens: Tokens) -> Iterator[_End]:
    closing = names.patterns.closing
    first = link.place - (2 if link.arrow == "<" else 1)
    left, right = names.patterns.opening[first - 1], link.end + (3 if link.arrow == ">" else 2)

    def is_last(beyond: int) -> bool:
        return not (0 <= beyond < len(tokens) and tokens[beyond].text in ("-", "<", ">"))

    cut = Edit(tokens[first].start, tokens[closing[right]].end, "")
    yield _End(link.right, is_last(closing[right] + 1), cut)
    cut = Edit(tokens[left].start, tokens[right].start, "")
    yield _End(link.left, is_last(left - 1), cut)


def has_both(names: Names, tokens: Tokens, question: str) -> Corrections:
    """Let only what is linked to both values pass, where the question asks for both.

    ``(p)-[:TOOK]->(c) WHERE c.name IN ['art', 'music']`` finds who took either.
    """
    words = clauses(tokens)
    if [one.word for one in words] != ["MATCH", "WHERE", "RETURN"]:
        return
    where, returned = tokens.index(words[1]), tokens.index(words[2])
    shown = {one.variable for one in names.patterns.accesses if one.place > returned}
    listed = [
        one
        for one in names.patterns.accesses
        if one.place > where and _are_both(tokens[one.place + 3 : one.place + 9], question)
    ]
    if len(shown) != 1 or len(listed) != 1 or any(t.text == "(" for t in tokens[returned:]):
        return
    (thing,), (value,) = shown, listed
    if value.variable != thing:
        either = f"{quoted(value.variable)}.{quoted(value.property)}"
        both = f"WITH {quoted(thing)}, count(DISTINCT {either}) AS found WHERE found = 2 "
        yield [before(words[2], both)], f"has both values of {value.property}"


def _are_both(tokens: Tokens, question: str) -> bool:
    """Whether tokens are ``IN`` and a list of two values, and the question asks for both."""
    marks = [token.text for token in tokens]
    if len(marks) < 6 or marks[0].upper() != "IN" or marks[1::2] != ["[", ",", "]"]:
        return False
    values = [re.escape(mark.strip("'\"")) for mark in marks[2::2]]
    return any(
        re.search(said.format(first=first, second=second), question, re.IGNORECASE)
        for first, second in permutations(values)
        for said in _BOTH
    )


def _is_idle(element: Element, tokens: Tokens) -> bool:
    """Whether an element has a name for its kind, and nothing else that the query uses."""
    uses = [token for token in tokens if element.variable and token.identifier == element.variable]
    return len(element.names) == 1 and not element.properties and len(uses) <= 1


def _is_said(link: PatternLink, node: Element, names: Names, question: str) -> bool:
    """Whether the question speaks of the node, or of the link by a word for no other node."""
    words = [word.lower() for word in re.findall(r"\w+", question)]
    labels = {
        name.lower() for e in names.patterns.elements.values() if e.is_node for name in e.names
    }
    if node.names[0].lower() in {*words, *map(stem, words)}:
        return True
    done = _verb(link.relationship.names[0].partition("_")[0])
    others = [word for word in words if stem(word) not in labels - {node.names[0].lower()}]
    return any(word.startswith(done[:_ROOT]) for word in others)


def _label(names: Names, question: str) -> str:
    """The label of what the question counts; empty if it counts something else."""
    asked = _COUNTED.search(question)
    nouns = {stem(asked["noun"].lower()), asked["noun"].lower()} if asked else set()
    return next((label for label in names.nodes if label.lower() in nouns), "")


def _count(tokens: Tokens) -> Edit | None:
    """Count our nodes in the only ``count(…)``; None if there are several."""
    places = [
        at
        for at, token in enumerate(tokens[:-3])
        if token.word == "COUNT" and tokens[at + 1].text == "("
    ]
    if len(places) != 1:
        return None
    begin = places[0] + 2
    end = next((at for at in range(begin, len(tokens)) if tokens[at].text == ")"), -1)
    inside = tokens[begin:end]
    if end <= begin or any(token.text in ("(", ".") for token in inside):
        return None
    return Edit(inside[0].start, tokens[end].start, f"DISTINCT {_NAME}")


def _type(names: Names, question: str) -> str:
    """The type of what the question says is done most often: "the most ordered products"."""
    done = _DONE.search(question)
    verb = _verb(done[done.lastgroup or 0]) if done else ""
    return next((type_ for type_ in names.relationships if _verb(type_) == verb), "")


def _verb(word: str) -> str:
    return re.sub(r"(?:ed|s)$", "", word.lower())


def steps_between(names: Names, here: str, there: str, name: str) -> Iterator[str]:
    """The links from a label to another, whose node gets a name."""
    for type_, end, left, right in names.ways(here):
        if end == there:
            yield f"{left}[:{quoted(type_.name)}]{right}({name}:{quoted(there)})"


def _steps_over(names: Names, here: str, asked: str) -> Iterator[str]:
    """The links of a type from a label to anything; they get a name, since they are counted."""
    ways = {way[2:] for way in names.ways(here) if way[0].name == asked}
    yield from (f"{left}[{_NAME}:{quoted(asked)}]{right}()" for left, right in ways)
