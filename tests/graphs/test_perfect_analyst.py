"""Right plans and queries reach the annotated decisions, so other errors are the model's."""

import os
from pathlib import Path

import pytest
from scripted import answer_of

from planweave.benchmarks.suites.dqa.analyst import analyst
from planweave.graphs import METHODS
from planweave.memory import Context
from planweave.models import register_model
from planweave.simulators.published import DataSet, load_dataset
from planweave.testing import ScriptedModel

_DATA = Path(__file__).parents[2] / "../shared/data/dqa/dqa-dev.tar.xz"
_LEAST = 0.97

pytestmark = pytest.mark.published


@pytest.fixture(scope="module")
def published() -> DataSet:
    path = Path(os.environ.get("PLANWEAVE_DQA", _DATA))
    if not path.exists():
        pytest.skip(f"the published data set is not at {path}; set PLANWEAVE_DQA")
    return load_dataset(path)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("databases")


@pytest.mark.parametrize(("source", "language"), [("database", "sql"), ("graph", "cypher")])
@pytest.mark.parametrize("scenario", ["locating", "building"])
async def test_reaches_the_annotated_decisions(
    scenario: str, source: str, language: str, published: DataSet, folder: Path
) -> None:
    clean, missed = 0, []
    every = sorted(published.of(scenario), key=lambda q: id(q.database))
    for question in every[source == "graph" :: 2]:  # each question is asked in one language
        path = folder / f"{id(question.database)}.{language}"
        if not path.exists():  # several questions share a database
            path.write_text(getattr(question.database, language), encoding="utf-8")
        settings = {
            "model": register_model(ScriptedModel(analyst)),
            "rules": question.rules,
            "candidates": tuple(map(str, question.candidates)),
            source: str(path),
        }
        context = Context.model_validate(settings)
        asked = {"question": question.prompt}
        memory = await METHODS.get("planrag").graph.ainvoke(asked, context=context)
        assert not memory["failures"], question.id
        outcome = question.simulate()
        if outcome.degenerate:
            continue
        clean += 1
        if answer_of(memory)["decision"] not in [str(best) for best in outcome.equivalent]:
            missed.append(question.id)
        if source == "database":  # one of several queries of a graph may find nothing
            assert not [turn for turn in memory["turns"] if turn["problem"]], question.id
    assert len(missed) <= (1 - _LEAST) * clean, missed
