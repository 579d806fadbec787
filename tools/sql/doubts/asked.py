"""What a ranking must account for: the question and the rules that matter to it."""

import re
from collections.abc import Iterator
from datetime import date
from functools import cached_property

from planweave.tools.checking.words import find_numbers, stem, tokens
from planweave.tools.database import Schema
from planweave.tools.linking import Values, find_mentioned_values
from planweave.tools.rules import DAY, find_day, find_periods
from planweave.tools.sql.catalogue import Catalogue
from planweave.tools.terms import select_relevant

_DENIED = re.compile(r"\b(?:not|no|without|except|never|nobody|still to)\W+(?:\w+\W+){0,2}$", re.I)
_VAGUE = ("id", "name", "value", "number", "year")
_FEW = 50
_NUMERIC = ("int", "real", "num", "dec", "float", "double", "big", "small")


class SchemaQuestion:
    """A question with its rules, and what they name in a schema.

    Attributes:
        question: What is to be decided.
        rules: Those that matter.
        texts: The question and the sentences of these rules.
        said: All of it.
        schema: The database's.
        catalogue: Its names and links.
        values: Stored texts of a column.
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
        self.rules, self._present = select_relevant(rules, question, things)
        self.texts = (question, *(rule.text for rule in self.rules))
        self.said = " ".join(self.texts)

    def named(self, text: str) -> Iterator[str]:
        """Columns that a text names as they are written, in the singular or plural."""
        before = ""
        for word in re.findall(r"[^\W\d]\w*", text.lower()):
            forms = (word, word.removesuffix("s"), f"{word.removesuffix('ies')}y")
            name = next((form for form in forms if self.catalogue.homes(form)), "")
            if name and name not in _VAGUE and before not in ("all", "every", "each"):
                yield name
            if self.catalogue.homes(both := f"{before}_{word}"):
                yield both
            before = word

    def spoken(self, text: str) -> Iterator[tuple[str, str, str]]:
        """Values that a text names, with table and column; names of options are none."""
        for table, column, spoken in find_mentioned_values(text, self.schema, self.values):
            yield from ((table, column, value) for value in spoken if self._tells(table, column))
        words = [word for word in tokens(text) if len(word) > 2]
        for entity in self.schema.entities:  # "ill" speaks of the reason "illness"
            for field in entity.fields:
                if self._tells(entity.name, field.name):
                    for value in self.values(entity.name, field.name):
                        if any(
                            value != w and value.startswith(w) and stem(value) == stem(w)
                            for w in words
                        ):
                            yield entity.name, field.name, value

    def _tells(self, table: str, column: str) -> bool:
        """Whether a column holds a few texts that are no options, such as states or kinds."""
        values = self.values(table, column)
        is_flag = {*values} <= {"0", "1"}
        return column.lower() != self._option and len(values) <= _FEW and not is_flag

    @cached_property
    def today(self) -> date | None:
        """The present, as the rules name it."""
        return find_day(self._present)

    def starts(self) -> Iterator[tuple[str, str]]:
        """Periods that are spoken of, and the day on which each begins."""
        return find_periods(self.said, self.today)

    def is_amount(self, name: str) -> bool:
        """Whether a column holds numbers that can be added up."""
        fields = [(e.name, f) for e in self.schema.entities for f in e.fields]
        return any(
            field.name.lower() == name
            and field.type.lower().startswith(_NUMERIC)
            and {*self.values(table, field.name)} != {"0", "1"}
            for table, field in fields
        )


def is_denied(value: str, text: str) -> bool:
    """Whether a text denies a word shortly before it."""
    at = text.casefold().find(value.casefold())
    return at >= 0 and _DENIED.search(text[:at]) is not None


def plain_numbers(text: str) -> list[float]:
    """The numbers of a text, without days."""
    return find_numbers(re.sub(r"[*/+()=]", " ", DAY.sub(" ", text)))
