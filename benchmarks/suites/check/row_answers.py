"""Checks rows that answer a question, by right queries and by wrong ones."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple, cast

import yaml
from pydantic import TypeAdapter

from planweave.benchmarks.suites.check.measure import Checked
from planweave.benchmarks.suites.check.pairs import Pair, query_fact
from planweave.tools.checking import check_rows
from planweave.tools.sql import SqlDatabase, open_sql

if TYPE_CHECKING:
    from planweave.memory import Value

_LIST = Path(__file__).with_suffix(".yaml")


class RowQuestion(NamedTuple):
    """A question with its right query, and wrong queries by their error."""

    question: str
    right: str
    wrong: Mapping[str, str]


class RowQuestions(NamedTuple):
    """A database as an SQL script, and questions to it."""

    script: str
    questions: tuple[RowQuestion, ...]


def check_row_answers() -> list[Checked]:
    """Check the rows of each query as an answer; wrong queries return other rows."""
    given = yaml.safe_load(_LIST.read_text("utf-8"))
    script, questions = TypeAdapter(RowQuestions).validate_python(given)
    with TemporaryDirectory() as folder:
        path = Path(folder, "orders.sql")
        path.write_text(script, encoding="utf-8")
        database = open_sql(path)
        try:
            return [one for asked in questions for one in _check_question(asked, database)]
        finally:
            database.close()


def _check_question(asked: RowQuestion, database: SqlDatabase) -> Iterator[Checked]:
    for case, query in {"as it is": asked.right, **asked.wrong}.items():
        result = database.run(query)
        rows = cast("Sequence[Sequence[Value]]", result.rows)  # numbers and texts alone
        fact = query_fact(1, result.columns, rows, query)
        supported = query == asked.right
        pair = Pair("rows", case, query, supported, (fact,), asked.question)
        found = check_rows({**fact, "agreement": 0.75}, asked.question)
        yield Checked(pair, found.kind == "supported", found.reason)
