"""Multi-hop questions: FuRePA, its ablations, and its baselines (Zhu et al. 2023).

The score is 1 if the short answer equals the published one, by the published normalisation. The
retrieved paragraphs are compared with those that support the answer.
"""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from planweave import BadInput
from planweave.benchmarks.core.options import Embeddings, Options, listed
from planweave.benchmarks.core.play import Memory, OnCall, Way
from planweave.benchmarks.core.record import Record, Score
from planweave.benchmarks.core.suite import (
    Sample,
    Selection,
    ShowStatus,
    Suite,
    drawn,
    in_turn,
    register,
)
from planweave.benchmarks.core.table import ReportTable
from planweave.benchmarks.suites.mhqa import multihop
from planweave.benchmarks.suites.mhqa.corpus import Place, collect_paragraphs
from planweave.benchmarks.suites.mhqa.multihop import MultiHop
from planweave.benchmarks.suites.mhqa.tables import mhqa_tables
from planweave.memory import Answer, Context
from planweave.texts import digest
from planweave.tools.short_answers import match_answer

NAME = "mhqa"

FILES: Mapping[str, tuple[str, str]] = {
    "hotpotqa": (
        "hotpotqa/dev_distractor_subset.jsonl.gz",
        "hotpotqa/hotpot_dev_distractor_v1.json",
    ),
    "2wiki": ("2wikimultihopqa/dev_subset.jsonl.gz", "2wikimultihopqa/dev.json"),
    "musique": ("musique/dev_subset.jsonl.gz", "musique/musique_ans_v1.0_dev.jsonl"),
}
"""Questions of each data set that nothing here was trained on: a subset, or else all as published
(compressed or not); the first existing file is used."""

Data = Annotated[
    Path, typer.Option(help="Folder with hotpotqa/, 2wikimultihopqa/ and musique/ in it.")
]
DataSets = Annotated[str, typer.Option(help=f"Comma-separated, or all: {', '.join(FILES)}.")]

WAYS: Mapping[str, Way] = {
    "direct": Way("direct"),
    "cot": Way("cot"),
    "rag-1": Way("rag", {"retrievals": 1}),
    "rag-5": Way("rag", {"retrievals": 5}),
    "react": Way("react"),
    "agent_v2": Way("agent_v2"),
    "agent_v3": Way("agent_v3"),
    "ircot": Way("ircot"),
    "furepa-no-masking": Way("furepa", {"masking": False}),
    "furepa-one-round-seen": Way("furepa", {"unmasked": 1}),
    "furepa-irrelevant-2": Way("furepa", {"irrelevant_pages": 2}),
    "furepa-no-assessor": Way("furepa", {"assessor": "first"}),
    "furepa-random": Way("furepa", {"assessor": "random"}),
    "furepa-no-raise": Way("furepa", {"temperature_raise": False}),
    "furepa": Way("furepa"),
}
"""The compared methods by name."""

_WHOLE_PARAGRAPHS = {"PLANWEAVE_CHUNK_TOKENS": "256", "PLANWEAVE_CHUNK_OVERLAP": "0"}
"""Settings that keep paragraphs whole, as published; they override those of this process."""


@dataclass(frozen=True, kw_only=True)
class MultiHopOptions(Options):
    """Options of the suite."""

    data: Data
    dataset: DataSets = "all"
    method: Annotated[str, typer.Option(help=f"Comma-separated, or all: {', '.join(WAYS)}.")] = (
        "all"
    )
    embeddings: Embeddings = "minilm"

    def settings(self) -> dict[str, str | int]:
        """Two pages and five actions, as published."""
        return {"pages": 2, "max_iterations": 5, **super().settings()}


@register(NAME, measures="exact match")
class MultiHopQA(Suite):
    """FuRePA, its ablations and baselines on multi-hop questions."""

    Options = MultiHopOptions

    def select(self, options: MultiHopOptions, context: Context, status: ShowStatus) -> Selection:
        """The data sets in turn, each on the collection of its paragraphs."""
        methods = listed(options.method, tuple(WAYS), "method")
        wanted = listed(options.dataset, tuple(FILES), "data set")
        pools = [load_pool(name, options.data, options.embeddings, status) for name in wanted]
        chosen = [
            drawn(pool, options.limit, options.seed, lambda one: one.question.id) for pool in pools
        ]
        about = options.about(
            name=", ".join(wanted),
            questions=sum(map(len, pools)),
            chosen=sum(map(len, chosen)),
            embeddings=options.embeddings,
        )
        return Selection(samples=samples(chosen, methods=methods, settings=context), about=about)

    async def play(self, sample: Sample, on_call: OnCall) -> Memory:
        """Run the method's graph with the method's settings."""
        return await WAYS[sample.method].play(sample, on_call)

    def tables(self, records: Sequence[Record]) -> list[ReportTable]:
        """Answers and paragraphs found, by data set and by hops; FuRePA against the others."""
        return mhqa_tables(records, tuple(WAYS))


def load_pool(
    dataset: str, data: Path, embeddings: str, status: ShowStatus
) -> list["HopsQuestion"]:
    """Load all questions of a data set, and make the collection of their paragraphs if missing."""
    os.environ |= _WHOLE_PARAGRAPHS
    questions = load(dataset, data)
    status(f"reading the paragraphs of {dataset} …")
    corpus = collect_paragraphs(
        dataset,
        questions,
        embeddings=embeddings,
        progress=lambda name, done, of: status(
            f"{dataset}: {done} of {of} paragraphs are {'stored' if name else 'embedded'} …"
        ),
    )
    return [
        HopsQuestion(dataset, one, corpus.collection, corpus.supporting(one)) for one in questions
    ]


def load(dataset: str, data: Path) -> list[MultiHop]:
    """Load the questions of a data set, in the published order."""
    found = [path for name in FILES[dataset] for path in sorted(data.glob(f"{name}*"))]
    if not found:
        raise BadInput(
            f"{data} has no questions of {dataset}.",
            fix=f"Give a folder with {' or '.join(FILES[dataset])} in it: --data FOLDER",
        )
    return multihop.load(found[0])


@dataclass(frozen=True)
class HopsQuestion:
    """A question with its collection and its supporting paragraphs."""

    dataset: str
    question: MultiHop
    collection: str
    supporting: Sequence[Place]

    @property
    def content(self) -> str:
        """Everything that a result depends on besides the settings, as JSON."""
        return json.dumps([self.question.answers, self.collection, self.supporting])

    def score(self, answer: Answer | None) -> Score:
        """Exact match and F1 of the short answer; a missing answer counts as empty."""
        short = (answer["decision"] if answer else None) or ""
        golds = self.question.answers
        found = match_answer(short, golds)
        return Score(
            value=found.exact,
            answer=short or None,
            explanation=f"{short or 'no answer'}; right is {golds[0]}",
            details={
                "f1": found.f1,
                "hops": self.question.hops,
                "answers": list(golds),
                "supporting": [list(place) for place in self.supporting],
            },
        )


def samples(
    pools: Sequence[Sequence[HopsQuestion]], *, methods: Sequence[str], settings: Context
) -> list[Sample]:
    """Every question with every method. Data sets take turns, so that a short run covers all."""
    return [
        Sample(
            suite=NAME,
            question=f"{one.dataset}-{one.question.id}".replace("/", "-"),
            scenario=one.dataset,
            method=method,
            asked=one.question.question,
            context=settings.model_copy(update={"collection": one.collection}),
            content=digest(json.dumps([one.content, dict(WAYS[method].settings)])),
            target=one,
        )
        for one in in_turn(*pools)
        for method in methods
    ]
