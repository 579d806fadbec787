"""``planweave bench``: measure methods on a benchmark, and read what was measured."""

import typer

from apps.bench.abstention import abstention
from apps.bench.agents import agents
from apps.bench.assessor import assessor
from apps.bench.check import check
from apps.bench.documents import documents
from apps.bench.dqa import dqa
from apps.bench.environment import environment
from apps.bench.instruction_graph import instruction_graph
from apps.bench.load import load
from apps.bench.mhqa import mhqa, mhqa_retrieval
from apps.bench.needles import needles
from apps.bench.paths import paths
from apps.bench.prompt_format import prompt_format
from apps.bench.queries import text2cypher, text2sql
from apps.bench.rag import rag
from apps.bench.rat import rat, rat_corpus
from apps.bench.report import publish, report
from apps.bench.shop import shop

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
