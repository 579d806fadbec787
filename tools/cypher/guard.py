"""The lexical guard: one statement, made of reading clauses only.

It checks tokens, not a grammar, since the available Cypher parsers reject good queries. Queries
that pass run on an immutable graph or in a read transaction.
"""

import re

from planweave.tools.cypher.tokens import CypherToken, Tokens, remove_comments, token_at, tokenize
from planweave.tools.database import QueryEmpty, QueryRefused

_MAX_CHARACTERS = 20_000
_MAX_DEPTH = 60
_STARTS = {"MATCH", "OPTIONAL", "WITH", "UNWIND", "RETURN", "CALL"}
_WRITING_WORDS = "CREATE MERGE DELETE DETACH NODETACH SET REMOVE DROP FOREACH INSERT"
_WRITES = frozenset(_WRITING_WORDS.split())
_PAIRS = {("PERIODIC", "COMMIT"), ("IN", "TRANSACTIONS"), ("CONCURRENT", "TRANSACTIONS")}
_FILES = {"LOAD", "FORMAT"}
_WORDS_AFTER_NAME = """
    AS IN IS AND OR XOR STARTS ENDS CONTAINS THEN ELSE END ASC DESC WHERE RETURN WITH LIMIT SKIP
    ORDER WHEN ASCENDING DESCENDING OFFSET
"""
_OPERATORS = frozenset(_WORDS_AFTER_NAME.split())
_PROCEDURES = {"db.labels", "db.relationshipTypes", "db.propertyKeys"}
_NAMESPACES = {"date", "datetime", "localdatetime", "time", "localtime", "duration", "point"}
_FENCE = re.compile(r"```[ \t]*\w*[ \t]*\r?\n?(.*?)```", re.DOTALL)
_HEADING = re.compile(r"\A\s*cypher(?:[ \t]*:|[ \t]*\r?\n)", re.IGNORECASE)


def guard(query: str) -> tuple[str, tuple[CypherToken, ...]]:
    """Check that ``query`` only reads.

    Returns:
        The statement without code fence, leading ``Cypher:``, comments and semicolon, and its
        tokens.

    Raises:
        QueryEmpty: The query is empty.
        QueryRefused: The query is not one plain read.
    """
    fence = _FENCE.search(query) if query.lstrip().startswith("```") else None
    query = _HEADING.sub("", fence[1] if fence else query).strip()
    if len(query) > _MAX_CHARACTERS:
        raise QueryRefused(
            f"The query has {len(query)} characters, more than {_MAX_CHARACTERS}.",
            fix="Ask for less in one query.",
        )
    tokens = tokenize(query)
    while tokens and tokens[-1].text == ";":
        tokens = tokens[:-1]
    statement = remove_comments(query, tokens)
    tokens = tokenize(statement)
    _check_statement(tokens)
    for index in range(len(tokens)):
        _check_word(tokens, index)
    return statement, tokens


def _check_statement(tokens: Tokens) -> None:
    """Refuse all but one statement that begins with a reading clause and is not deeply nested."""
    if not tokens:
        raise QueryEmpty("The query is empty.", fix="Begin it with MATCH.")
    if tokens[0].word not in _STARTS:
        first = tokens[0].text
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


def _check_word(tokens: Tokens, index: int) -> None:
    """Refuse a writing clause, an unknown procedure or an unknown function at ``index``."""
    word, following = tokens[index].word, token_at(tokens, index + 1)
    if word in _WRITES and not _is_plain_name(tokens, index):
        raise _refusal(word)
    if (word, following.word) in _PAIRS:
        raise _refusal(f"{word} {following.word}")
    if word == "USE" and (following.text == "(" or _is_graph_name(following)):
        raise _refusal(word)
    if names_format(tokens, index):
        raise _refusal(" ".join(token.identifier for token in tokens[index : index + 2]))
    if word == "CALL" and not _is_plain_name(tokens, index):
        _check_call(tokens, index + 1)
    if tokens[index].text == "(" and index:
        _check_function(tokens, index)


def _is_plain_name(tokens: Tokens, index: int) -> bool:
    """Whether a reserved word is a property (``n.set``), a label (``:Set``) or a map key here."""
    if index < 2:
        return False
    before, earlier = tokens[index - 1], tokens[index - 2]
    if before.text == ".":  # "1." may be a number to some engines, with a clause after it
        return earlier.kind in ("name", "quoted") or earlier.text in (")", "]", "}")
    if before.text == ":":
        return earlier.kind != "number"
    return before.text in ("{", ",") and token_at(tokens, index + 1).text == ":"


def _is_graph_name(token: CypherToken) -> bool:
    return token.kind == "quoted" or bool(token.word and token.word not in _OPERATORS)


def names_format(tokens: Tokens, index: int) -> bool:
    """Whether ``LOAD`` or ``FORMAT`` comes before the name of a file format, and is not a variable.

    Servers know CSV, JSONL, PARQUET, and may know more. The embedded engine accepts both words in
    backticks, too.
    """
    following = token_at(tokens, index + 1)
    is_clause = following.word in _OPERATORS | _STARTS | {"UNION"}
    is_file_word = tokens[index].identifier.upper() in _FILES
    return is_file_word and bool(following.identifier) and not is_clause


def _check_call(tokens: Tokens, start: int) -> None:
    """Allow ``CALL {…}``, ``CALL (x) {…}`` and the three procedures that list names."""
    if token_at(tokens, start).text in ("{", "("):
        return
    name = ""
    for token in tokens[start:]:
        if token.text != "." and not token.identifier:
            break
        if token.text != "." and name and not name.endswith("."):
            break  # two names in a row: YIELD, WITH …
        name += token.identifier or "."
    if name not in _PROCEDURES:
        raise _refusal(f"CALL {name}".strip())


def _check_function(tokens: Tokens, index: int) -> None:
    """Allow functions such as ``date.truncate(…)``; those of an unknown namespace may write."""
    start = index - 1
    while start >= 2 and tokens[start].identifier and tokens[start - 1].text == ".":
        start -= 2
    parts = [token.identifier for token in tokens[start:index:2]]
    if not all(parts) or (len(parts) == 1 and tokens[start].kind != "quoted"):
        return
    is_temporal = len(parts) == 2 and parts[0].lower() in _NAMESPACES
    if not is_temporal and ".".join(parts) not in _PROCEDURES:
        raise _refusal(f"{'.'.join(parts)}()")


def _refusal(what: str) -> QueryRefused:
    return QueryRefused(
        f"{what} is not allowed: this database is read only.",
        fix="Only read; a name that reads like a command belongs in backticks.",
    )
