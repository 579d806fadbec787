"""A suite: planweave bench short_answers --data questions.json --method step_back."""

import json

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
        return [self._sample(item, one, context) for one in methods for item in items]

    def _sample(self, item, method, context):
        def judge(answer):
            said = (answer["decision"] or answer["why"]) if answer else None
            right = said is not None and item["answer"].lower() in said.lower()
            return Score(value=float(right), answer=said, explanation=f"gold: {item['answer']}")

        return Sample(
            suite="short_answers",
            question=item["question"],
            scenario="all",
            method=method,
            database="",
            asked=item["question"],
            content="",
            judge=judge,
            context=context.model_copy(update={"collection": item["collection"]}),
        )
