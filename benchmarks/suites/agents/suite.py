"""Document agents: questions in the five kinds of the strategy-agent thesis, in several trials."""

import asyncio
import hashlib
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from pydantic import JsonValue

from planweave.benchmarks.core.play import OnCall, play_graph
from planweave.benchmarks.core.record import Record, Score
from planweave.benchmarks.core.suite import Sample, Suite, register
from planweave.benchmarks.core.table import Table
from planweave.benchmarks.suites.agents.questions import Question
from planweave.benchmarks.suites.agents.tables import agent_tables
from planweave.benchmarks.suites.agents.tatqa import match
from planweave.memory import Answer, Context, WorkingMemory
from planweave.models import embeddings
from planweave.nodes.documents.documents import find_pages
from planweave.nodes.shared.citation_check import CITATION, UNSUPPORTED
from planweave.nodes.support.answer_judge import Judged, judge_answer
from planweave.nodes.support.rag_metrics import (
    Judge,
    answer_relevance,
    context_relevance,
    faithfulness,
)
from planweave.tools.documents.collection import open_collection

NAME = "agents"

_CITED = re.compile(rf"\s*(?:{CITATION.pattern}|{re.escape(UNSUPPORTED)})")

Finds = Callable[[str], frozenset[tuple[str, int]]]
"""The pages that a search for a text finds."""


@register(NAME)
class Agents(Suite):
    """The suite: agents over one collection of documents, and the judge beside people."""

    def tables(self, records: Sequence[Record]) -> list[Table]:
        """Sets and questions over trials, the judge, citations, cost, TAT-QA's own metric."""
        return agent_tables(records)


def samples(
    questions: Sequence[Question],
    *,
    methods: Sequence[str],
    trials: int,
    settings: Context,
    collection: Callable[[Question], str],
    rag: bool = False,
) -> list[Sample]:
    """Every question with every method, trial by trial.

    Args:
        questions: The chosen ones.
        methods: Names of graphs.
        trials: Each has a seed of its own; the settings' is the first trial's.
        settings: The context without its collection.
        collection: Name of the collection that a question is asked on.
        rag: Measure how far pages and answers bear on the question and on each other.
    """
    names = {question.id: collection(question) for question in questions}
    contexts = {n: settings.model_copy(update={"collection": n}) for n in {*names.values()}}
    finds = {name: _Finder(context) for name, context in contexts.items()}
    return [
        _sample(Trial(question, number, finds[name], rag=rag), method, contexts[name])
        for number in range(1, trials + 1)
        for question in questions
        for name in [names[question.id]]
        for method in methods
    ]


@dataclass
class _Finder:
    """Pages that a text finds; each text is searched once. It travels to other processes."""

    context: Context
    _found: dict[str, frozenset[tuple[str, int]]] = field(default_factory=dict)

    def __call__(self, text: str) -> frozenset[tuple[str, int]]:
        if text not in self._found:
            asked = self.context
            pages = open_collection(asked.collection or "").search(
                text, k=asked.pages, mode=asked.search, reranker=asked.reranker
            )
            self._found[text] = frozenset((page.document, page.page) for page in pages)
        return self._found[text]


def _sample(trial: "Trial", method: str, context: Context) -> Sample:
    question = trial.question
    about = [question.gold.text if question.gold else None, sorted(question.evidence)]
    digest = hashlib.sha256(json.dumps([about, context.collection]).encode()).hexdigest()[:16]
    return Sample(
        suite=NAME,
        question=question.id,
        scenario=question.part,
        method=method,
        database="",
        asked=question.asked,
        context=context,
        content=f"{digest} trial {trial.number}{' rag' * trial.rag}",
        judge=trial.score,
        play=trial.play,
    )


@dataclass
class Trial:
    """One question, asked once.

    Attributes:
        question: It.
        number: Of the trial, from 1.
        finds: Searches the collection.
        rag: Measure the three RAGAS metrics of its pages and answer.
    """

    question: Question
    number: int
    finds: Finds
    rag: bool = False
    _metrics: dict[str, JsonValue] | None = field(default=None, init=False)
    _judged: Judged | None = field(default=None, init=False)

    async def play(self, sample: Sample, on_call: OnCall) -> WorkingMemory:
        """Ask the graph, then the judge where the answer alone does not show what it is worth."""
        context = sample.context
        seeded = context.model_copy(update={"seed": (context.seed or 0) + self.number - 1})
        memory = await play_graph(replace(sample, context=seeded), on_call)
        answer, gold = memory.get("answer"), self.question.gold
        if gold and answer and said(answer) and self._by_rule(answer) is None:
            self._judged = await judge_answer(
                self.question.asked, gold.text, said(answer), context, on_call
            )
        if self.rag and answer and said(answer):
            self._metrics = await self._measured(said(answer), context, on_call)
        return memory

    async def _measured(
        self, answer: str, context: Context, on_call: OnCall
    ) -> dict[str, JsonValue]:
        """Faithfulness, answer relevance and context relevance, by the pages of one search."""
        asked, judge = self.question.asked, await Judge.of(context, on_call)
        pages = await asyncio.to_thread(find_pages, asked, context, context.pages)
        read = "\n\n".join(page["text"][: context.page_characters] for page in pages)
        faithful = await faithfulness(answer, read, judge, question=asked)
        relevant = await answer_relevance(asked, answer, judge, embeddings())
        return {
            "faithfulness": faithful.value,
            "answer_relevance": relevant.value,
            "context_relevance": (await context_relevance(asked, read, judge)).value,
        }

    def score(self, answer: Answer | None) -> Score:
        """1 for a right answer; 0 for a wrong one, for none, and where the judge is not sure."""
        by_rule = self._by_rule(answer)
        judged = self._judged if by_rule is None else None
        right = bool(by_rule) or bool(judged and judged.correct)
        short = said(answer) if answer else ""
        gold = self.question.gold
        expected = gold.text if gold else "not answered by the documents"
        return Score(
            value=float(right),
            answer=short or None,
            explanation=f"{short or 'no answer'}; right is {expected}",
            details={
                "trial": self.number,
                "asked": self.question.asked,
                "gold": gold.text if gold else None,
                "evidence": [list[JsonValue](page) for page in sorted(self.question.evidence)],
                "found": bool(self.question.evidence & self.finds(self.question.asked)),
                "scored": "judge" if judged else "rule" if short or not gold else "no answer",
                "judged": dict[str, JsonValue](judged._asdict()) if judged else None,
                "tatqa": self._tatqa(answer),
                "rag": self._metrics,
            },
        )

    def _by_rule(self, answer: Answer | None) -> bool | None:
        """Whether an answer is right; None where only the judge can tell.

        What the documents do not answer is right to be called unknown.
        """
        gold = self.question.gold
        if answer is None:
            return False
        if gold is None:
            return answer["decision"] is None and bool(answer["unknown"])
        if answer["decision"]:
            return gold.right(answer["decision"], self.question.asked)
        text = said(answer)
        return None if text and gold.may_be_in(text) else False

    def _tatqa(self, answer: Answer | None) -> dict[str, JsonValue] | None:
        """Exact match and F1 of the short answer by TAT-QA's metric."""
        gold = self.question.gold
        if gold is None or not gold.spans:
            return None
        short = answer["decision"] if answer else None
        spans = not self.question.arithmetic
        exact, f1 = match(gold.spans, gold.scale, short or "", spans=spans)
        return {"exact": exact, "f1": f1}


def said(answer: Answer) -> str:
    """What an answer says, without citations: the short answer, and its text."""
    text = _CITED.sub("", answer["why"]).strip()
    return "\n".join(part for part in (answer["decision"], text) if part)
