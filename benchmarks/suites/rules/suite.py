"""The suite: problems, each with the rules of its domain as a collection of one document."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, NamedTuple

import typer
from langchain_core.messages import HumanMessage, SystemMessage
from pydantic import BaseModel, Field

from planweave import prompts
from planweave.benchmarks.core.options import Embeddings, Options, listed, published_folder
from planweave.benchmarks.core.play import Memory, OnCall, play_graph
from planweave.benchmarks.core.record import Score
from planweave.benchmarks.core.suite import Sample, Selection, ShowStatus, Suite, drawn, register
from planweave.benchmarks.suites.agents.collection import collect
from planweave.benchmarks.suites.agents.questions import Document
from planweave.benchmarks.suites.rules.judge import score_answer
from planweave.benchmarks.suites.rules.load import DOMAINS, Problem, RuleBook, load
from planweave.benchmarks.suites.rules.tables import rules_tables
from planweave.graphs import METHODS
from planweave.memory import Answer, Context, WorkingMemory
from planweave.models import achat_model, ask
from planweave.texts import digest

NAME = "rules"
WHOLE = "whole"
"""The baseline without a method: one call with all rules and the problem in the prompt."""

_FEWEST_TOKENS = 2_000  # a reply needs these to work the problem out
_LEVELS = ("0", "1", "2")
_DEFAULT_EMBEDDINGS = "minilm"


@dataclass(frozen=True, kw_only=True)
class RuleOptions(Options):
    """Options of the suite."""

    data: Annotated[
        Path | None,
        typer.Option(help="Folder with problems.jsonl and rules_*.txt; see PLANWEAVE_PUBLISHED."),
    ] = None
    domain: Annotated[str, typer.Option(help="Comma-separated domains, or all.")] = "all"
    method: Annotated[
        str,
        typer.Option(
            help="Comma-separated methods; whole: one call with the whole rules in the prompt."
        ),
    ] = "whole,react,planrag"
    level: Annotated[str, typer.Option(help="Levels, 0 (easy) to 2, or all.")] = "all"
    embeddings: Embeddings = _DEFAULT_EMBEDDINGS


@register(NAME, tables=rules_tables)
class Rules(Suite):
    """Airline fees, income tax, league contracts: rules to find and apply.

    Each domain is a scenario; any method that reads documents can run.
    """

    Options = RuleOptions

    def select(self, options: RuleOptions, context: Context, status: ShowStatus) -> Selection:
        """Problems of the named domains and levels."""
        methods = listed(options.method, (WHOLE, *METHODS.names()), "method", every="")
        domains = listed(options.domain, DOMAINS, "domain")
        levels = [int(name) for name in listed(options.level, _LEVELS, "level")]
        data = options.data or published_folder("rulearena")
        found = load(data, domains, levels)
        chosen = drawn(found.problems, options.limit, options.seed, lambda problem: problem.id)
        status("reading the rules …")
        contexts = {}
        for domain, (file, _) in found.rules.items() if {*methods} - {WHOLE} else ():
            name = collect([Document(file.name, file)], embeddings=options.embeddings)
            contexts[domain] = context.model_copy(update={"collection": name})
        # Only other embeddings are part of the keys, so that older records keep theirs.
        other = "" if options.embeddings == _DEFAULT_EMBEDDINGS else options.embeddings
        made = [
            _sample(
                Target(one, found.rules[one.domain]),
                method,
                *((context, "") if method == WHOLE else (contexts[one.domain], other)),
            )
            for method in methods
            for one in sorted(chosen, key=lambda problem: problem.domain)
        ]
        about = options.about(
            name=data.name,
            questions=len(found.problems),
            chosen=len(chosen),
            domains=[*domains],
            levels=[*levels],
            embeddings=options.embeddings,
        )
        return Selection(samples=made, about=about)

    async def play(self, sample: Sample, on_call: OnCall) -> Memory:
        """Run the graph, or ask once with all rules in the prompt."""
        if sample.method == WHOLE:
            return await play_whole(sample, on_call)
        return await play_graph(sample, on_call)

    async def score(self, sample: Sample, memory: Memory, on_call: OnCall) -> Score:
        """See :func:`score_answer`."""
        return score_answer(sample.target.problem, memory.get("answer"))


class Target(NamedTuple):
    """A problem and its rules."""

    problem: Problem
    rules: RuleBook


def _sample(target: Target, method: str, context: Context, about: str) -> Sample:
    problem, book = target
    return Sample(
        suite=NAME,
        question=problem.id,
        scenario=problem.domain,
        method=method,
        asked=asked(problem),
        context=context,
        content=digest(f"{book.text}{problem.model_dump_json()}{about}"),
        target=target,
    )


def asked(problem: Problem) -> str:
    """The facts of a problem and the question."""
    return f"{problem.prompt}\n\n{prompts.load(f'rules/{problem.domain}').fill()}"


class Worked(BaseModel):
    """The reply; the working precedes the answer."""

    working: str = Field(max_length=20_000)
    answer: str = Field(max_length=200)


async def play_whole(sample: Sample, on_call: OnCall) -> WorkingMemory:
    """Ask once with the whole rules; ask again if the reply cannot be read."""
    context = sample.context
    model = await achat_model(
        context.model,
        temperature=context.temperature,
        max_tokens=max(context.reply_tokens, _FEWEST_TOKENS),
        seed=context.seed,
    )
    messages = [
        SystemMessage(prompts.load("rules/whole").fill(rules=sample.target.rules.text)),
        HumanMessage(prompts.load("rules/whole_question").fill(question=sample.asked)),
    ]
    reply = await ask(model, messages, Worked, role=WHOLE)
    for record in reply.calls:
        on_call(record)
    if reply.value is None:
        reason = reply.failure.message if reply.failure else "it was empty"
        unread = f"The reply could not be read: {reason}"
        return {"answer": Answer(decision=None, why="", facts=[], unknown=unread)}
    worked = reply.value
    return {
        "answer": Answer(
            decision=worked.answer.strip() or None, why=worked.working, facts=[], unknown=""
        )
    }
