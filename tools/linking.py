"""What of a database a question speaks of: values that occur in it, and columns by their names."""

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
"""Looks up the stored texts of a column (property), by table (label or type) and column."""

_NAMED = 3
"""How much more a table that is named counts than a column."""
_SHOWN_PLACES = 8
_SHOWN_VALUES = 3
_LONGEST_VALUE = 60
_LONG_WORD = 6
_NEARLY = 0.84
"""Likeness from which on words may be a misspelt value."""
_WORDS = re.compile(r"[^\W_]+", re.UNICODE)
_PARTS_OF_A_NAME = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+|[^\W\d_a-zA-Z]+")
_SMALL_WORDS = """
    a all an and any are as at by for from has how in is it most name no not number of on or that
    the their to was what which who with yes
"""
_NO_NAMES = frozenset(_SMALL_WORDS.split())
_AGGREGATES = frozenset(("average", "count", "maximum", "mean", "minimum", "ratio", "sum", "total"))


def linked(
    question: str,
    schema: Schema,
    values: Values,
    *,
    quote: Callable[[str], str] | None = None,
) -> list[str]:
    """Lines that say which values and columns a question speaks of; none where it speaks of none.

    ``values`` looks up the stored texts of a column, by table and column; ``quote`` writes a text
    as the language does, as SQL if unset.
    """
    found = [
        f"{table}.{column} = {_some(list(map(quote or _quoted, spoken)), _SHOWN_VALUES, ' or ')}"
        for table, column, spoken in spoken_values(question, schema, values)
    ]
    columns = _spoken_columns(question, schema)
    lines = [f"Values in the data: {_some(found, _SHOWN_PLACES, '; ')}."] if found else []
    if columns:
        lines.append(f"Columns that the question names: {_some(columns, _SHOWN_PLACES, ', ')}.")
    return lines


def _some(names: Sequence[str], most: int, between: str) -> str:
    """The first few names, with ``…`` for the others."""
    return between.join([*names[:most], *([MORE] if len(names) > most else [])])


def spoken_values(
    question: str, schema: Schema, values: Values
) -> Iterable[tuple[str, str, list[str]]]:
    """Columns with those of their values that are in the question as whole words.

    A word that names a table, or a calculation, speaks of that and of no value.
    """
    text = f" {plain(question)} "
    names = {word for entity in schema.entities for word in stems_of(entity.name)}
    spoken = {
        (entity.name, field.name): [
            value
            for value in values(entity.name, field.name)
            if _is_spoken(value, text) and stem(plain(value)) not in names | _AGGREGATES
        ]
        for entity in schema.entities
        for field in entity.fields
    }
    texts = {plain(value) for found in spoken.values() for value in found}
    # A longer value that is spoken of may hold another: ``new york`` holds ``york``.
    parts = {a for a in texts for b in texts if a != b and f" {a} " in f" {b} "}
    for (table, column), found in spoken.items():
        if longest := [value for value in found if plain(value) not in parts]:
            yield table, column, longest


def misspelt_value(question: str, schema: Schema, values: Values) -> tuple[str, str]:
    """Words of a question that are nearly a stored value, and that value; empty if there are none.

    A single word must be written as a name: with a capital letter, not at the beginning.
    """
    texts = {
        value
        for entity in schema.entities
        for field in entity.fields
        for value in values(entity.name, field.name)
        if len(value) <= _LONGEST_VALUE
    }
    runs = _runs(_WORDS.findall(question), {len(_initials(text)) for text in texts})
    found = [
        (likeness, said, text)
        for text in texts
        for said in runs.get(_initials(text), ())
        if (likeness := _likeness(plain(said), plain(text))) >= _NEARLY
    ]
    right = {said for likeness, said, _ in found if likeness == 1}
    nearly = [one for one in found if one[1] not in right]
    return max(nearly, default=(0, "", ""))[1:]


def _initials(text: str) -> str:
    """The first letter of each word: texts of which one may be the other misspelt have the same."""
    return "".join(word[0] for word in plain(text).split())


def _runs(words: Sequence[str], lengths: Iterable[int]) -> dict[str, list[str]]:
    """Words in a row, so many as one of ``lengths``, by their initials."""
    runs: defaultdict[str, list[str]] = defaultdict(list)
    for length in lengths:
        for at in range(len(words) - length + 1):
            run = words[at : at + length]
            if length > 1 or (length and at and run[0][0].isupper()):
                runs[_initials(said := " ".join(run))].append(said)
    return runs


def _likeness(said: str, value: str) -> float:
    """From 0 to 1, of texts with the same initials; nothing where short words or numbers differ."""
    pairs = zip(said.split(), value.split(), strict=True)
    other = [(one, another) for one, another in pairs if stem(one) != stem(another)]
    if not other:
        return 1.0
    if any(min(len(one), len(another)) < 3 or not one.isalpha() for one, another in other):
        return 0.0
    matcher = SequenceMatcher(None, said, value)
    return matcher.ratio() if matcher.quick_ratio() >= _NEARLY else 0.0


def _is_spoken(value: str, text: str) -> bool:
    said = plain(value)
    if len(said) < 2 or len(value) > _LONGEST_VALUE or said in _NO_NAMES or said.isdigit():
        return False
    if f" {said} " in text or (len(said) > 3 and f" {said}s " in text):
        return True
    # "Who cancels" speaks of the status "cancelled".
    stem = said.removesuffix("ed")
    is_state = stem != said and len(stem) >= _LONG_WORD and said.isalpha()
    return is_state and any(shared_start(stem, word) >= len(stem) - 1 for word in text.split())


def _spoken_columns(question: str, schema: Schema) -> list[str]:
    """Columns of one table alone all of whose words, if they are several, are in the question."""
    words = {stem(word) for word in plain(question).split()}
    names = Counter(field.name for entity in schema.entities for field in entity.fields)
    return [
        f"{entity.name}.{field.name}"
        for entity in schema.entities
        for field in entity.fields
        if names[field.name] == 1
        and len(parts := parts_of(field.name)) > 1
        and all(stem(part.casefold()) in words for part in parts)
    ]


def about(question: str, schema: Schema) -> Schema:
    """What a question speaks of in a schema that is too large to be shown.

    Tables or labels that it names, or whose columns it names, come first, then those that refer to
    several of them. If it names none, the schema stays as it is.
    """
    words = {stem(word) for word in plain(question).split()}

    def named(name: str) -> float:
        parts = stems_of(name)
        return len(parts & words) / len(parts) if parts else 0.0

    weights = {
        entity.name: _NAMED * named(entity.name)
        + sum(named(field.name) == 1 for field in entity.fields)
        for entity in schema.entities
    }
    spoken = {name for name, weight in weights.items() if weight}
    for entity in schema.entities:
        tables = {field.references.rpartition(".")[0] for field in entity.fields}
        ends = {*entity.start, *entity.end}
        if len((tables | ends) & spoken) > 1:
            weights[entity.name] += 1
    kept = [entity for entity in schema.entities if weights[entity.name]]
    kept.sort(key=lambda entity: -weights[entity.name])
    return replace(schema, entities=tuple(kept)) if kept else schema


def parts_of(name: str) -> list[str]:
    """The words that a name is made of: ``sbTxStatus`` has three."""
    return _PARTS_OF_A_NAME.findall(name)


def stems_of(name: str) -> set[str]:
    """The stems of the words that a name is made of, or a question."""
    return {stem(part.casefold()) for part in parts_of(name)}


def plain(text: str) -> str:
    """The words of a text in lower case, without the marks between them."""
    return " ".join(_WORDS.findall(text.casefold()))


def stem(word: str) -> str:
    """A word without its plural ending."""
    if word.endswith("ies"):
        return f"{word[:-3]}y"
    if word.endswith(("sses", "xes", "ches", "shes")):
        return word[:-2]
    is_plural = word.endswith("s") and not word.endswith("ss") and len(word) > 3
    return word[:-1] if is_plural or word == "ids" else word


def _quoted(value: str) -> str:
    return "'{}'".format(value.replace("'", "''"))
