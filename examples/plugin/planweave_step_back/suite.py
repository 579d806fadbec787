"""A suite: planweave bench short-answers --data questions.json --method step_back."""

from pathlib import Path

from planweave.benchmarks.core.options import Options, listed
from planweave.benchmarks.core.play import Memory, OnCall
from planweave.benchmarks.core.record import Score
from planweave.benchmarks.core.suite import Sample, Selection, ShowStatus, Suite, drawn
from planweave.graphs import METHODS
from planweave.memory import Context
from planweave.records import read_records


class ShortAnswers(Suite):
    """Questions with a short answer each, from a JSON list of {question, answer, collection}."""

    def select(self, options: Options, context: Context, status: ShowStatus) -> Selection:
        """Every chosen question with every method."""
        path = Path(options.data or "questions.json")
        given = read_records(path, dict[str, str], fix="Name a file of questions: --data FILE.")
        items = drawn(given, options.limit, options.seed, lambda item: item["question"])
        return Selection(samples=[
            Sample(suite=self.name, method=one, question=item["question"], asked=item["question"],
                   context=context.model_copy(update={"collection": item["collection"]}),
                   target=item["answer"])
            for one in listed(options.method, METHODS.names(), "method") for item in items
        ], about=options.about())  # fmt: skip

    async def score(self, sample: Sample, memory: Memory, on_call: OnCall) -> Score:
        """1 if the answer has the right one in it."""
        answer = memory.get("answer")
        text = (answer["decision"] or answer["why"]) if answer else None
        right = sample.target in (text or "")
        return Score(value=float(right), answer=text, explanation=f"gold: {sample.target}")
