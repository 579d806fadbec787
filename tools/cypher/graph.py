"""What every graph database does with a question, whatever runs its queries."""

import re
from abc import ABC, abstractmethod

from planweave.tools.cypher.correct import corrected, links, stored_values
from planweave.tools.database import Corrected, Kind, Limits, QueryResult, Schema, Unlinked
from planweave.tools.unlinked import invented, unlinked

_STRING = re.compile(r"'[^']*'|\"[^\"]*\"")
_PROPERTY = re.compile(r"\.\s*`?([^\W\d]\w*)(?!\w*\s*[(.])")


class Graph(ABC):
    """A read-only graph; see :class:`planweave.tools.database.Database`."""

    kind: Kind = "graph"

    @abstractmethod
    def schema(self) -> Schema:
        """Describe labels and relationship types."""

    @abstractmethod
    def run(self, query: str, limits: Limits = Limits()) -> QueryResult:  # noqa: B008 (frozen)
        """Run one read-only query."""

    def corrected(
        self, query: str, *, question: str = "", now: str = "", ranks: bool = False
    ) -> Corrected:
        """Correct a query by schema, data and question; clock and ranking change nothing here."""
        del now, ranks
        values = stored_values(self.schema(), self.run)
        return corrected(query, self.schema(), values, question)

    def linked(self, question: str) -> list[str]:
        """Lines that say which stored values and which names a question speaks of."""
        return links(question, self.schema(), self.run)

    def unlinked(self, question: str, explained: str = "") -> Unlinked:
        """The words of a question that no name and no value of the graph corresponds to."""
        values = stored_values(self.schema(), self.run)
        return unlinked(question, self.schema(), values, explained=explained)

    def invented(self, query: str, question: str, explained: str = "") -> str:
        """A property that only the question has; see :class:`planweave.tools.database.Database`."""
        properties = _PROPERTY.findall(_STRING.sub("", query))
        return invented(properties, question, self.schema(), explained=explained)
