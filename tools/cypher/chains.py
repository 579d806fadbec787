"""Links that follow one another: how many a question asks for, and which types can."""

import re

from planweave.texts import COUNT, count_of
from planweave.tools.cypher.hints import Names
from planweave.tools.cypher.tokens import Corrections, Tokens, before
from planweave.tools.database import Entity

_ANY = re.compile(r"\bdirectly or\b|\bindirect|\btransitive|\bhowever (?:far|many|long)\b", re.I)
_STEPS = r"(?:\w+ )?(?:relationship|link|step|hop|stop|level|degree|generation)s?\b"
_SPAN = re.compile(rf"\b(?P<least>{COUNT}) (?:to|or) (?P<most>{COUNT}) {_STEPS}", re.IGNORECASE)
_MOST = re.compile(
    rf"\b(?:at most|up to|within|no more than) (?P<most>{COUNT}) {_STEPS}", re.IGNORECASE
)


def said_hops(question: str) -> str:
    """How many links follow one another, as Cypher writes it; empty if it is not said."""
    if found := _SPAN.search(question):
        return f"{count_of(found['least'])}..{count_of(found['most'])}"
    if found := _MOST.search(question):
        return f"1..{count_of(found['most'])}"
    return "1.." if _ANY.search(question) else ""


def chained(entity: Entity) -> bool:
    """Whether relationships of a type can follow one another."""
    return bool({*entity.start} & {*entity.end})


def lengthened(names: Names, tokens: Tokens, question: str) -> Corrections:
    """Follow a link as often as the question says, where the query follows it once."""
    hops, links = said_hops(question), names.patterns.links
    found = [link for link in links if (type_ := names.only_type(link)) and chained(type_)]
    if not hops or len(found) != 1 or found[0].relationship.many_hops:
        return
    link = found[0]
    is_read = any(
        access.variable and access.variable == link.relationship.variable
        for access in names.patterns.accesses
    )
    if link.arrow and not link.relationship.properties and not is_read:
        yield [before(tokens[link.end], f"*{hops}")], f"follows {link.relationship.names[0]} {hops}"
