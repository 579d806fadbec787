"""How long a reply may be: the tokens that its form needs, and the form that its tokens allow.

A form (a Pydantic class) says how many characters each of its texts may have. Both directions are
worked out from it, so that ceilings of tokens and lengths of fields agree.
"""

from collections.abc import Mapping
from functools import lru_cache
from math import ceil
from typing import Any, TypeAlias

from pydantic import BaseModel

from planweave.texts import MORE, shorten

SchemaNode: TypeAlias = Mapping[str, Any]
"""A JSON schema, or a part of one."""

MOST_TOKENS = 4_096
"""Of a reply, whatever its form admits: many servers give no more."""

_FEWEST, _USUAL = 3, 4  # characters of a token: of code and many languages, of English
_FREE_TEXT = 6_000  # characters of a text without a length, such as a program
_ITEMS, _MOST_ITEMS, _USUAL_ITEMS = 20, 100, 4  # of a list without a length, at most, as a rule
_NUMBER, _MARKS = 12, 6  # characters of a number, and of what is around each value
_SHORTEST = 150  # a sentence: a text that is cut off earlier says nothing
_ENDS = ('"', "'", ".", "!", "?", ")", "]", MORE)


@lru_cache(maxsize=256)
def tokens_of(form: type[BaseModel]) -> int:
    """Tokens that the longest reply of a form needs, and :data:`MOST_TOKENS` at most."""
    schema = form.model_json_schema()
    return min(ceil(_longest(schema, schema.get("$defs", {})) / _FEWEST), MOST_TOKENS)


def fitted(schema: SchemaNode, tokens: int) -> SchemaNode:
    """A JSON schema whose longest reply, in English, has so many tokens at most.

    All its texts are shortened alike, so that a model that is bound to the schema ends its reply
    before the ceiling cuts it off. A list is counted with :data:`_USUAL_ITEMS` at most: few replies
    fill it, and all would have to be too short. A text without a length keeps none.
    """
    defs, room = schema.get("$defs", {}), tokens * _USUAL
    shares = [percent / 100 for percent in range(100, 0, -5)]
    fitting = (s for s in shares if _longest(schema, defs, s, _USUAL_ITEMS) <= room)
    share = next(fitting, shares[-1])
    return schema if share == 1 else _shortened(schema, share)


def marked(value: Any, schema: SchemaNode) -> Any:
    """A reply as JSON, with ``…`` at the end of each text that a bound model had to break off."""
    return _marked(value, schema, schema.get("$defs", {}))


def _longest(
    node: SchemaNode, defs: SchemaNode, share: float = 1.0, items: int = _MOST_ITEMS
) -> int:
    """Characters of the longest JSON that fits: a share of each text, so many items at most."""
    node = _resolved(node, defs)
    options = node.get("anyOf") or node.get("oneOf")
    if options:
        return max(_longest(option, defs, share, items) for option in options)
    if node.get("type") == "object":
        fields = node.get("properties", {})
        lengths = [_longest(one, defs, share, items) for one in fields.values()]
        return sum(map(len, fields)) + sum(lengths) + _MARKS * len(fields)
    if node.get("type") == "array":
        count = min(items, int(node.get("maxItems", _ITEMS)))
        return count * (_longest(node["items"], defs, share, items) + 2)
    if "enum" in node or "const" in node:
        return max(len(str(value)) for value in node.get("enum", [node.get("const")]))
    if node.get("type") != "string":
        return _NUMBER
    return _length(node["maxLength"], share) if "maxLength" in node else _FREE_TEXT


def _length(length: int, share: float) -> int:
    return min(length, max(_SHORTEST, int(length * share)))


def _resolved(node: SchemaNode, defs: SchemaNode) -> SchemaNode:
    found: SchemaNode = defs[node["$ref"].rpartition("/")[2]] if "$ref" in node else node
    return found


def _shortened(node: Any, share: float) -> Any:
    if isinstance(node, list):
        return [_shortened(item, share) for item in node]
    if not isinstance(node, Mapping):
        return node
    return {
        key: _length(value, share) if key == "maxLength" else _shortened(value, share)
        for key, value in node.items()
    }


def _marked(value: Any, node: SchemaNode, defs: SchemaNode) -> Any:
    node = _resolved(node, defs)
    if isinstance(value, dict):
        fields = node.get("properties", {})
        return {key: _marked(one, fields.get(key, {}), defs) for key, one in value.items()}
    if isinstance(value, list):
        return [_marked(item, node.get("items", {}), defs) for item in value]
    limits = [one["maxLength"] for one in (node, *node.get("anyOf", ())) if "maxLength" in one]
    if not isinstance(value, str) or not limits or len(value) < min(limits):
        return value
    return value if value.rstrip().endswith(_ENDS) else shorten(f"{value} ", len(value))
