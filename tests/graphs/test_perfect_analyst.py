"""Right plans and queries reach the annotated decisions: what is left to gain is the model's."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import pytest
from langchain_core.messages import BaseMessage
from scripted import PAPER, answer_of

from planweave.benchmarks.suites.dqa.analyst import analyst
from planweave.graphs import METHODS
from planweave.memory import Context, WorkingMemory, total_usage
from planweave.models import register_model
from planweave.simulators.published import DataSet, load_dataset
from planweave.simulators.scenario import Question
from planweave.testing import Reply, Script, ScriptedModel

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


def _script(question: Question, kind: str, folder: Path) -> str:
    """The question's database as a script, written once for all questions that share it."""
    database = question.database
    assert database is not None
    path = folder / f"{id(database)}.{'sql' if kind == 'relational' else 'cql'}"
    if not path.exists():
        path.write_text(database.sql if kind == "relational" else database.cypher, encoding="utf-8")
    return str(path)


async def _decide(
    name: str, question: Question, kind: str, folder: Path, *, script: Script = analyst, **more: Any
) -> WorkingMemory:
    path = _script(question, kind, folder)
    context = Context(
        model=register_model(ScriptedModel(script)),
        rules=question.rules,
        candidates=tuple(str(candidate) for candidate in question.candidates),
        database=path if kind == "relational" else None,
        graph=path if kind == "graph" else None,
        **more,
    )
    memory: WorkingMemory = await METHODS.get(name).graph.ainvoke(
        {"question": question.prompt}, context=context
    )
    return memory


def _decision(memory: WorkingMemory) -> str | None:
    return answer_of(memory)["decision"]


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
            if kind == "relational":  # a query beside others may find nothing where there is one
                problems = [turn["problem"] for turn in memory["turns"] if turn["problem"]]
                assert not problems, question.id
        assert not memory["failures"], question.id
    print(  # noqa: T201 (the figures themselves; shown by -rP)
        f"{scenario}, {kind}: clean {clean - len(missed)}/{clean}, all {right}/{len(questions)}"
    )
    assert len(missed) <= (1 - _LEAST) * clean, missed


class Spent(NamedTuple):
    """What one run took: the prompt of a later call may begin as an earlier one did."""

    decision: str | None
    calls: int
    tokens: int
    later: int
    cacheable: int


async def _spent(question: Question, folder: Path, settings: Mapping[str, Any]) -> Spent:
    texts: list[str] = []

    def script(messages: Sequence[BaseMessage]) -> Reply:
        texts.append("\0".join(message.text for message in messages))
        return analyst(messages)

    memory = await _decide("planrag", question, "relational", folder, script=script, **settings)
    used = total_usage(memory["usage"])
    cacheable = [
        max(_alike(text, before) for before in texts[:at])
        for at, text in enumerate(texts[1:], start=1)
    ]
    return Spent(
        _decision(memory),
        used.calls,
        used.input_tokens + used.output_tokens,
        sum(map(len, texts[1:])),
        sum(cacheable),
    )


@pytest.mark.parametrize("scenario", ["locating", "building"])
async def test_economy(scenario: str, published: DataSet, folder: Path) -> None:
    clean = [q for q in published.of(scenario) if not q.simulate().degenerate]
    clean.sort(key=lambda q: id(q.database))
    paper = [await _spent(question, folder, PAPER) for question in clean]
    now = [await _spent(question, folder, {}) for question in clean]
    assert [one.decision for one in now] == [one.decision for one in paper]
    for name, runs in (("the paper's settings", paper), ("by default", now)):
        print(  # noqa: T201 (the figures themselves; shown by -rP)
            f"{scenario}, {name}: {_mean(runs, 'calls'):.2f} calls, {_mean(runs, 'tokens'):.0f} "
            f"tokens a question, {_cached(runs):.1%} of later prompts cacheable (n = {len(runs)})"
        )
    assert _mean(now, "calls") <= 3.0
    assert _mean(now, "tokens") <= 0.6 * _mean(paper, "tokens")
    assert _cached(now) >= 0.7


def _alike(one: str, other: str) -> int:
    """How many characters two texts begin with alike."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


def _mean(runs: Sequence[Spent], what: str) -> float:
    return fmean(getattr(one, what) for one in runs)


def _cached(runs: Sequence[Spent]) -> float:
    return sum(one.cacheable for one in runs) / sum(one.later for one in runs)
