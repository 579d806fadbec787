"""How large the databases of a data set are (PlanRAG, tables 3 and 8)."""

from dataclasses import dataclass
from statistics import fmean

from planweave.simulators.published import DataSet


@dataclass(frozen=True, kw_only=True)
class Statistics:
    """Of one scenario; every question counts, also where it shares its database with others."""

    scenario: str
    questions: int
    rows: float
    columns: float
    edges: float
    vertices: float


def statistics(dataset: DataSet) -> list[Statistics]:
    """The figures of each scenario; questions without a database are left out."""
    return [found for name in dataset.scenarios if (found := _of(dataset, name))]


def _of(dataset: DataSet, name: str) -> Statistics | None:
    questions = [question for question in dataset.of(name) if question.database]
    if not questions:
        return None
    scenario, worlds = questions[0].scenario, [question.world for question in questions]

    def mean(tables: set[str]) -> float:
        return fmean(sum(len(world[table].rows) for table in tables) for world in worlds)

    return Statistics(
        scenario=name,
        questions=len(questions),
        rows=fmean(world.rows for world in worlds),
        columns=fmean(len(table.columns) for table in scenario.tables),
        edges=mean({one.table for one in scenario.graph.relationships}),
        vertices=mean({one.table for one in scenario.graph.nodes}),
    )
