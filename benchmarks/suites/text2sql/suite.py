"""The suite as the report sees it."""

from collections.abc import Sequence

from benchmarks.record import Record
from benchmarks.suite import Suite, register
from benchmarks.suites.query_writing.tables import query_tables
from benchmarks.table import Table

NAME = "text2sql"


@register(NAME)
class TextToSql(Suite):
    """Each mode of writing queries is a method, each part of the question set a scenario."""

    def tables(self, records: Sequence[Record]) -> list[Table]:
        """Results, cost of the prompts, questions that cannot be answered, confidence."""
        return query_tables(records)
