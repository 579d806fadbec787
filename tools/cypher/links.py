"""Correct links that a query gets nearly right: direction, type, ends, skipped nodes, hops."""

import re
from collections.abc import Sequence

from planweave.texts import COUNT, count_of
from planweave.tools.cypher.patterns import Element, PatternLink
from planweave.tools.cypher.resolved import ResolvedQuery, property_names
from planweave.tools.cypher.tokens import Corrections, Edit, Tokens, quote_name
from planweave.tools.database import Entity
from planweave.tools.linking import parts_of, singular

_NEVER = re.compile(r"\bnever\b|\bat all\b", re.I)
_NONE = re.compile(r"\b(?:never|nobody|no one|none|without|no|not)\b|n['\u2019]t\b", re.I)
_ASKED = re.compile(r"\b(?:which|what)(?: of (?:the|our|my))? (\w+(?: \w+)?)", re.I)
_ANY = re.compile(r"\bdirectly or\b|\bindirect|\btransitive|\bhowever (?:far|many|long)\b", re.I)
_STEPS = r"(?:\w+ )?(?:relationship|link|step|hop|stop|level|degree|generation)s?\b"
_SPAN = re.compile(rf"\b(?P<least>{COUNT}) (?:to|or) (?P<most>{COUNT}) {_STEPS}", re.IGNORECASE)
_MOST = re.compile(
    rf"\b(?:at most|up to|within|no more than) (?P<most>{COUNT}) {_STEPS}", re.IGNORECASE
)


def correct_directions(query: ResolvedQuery) -> Corrections:
    """Reverse links whose types only lead the other way."""
    for link in query.links:
        types = query.types_of(link)
        if not link.arrow or not types or any(query.can_join(one, link) for one in types):
            continue
        if all(query.can_join(one, link, is_reversed=True) for one in types):
            yield _reverse(link, query.tokens), f"[:{types[0].name}] runs the other way"


def correct_asked_directions(query: ResolvedQuery) -> Corrections:
    """Reverse links between nodes of one kind: the arrow begins at the one who reports to Ann."""
    for link in query.links:
        type_ = query.only_type_of(link)
        if type_ is None or not link.arrow or not can_chain(type_):
            continue
        left, right = _required_texts(link.left, query), _required_texts(link.right, query)
        if bool(left) == bool(right):
            continue
        first, *others = parts_of(type_.name)
        verb = r"\W+".join([rf"{re.escape(singular(first.lower()))}\w*", *map(re.escape, others)])
        value = "|".join(map(re.escape, left or right))
        is_end = re.search(rf"\b{verb}\W+(?:{value})\b", query.question, re.I)
        is_start = re.search(rf"\b(?:{value}) (?:\w+ly )?{verb}(?!\w| by\b)", query.question, re.I)
        names_end = bool(right) == (link.arrow == ">")
        if bool(is_end) != bool(is_start) and bool(is_end) != names_end:
            yield _reverse(link, query.tokens), f"[:{type_.name}] runs as the question says"


def correct_types(query: ResolvedQuery) -> Corrections:
    """Replace a type that does not connect the two labels by the only one that does."""
    for link in query.links:
        type_ = query.only_type_of(link)
        left, right = query.entities_of(link.left), query.entities_of(link.right)
        if type_ is None or len(left) != 1 or len(right) != 1:
            continue
        if _connects(type_, left[0], right[0]):
            continue
        meant = [one for one in query.relationships.values() if _connects(one, left[0], right[0])]
        token = next(t for t in query.tokens[link.start :] if t.identifier == type_.name)
        if len(meant) == 1:
            name = meant[0].name
            yield [token.replace_with(quote_name(name))], f"{type_.name} → {name}"


def insert_skipped_nodes(query: ResolvedQuery) -> Corrections:
    """Insert the node that a link skips, if only one label and type lead there."""
    for link in query.links:
        type_ = query.only_type_of(link)
        if type_ is None or not link.arrow or link.relationship.many_hops:
            continue
        if query.can_join(type_, link) or query.can_join(type_, link, is_reversed=True):
            continue
        if edits := _lead_back(link, type_, query):
            yield edits, f"the same {link.left.variable} is linked by {type_.name}"
            return  # the next link begins where this one ends
        left, right = query.entities_of(link.left), query.entities_of(link.right)
        is_forward = link.arrow == ">"
        left_ends, right_ends = (type_.start, type_.end)[:: 1 if is_forward else -1]
        fits_left = any(one.name in left_ends for one in left)
        fits_right = any(one.name in right_ends for one in right)
        if fits_left == fits_right:
            continue
        between, others = (left_ends, left) if fits_right else (right_ends, right)
        steps = [
            (label, step)
            for label in between
            for other in others
            for step in _steps_between(
                query, *((other.name, label) if fits_right else (label, other.name))
            )
        ]
        if len(steps) != 1:
            continue
        label, step = steps[0]
        node, change = f"(:{quote_name(label)})", f"goes through {label}"
        if fits_right:
            yield [query.tokens[link.left_end].insert_after(f"{step}{node}")], change
        else:
            yield [query.tokens[link.right_start].insert_before(f"{node}{step}")], change


def deny_all_links(query: ResolvedQuery) -> Corrections:
    """If the question says never, deny links to any node, not only to the node of another link.

    A person who never acted has no ``(p)-[:ACTED_IN]->()``; the query has ``NOT
    (p)-[:ACTED_IN]->(m)``.
    """
    if not _NEVER.search(query.question):
        return
    for link in (one for one in query.links if one.arrow):
        first = query.opening[link.left_end]
        words = [token.word for token in query.tokens[max(0, first - 3) : first]]
        others = [one for one in query.links if one is not link]
        bound = {e.variable for one in others for e in (one.left, one.right) if e.variable}
        left, right, owners = link.left, link.right, query.entities_of(link.right)
        if "NOT" not in words or not {left.variable, right.variable} <= bound:
            continue
        if len(owners) == 1 and right.variable != left.variable:
            start, end = link.right_start, query.closing[link.right_start]
            node = f"(:{quote_name(owners[0].name)})"
            change = f"not in any {owners[0].name}, where it says never"
            yield [Edit(query.tokens[start].start, query.tokens[end].end, node)], change
            return


def ask_for_unlinked(query: ResolvedQuery) -> Corrections:
    """Rewrite ``MATCH (a:A) WHERE NOT (a)-[:T]->(:B)`` if the question asks which B has no A.

    A query that denies the link that it matches finds nothing, so it means the same.
    """
    denied = [link for link in query.links if link.start in query.denied]
    others = [link for link in query.links if link.start not in query.denied]
    if len(denied) != 1 or [one.word for one in query.clauses] != ["MATCH", "WHERE", "RETURN"]:
        return
    link, (_, *clauses) = denied[0], query.clauses
    where, returned = (query.tokens.index(clause) for clause in clauses)
    is_alone = {*range(where + 1, returned)} - query.denied <= {where + 1, where + 2}
    ends = [query.entities_of(link.left), query.entities_of(link.right)]
    if not is_alone or not _NONE.search(query.question) or any(len(end) != 1 for end in ends):
        return
    if any(one.relationship.names != link.relationship.names for one in others):
        return
    if any(element.properties for element in query.elements.values()):
        return
    labels = [end[0].name for end in ends]
    asked = _find_asked(labels, query.question)
    if asked is None or labels[0] == labels[1]:
        return
    bound = {one.variable for start, one in query.elements.items() if start < where}
    if not others and (link.left, link.right)[asked].variable in bound:
        return
    label, other = labels[asked], f"(:{quote_name(labels[1 - asked])})"
    sides = (other, "(x)") if asked else ("(x)", other)
    left, right = ("<-", "-") if link.arrow == "<" else ("-", "->" if link.arrow else "-")
    type_ = f"[:{quote_name(link.relationship.names[0])}]"
    names = property_names(query.nodes[label])
    shown = [a.property for a in query.accesses if a.index > returned and a.property in names]
    items = ", ".join(f"x.{quote_name(name)}" for name in shown) or "x"
    denial = f"NOT {sides[0]}{left}{type_}{right}{sides[1]}"
    text = f"MATCH (x:{quote_name(label)}) WHERE {denial} RETURN {items}"
    yield [Edit(0, query.tokens[-1].end, text)], f"asks which {label} has none"


def repeat_link(query: ResolvedQuery) -> Corrections:
    """Follow a link as often as the question says, if the query follows it once."""
    hops = asked_hops(query.question)
    found = [
        link for link in query.links if (type_ := query.only_type_of(link)) and can_chain(type_)
    ]
    if not hops or len(found) != 1 or found[0].relationship.many_hops:
        return
    (link,) = found
    variable = link.relationship.variable
    is_read = variable and any(access.variable == variable for access in query.accesses)
    if link.arrow and not link.relationship.properties and not is_read:
        edit = query.tokens[link.end].insert_before(f"*{hops}")
        yield [edit], f"follows {link.relationship.names[0]} {hops}"


def asked_hops(question: str) -> str:
    """The hops that a question asks for, in Cypher's form (``1..3``); empty if none."""
    if found := _SPAN.search(question):
        return f"{count_of(found['least'])}..{count_of(found['most'])}"
    if found := _MOST.search(question):
        return f"1..{count_of(found['most'])}"
    return "1.." if _ANY.search(question) else ""


def can_chain(type_: Entity) -> bool:
    """Whether relationships of a type can follow one another."""
    return not {*type_.start}.isdisjoint(type_.end)


def _reverse(link: PatternLink, tokens: Tokens) -> list[Edit]:
    """Reverse the arrow of a link."""
    first, last = tokens[link.left_end + 1], tokens[link.right_start - 1]
    if link.arrow == ">":
        return [last.replace_with(""), first.insert_before("<")]
    return [first.replace_with(""), last.insert_after(">")]


def _required_texts(element: Element, query: ResolvedQuery) -> list[str]:
    """The texts that a node's properties must equal."""
    variable = element.variable
    literals = [literal for _, literal in element.properties]
    literals += [one.literal for one in query.accesses if one.variable == variable != ""]
    return [text[1:-1] for text in literals if text[:1] in ("'", '"') and len(text) > len("''")]


def _find_asked(labels: Sequence[str], question: str) -> int | None:
    """Which of two labels a question asks for: the one after "which", or the unnamed one."""
    noun = _ASKED.search(question)
    for text, is_named in ((noun[1] if noun else "", True), (question, False)):
        words = {singular(word.lower()) for word in re.findall(r"\w+", text)}
        found = [
            at for at, one in enumerate(labels) if (singular(one.lower()) in words) is is_named
        ]
        if len(found) == 1:
            return found[0]
    return None


def _lead_back(link: PatternLink, type_: Entity, query: ResolvedQuery) -> list[Edit]:
    """Link a node to the one before it: ``(p)-[:WROTE]->(m)-[:DIRECTED]->(m2)``: p did both.

    It becomes ``(m)<-[:DIRECTED]-(p)``, and so does ``(m)<-[:DIRECTED]-(m)``. Empty if the
    relationship does not lead from the node before to the middle one.
    """
    middle, tokens = link.left.variable, query.tokens
    earlier = next((one for one in query.links if middle and one.right.variable == middle), None)
    if earlier is None or not link.arrow or not earlier.left.variable:
        return []
    before = {entity.name for entity in query.entities_of(earlier.left)}
    here = {entity.name for entity in query.entities_of(link.left)}
    if before.isdisjoint(type_.start) or here.isdisjoint(type_.end):
        return []
    start, end = link.right_start, query.closing[link.right_start]
    edits = _reverse(link, tokens) if link.arrow == ">" else []
    edits.append(Edit(tokens[start].start, tokens[end].end, f"({earlier.left.variable})"))
    removed = link.right.variable if link.right.variable != middle else ""
    for index, token in enumerate(tokens[:-1]):
        if removed and token.identifier == removed and not start <= index <= end:
            is_read = tokens[index + 1].text == "."
            edits.append(token.replace_with(middle if is_read else earlier.left.variable))
    return edits


def _connects(type_: Entity, one: Entity, other: Entity) -> bool:
    """Whether relationships of a type lead from one label to the other, or back."""
    ways = ((one.name, other.name), (other.name, one.name))
    return any(start in type_.start and end in type_.end for start, end in ways)


def _steps_between(query: ResolvedQuery, start: str, end: str) -> list[str]:
    """Relationships from one label to another, one for each type."""
    steps: dict[str, str] = {}
    for step in query.steps_from(start):
        if step.label == end:
            steps.setdefault(step.type.name, step.link())
    return [*steps.values()]
