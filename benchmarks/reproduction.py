"""Every table of the five papers, with its commands and our figures.

``planweave reproduce`` and ``docs/reproduction.md`` are made from ``reproduction.yaml`` in this
folder.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from shlex import quote
from typing import Annotated

import yaml
from pydantic import BaseModel, Field, TypeAdapter, model_validator

from planweave import BadInput
from planweave.benchmarks.core.store import name_in_file

ARCHIVES = (".tar.xz", ".tar.gz", ".tar", ".zip")
_LIST = Path(__file__).with_suffix(".yaml")


class PaperTable(BaseModel, extra="forbid", frozen=True):
    """One table of a paper, or one figure with results."""

    table: str  # its number, such as `4` or `figure 5`
    also: tuple[str, ...] = ()  # other tables of the paper with these figures
    shows: str
    runs: tuple[str, ...] = ()  # commands; {data} and the like are filled in
    limit: Annotated[int, Field(ge=1)] | None = None
    model: str = "embedded:0.5b"
    sample: str = ""
    ours: str = ""  # empty if it was not measured
    theirs: str = ""
    differs: str
    seconds: int | None = None
    results: tuple[str, ...] = ()  # files that hold our figure, below results/

    @property
    def label(self) -> str:
        """Its number, with the other tables in brackets."""
        return f"{self.table} ({', '.join(self.also)})" if self.also else self.table

    @property
    def asks_model(self) -> bool:
        """Whether a command asks a language model."""
        return any("{model}" in run for run in self.runs)

    @model_validator(mode="after")
    def _require_sources(self) -> "PaperTable":
        if self.ours and self.runs and not (self.results and self.sample):
            raise ValueError(f"table {self.table}: a figure needs its sample and a file of results")
        return self


class Paper(BaseModel, extra="forbid", frozen=True):
    """A paper with its tables."""

    name: str
    title: str
    note: str = ""
    tables: tuple[PaperTable, ...]

    def choose_tables(self, table: str) -> Sequence[PaperTable]:
        """The table of that number; if it is empty, all tables that have commands."""
        if not table:
            return [one for one in self.tables if one.runs]
        wanted = table.lower()
        found = [t for t in self.tables if wanted in (t.table, *map(str.lower, t.also))]
        if not found:
            raise BadInput(
                f"The paper {self.name} has no table {table!r} in the list.",
                fix=f"Choose from: {', '.join(one.label for one in self.tables)}.",
            )
        return found


@cache
def papers() -> tuple[Paper, ...]:
    """All papers of the list."""
    return TypeAdapter(tuple[Paper, ...]).validate_python(yaml.safe_load(_LIST.read_text("utf-8")))


def paper(name: str) -> Paper:
    """The paper of that name."""
    for one in papers():
        if one.name == name:
            return one
    raise BadInput(
        f"There is no paper {name!r}.",
        fix=f"Choose from: {', '.join(one.name for one in papers())}.",
    )


def commands(
    tables: Sequence[PaperTable], *, data: Path, out: Path, limit: int | None, model: str
) -> list[str]:
    """The distinct commands of some tables, filled in."""
    made = [
        run.format(
            data=quote(str(data)),
            dqa=quote(str(_dqa_data(data))),
            out=quote(str(out)),
            limit=limit or one.limit or "",
            model=quote(model or one.model),
            name=quote(name_in_file(model or one.model)),  # of the model in its result file
        )
        for one in tables
        for run in one.runs
    ]
    return [*dict.fromkeys(made)]


def _dqa_data(data: Path) -> Path:
    """The data of Decision QA: the archive in its folder, or the folder itself."""
    folder = data / "dqa"
    archives = [path for path in sorted(folder.glob("*")) if path.name.endswith(ARCHIVES)]
    return archives[0] if archives else folder


def page() -> str:
    """The page ``docs/reproduction.md``."""
    return "\n".join([_HEAD, *(line for one in papers() for line in _section(one)), ""])


_HEAD = """\
# Reproduction

Made by `planweave reproduce --markdown`; the list is `benchmarks/reproduction.yaml`. It names every table of the five papers, and the figures that hold results: the sample, our figure, the paper's, the seconds that it took, and below each table what differs.

```console
$ planweave reproduce                                  # lists papers and tables
$ planweave reproduce planrag --table 4 --dry-run      # shows the commands
$ planweave reproduce planrag --table 4 --data DATA    # runs them
$ planweave reproduce rat --limit 20 --model openai:gpt-4o --data DATA
```

DATA (or `PLANWEAVE_PUBLISHED`) is a folder with the published files, each data set in its own folder: `dqa/`, `hotpotqa/`, `2wikimultihopqa/`, `musique/`, `trajectories/`, `alfworld/`, `webshop/`, `scienceworld/`, `code/`, `math/`, `minecraft/`, `docs/`, `tatqa/`, `rag_eval/`. Commands go on where they were stopped.

Our figures are of small open models, where a row does not say otherwise on two processor cores that did other work as well, so seconds are too high. A dash: made by the runs of another table, or not kept. The papers used GPT-3.5, GPT-4 and models of like size. `analyst:perfect` (PlanRAG, table 4) and the players without a model (InstructRAG, table 1) reach high figures by the same code: low ones are the model's. In brackets: 95 % intervals.
"""  # noqa: E501 - a paragraph of the page is one line


def _section(one: Paper) -> Iterator[str]:
    yield f"## {one.name}\n\n{one.title}. {one.note}".rstrip() + "\n"
    measured = [table for table in one.tables if table.runs]
    yield "| table | shows | sample | ours | paper | seconds |\n|---|---|---|---|---|---|"
    yield from map(_row, measured)
    yield ""
    alike = re.compile(r"as table \S+$")  # the column "sample" already states it
    yield from (
        f"- **{table.table}**: {table.differs}"
        for table in measured
        if not alike.match(table.differs)
    )
    if others := [f"{table.table} ({table.shows})" for table in one.tables if not table.runs]:
        yield f"\nNothing is run for {', '.join(others)}."
    yield ""


def _row(table: PaperTable) -> str:
    links = ", ".join(f"[{Path(name).name}](../results/{name})" for name in table.results)
    ours = table.ours or "not measured"
    cells = (
        table.table,
        table.shows,
        table.sample or "-",
        f"{ours} ({links})" if links else ours,
        table.theirs or "-",
        "-" if table.seconds is None else f"{table.seconds:,}",
    )
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
