"""Finds the values and columns of a database that a question mentions."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from typing import TypeAlias

from planweave.texts import MORE
from planweave.tools.database import Schema
from planweave.tools.suggest import shared_start

Values: TypeAlias = Callable[[str, str], Sequence[str]]
"""Looks up the stored texts of a column by the names of table and column (or label, property)."""

_TABLE_WEIGHT = 3  # of a table that is mentioned; a column has 1
_SHOWN_PLACES = 8
_SHOWN_VALUES = 3
_LONGEST_VALUE = 60
_LONG_WORD = 6
_LEAST_SIMILARITY = 0.84  # of a misspelt value
_WORDS = re.compile(r"[^\W_]+", re.UNICODE)
_PARTS_OF_A_NAME = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+|[^\W\d_a-zA-Z]+")
_SMALL_WORDS = """
    a all an and any are as at by for from has how in is it most name no not number of on or that
    the their to was what which who with yes
"""
_STOP_WORDS = frozenset(_SMALL_WORDS.split())
_AGGREGATES = frozenset(("average", "count", "maximum", "mean", "minimum", "ratio", "sum", "total"))


def describe_mentions(
    question: str, schema: Schema, values: Values, *, quote: Callable[[str], str] | None = None
) -> list[str]:
    """Describe the values and columns that a question mentions, in at most two lines.

    ``quote`` writes a text as a literal of the query language; by default, of SQL.
    """
    found = [
        f"{table}.{column} = {_join(list(map(quote or _quote, texts)), _SHOWN_VALUES, ' or ')}"
        for table, column, texts in find_mentioned_values(question, schema, values)
    ]
    columns = _find_mentioned_columns(question, schema)
    lines = [f"Values in the data: {_join(found, _SHOWN_PLACES, '; ')}."] if found else []
    if columns:
        lines.append(f"Columns that the question names: {_join(columns, _SHOWN_PLACES, ', ')}.")
    return lines


def _join(names: Sequence[str], most: int, separator: str) -> str:
    """The first names, with ``…`` for the others."""
    return separator.join([*names[:most], *([MORE] if len(names) > most else [])])


def find_mentioned_values(
    question: str, schema: Schema, values: Values
) -> Iterable[tuple[str, str, list[str]]]:
    """Find the columns with values that the question contains as whole words, and these values.

    A word that names a table or an aggregate function does not mention a value.
    """
    text = f" {plain(question)} "
    names = {word for entity in schema.entities for word in singulars_of(entity.name)}
    mentioned = {
        (entity.name, field.name): [
            value
            for value in values(entity.name, field.name)
            if _is_mentioned(value, text) and singular(plain(value)) not in names | _AGGREGATES
        ]
        for entity in schema.entities
        for field in entity.fields
    }
    texts = {plain(value) for found in mentioned.values() for value in found}
    # A longer value may contain another one: ``new york`` contains ``york``.
    parts = {a for a in texts for b in texts if a != b and f" {a} " in f" {b} "}
    for (table, column), found in mentioned.items():
        if longest := [value for value in found if plain(value) not in parts]:
            yield table, column, longest


def find_misspelt_value(question: str, schema: Schema, values: Values) -> tuple[str, str]:
    """Find words of a question that are nearly a stored value, and that value; both may be empty.

    A single word must be written as a name: with a capital letter, and not at the beginning.
    """
    texts = {
        value
        for entity in schema.entities
        for field in entity.fields
        for value in values(entity.name, field.name)
        if len(value) <= _LONGEST_VALUE
    }
    phrases = _phrases_by_initials(
        _WORDS.findall(question), {len(_initials(text)) for text in texts}
    )
    found = [
        (similarity, phrase, text)
        for text in texts
        for phrase in phrases.get(_initials(text), ())
        if (similarity := _similarity(plain(phrase), plain(text))) >= _LEAST_SIMILARITY
    ]
    right = {phrase for similarity, phrase, _ in found if similarity == 1}
    misspelt = [one for one in found if one[1] not in right]
    return max(misspelt, default=(0, "", ""))[1:]


def _initials(text: str) -> str:
    """The first letter of each word, which a misspelt value shares with the right one."""
    return "".join(word[0] for word in plain(text).split())


def _phrases_by_initials(words: Sequence[str], lengths: Iterable[int]) -> dict[str, list[str]]:
    """The phrases of so many successive words as one of ``lengths``, by their initials."""
    phrases: defaultdict[str, list[str]] = defaultdict(list)
    for length in lengths:
        for at in range(len(words) - length + 1):
            run = words[at : at + length]
            if length > 1 or (length and at and run[0][0].isupper()):
                phrases[_initials(phrase := " ".join(run))].append(phrase)
    return phrases


def _similarity(phrase: str, value: str) -> float:
    """From 0 to 1, of texts with the same initials; 0 if short words or numbers differ."""
    pairs = zip(phrase.split(), value.split(), strict=True)
    different = [(one, other) for one, other in pairs if singular(one) != singular(other)]
    if not different:
        return 1.0
    if any(min(len(one), len(other)) < 3 or not one.isalpha() for one, other in different):
        return 0.0
    matcher = SequenceMatcher(None, phrase, value)
    return matcher.ratio() if matcher.quick_ratio() >= _LEAST_SIMILARITY else 0.0


def _is_mentioned(value: str, text: str) -> bool:
    words = plain(value)
    if len(words) < 2 or len(value) > _LONGEST_VALUE or words in _STOP_WORDS or words.isdigit():
        return False
    if f" {words} " in text or (len(words) > 3 and f" {words}s " in text):
        return True
    # "Who cancels" mentions the status "cancelled".
    start = words.removesuffix("ed")
    is_state = start != words and len(start) >= _LONG_WORD and words.isalpha()
    return is_state and any(shared_start(start, word) >= len(start) - 1 for word in text.split())


def _find_mentioned_columns(question: str, schema: Schema) -> list[str]:
    """The columns of only one table whose names have several words, all in the question."""
    words = {singular(word) for word in plain(question).split()}
    names = Counter(field.name for entity in schema.entities for field in entity.fields)
    return [
        f"{entity.name}.{field.name}"
        for entity in schema.entities
        for field in entity.fields
        if names[field.name] == 1
        and len(parts := parts_of(field.name)) > 1
        and all(singular(part.casefold()) in words for part in parts)
    ]


def select_mentioned(question: str, schema: Schema) -> Schema:
    """Select the part of a large schema that a question mentions.

    Tables or labels come first if the question mentions them or their columns, then those that
    refer to several of these. If it mentions none, the schema stays unchanged.
    """
    words = {singular(word) for word in plain(question).split()}

    def mentioned_share(name: str) -> float:
        parts = singulars_of(name)
        return len(parts & words) / len(parts) if parts else 0.0

    weights = {
        entity.name: _TABLE_WEIGHT * mentioned_share(entity.name)
        + sum(mentioned_share(field.name) == 1 for field in entity.fields)
        for entity in schema.entities
    }
    mentioned = {name for name, weight in weights.items() if weight}
    for entity in schema.entities:
        tables = {field.references.rpartition(".")[0] for field in entity.fields}
        if len({*tables, *entity.start, *entity.end} & mentioned) > 1:
            weights[entity.name] += 1
    kept = [entity for entity in schema.entities if weights[entity.name]]
    kept.sort(key=lambda entity: -weights[entity.name])
    return replace(schema, entities=tuple(kept)) if kept else schema


def parts_of(name: str) -> list[str]:
    """The words of a name: ``sbTxStatus`` has three."""
    return _PARTS_OF_A_NAME.findall(name)


def singulars_of(name: str) -> set[str]:
    """The singulars of the words of a name or a question."""
    return {singular(part.casefold()) for part in parts_of(name)}


def plain(text: str) -> str:
    """The words of a text in lower case, without punctuation."""
    return " ".join(_WORDS.findall(text.casefold()))


def singular(word: str) -> str:
    """A word without its plural ending."""
    if word.endswith("ies"):
        return f"{word[:-3]}y"
    if word.endswith(("sses", "xes", "ches", "shes")):
        return word[:-2]
    is_plural = word.endswith("s") and not word.endswith("ss") and len(word) > 3
    return word[:-1] if is_plural or word == "ids" else word


def _quote(value: str) -> str:
    return "'{}'".format(value.replace("'", "''"))
