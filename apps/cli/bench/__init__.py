"""``planweave bench``: measure methods on a benchmark, and read what was measured."""

import typer

from planweave.apps.cli.bench.abstention import abstention
from planweave.apps.cli.bench.agents import agents
from planweave.apps.cli.bench.assessor import assessor
from planweave.apps.cli.bench.check import check
from planweave.apps.cli.bench.documents import documents
from planweave.apps.cli.bench.dqa import dqa
from planweave.apps.cli.bench.environment import environment
from planweave.apps.cli.bench.foreign import command_of
from planweave.apps.cli.bench.instruction_graph import instruction_graph
from planweave.apps.cli.bench.load import load
from planweave.apps.cli.bench.mhqa import mhqa, mhqa_retrieval
from planweave.apps.cli.bench.needles import needles
from planweave.apps.cli.bench.paths import paths
from planweave.apps.cli.bench.prompt_format import prompt_format
from planweave.apps.cli.bench.queries import text2cypher, text2sql
from planweave.apps.cli.bench.rag import rag
from planweave.apps.cli.bench.rat import rat, rat_corpus
from planweave.apps.cli.bench.refusal import refusal
from planweave.apps.cli.bench.report import publish, report
from planweave.apps.cli.bench.rules import rules
from planweave.apps.cli.bench.shop import shop
from planweave.benchmarks.core.suite import SUITES

app = typer.Typer(help="Measure methods on a benchmark.", no_args_is_help=True)
for command in (
    abstention,
    agents,
    assessor,
    check,
    documents,
    dqa,
    environment,
    instruction_graph,
    load,
    mhqa,
    mhqa_retrieval,
    needles,
    paths,
    prompt_format,
    publish,
    rag,
    rat,
    rat_corpus,
    refusal,
    report,
    rules,
    shop,
    text2cypher,
    text2sql,
):
    app.command()(command)
for name in SUITES.foreign():
    app.command(name)(command_of(name))
