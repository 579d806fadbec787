"""``planweave bench``: measure methods on a benchmark, and read what was measured."""

import typer

from planweave.apps.bench.abstention import abstention
from planweave.apps.bench.agents import agents
from planweave.apps.bench.assessor import assessor
from planweave.apps.bench.check import check
from planweave.apps.bench.documents import documents
from planweave.apps.bench.dqa import dqa
from planweave.apps.bench.environment import environment
from planweave.apps.bench.foreign import command_of
from planweave.apps.bench.instruction_graph import instruction_graph
from planweave.apps.bench.load import load
from planweave.apps.bench.mhqa import mhqa, mhqa_retrieval
from planweave.apps.bench.needles import needles
from planweave.apps.bench.paths import paths
from planweave.apps.bench.prompt_format import prompt_format
from planweave.apps.bench.queries import text2cypher, text2sql
from planweave.apps.bench.rag import rag
from planweave.apps.bench.rat import rat, rat_corpus
from planweave.apps.bench.report import publish, report
from planweave.apps.bench.shop import shop
from planweave.benchmarks.suite import SUITES

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
    report,
    shop,
    text2cypher,
    text2sql,
):
    app.command()(command)
for name in SUITES.foreign():
    app.command(name)(command_of(name))
