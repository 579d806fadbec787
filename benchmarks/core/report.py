"""The report of result files: in the terminal, in Markdown and as a picture."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path

from pydantic import JsonValue
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from planweave import BadInput
from planweave.benchmarks.core.metrics import (
    Estimate,
    Spread,
    accuracy,
    group_by,
    group_by_method,
    longest_chain,
    sign_tests,
    spread,
)
from planweave.benchmarks.core.picture import Picture, draw_picture
from planweave.benchmarks.core.record import Record
from planweave.benchmarks.core.store import Run
from planweave.benchmarks.core.suite import SUITES, Drawing, suite
from planweave.benchmarks.core.table import (
    Cell,
    Cells,
    ReportTable,
    Rows,
    cell_text,
    row_per_method,
    table_of_rows,
)
from planweave.records import writing


@dataclass(frozen=True)
class Report:
    """The runs, records and tables of result files."""

    runs: Sequence[Run]
    records: Sequence[Record]
    tables: Sequence[ReportTable]

    @classmethod
    def of(cls, runs: Sequence[Run], records: Sequence[Record]) -> "Report":
        """Make every table from the records."""
        names = {record.suite for record in records}
        if len(names) != 1:
            raise BadInput(
                "The result files contain results of several suites."
                if names
                else "The result files contain no result yet.",
                fix="Name result files of one suite that has run.",
            )
        groups = group_by_method(records)
        name = names.pop()
        overview = replace(_overview(groups), title=SUITES.get(name).measures.capitalize())
        tables = [overview, *suite(name).tables(records)]
        tables += [_comparison(groups), _cost(groups), _crashes(records)]
        return cls(runs, records, [table for table in tables if table.rows])

    def as_json(self) -> dict[str, JsonValue]:
        """The runs and tables as JSON."""
        return {
            "runs": [run.model_dump(mode="json") for run in self.runs],
            "tables": [table_json(table) for table in self.tables],
        }

    def heads(self) -> list[str]:
        """One line about each run; equal lines appear once."""
        lines = []
        for run in self.runs:
            data, machine, name = run.data, run.machine, run.versions.get("planweave")
            known = {"chosen", "questions"} <= data.keys()
            drawn = f"{data['chosen']} of {data['questions']} questions" if known else ""
            parts = (
                run.command,
                run.started[:10],
                drawn,
                f"{machine.get('processor')}, {machine.get('cores')} cores",
                f"{machine.get('memory_gb')} GB",
                f"planweave {name} {run.commit}".strip(),
            )
            lines.append(" · ".join(part for part in parts if part))
        return list(dict.fromkeys(lines))


def table_json(table: ReportTable) -> dict[str, JsonValue]:
    """A table as JSON."""
    return {
        "title": table.title,
        "note": table.note,
        "columns": list(table.columns),
        "rows": [[cell_json(cell) for cell in row] for row in table.rows],
    }


def cell_json(cell: Cell) -> JsonValue:
    """A cell as JSON; an estimate or a spread becomes an object."""
    return asdict(cell) if isinstance(cell, Estimate | Spread) else cell


@row_per_method(
    "",
    "method | all questions | standard error | no answer | crashed",
    note="In brackets: the 95 % interval (Wilson, with errors clustered by question) and the "
    "number of runs. Runs without an answer and crashed ones count as wrong.",
)
def _overview(records: Sequence[Record]) -> Cells:
    total = accuracy(records)
    error = f"{total.error:.1%}" if total else None
    unanswered = sum(not record.error and record.score.answer is None for record in records)
    return total, error, unanswered, sum(bool(record.error) for record in records)


@table_of_rows(
    "Methods on the same questions",
    "first | second | pairs | first scores more | second scores more | p",
    note="Exact sign test (McNemar's, of right and wrong); only pairs that differ (the two "
    "columns before p) carry information, and where they are few no difference can be shown. "
    "p is not corrected for the number of comparisons.",
)
def _comparison(groups: dict[str, list[Record]]) -> Rows:
    if any(len({(r.question, r.database) for r in own}) < len(own) for own in groups.values()):
        return  # the suite itself compares several trials of a question
    for names, test in sign_tests(groups).items():
        if test.n:
            yield *names, test.n, test.first, test.second, f"{test.p:.3f}"


@row_per_method(
    "Cost of a question",
    "method | runs | calls | longest chain of calls | tokens | seconds | dollars | "
    "replies from cache",
    note="Mean · median · 95th percentile. The longest chain: calls that follow one another, "
    "when all that may run at once does. Seconds are wall time, waiting for a busy model "
    "included; a reply from the response cache (off unless it is asked for) takes none.",
)
def _cost(records: Sequence[Record]) -> Cells:
    calls = [call.record for record in records for call in record.calls]
    dollars = [record.dollars for record in records]
    known = [cost for cost in dollars if cost is not None]
    return (
        len(records),
        spread([len(record.calls) for record in records]),
        _chains(records),
        spread([record.tokens for record in records]),
        spread([record.seconds for record in records]),
        spread(known) if len(known) == len(dollars) else "unknown price",
        sum(call.from_cache for call in calls),
    )


def _chains(records: Sequence[Record]) -> Cell:
    """The longest chains of calls; None if a record does not show which calls ran at once."""
    calls = [[call.record for call in record.calls] for record in records]
    if any(len(own) > 1 and not any(call.stage for call in own) for own in calls):
        return None
    return spread([longest_chain(own) for own in calls])


@table_of_rows("Crashed runs", "runs | error | for example")
def _crashes(records: Sequence[Record]) -> Rows:
    for error, own in group_by(records, lambda record: record.error).items():
        if error:
            yield len(own), error, own[0].key


def show(report: Report, console: Console) -> None:
    """Print the report."""
    for head in report.heads():
        console.print(head, style="dim", markup=False, soft_wrap=True)
    show_tables(report.tables, console)


def show_tables(tables: Sequence[ReportTable], console: Console) -> None:
    """Print tables."""
    for table in tables:
        title = Text(table.title, "table.title")  # a Text is not read as markup
        drawn = RichTable(title=title, title_justify="left", box=None)
        for name in table.columns:
            whole = name in ("scenario", "method", "data set")
            # A figure that is too wide is folded; an ellipsis would hide it.
            drawn.add_column(Text(name), no_wrap=whole, overflow="ellipsis" if whole else "fold")
        for row in table.rows:
            drawn.add_row(*(Text(cell_text(cell)) for cell in row))
        console.print()
        console.print(drawn)
        if table.note:
            console.print(table.note, style="dim", markup=False)


def draw(report: Report, folder: Path) -> list[Path]:
    """Write ``report.md`` and, if the suite has one, its picture, such as ``recall.png``."""
    reported, picture = suite(report.records[0].suite), None
    if isinstance(reported, Drawing):
        name = SUITES.get(reported.name).measures.replace(" ", "-")
        drawing = partial(reported.draw, report.records)
        picture = Picture(folder / f"{name}.png", drawing, reported.caption)
    heads = "\n".join(f"- {head}" for head in report.heads())
    return write_page(
        folder / "report.md", [f"# Results: {reported.name}", heads], report.tables, picture
    )


def write_page(
    page: Path, heads: Sequence[str], tables: Sequence[ReportTable], picture: Picture | None = None
) -> list[Path]:
    """Write tables as Markdown; a picture, if matplotlib is installed, comes before them."""
    with writing(page.parent):
        page.parent.mkdir(parents=True, exist_ok=True)
        drawn = [picture] if picture and draw_picture(picture.path, picture.draw) else []
        shown = [f"![{one.caption}]({one.path.name})" for one in drawn]
        parts = [*heads, *shown, *map(_markdown, tables)]
        page.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    return [page, *(one.path for one in drawn)]


def _markdown(table: ReportTable) -> str:
    lines = [f"| {' | '.join(table.columns)} |", f"|{'---|' * len(table.columns)}"]
    for row in table.rows:
        cells = (cell_text(cell).replace("|", "\\|").replace("\n", " ") for cell in row)
        lines.append(f"| {' | '.join(cells)} |")
    parts = [f"## {table.title}", "\n".join(lines), *([table.note] if table.note else [])]
    return "\n\n".join(parts)
