"""A command of ``planweave bench``, carried out in this process, and the tables that it reports."""

import json
from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel, JsonValue
from typer import Typer
from typer.testing import CliRunner, Result

from planweave import PlanweaveError
from planweave.apps.cli.bench import app
from planweave.benchmarks.core.table import ReportTable, cell_text


def bench(*words: object, fails: str = "") -> Result:
    """Run ``planweave bench WORDS``; see :func:`invoke`."""
    return invoke(app, *words, fails=fails)


def invoke(app: Typer, *words: object, keys: str = "", fails: str = "") -> Result:
    """Run a command, typing ``keys``; if it ``fails``, the sentence of its error holds that."""
    done = CliRunner().invoke(app, [str(word) for word in words], input=keys)
    if fails:
        assert isinstance(done.exception, PlanweaveError), done.output
        assert fails in str(done.exception)
    elif done.exception:
        raise done.exception
    return done


def rows(tables: Sequence[ReportTable], title: str) -> list[list[str]]:
    """The rows of the table with this title, as they are printed."""
    (table,) = [table for table in tables if table.title == title]
    return [[cell_text(cell) for cell in row] for row in table.rows]


def printed(done: Result) -> dict[str, list[Any]]:
    """The rows of each table that a command printed as JSON, by its title."""
    return {table["title"]: table["rows"] for table in json.loads(done.stdout)["tables"]}


class Printed(BaseModel):
    """A table of the report as JSON."""

    title: str
    columns: list[str]
    rows: list[list[JsonValue]]


class Page(BaseModel):
    """The report as JSON."""

    tables: list[Printed]

    @classmethod
    def of(cls, done: Result) -> "Page":
        """The report that a command printed."""
        return cls.model_validate_json(done.stdout)

    def rows(self, title: str) -> list[list[JsonValue]]:
        """The rows of a table."""
        return next(one for one in self.tables if one.title == title).rows

    def records(self, title: str) -> list[dict[str, JsonValue]]:
        """The rows of a table by the names of its columns."""
        found = next(one for one in self.tables if one.title == title)
        return [dict(zip(found.columns, row, strict=True)) for row in found.rows]
