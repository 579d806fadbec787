"""A suite: planweave bench short_answers --data questions.json --method step_back."""

import json
from functools import partial

from planweave.benchmarks.core.record import Score
from planweave.benchmarks.core.suite import Sample, Suite, drawn


class ShortAnswers(Suite):
    """Questions with a short answer each, from a JSON list of {question, answer, collection}."""

    def tables(self, records):
        """No table besides the general one."""
        return []

    def samples(self, *, methods, context, data, limit, seed):
        """Every chosen question with every method."""
        items = drawn(json.loads(data.read_text()), limit, seed, lambda item: item["question"])
        fixed = {"suite": "short_answers", "scenario": "all", "database": "", "content": ""}
        return [
            Sample(**fixed, method=one, question=item["question"], asked=item["question"],
                   context=context.model_copy(update={"collection": item["collection"]}),
                   judge=partial(judged, item["answer"]))
            for one in methods for item in items
        ]  # fmt: skip


def judged(gold, answer):
    said = (answer["decision"] or answer["why"]) if answer else None
    return Score(value=float(gold in (said or "")), answer=said, explanation=f"gold: {gold}")
