"""The question and the rules that a ranking must account for."""

import re
from collections.abc import Iterator
from functools import cached_property

from planweave.tools.checking.words import find_numbers, stem, tokens
from planweave.tools.database import Schema
from planweave.tools.linking import Values, find_mentioned_values
from planweave.tools.rules import DAY, find_day, find_periods
from planweave.tools.sql.catalogue import Catalogue
from planweave.tools.terms import select_relevant

_NEGATED = re.compile(r"\b(?:not|no|without|except|never|nobody|still to)\W+(?:\w+\W+){0,2}$", re.I)
_GENERAL_NAMES = ("id", "name", "value", "number", "year")
_FEW_VALUES = 50
_NUMBER_TYPES = ("int", "real", "num", "dec", "float", "double", "big", "small")


class SchemaQuestion:
    """A question with its rules, and what they name in a schema.

    Attributes:
        question: The question to decide.
        rules: The rules that matter.
        texts: The question and the sentences of these rules.
        text: All of it.
        definitions: The question and the definitions of the rules' terms, as one text.
        today: The present day, if the rules name it.
        schema: The database's.
        catalogue: Its names and links.
        values: Returns the stored texts of a column.
    """

    def __init__(
        self,
        question: str,
        rules: str,
        schema: Schema,
        catalogue: Catalogue,
        values: Values,
        option: str,
    ) -> None:
        self.question, self.schema, self.catalogue = question, schema, catalogue
        self.values, self._option = values, option
        things = [entity.name for entity in schema.entities]
        self.rules, present = select_relevant(rules, question, things)
        self.texts = (question, *(rule.text for rule in self.rules))
        self.text = " ".join(self.texts)
        self.definitions = " ".join((question, *(rule.body for rule in self.rules)))
        self.today = find_day(present)

    def find_columns(self, text: str) -> Iterator[str]:
        """Find the columns whose written names are in a text, singular or plural."""
        before = ""
        for word in re.findall(r"[^\W\d]\w*", text.lower()):
            forms = (word, word.removesuffix("s"), f"{word.removesuffix('ies')}y")
            name = next((form for form in forms if self.catalogue.find_tables(form)), "")
            if name and name not in _GENERAL_NAMES and before not in ("all", "every", "each"):
                yield name
            if self.catalogue.find_tables(both := f"{before}_{word}"):
                yield both
            before = word

    def find_values(self, text: str) -> Iterator[tuple[str, str, str]]:
        """Find the values that a text names, with table and column, but no names of options."""
        for table, column, found in find_mentioned_values(text, self.schema, self.values):
            if (table, column) in self._state_columns:
                yield from ((table, column, value) for value in found)
        words = [word for word in tokens(text) if len(word) > 2]
        for table, column in self._state_columns:  # "ill" means the reason "illness"
            for value in self.values(table, column):
                if any(
                    value != word and value.startswith(word) and stem(value) == stem(word)
                    for word in words
                ):
                    yield table, column, value

    @cached_property
    def _state_columns(self) -> list[tuple[str, str]]:
        """Tables and columns with a few texts that are not options, such as states or kinds."""
        columns = [(entity.name, f.name) for entity in self.schema.entities for f in entity.fields]
        return [
            (table, column)
            for table, column in columns
            if column.lower() != self._option
            and len(values := self.values(table, column)) <= _FEW_VALUES
            and not {*values} <= {"0", "1"}
        ]

    def find_periods(self) -> Iterator[tuple[str, str]]:
        """Find the periods in the text, and the day on which each begins."""
        return find_periods(self.text, self.today)

    def is_amount(self, name: str) -> bool:
        """Whether a column has numbers that can be summed."""
        return any(
            field.name.lower() == name
            and field.type.lower().startswith(_NUMBER_TYPES)
            and {*self.values(entity.name, field.name)} != {"0", "1"}
            for entity in self.schema.entities
            for field in entity.fields
        )


def is_negated(value: str, text: str) -> bool:
    """Whether a text has a negation shortly before a value."""
    at = text.casefold().find(value.casefold())
    return at >= 0 and _NEGATED.search(text[:at]) is not None


def find_plain_numbers(text: str) -> list[float]:
    """Find the numbers of a text, without those of days."""
    return find_numbers(re.sub(r"[*/+()=]", " ", DAY.sub(" ", text)))
