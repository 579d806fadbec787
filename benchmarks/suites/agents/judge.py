"""The judge's own error: pairs of answers of which people say that one is the more correct.

Taken are the pairs of RAGChecker's meta-evaluation on whose correctness two annotators agree
strongly: both prefer the same answer, one of them much. The reference is the data set's. The
preferred answer should be Correct, the other Incorrect; that people only compared the two, and
did not call either right or wrong, is the limit of this check.
"""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from planweave.benchmarks.core.play import OnCall
from planweave.benchmarks.core.record import Score
from planweave.benchmarks.core.suite import Sample
from planweave.benchmarks.suites.agents.tables import JUDGE_CHECK
from planweave.benchmarks.suites.rag.ways import Pair
from planweave.memory import Answer, Context, WorkingMemory
from planweave.nodes.support.answer_judge import JUDGE, Judged, judge_answer

MUCH = 2


def agreed(pairs: Iterable[Pair]) -> list[Pair]:
    """The pairs on whose correctness every annotator agrees, and one of them strongly."""
    kept = []
    for pair in pairs:
        given = [human.correctness for human in pair.human]
        if (min(given) > 0 or max(given) < 0) and max(map(abs, given)) >= MUCH:
            kept.append(pair)
    return kept


def checks(pairs: Sequence[Pair], *, suite: str, settings: Context) -> list[Sample]:
    """Both answers of every pair, judged as the agents' answers are."""
    made = []
    for pair in pairs:
        check = Check(pair)
        made.append(
            Sample(
                suite=suite,
                question=f"{pair.dataset.replace('/', '-')}-{pair.instance_id}",
                scenario=JUDGE_CHECK,
                method=JUDGE,
                database="",
                asked=pair.query,
                context=settings,
                content=hashlib.sha256(pair.model_dump_json().encode()).hexdigest()[:16],
                judge=check.score,
                play=check.play,
            )
        )
    return made


@dataclass
class Check:
    """A pair whose answers are judged one by one, by the same reference."""

    pair: Pair
    _judged: list[Judged] = field(default_factory=list, init=False)

    async def play(self, sample: Sample, on_call: OnCall) -> WorkingMemory:
        """Judge the answer that people prefer, then the other."""
        pair = self.pair
        answers = [pair.response_a, pair.response_b]
        if pair.human[0].correctness > 0:
            answers.reverse()
        self._judged = [
            await judge_answer(pair.query, pair.gt_answer, answer, sample.context, on_call)
            for answer in answers
        ]
        verdicts = " / ".join(judged.verdict or "unread" for judged in self._judged)
        return {"answer": Answer(decision=verdicts, why="", facts=[], unknown="")}

    def score(self, answer: Answer | None) -> Score:
        """The share of both answers that is judged as people prefer them."""
        verdicts = [judged.verdict for judged in self._judged] if answer else [None, None]
        value = ((verdicts[0] == "Correct") + (verdicts[1] != "Correct")) / 2 if answer else 0.0
        said = answer["decision"] if answer else None
        return Score(
            value=value,
            answer=said,
            explanation=f"the better answer / the other: {said or 'not judged'}",
            details={
                "better": verdicts[0],
                "other": verdicts[1],
                "reasons": [judged.reason for judged in self._judged],
            },
        )
