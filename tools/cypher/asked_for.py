"""The things that a question asks for, next door to those that a query shows: they are put in."""

import re

from planweave.tools.cypher.counted import steps_between
from planweave.tools.cypher.describe import quoted
from planweave.tools.cypher.hints import Names
from planweave.tools.cypher.reach import last_before
from planweave.tools.cypher.sql_habits import clauses
from planweave.tools.cypher.titles import title_of
from planweave.tools.cypher.tokens import Corrections, Edit, Tokens, behind
from planweave.tools.linking import Values, stem

_ASKED = re.compile(
    r"\W*(?:which|what(?: are| is)?|who (?:are|is)|list|find|show|identify|name|give|display)"
    r"(?: (?:me|all|the|of|our|names?|first|last|top|\d+|one|two|three|four|five|different"
    r"|distinct|unique|any|every))* (?P<noun>\w+)",
    re.IGNORECASE,
)
_NAME = "asked"


def shows_what_is_asked(names: Names, tokens: Tokens, question: str, values: Values) -> Corrections:
    """``RETURN p.name, p.supplierID`` where the question asks which suppliers: their names."""
    asked, words = _ASKED.match(question), clauses(tokens)
    returned = next((at for at, one in enumerate(words) if one.word == "RETURN"), 0)
    nouns = {asked["noun"].lower(), stem(asked["noun"].lower())} if asked else set()
    label = next((one for one in names.nodes if one.lower() in nouns), "")
    others = {one.word for one in words} & {"WITH", "ORDER", "UNION", "OPTIONAL"}
    if not label or not returned or others or words[0].word != "MATCH":
        return
    begin, elements = tokens.index(words[returned]), names.patterns.elements.values()
    shown = {one.variable for one in elements} & {token.identifier for token in tokens[begin:]}
    shown -= {""}
    if len(shown) != 1 or any(token.text == "(" for token in tokens[begin:]):
        return
    thing = shown.pop()
    owners = names.owners(thing)
    if len(owners) != 1 or label in {one.name for e in elements for one in names.entities(e)}:
        return
    steps = [*steps_between(names, owners[0].name, label, _NAME)]
    if len(steps) != 1 or not (title := title_of(names.nodes[label], values)):
        return
    after = words[returned + 1].start if returned + 1 < len(words) else tokens[-1].end
    last = [token for token in tokens if token.start < after][-1]
    joined = behind(last_before(tokens, words[1]), f", ({quoted(thing)}){steps[0]}")
    items = Edit(tokens[begin + 1].start, last.end, f"DISTINCT {_NAME}.{quoted(title)}")
    yield [joined, items], f"shows each {label}"
