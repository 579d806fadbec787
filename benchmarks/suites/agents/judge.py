"""The judge's error, measured on pairs of answers that people compared by correctness.

The pairs are those of RAGChecker's meta-evaluation on which two annotators agree strongly: both
prefer the same answer, one of them much. The reference is the data set's. The preferred answer
should be Correct, the other Incorrect. This check is limited: people only compared the two answers,
and called neither right or wrong.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, Field

from planweave import BadInput
from planweave.benchmarks.core.play import OnCall
from planweave.benchmarks.core.record import Score
from planweave.benchmarks.core.suite import Sample
from planweave.benchmarks.suites.agents.tables import JUDGE_CHECK
from planweave.memory import Context
from planweave.nodes.support.judges import ANSWER_JUDGE, JudgedAnswer, judge_answer
from planweave.records import read_records
from planweave.texts import digest

MUCH = 2

_FIX = (
    "Name a .jsonl or .jsonl.gz file with dataset, instance_id, query, gt_answer, response_a, "
    "response_b and human on each line."
)


class Human(BaseModel):
    """An annotator's verdict on correctness, from -2 (a is much better) to 2 (b is much better)."""

    correctness: Annotated[int, Field(ge=-2, le=2)]


class Pair(BaseModel):
    """Two answers to a query, its reference, and the annotators' verdicts."""

    instance_id: int
    dataset: str
    query: str
    gt_answer: Annotated[str, Field(pattern=r"\S")]
    response_a: str
    response_b: str
    human: Annotated[list[Human], Field(min_length=1)]

    @property
    def name(self) -> str:
        """Name of the pair in result files."""
        return f"{self.dataset.replace('/', '-')}-{self.instance_id}"


def load_pairs(path: Path) -> list[Pair]:
    """Read a file of judged pairs."""
    found = read_records(path, Pair, fix=_FIX)
    if not found:
        raise BadInput(f"{path} contains no pair.", fix=_FIX)
    return found


def clear_pairs(pairs: Iterable[Pair]) -> list[Pair]:
    """The pairs on which all annotators agree, one of them strongly."""
    judged = [(pair, [human.correctness for human in pair.human]) for pair in pairs]
    return [
        pair
        for pair, given in judged
        if (min(given) > 0 or max(given) < 0) and max(map(abs, given)) >= MUCH
    ]


def check_samples(pairs: Sequence[Pair], *, suite: str, settings: Context) -> list[Sample]:
    """Samples that judge both answers of every pair as the agents' answers are judged."""
    return [
        Sample(
            suite=suite,
            question=pair.name,
            scenario=JUDGE_CHECK,
            method=ANSWER_JUDGE,
            asked=pair.query,
            context=settings,
            content=digest(pair.model_dump_json()),
            target=pair,
        )
        for pair in pairs
    ]


async def judge_both(sample: Sample, on_call: OnCall) -> list[JudgedAnswer]:
    """Judge the answer that people prefer, then the other one, by the same reference."""
    pair: Pair = sample.target
    answers = [pair.response_a, pair.response_b]
    if pair.human[0].correctness > 0:
        answers.reverse()
    return [
        await judge_answer(pair.query, pair.gt_answer, answer, sample.context, on_call)
        for answer in answers
    ]


def score_check(judged: Sequence[JudgedAnswer]) -> Score:
    """The share of the two answers on which judge and people agree; 0 if none was judged."""
    better, other = [one.verdict for one in judged] or (None, None)
    verdicts = " / ".join(one.verdict or "unread" for one in judged)
    return Score(
        value=((better == "Correct") + (other != "Correct")) / 2 if judged else 0.0,
        answer=verdicts or None,
        explanation=f"the better answer / the other: {verdicts or 'not judged'}",
        details={"better": better, "other": other, "reasons": [one.reason for one in judged]},
    )
