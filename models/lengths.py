"""How long a reply may be: from form to tokens, and from tokens to form.

A form (a Pydantic class) says how many characters each of its texts may have. Both directions are
computed from it, so that token limits and lengths of fields agree.
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
"""The most tokens of a reply of any form: many servers allow no more."""

_FEWEST, _USUAL = 3, 4  # characters of a token: fewest (code, many languages), usual (English)
_FREE_TEXT = 6_000  # characters of a text without a length, such as a program
_ITEMS, _MOST_ITEMS, _USUAL_ITEMS = 20, 100, 4  # items of a list: without a length, at most, usual
_NUMBER, _MARKS = 12, 6  # characters of a number, and of the marks around each value
_SHORTEST = 150  # characters; a shorter text is useless
_ENDS = ('"', "'", ".", "!", "?", ")", "]", MORE)


@lru_cache(maxsize=256)
def tokens_of(form: type[BaseModel]) -> int:
    """The tokens that the longest reply of a form needs, at most :data:`MOST_TOKENS`."""
    schema = form.model_json_schema()
    return min(ceil(_longest_length(schema, schema.get("$defs", {})) / _FEWEST), MOST_TOKENS)


def fitted(schema: SchemaNode, tokens: int) -> SchemaNode:
    """Shorten a JSON schema so that its longest English reply has at most ``tokens`` tokens.

    All texts are shortened alike, so that a model bound to the schema ends its reply before the
    limit cuts it off. A list counts as at most :data:`_USUAL_ITEMS` items: few replies fill it, and
    otherwise all texts would be too short. A text without a length gets none.
    """
    defs, room = schema.get("$defs", {}), tokens * _USUAL
    shares = [percent / 100 for percent in range(100, 0, -5)]
    fitting = (s for s in shares if _longest_length(schema, defs, s, _USUAL_ITEMS) <= room)
    share = next(fitting, shares[-1])
    return schema if share == 1 else _shortened(schema, share)


def marked(value: Any, schema: SchemaNode) -> Any:
    """A reply as JSON, with ``…`` at the end of each text that a bound model broke off."""
    return _marked(value, schema, schema.get("$defs", {}))


def _longest_length(
    node: SchemaNode, defs: SchemaNode, share: float = 1.0, items: int = _MOST_ITEMS
) -> int:
    """The length of the longest JSON that fits, with a share of each text and at most ``items``."""
    node = _resolved(node, defs)
    options = node.get("anyOf") or node.get("oneOf")
    if options:
        return max(_longest_length(option, defs, share, items) for option in options)
    if node.get("type") == "object":
        fields = node.get("properties", {})
        lengths = [_longest_length(one, defs, share, items) for one in fields.values()]
        return sum(map(len, fields)) + sum(lengths) + _MARKS * len(fields)
    if node.get("type") == "array":
        count = min(items, int(node.get("maxItems", _ITEMS)))
        return count * (_longest_length(node["items"], defs, share, items) + 2)
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
