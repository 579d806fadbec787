"""The suite: problems, each with the rules of its domain as a collection of one document."""

import hashlib
from collections.abc import Mapping, Sequence

from planweave import prompts
from planweave.benchmarks.core.play import Play, play_graph
from planweave.benchmarks.core.record import Record
from planweave.benchmarks.core.suite import Sample, Suite, register
from planweave.benchmarks.core.table import Table
from planweave.benchmarks.suites.rules.judge import Judge
from planweave.benchmarks.suites.rules.load import Domain, Problem, RuleBook
from planweave.benchmarks.suites.rules.tables import rules_tables
from planweave.benchmarks.suites.rules.whole import WHOLE, Whole
from planweave.memory import Context

NAME = "rules"


@register(NAME)
class Rules(Suite):
    """Each domain is a scenario; any method that reads documents can be asked."""

    def tables(self, records: Sequence[Record]) -> list[Table]:
        """Right answers by domain and level, without doubtful problems, parts, each problem."""
        return rules_tables(records)


def samples(
    problems: Sequence[Problem],
    *,
    methods: Sequence[str],
    settings: Context,
    rules: Mapping[Domain, RuleBook],
    collections: Mapping[Domain, str],
) -> list[Sample]:
    """Every problem with every method: method by method, domain by domain.

    Args:
        problems: The chosen ones.
        methods: Names of graphs, or :data:`WHOLE`.
        settings: The context without its collection.
        rules: Of each domain.
        collections: Name of the document collection that holds the rules of each domain.
    """
    ordered = sorted(problems, key=lambda problem: problem.domain)
    made = []
    for method in methods:
        for problem in ordered:
            book = rules[problem.domain]
            play: Play = Whole(book).play if method == WHOLE else play_graph
            collection = None if method == WHOLE else collections[problem.domain]
            context = settings.model_copy(update={"collection": collection})
            made.append(_sample(problem, method, context, book, play))
    return made


def asked(problem: Problem) -> str:
    """The facts of a problem, and what is to be found out."""
    return f"{problem.prompt}\n\n{prompts.load(f'rules/{problem.domain}').fill()}"


def _sample(problem: Problem, method: str, context: Context, rules: RuleBook, play: Play) -> Sample:
    content = f"{rules.text}{problem.model_dump_json()}"
    return Sample(
        suite=NAME,
        question=problem.id,
        scenario=problem.domain,
        method=method,
        database="",
        asked=asked(problem),
        context=context,
        content=hashlib.sha256(content.encode()).hexdigest()[:16],
        judge=Judge(problem),
        play=play,
    )
