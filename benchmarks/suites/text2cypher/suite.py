"""The suite as the report sees it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from planweave.benchmarks.core.record import Record
from planweave.benchmarks.core.suite import Suite, register
from planweave.benchmarks.core.table import Table
from planweave.benchmarks.suites.query_writing.tables import CAPTION, draw_accuracy, query_tables

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAME = "text2cypher"


@register(NAME)
class TextToCypher(Suite):
    """Each mode of writing queries is a method, each published type of question a scenario."""

    caption = CAPTION

    def tables(self, records: Sequence[Record]) -> list[Table]:
        """Results, cost of the prompts, questions that cannot be answered, confidence."""
        return query_tables(records)

    def draw(self, records: Sequence[Record], figure: "Figure") -> None:
        """Accuracy against seconds, a point for each mode and model."""
        draw_accuracy(records, figure)
