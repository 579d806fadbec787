"""Document agents on the five sets of questions of the strategy-agent thesis."""

import asyncio
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Annotated

import typer
from pydantic import JsonValue

from planweave import BadInput
from planweave.benchmarks.core.options import Embeddings, Options, listed
from planweave.benchmarks.core.play import Memory, OnCall, play_graph
from planweave.benchmarks.core.record import Score
from planweave.benchmarks.core.suite import Sample, Selection, ShowStatus, Suite, drawn, register
from planweave.benchmarks.suites.agents.collection import collect
from planweave.benchmarks.suites.agents.judge import (
    Pair,
    check_samples,
    clear_pairs,
    judge_both,
    load_pairs,
    score_check,
)
from planweave.benchmarks.suites.agents.questions import (
    SETS,
    Document,
    DocumentQuestion,
    choose,
    load,
)
from planweave.benchmarks.suites.agents.tables import RagMetrics, agent_tables
from planweave.graphs import of_family
from planweave.memory import Answer, Context
from planweave.models import embeddings
from planweave.nodes.documents.documents import find_pages
from planweave.nodes.shared.citation_check import CITATION, UNSUPPORTED
from planweave.nodes.support.judges import ANSWER_JUDGE, JudgedAnswer, judge_answer
from planweave.nodes.support.rag_metrics import (
    RagJudge,
    answer_relevance,
    context_relevance,
    faithfulness,
)
from planweave.texts import digest
from planweave.tools.documents.collection import open_collection

NAME = "agents"

_CITATIONS = re.compile(rf"\s*(?:{CITATION.pattern}|{re.escape(UNSUPPORTED)})")

Finds = Callable[[str], frozenset[tuple[str, int]]]
"""The pages that a search for a text finds."""


@dataclass(frozen=True, kw_only=True)
class AgentOptions(Options):
    """Options of the suite."""

    data: Annotated[
        Path, typer.Option(help="Folder with docs/ and tatqa/, and rag_eval/ for the judge.")
    ]
    method: Annotated[
        str,
        typer.Option(
            help="Comma-separated agents, or all: with whole_document, the baseline that reads "
            "all documents in one prompt, and ensemble."
        ),
    ] = "agent_v1,agent_v2,agent_v3,react,autogpt"
    judge: Annotated[
        str | None,
        typer.Option(help="Chat model that judges answers in words; if unset, the agents' model."),
    ] = None
    questions: Annotated[
        str, typer.Option("--set", help="Comma-separated sets of questions, or all.")
    ] = "all"
    trials: Annotated[int, typer.Option(help="Trials of each question.", min=1, max=100)] = 3
    judge_pairs: Annotated[
        int, typer.Option(help="Human-judged pairs for checking the judge.", min=0)
    ] = 40
    contexts: Annotated[int, typer.Option(help="Tables of TAT-QA among the documents.", min=1)] = 50
    embeddings: Embeddings = "minilm"
    one_document: Annotated[
        bool,
        typer.Option(
            "--one-document", help="Ask each question on its own document alone, as in the thesis."
        ),
    ] = False
    rag_metrics: Annotated[
        bool,
        typer.Option(
            "--rag",
            help="Have the judge measure faithfulness, answer relevance and context relevance.",
        ),
    ] = False

    def settings(self) -> dict[str, str | int]:
        """The agents search, as in the thesis; trials differ by temperature."""
        own: dict[str, str | int] = {"temperature": "0.3", "whole_collection": "off"}
        return super().settings() | own | {"max_iterations": 15}


@register(NAME, tables=agent_tables)
class Agents(Suite):
    """Document agents on simple, complex and calculation questions.

    Agents search one collection of documents; a further check compares the judge with people.
    """

    Options = AgentOptions

    def select(self, options: AgentOptions, context: Context, status: ShowStatus) -> Selection:
        """The check of the judge, then every question in several trials."""
        if options.judge:
            models = {**context.models, ANSWER_JUDGE: options.judge}
            context = context.model_copy(update={"models": models})
        known = (*of_family("documents"), "ensemble")
        methods = listed(options.method, known, "document agent")
        sets = listed(options.questions, SETS, "set of questions")
        found = load(options.data, contexts=options.contexts, seed=options.seed)
        chosen = choose([q for q in found.questions if q.part in sets], options.limit, options.seed)
        if not chosen:
            raise BadInput(f"{options.data} contains no question of the named sets.")
        collection = _collection_finder(found.documents, options, status)
        return Selection(
            samples=_judge_checks(options, context)
            + _samples(chosen, methods, collection, options, context),
            about=options.about(
                questions=len(found.questions),
                chosen=len(chosen),
                trials=options.trials,
                contexts=options.contexts,
                embeddings=options.embeddings,
            ),
            context=context,
        )

    async def play(self, sample: Sample, on_call: OnCall) -> Memory:
        """Run the graph with the trial's seed, or judge the pair of a check."""
        if isinstance(sample.target, Pair):
            return {"judged": await judge_both(sample, on_call)}
        seed = (sample.context.seed or 0) + sample.target.number - 1
        context = sample.context.model_copy(update={"seed": seed})
        return await play_graph(replace(sample, context=context), on_call)

    async def score(self, sample: Sample, memory: Memory, on_call: OnCall) -> Score:
        """1 for a right answer; 0 for a wrong or missing one, and if the judge is unsure.

        The judge decides if the rules cannot.
        """
        if isinstance(sample.target, Pair):
            return score_check(memory.get("judged", []))
        trial: Trial = sample.target
        answer, gold, judged = memory.get("answer"), trial.question.gold, None
        if trial.is_right_by_rule(answer) is None and gold and answer:
            judged = await judge_answer(
                trial.question.asked, gold.text, full_answer(answer), sample.context, on_call
            )
        metrics = dict[str, JsonValue].fromkeys(RagMetrics._fields) if trial.rag else None
        if metrics and answer and full_answer(answer):
            metrics = await _measure_rag(trial.question.asked, full_answer(answer), sample, on_call)
        return trial.score(answer, judged, metrics)


def _collection_finder(
    documents: Sequence[Document], options: AgentOptions, status: ShowStatus
) -> Callable[[DocumentQuestion], str]:
    """Returns the collection of a question: all documents, or the first that holds its answer."""

    @cache
    def make_collection(name: str) -> str:
        chosen = [document for document in documents if name in ("", document.name)]
        return collect(chosen, embeddings=options.embeddings, status=status)

    def collection(question: DocumentQuestion) -> str:
        names = [name for name, _ in question.evidence] if options.one_document else []
        return make_collection(min(names, default=""))

    return collection


async def _measure_rag(
    asked: str, answer: str, sample: Sample, on_call: OnCall
) -> dict[str, JsonValue]:
    """Measure faithfulness, answer relevance and context relevance on the pages of one search."""
    context = sample.context
    judge = await RagJudge.of(context, on_call)
    pages = await asyncio.to_thread(find_pages, asked, context, context.pages)
    read = "\n\n".join(page["text"][: context.page_characters] for page in pages)
    return {
        "faithfulness": await faithfulness(answer, read, judge, question=asked),
        "answer_relevance": await answer_relevance(asked, answer, judge, embeddings()),
        "context_relevance": await context_relevance(asked, read, judge),
    }


def _judge_checks(options: AgentOptions, context: Context) -> list[Sample]:
    """Samples that check the judge, if the data hold human-judged pairs."""
    file = options.data / "rag_eval" / "ragchecker_human_pairs.jsonl.gz"
    if not options.judge_pairs or not file.exists():
        return []
    people = clear_pairs(load_pairs(file))
    pairs = drawn(people, options.judge_pairs, options.seed, lambda pair: pair.name)
    return check_samples(pairs, suite=NAME, settings=context)


def _samples(
    questions: Sequence[DocumentQuestion],
    methods: Sequence[str],
    collection: Callable[[DocumentQuestion], str],
    options: AgentOptions,
    settings: Context,
) -> list[Sample]:
    """Samples of every question and method, trial by trial."""
    names = {question.id: collection(question) for question in questions}
    contexts = {n: settings.model_copy(update={"collection": n}) for n in {*names.values()}}
    finds = {name: _Finder(context) for name, context in contexts.items()}
    made, rag = list[Sample](), options.rag_metrics
    for question in questions:
        name, gold = names[question.id], question.gold
        about = [gold.text if gold else None, sorted(question.evidence)]
        content = digest(json.dumps([about, name]))
        made += [
            Sample(
                suite=NAME,
                question=question.id,
                scenario=question.part,
                method=method,
                asked=question.asked,
                context=contexts[name],
                content=f"{content} trial {number}{' rag' * rag}",
                target=Trial(question, number, finds[name], rag=rag),
            )
            for number in range(1, options.trials + 1)
            for method in methods
        ]
    return sorted(made, key=lambda sample: sample.target.number)


@dataclass
class _Finder:
    """Searches for each text once and returns the pages found. It can be pickled."""

    context: Context
    _found: dict[str, frozenset[tuple[str, int]]] = field(default_factory=dict)

    def __call__(self, text: str) -> frozenset[tuple[str, int]]:
        if text not in self._found:
            context = self.context
            pages = open_collection(context.collection or "").search(
                text, k=context.pages, mode=context.search
            )
            self._found[text] = frozenset((page.document, page.page) for page in pages)
        return self._found[text]


@dataclass(frozen=True)
class Trial:
    """One trial of a question."""

    question: DocumentQuestion
    number: int
    finds: Finds
    rag: bool = False  # whether to measure the three RAGAS metrics

    def score(
        self,
        answer: Answer | None,
        judged: JudgedAnswer | None = None,
        metrics: dict[str, JsonValue] | None = None,
    ) -> Score:
        """See :meth:`Agents.score`; ``judged`` is the judge's verdict, if it was asked."""
        right = bool(self.is_right_by_rule(answer)) or bool(judged and judged.correct)
        short = full_answer(answer) if answer else ""
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
                "rag": metrics,
            },
        )

    def is_right_by_rule(self, answer: Answer | None) -> bool | None:
        """Whether an answer is right; None if only the judge can decide.

        If the documents do not answer the question, "unknown" is right.
        """
        gold = self.question.gold
        if answer is None:
            return False
        if gold is None:
            return answer["decision"] is None and bool(answer["unknown"])
        if answer["decision"]:
            return gold.is_right(answer["decision"], self.question.asked)
        text = full_answer(answer)
        return None if text and gold.may_occur_in(text) else False


def full_answer(answer: Answer) -> str:
    """The short answer and the text of an answer, without citations."""
    text = _CITATIONS.sub("", answer["why"]).strip()
    return "\n".join(part for part in (answer["decision"], text) if part)
