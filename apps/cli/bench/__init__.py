"""``planweave bench``: measure methods on a benchmark, and read what was measured."""

import typer

from planweave.apps.cli.bench.abstention import abstention
from planweave.apps.cli.bench.assessor import assessor
from planweave.apps.cli.bench.check import check
from planweave.apps.cli.bench.corpora import mhqa_retrieval, rat_corpus
from planweave.apps.cli.bench.documents import documents
from planweave.apps.cli.bench.environment import environment
from planweave.apps.cli.bench.instruction_graph import instruction_graph
from planweave.apps.cli.bench.load import load
from planweave.apps.cli.bench.paths import paths
from planweave.apps.cli.bench.refusal import refusal
from planweave.apps.cli.bench.regrade import regrade
from planweave.apps.cli.bench.report import publish, report
from planweave.apps.cli.bench.suites import command_of
from planweave.benchmarks.core.suite import SUITES

app = typer.Typer(help="Measure methods on a benchmark.", no_args_is_help=True)
_COMMANDS = {
    command.__name__.replace("_", "-"): command
    for command in (
        abstention,
        assessor,
        check,
        documents,
        environment,
        instruction_graph,
        load,
        mhqa_retrieval,
        paths,
        publish,
        rat_corpus,
        refusal,
        regrade,
        report,
    )
}
for name in SUITES.names():
    _COMMANDS.setdefault(name.replace("_", "-"), command_of(name))
for name in sorted(_COMMANDS):
    app.command(name)(_COMMANDS[name])
