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
from planweave.simulators.scenario import Question
from planweave.testing import ScriptedModel

_DATA = Path(__file__).parents[2] / "../shared/data/dqa/dqa-dev.tar.xz"
_LEAST = 0.97
SOURCES = (("database", "sql"), ("graph", "cypher"))

pytestmark = pytest.mark.published


@pytest.fixture(scope="module")
def published() -> DataSet:
    path = Path(os.environ.get("PLANWEAVE_DQA", _DATA))
    if not path.exists():
        pytest.skip(f"the published data set is not at {path}; set PLANWEAVE_DQA")
    return load_dataset(path)


@pytest.mark.parametrize("scenario", ["locating", "building"])
async def test_reaches_the_annotated_decisions(
    scenario: str, published: DataSet, tmp_path: Path
) -> None:
    """Each database is asked in one of the two languages."""
    asked: dict[int, list[Question]] = {}
    for question in published.of(scenario):
        asked.setdefault(id(question.database), []).append(question)
    clean, missed = 0, []
    for number, questions in enumerate(asked.values()):
        source, language = SOURCES[number % 2]
        path = tmp_path / f"{number}.{language}"
        path.write_text(getattr(questions[0].database, language), encoding="utf-8")
        for question in questions:
            settings = {
                "model": register_model(ScriptedModel(analyst)),
                "rules": question.rules,
                "candidates": tuple(map(str, question.candidates)),
                source: str(path),
            }
            memory = await METHODS.get("planrag").graph.ainvoke(
                {"question": question.prompt}, context=Context.model_validate(settings)
            )
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
