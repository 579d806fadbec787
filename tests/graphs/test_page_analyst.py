"""What each method costs on documents when nothing goes wrong: calls, their chain, characters."""

from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import fmean
from typing import NamedTuple, cast

import pytest
from page_analyst import Case, airline_cases, analyst, report_cases
from published import published
from scripted import answer_of, register

from planweave.benchmarks.core.metrics import longest_chain
from planweave.benchmarks.core.suite import drawn
from planweave.benchmarks.suites.agents.collection import collect
from planweave.benchmarks.suites.agents.questions import Document
from planweave.benchmarks.suites.rules import load
from planweave.benchmarks.suites.rules.judge import amount_of
from planweave.graphs import METHODS
from planweave.memory import Context, Input, WorkingMemory
from planweave.models import CallRecord

NAMES = ("react", "planrag", "agent_v3")

pytestmark = pytest.mark.published


class Cost(NamedTuple):
    """What one question took."""

    calls: int
    chain: int
    characters: int


class Asked(NamedTuple):
    """Questions about a collection."""

    cases: list[Case]
    collection: str


Questions = Callable[[str], Asked]


@pytest.fixture(scope="module")
def questions(tmp_path_factory: pytest.TempPathFactory) -> Questions:
    """The questions of a data set, and its documents as a collection that words alone search."""
    made: dict[str, Asked] = {}
    folder = tmp_path_factory.mktemp("collections")

    def of(name: str) -> Asked:
        if name not in made:
            made[name] = _reports(folder) if name == "docs" else _airline(folder)
        return made[name]

    return of


def _reports(folder: Path) -> Asked:
    data = published("docs")
    cases = drawn(report_cases(data), 8, 1, lambda case: case.question)
    documents = [Document(path.name, path) for path in sorted(data.glob("*_pages.jsonl.gz"))]
    return Asked(cases, collect(documents, folder, embeddings="none"))


def _airline(folder: Path) -> Asked:
    data = published("rulearena")
    found = load(data, ["airline"])
    problems = drawn(found.problems, None, 1, lambda problem: problem.id)
    cases = airline_cases(data, problems)[:12]
    book = found.rules["airline"].path
    return Asked(cases, collect([Document(book.name, book)], folder, embeddings="none"))


async def _answered(name: str, case: Case, asked: Asked) -> tuple[WorkingMemory, Cost]:
    calls: list[CallRecord] = []
    memory: WorkingMemory = {}
    context = Context(
        model=register(analyst(asked.cases)),
        collection=asked.collection,
        page_characters=3_000,  # no page of the rules is cut
        max_iterations=30,
    )
    async for mode, chunk in METHODS.get(name).graph.astream(
        Input(question=case.question), context=context, stream_mode=["custom", "values"]
    ):
        if mode == "custom" and "call" in chunk:
            calls.append(CallRecord.model_validate(chunk["call"]))
        elif mode == "values":
            memory = cast("WorkingMemory", chunk)
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
@pytest.mark.parametrize(("data", "number", "share"), [("docs", 8, 1.0), ("airline", 12, 0.5)])
async def test_every_method_answers_and_what_it_costs(
    data: str, number: int, share: float, questions: Questions
) -> None:
    asked = questions(data)
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
            f"{data}, {number} questions, {name}: {mean.calls:.2f} calls, longest chain "
            f"{mean.chain:.2f}, {mean.characters:,.0f} characters"
        )
    planned, reacting = means["planrag"], means["react"]
    assert planned.calls <= reacting.calls
    assert planned.chain <= share * reacting.chain
