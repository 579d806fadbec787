"""What the question counts and the query does not look for: it is put into the pattern.

"The categories with the most products" needs products beside each category to be counted.
"""

import re
from collections.abc import Iterator, Sequence

from planweave.tools.cypher.describe import quoted
from planweave.tools.cypher.hints import Names
from planweave.tools.cypher.reach import last_before
from planweave.tools.cypher.sql_habits import clauses
from planweave.tools.cypher.tokens import Edit, Token, behind
from planweave.tools.linking import stem

_COUNTED = re.compile(
    r"\b(?:most|fewest|least|many|number of)(?: (?:different|distinct|unique))? (?P<noun>\w+)", re.I
)
_DONE = re.compile(
    r"\bmost (?:(?:frequently|often|commonly) )?(?P<before>\w+ed)\b"
    r"|\b(?P<behind>\w+ed) (?:the )?(?:most|least|more) (?:often|times|frequently)\b",
    re.I,
)
_NAME = "counted"


def counts_what_is_asked(
    names: Names, tokens: Sequence[Token], question: str
) -> Iterator[tuple[list[Edit], str]]:
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
        for step in _steps(names, element.names[0], label, type_)
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


def _label(names: Names, question: str) -> str:
    """The label of what the question counts; empty if it counts something else."""
    asked = _COUNTED.search(question)
    nouns = {stem(asked["noun"].lower()), asked["noun"].lower()} if asked else set()
    return next((label for label in names.nodes if label.lower() in nouns), "")


def _count(tokens: Sequence[Token]) -> Edit | None:
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
    if end < 0 or any(token.text in ("(", ".") for token in inside):
        return None
    return Edit(inside[0].start, tokens[end].start, f"DISTINCT {_NAME}")


def _type(names: Names, question: str) -> str:
    """The type of what the question says is done most often: "the most ordered products"."""
    done = _DONE.search(question)
    verb = _verb(done[done.lastgroup or 0]) if done else ""
    return next((type_ for type_ in names.relationships if _verb(type_) == verb), "")


def _verb(word: str) -> str:
    return re.sub(r"(?:ed|s)$", "", word.lower())


def _steps(names: Names, here: str, there: str, done: str) -> Iterator[str]:
    """Steps from a label to another, or over a type to anything; what is counted has a name."""
    for type_ in names.relationships.values():
        link, end = f":{quoted(type_.name)}", f"({_NAME}:{quoted(there)})"
        if not there:
            link, end = f"{_NAME}{link}", "()"
        if here in type_.start and (there in type_.end if there else done == type_.name):
            yield f"-[{link}]->{end}"
        if here in type_.end and (there in type_.start if there else done == type_.name):
            yield f"<-[{link}]-{end}"
