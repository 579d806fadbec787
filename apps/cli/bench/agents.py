"""``planweave bench agents``: document agents on questions in five kinds."""

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Annotated

import platformdirs
import typer
from pydantic import JsonValue
from rich.console import Console

from planweave import BadInput
from planweave.apps.cli.bench.common import Model, Running, listed
from planweave.apps.cli.groups import grouped
from planweave.benchmarks.core.suite import Sample
from planweave.benchmarks.suites.agents import suite as document_agents
from planweave.benchmarks.suites.agents.collection import collect
from planweave.benchmarks.suites.agents.judge import agreed, checks
from planweave.benchmarks.suites.agents.questions import SETS, Document, Question, choose, load
from planweave.benchmarks.suites.rag import suite as rag
from planweave.graphs import of_family
from planweave.memory import Context
from planweave.nodes.support.answer_judge import JUDGE


@grouped()
def agents(
    *,
    data: Annotated[
        Path, typer.Option(help="Folder with docs/ and tatqa/, and rag_eval/ for the judge.")
    ],
    method: Annotated[
        str,
        typer.Option(
            help="Agents with commas between, or all: with whole_document, the baseline that reads "
            "all documents in one prompt, and ensemble."
        ),
    ] = "agent_v1,agent_v2,agent_v3,react,autogpt",
    model: Model = "embedded",
    judge: Annotated[
        str | None, typer.Option(help="Chat model that judges answers in words; else the same.")
    ] = None,
    questions: Annotated[
        str, typer.Option("--set", help="Sets of questions with commas between, or all.")
    ] = "all",
    trials: Annotated[int, typer.Option(help="Trials of each question.", min=1, max=100)] = 3,
    limit: Annotated[
        int | None, typer.Option(help="Questions at most; all if unset.", min=1)
    ] = None,
    judge_pairs: Annotated[
        int, typer.Option(help="Human-judged pairs that the judge is tried on.", min=0)
    ] = 40,
    contexts: Annotated[
        int, typer.Option(help="Tables of TAT-QA among the documents.", min=1)
    ] = 50,
    seed: Annotated[int, typer.Option(help="Which questions, tables and pairs are drawn.")] = 1,
    temperature: Annotated[
        float, typer.Option(help="Above 0, so that trials differ.", min=0, max=2)
    ] = 0.3,
    max_iterations: Annotated[int, typer.Option(help="Actions a question at most.")] = 15,
    embeddings: Annotated[
        str, typer.Option(help="Embedding model of the collection; none: words alone.")
    ] = "minilm",
    one_document: Annotated[
        bool,
        typer.Option(
            "--one-document", help="Ask each question on its own document alone, as in the thesis."
        ),
    ] = False,
    rag_metrics: Annotated[
        bool,
        typer.Option(
            "--rag",
            help="Have the judge measure faithfulness, answer relevance and context relevance.",
        ),
    ] = False,
    running: Running,
) -> None:
    """Document agents on simple, complex and calculation questions; can be resumed."""
    context = running.context(
        model=model,
        max_iterations=max_iterations,
        temperature=f"{temperature:g}",
        whole_collection="off",  # the agents search, as in the thesis
    )
    if judge:
        context = context.model_copy(update={"models": {**context.models, JUDGE: judge}})
    known = (*of_family("documents"), "ensemble")
    methods = listed(method, known, "document agent", every="all")
    sets = listed(questions, SETS, "set of questions", every="all")
    found = load(data, contexts=contexts, seed=seed)
    chosen = choose([q for q in found.questions if q.part in sets], limit, seed)
    if not chosen:
        raise BadInput(f"{data} holds no question of the sets that were named.")
    samples = _checks(data, judge_pairs, seed, context) + document_agents.samples(
        chosen,
        methods=methods,
        trials=trials,
        settings=context,
        collection=_asked_on(found.documents, embeddings, running.console, one=one_document),
        rag=rag_metrics,
    )
    drawn: dict[str, JsonValue] = {"limit": limit, "trials": trials, "seed": seed}
    about: dict[str, JsonValue] = {"name": data.name, "questions": len(found.questions)}
    about |= {"chosen": len(chosen), **drawn, "contexts": contexts, "embeddings": embeddings}
    running.measure(document_agents.NAME, samples, context, about)


def _checks(data: Path, number: int, seed: int, context: Context) -> list[Sample]:
    """The judge's own check, as far as the human-judged pairs are there."""
    file = data / "rag_eval" / "ragchecker_human_pairs.jsonl.gz"
    if not number or not file.exists():
        return []
    drawn = rag.choose(agreed(rag.load(file)), number, seed)
    return checks(drawn, suite=document_agents.NAME, settings=context)


def _asked_on(
    documents: Sequence[Document], embeddings: str, console: Console, *, one: bool
) -> Callable[[Question], str]:
    """What a question is asked on: all documents, or the first that its answer stands in."""

    def collection(question: Question) -> str:
        where = min((name for name, _ in question.evidence), default="") if one else ""
        return made(where)

    @cache
    def made(where: str) -> str:
        chosen = [document for document in documents if where in ("", document.name)]
        return _collected(chosen, embeddings, console)

    return collection


def _collected(documents: Sequence[Document], embeddings: str, console: Console) -> str:
    folder = platformdirs.user_cache_path("planweave") / "bench"
    with console.status("reading the documents …") as status:
        return collect(
            documents,
            folder,
            embeddings=embeddings,
            told=lambda done: status.update(f"{done} of {len(documents)} documents are read …"),
        )
