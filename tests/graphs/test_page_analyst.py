"""What each method costs on documents when nothing goes wrong: calls, their chain, characters."""

from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

import pytest
from page_analyst import PRICES, Case, analyst, fee_cases, report_cases
from published import published
from scripted import answer_of, register

from planweave.benchmarks.core.metrics import longest_chain
from planweave.benchmarks.core.suite import drawn
from planweave.benchmarks.suites.agents.collection import collect
from planweave.benchmarks.suites.agents.questions import Document
from planweave.benchmarks.suites.rules.judge import amount_of
from planweave.graphs import METHODS
from planweave.graphs.support.events import AnswerEvent, CallEvent
from planweave.graphs.support.running import events
from planweave.memory import Context, Input, WorkingMemory
from planweave.models import CallRecord

NAMES = ("react", "planrag", "agent_v3")


class Cost(NamedTuple):
    """What one question took."""

    calls: int
    chain: int
    characters: int


class Asked(NamedTuple):
    """Questions about a collection, and how many pages a search of it returns."""

    cases: list[Case]
    collection: str
    pages: int = 4


def _reports(folder: Path) -> Asked:
    """Published questions, and the reports as a collection that words alone search."""
    data = published("docs")
    cases = drawn(report_cases(data), 8, 1, lambda case: case.question)
    documents = [Document(path.name, path) for path in sorted(data.glob("*_pages.jsonl.gz"))]
    return Asked(cases, collect(documents, folder, embeddings="none"))


def _prices(folder: Path) -> Asked:
    """What bags cost together, and the price list, searched alike."""
    path = folder / "prices.txt"
    path.write_text(PRICES)
    return Asked(fee_cases(), collect([Document(path.name, path)], folder, embeddings="none"), 1)


async def _answered(name: str, case: Case, asked: Asked) -> tuple[WorkingMemory, Cost]:
    calls: list[CallRecord] = []
    memory: WorkingMemory = {}
    context = Context(
        model=register(analyst(asked.cases)),
        collection=asked.collection,
        whole_collection="off",
        pages=asked.pages,
        page_characters=3_000,
        max_iterations=30,
    )
    async for event in events(METHODS.get(name).graph, Input(question=case.question), context):
        match event:
            case CallEvent(record=record):
                calls.append(record)
            case AnswerEvent(result=result):
                memory = result.memory
    size = sum(4 * (call.input_tokens + call.output_tokens) for call in calls)
    return memory, Cost(len(calls), longest_chain(calls), size)


def _is_right(memory: WorkingMemory, case: Case) -> bool:
    answer = answer_of(memory)
    if case.amount is None:
        return answer["decision"] == case.answer[:100]
    worked = [fact for fact in memory["facts"] if fact["source"] == "calculator"]
    result = amount_of(str(worked[-1]["values"]["value"]))
    return amount_of(answer["decision"] or "") == case.amount == result


def _mean(costs: Sequence[Cost]) -> Cost:
    return Cost(*(fmean(values) for values in zip(*costs, strict=True)))  # type: ignore[arg-type]


# The longest chain of planrag beside that of react, at most.
@pytest.mark.parametrize(
    ("questions", "number", "share"),
    [pytest.param(_reports, 8, 1.0, marks=pytest.mark.published), (_prices, 4, 0.5)],
)
async def test_every_method_answers_and_what_it_costs(
    questions: Callable[[Path], Asked],
    number: int,
    share: float,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PLANWEAVE_DATA_DIR", str(tmp_path / "data"))
    asked = questions(tmp_path)
    assert len(asked.cases) == number
    found: dict[str, list[Cost]] = {name: [] for name in NAMES}
    for case in asked.cases:
        for name in NAMES:
            memory, cost = await _answered(name, case, asked)
            assert _is_right(memory, case), (name, case.question, memory["turns"])
            assert not memory["failures"], (name, case.question)
            found[name].append(cost)
    means = {name: _mean(costs) for name, costs in found.items()}
    for name, mean in means.items():
        print(  # noqa: T201 (the figures themselves; shown by -rP)
            f"{number} questions, {name}: {mean.calls:.2f} calls, longest chain {mean.chain:.2f}, "
            f"{mean.characters:,.0f} characters"
        )
    planned, reacting = means["planrag"], means["react"]
    assert planned.calls <= reacting.calls
    assert planned.chain <= share * reacting.chain
