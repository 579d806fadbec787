"""Links that a query gets nearly right: direction, type, ends, and the nodes that they skip."""

import re
from collections.abc import Iterable, Sequence

from planweave.tools.cypher.describe import quoted
from planweave.tools.cypher.hints import Names, runs
from planweave.tools.cypher.patterns import Element, PatternLink
from planweave.tools.cypher.sql_habits import clauses
from planweave.tools.cypher.tokens import Corrections, Edit, Tokens, before, behind, instead
from planweave.tools.database import Entity
from planweave.tools.linking import parts_of, stem

_NEVER = re.compile(r"\bnever\b|\bat all\b", re.I)
_NONE = re.compile(r"\b(?:never|nobody|no one|none|without|no|not)\b|n['\u2019]t\b", re.I)
_ASKED = re.compile(r"\b(?:which|what)(?: of (?:the|our|my))? (\w+(?: \w+)?)", re.I)


def turned(names: Names, tokens: Tokens) -> Corrections:
    """Links that run the other way only."""
    for link in names.patterns.links:
        types = names.types(link)
        if not link.arrow or not types or any(runs(one, link, names) for one in types):
            continue
        if not all(runs(one, link.turned, names) for one in types):
            continue
        yield the_other_way(link, tokens), f"[:{types[0].name}] runs the other way"


def the_other_way(link: PatternLink, tokens: Tokens) -> list[Edit]:
    """Turn the arrow of a link."""
    if link.arrow == ">":
        return [instead(tokens[link.end + 2], ""), before(tokens[link.place - 1], "<")]
    return [instead(tokens[link.place - 2], ""), behind(tokens[link.end + 1], ">")]


def turned_as_said(names: Names, tokens: Tokens, question: str) -> Corrections:
    """Links between two of a kind: who reports to Ann is where the arrow to Ann begins."""
    for link in names.patterns.links:
        type_ = names.only_type(link)
        if type_ is None or not link.arrow or not {*type_.start} & {*type_.end}:
            continue
        named = [_texts(names, element) for element in (link.left, link.right)]
        if bool(named[0]) == bool(named[1]):
            continue
        verb, *others = parts_of(type_.name)
        done = r"\W+".join([rf"{re.escape(stem(verb.lower()))}\w*", *map(re.escape, others)])
        value = "|".join(map(re.escape, named[0] or named[1]))
        is_end = re.search(rf"\b{done}\W+(?:{value})\b", question, re.I)
        is_start = re.search(rf"\b(?:{value}) (?:\w+ly )?{done}(?!\w| by\b)", question, re.I)
        names_end = bool(named[1]) == (link.arrow == ">")
        if bool(is_end) != bool(is_start) and bool(is_end) != names_end:
            yield the_other_way(link, tokens), f"[:{type_.name}] runs as the question says"


def _texts(names: Names, element: Element) -> list[str]:
    """The texts that a node's properties must equal."""
    accesses = names.patterns.accesses
    compared = [one.literal for one in accesses if one.variable == element.variable != ""]
    found = [literal for _, literal in element.properties] + compared
    return [text[1:-1] for text in found if text[:1] in ("'", '"') and len(text) > len("''")]


def retyped(names: Names, tokens: Tokens) -> Corrections:
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


def routed(names: Names, tokens: Tokens) -> Corrections:
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
            for step in _steps(names, *((other.name, label) if fits_right else (label, other.name)))
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


def never_linked(names: Names, tokens: Tokens, question: str) -> Corrections:
    """``NOT (p)-[:ACTED_IN]->(m)`` beside another link to m: who never acted has no such link."""
    if not _NEVER.search(question):
        return
    for link in (one for one in names.patterns.links if one.arrow):
        first = names.patterns.opening[link.place - (3 if link.arrow == "<" else 2)]
        words = [token.word for token in tokens[max(0, first - 3) : first] if token.word]
        others = [one for one in names.patterns.links if one is not link]
        bound = {e.variable for one in others for e in (one.left, one.right) if e.variable}
        node, owners = link.right, names.entities(link.right)
        if "NOT" not in words or not {link.left.variable, node.variable} <= bound:
            continue
        if len(owners) == 1 and node.variable != link.left.variable:
            place = link.end + (3 if link.arrow == ">" else 2)
            span = tokens[place].start, tokens[names.patterns.closing[place]].end
            change = f"not in any {owners[0].name}, where it says never"
            yield [Edit(*span, f"(:{quoted(owners[0].name)})")], change
            return


def lacking(names: Names, tokens: Tokens, question: str) -> Corrections:
    """``MATCH (a:A) WHERE NOT (a)-[:T]->(:B)``, where the question asks for what no A has.

    A query that looks for the link that it denies finds nothing, so it means the same.
    """
    denied = [one for one in names.patterns.links if one.place in names.patterns.denied]
    others = [one for one in names.patterns.links if one.place not in names.patterns.denied]
    words = clauses(tokens)
    if len(denied) != 1 or [one.word for one in words] != ["MATCH", "WHERE", "RETURN"]:
        return
    (link,), where, shown = denied, tokens.index(words[1]), tokens.index(words[2])
    is_alone = {*range(where + 1, shown)} - names.patterns.denied <= {where + 1, where + 2}
    ends = [names.entities(link.left), names.entities(link.right)]
    if not is_alone or not _NONE.search(question) or any(len(end) != 1 for end in ends):
        return
    if any(one.relationship.names != link.relationship.names for one in others):
        return
    if any(element.properties for element in names.patterns.elements.values()):
        return
    labels = [end[0].name for end in ends]
    asked = _asked(labels, question)
    if asked is None or labels[0] == labels[1]:
        return
    bound = {one.variable for at, one in names.patterns.elements.items() if at < where}
    if not others and (link.left, link.right)[asked].variable in bound:
        return
    thing, other = labels[asked], f"(:{quoted(labels[1 - asked])})"
    sides = ("(x)", other) if not asked else (other, "(x)")
    step = f"[:{quoted(link.relationship.names[0])}]"
    left, right = ("<-", "-") if link.arrow == "<" else ("-", "->" if link.arrow else "-")
    has = {field.name for field in names.nodes[thing].fields}
    kept = [a.property for a in names.patterns.accesses if a.place > shown and a.property in has]
    returned = ", ".join(f"x.{quoted(name)}" for name in kept) or "x"
    denial = f"NOT {sides[0]}{left}{step}{right}{sides[1]}"
    query = f"MATCH (x:{quoted(thing)}) WHERE {denial} RETURN {returned}"
    yield [Edit(0, tokens[-1].end, query)], f"asks which {thing} has none"


def _asked(labels: Sequence[str], question: str) -> int | None:
    """Which of two labels a question asks for: behind "which", or the one that it does not say."""
    noun = _ASKED.search(question)
    said = [
        {stem(word.lower()) for word in re.findall(r"\w+", text)}
        for text in (noun[1] if noun else "", question)
    ]
    for words, is_said in ((said[0], True), (said[1], False)):
        found = [at for at, label in enumerate(labels) if (stem(label.lower()) in words) is is_said]
        if len(found) == 1:
            return found[0]
    return None


def _back(link: PatternLink, type_: Entity, names: Names, tokens: Tokens) -> list[Edit]:
    """``(p)-[:WROTE]->(m)-[:DIRECTED]->(m2)`` means ``(m)<-[:DIRECTED]-(p)``: p did both.

    So does ``(m)<-[:DIRECTED]-(m)``.

    Empty where the relationship does not lead from the node before to the one in between.
    """
    over = link.left.variable
    meets = (one for one in names.patterns.links if over and one.right.variable == over)
    earlier = next(meets, None)
    if earlier is None or not link.arrow or not earlier.left.variable:
        return []
    before_it, between = names.entities(earlier.left), names.entities(link.left)
    starts = any(one.name in type_.start for one in before_it)
    if not starts or not any(one.name in type_.end for one in between):
        return []
    opening = link.end + (3 if link.arrow == ">" else 2)
    closing = names.patterns.closing[opening]
    edits = the_other_way(link, tokens) if link.arrow == ">" else []
    edits.append(Edit(tokens[opening].start, tokens[closing].end, f"({earlier.left.variable})"))
    gone = link.right.variable if link.right.variable != over else ""
    for at, token in enumerate(tokens[:-1]):
        if gone and token.identifier == gone:
            meant = over if tokens[at + 1].text == "." else earlier.left.variable
            edits += [instead(token, meant)] if not opening <= at <= closing else []
    return edits


def _connects(type_: Entity, one: Entity, other: Entity) -> bool:
    """Whether relationships of a type lead from one label to the other, or back."""
    ways = ((one.name, other.name), (other.name, one.name))
    return any(start in type_.start and end in type_.end for start, end in ways)


def _steps(names: Names, start: str, end: str) -> Iterable[str]:
    """Relationships between two labels, as they stand between their nodes; of each type one."""
    steps: dict[str, str] = {}
    for type_, there, left, right in names.ways(start):
        if there == end:
            steps.setdefault(type_.name, f"{left}[:{quoted(type_.name)}]{right}")
    return steps.values()
