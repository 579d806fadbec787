"""The lexical guard: one statement, made of reading clauses only.

It reads tokens, not a grammar: the Cypher parsers at hand reject good queries. What it lets pass
is still run on an immutable graph or in a read transaction.
"""

import re

from planweave.tools.cypher.tokens import CypherToken, Tokens, bare, tokenize
from planweave.tools.database import QueryRefused

_MAX_CHARACTERS = 20_000
_MAX_DEPTH = 60
_STARTS = {"MATCH", "OPTIONAL", "WITH", "UNWIND", "RETURN", "CALL"}
_WRITES = {"CREATE", "MERGE", "DELETE", "DETACH", "NODETACH", "SET", "REMOVE", "DROP", "FOREACH"}
_WRITES |= {"INSERT"}
_PAIRS = {("PERIODIC", "COMMIT"), ("IN", "TRANSACTIONS"), ("CONCURRENT", "TRANSACTIONS")}
_FILES = {"LOAD", "FORMAT"}
_OPERATORS = {"AS", "IN", "IS", "AND", "OR", "XOR", "STARTS", "ENDS", "CONTAINS", "THEN", "ELSE"}
_OPERATORS |= {"END", "ASC", "DESC", "WHERE", "RETURN", "WITH", "LIMIT", "SKIP", "ORDER", "WHEN"}
_OPERATORS |= {"ASCENDING", "DESCENDING", "OFFSET"}
_PROCEDURES = {"db.labels", "db.relationshipTypes", "db.propertyKeys"}
_NAMESPACES = {"date", "datetime", "localdatetime", "time", "localtime", "duration", "point"}
_FENCE = re.compile(r"```[ \t]*\w*[ \t]*\r?\n?(.*?)```", re.DOTALL)
_HEADING = re.compile(r"\A\s*cypher(?:[ \t]*:|[ \t]*\r?\n)", re.IGNORECASE)


def guard(query: str) -> tuple[str, tuple[CypherToken, ...]]:
    """Check that ``query`` only reads; the statement without fence, comments and semicolon.

    A code fence and a leading ``Cypher:`` are dropped. The tokens of the statement come with it.

    Raises:
        QueryRefused: It is not one plain read.
    """
    query = _unwrap(query)
    if len(query) > _MAX_CHARACTERS:
        raise QueryRefused(
            f"The query has {len(query)} characters, more than {_MAX_CHARACTERS}.",
            fix="Ask for less in one query.",
        )
    tokens = tokenize(query)
    while tokens and tokens[-1].text == ";":
        tokens = tokens[:-1]
    statement = bare(query, tokens)
    tokens = tokenize(statement)
    _check_frame(tokens)
    for index in range(len(tokens)):
        _check_word(tokens, index)
    return statement, tokens


def _unwrap(query: str) -> str:
    fence = _FENCE.search(query) if query.lstrip().startswith("```") else None
    return _HEADING.sub("", fence[1] if fence else query).strip()


def _check_frame(tokens: tuple[CypherToken, ...]) -> None:
    """One statement, begun by a reading clause, not too deeply nested."""
    if not tokens or tokens[0].word not in _STARTS:
        first = tokens[0].text if tokens else "nothing"
        raise QueryRefused(
            f"A query must begin with MATCH, WITH, UNWIND, RETURN or CALL {{…}}, not {first!r}.",
            fix="Only reading is allowed here.",
        )
    depth = 0
    for token in tokens:
        if token.text == ";":
            raise QueryRefused("There is more than one statement.", fix="Send one at a time.")
        depth += (token.text in ("(", "[", "{")) - (token.text in (")", "]", "}"))
        if depth > _MAX_DEPTH:
            raise QueryRefused("The query is nested too deeply.", fix="Write it flatter.")


def _check_word(tokens: tuple[CypherToken, ...], index: int) -> None:
    """Refuse a writing clause, a foreign procedure or a foreign function at ``index``."""
    word = tokens[index].word
    follower = tokens[index + 1] if index + 1 < len(tokens) else None
    if word in _WRITES and not _is_plain_name(tokens, index):
        raise _refused(word)
    if follower and (word, follower.word) in _PAIRS:
        raise _refused(f"{word} {follower.word}")
    if word == "USE" and follower and (follower.text == "(" or _is_graph_name(follower)):
        raise _refused(word)
    if names_format(tokens, index):
        raise _refused(" ".join(token.identifier for token in tokens[index : index + 2]))
    if word == "CALL" and not _is_plain_name(tokens, index):
        _check_call(tokens, index + 1)
    if tokens[index].text == "(" and index:
        _check_function(tokens, index)


def _is_plain_name(tokens: tuple[CypherToken, ...], index: int) -> bool:
    """Whether a reserved word is a property (``n.set``), a label (``:Set``) or a map key here."""
    if index < 2:
        return False
    before, earlier = tokens[index - 1], tokens[index - 2]
    if before.text == ".":  # "1." may be a number to some engines, with a clause after it
        return earlier.kind in ("name", "quoted") or earlier.text in (")", "]", "}")
    if before.text == ":":
        return earlier.kind != "number"
    following = tokens[index + 1].text if index + 1 < len(tokens) else ""
    return before.text in ("{", ",") and following == ":"


def _is_graph_name(token: CypherToken) -> bool:
    return token.kind == "quoted" or bool(token.word and token.word not in _OPERATORS)


def names_format(tokens: Tokens, index: int) -> bool:
    """Whether ``LOAD`` or ``FORMAT`` is no variable here, but has the name of a format behind it.

    Servers know CSV, JSONL, PARQUET, and may know more. To the embedded engine both words are the
    same in backticks.
    """
    if tokens[index].identifier.upper() not in _FILES or index + 1 == len(tokens):
        return False
    follower = tokens[index + 1]
    is_clause = follower.word in _OPERATORS | _STARTS | {"UNION"}
    return bool(follower.identifier) and not is_clause


def _check_call(tokens: tuple[CypherToken, ...], start: int) -> None:
    """Allow ``CALL {…}``, ``CALL (x) {…}`` and the three procedures that list names."""
    if start < len(tokens) and tokens[start].text in ("{", "("):
        return
    name = ""
    for token in tokens[start:]:
        if token.text != "." and not token.identifier:
            break
        if token.text != "." and name and not name.endswith("."):
            break  # two names in a row: YIELD, WITH …
        name += token.identifier or "."
    if name not in _PROCEDURES:
        raise _refused(f"CALL {name}".strip())


def _check_function(tokens: tuple[CypherToken, ...], index: int) -> None:
    """Allow ``date.truncate(…)`` and the like; a foreign namespace may do anything."""
    start = index - 1
    while start >= 2 and tokens[start].identifier and tokens[start - 1].text == ".":
        start -= 2
    parts = [token.identifier for token in tokens[start:index:2]]
    if not all(parts) or (len(parts) == 1 and tokens[start].kind != "quoted"):
        return
    is_temporal = len(parts) == 2 and parts[0].lower() in _NAMESPACES
    if not is_temporal and ".".join(parts) not in _PROCEDURES:
        raise _refused(f"{'.'.join(parts)}()")


def _refused(what: str) -> QueryRefused:
    return QueryRefused(
        f"{what} is not allowed: this database is read only.",
        fix="Only read; a name that reads like a command belongs in backticks.",
    )
