"""Right plans and queries reach the annotated decisions: what is left to gain is the model's."""

import os
from pathlib import Path

import pytest
from analyst import analyst
from scripted import register

from planweave.graphs import METHODS
from planweave.memory import Context, ReplanPolicy, WorkingMemory, total_usage
from planweave.simulators.published import DataSet, load
from planweave.simulators.scenario import Question

_DATA = Path(__file__).parents[2] / "../shared/data/dqa/dqa-dev.tar.xz"
_LEAST = 0.97

pytestmark = pytest.mark.published


@pytest.fixture(scope="module")
def published() -> DataSet:
    path = Path(os.environ.get("PLANWEAVE_DQA", _DATA))
    if not path.exists():
        pytest.skip(f"the published data set is not at {path}; set PLANWEAVE_DQA")
    return load(path)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("databases")


def _script(question: Question, kind: str, folder: Path) -> str:
    """The question's database as a script, written once for all questions that share it."""
    database = question.database
    assert database is not None
    path = folder / f"{id(database)}.{'sql' if kind == 'relational' else 'cql'}"
    if not path.exists():
        path.write_text(database.sql if kind == "relational" else database.cypher, encoding="utf-8")
    return str(path)


async def _decide(
    name: str,
    question: Question,
    kind: str,
    folder: Path,
    replan: ReplanPolicy = "every_observation",
) -> WorkingMemory:
    script = _script(question, kind, folder)
    context = Context(
        model=register(analyst),
        rules=question.rules,
        candidates=tuple(str(candidate) for candidate in question.candidates),
        database=script if kind == "relational" else None,
        graph=script if kind == "graph" else None,
        replan=replan,
    )
    memory: WorkingMemory = await METHODS.get(name).graph.ainvoke(
        {"question": question.prompt}, context=context
    )
    return memory


def _decision(memory: WorkingMemory) -> str | None:
    assert memory["answer"] is not None
    return memory["answer"]["decision"]


@pytest.mark.parametrize("kind", ["relational", "graph"])
@pytest.mark.parametrize("scenario", ["locating", "building"])
async def test_reaches_the_annotated_decisions(
    scenario: str, kind: str, published: DataSet, folder: Path
) -> None:
    right, clean, missed = 0, 0, []
    questions = sorted(published.of(scenario), key=lambda q: id(q.database))
    for question in questions:
        memory = await _decide("planrag", question, kind, folder)
        outcome = question.simulate()
        hit = _decision(memory) in [str(best) for best in outcome.equivalent]
        right += hit
        if not outcome.degenerate:
            clean += 1
            missed += [] if hit else [question.id]
            assert not [turn["problem"] for turn in memory["turns"] if turn["problem"]], question.id
        assert not memory["failures"], question.id
    print(  # noqa: T201 (the figures themselves; shown by -rP)
        f"{scenario}, {kind}: clean {clean - len(missed)}/{clean}, all {right}/{len(questions)}"
    )
    assert len(missed) <= (1 - _LEAST) * clean, missed


@pytest.mark.parametrize("name", ["planrag_no_replan", "iter_rag"])
@pytest.mark.parametrize("kind", ["relational", "graph"])
@pytest.mark.parametrize("scenario", ["locating", "building"])
async def test_every_loop_carries_the_analyst(
    name: str, scenario: str, kind: str, published: DataSet, folder: Path
) -> None:
    clean = [q for q in published.of(scenario) if not q.simulate().degenerate]
    for question in clean[:: len(clean) // 5][:5]:
        memory = await _decide(name, question, kind, folder)
        assert memory["answer"] is not None
        assert _decision(memory) in [str(best) for best in question.simulate().equivalent]
        assert memory["answer"]["facts"] == [fact["number"] for fact in memory["facts"]]


@pytest.mark.parametrize("scenario", ["locating", "building"])
async def test_replanning_when_needed_decides_alike_with_fewer_calls(
    scenario: str, published: DataSet, folder: Path
) -> None:
    clean = [q for q in published.of(scenario) if not q.simulate().degenerate]
    always, needed = 0, 0
    for question in clean:
        every = await _decide("planrag", question, "relational", folder)
        seldom = await _decide("planrag", question, "relational", folder, "when_needed")
        assert _decision(seldom) == _decision(every)
        always += total_usage(every["usage"]).calls
        needed += total_usage(seldom["usage"]).calls
    print(  # noqa: T201 (the figures themselves; shown by -rP)
        f"{scenario}: {always / len(clean):.2f} calls a question, "
        f"{needed / len(clean):.2f} when needed ({len(clean)} questions)"
    )
    assert needed < always
