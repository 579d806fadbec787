"""``planweave query``: run a query with the guarded query tool."""

from dataclasses import asdict
from typing import Annotated

import typer

from planweave import BadInput
from planweave.apps.options import AsJson, Database, Graph, TrustRole
from planweave.apps.plain import json_text
from planweave.tools import Limits, open_database, result_text
from planweave.tools.result_text import FOR_PEOPLE

EXAMPLES = """\
planweave query --database sales.csv "SELECT count(*) FROM sales"
"""


def query(
    statement: Annotated[str, typer.Argument(help="One read-only SQL or Cypher statement.")],
    *,
    database: Database = "",
    graph: Graph = "",
    trust_role: TrustRole = False,
    seconds: Annotated[float, typer.Option(help="Time limit.", min=0.001)] = 10.0,
    rows: Annotated[int, typer.Option(help="Rows at most.", min=1)] = 50,
    as_json: AsJson = False,
) -> None:
    """Run one read-only query.

    Exit code 1: no database, no query, or a wrong value. 2: refused. 3: took too long. 4: failed.
    """
    del trust_role  # its callback has stored it
    urls = [url for url in (database, graph) if url]
    if len(urls) != 1:
        raise BadInput("A query runs on one database.", fix="Give --database or --graph.")
    limits = Limits(seconds=seconds, rows=rows)
    result = open_database(urls[0]).run(statement, limits)
    if as_json:
        typer.echo(json_text(asdict(result) | {"truncated": result.truncated}, indent=None))
    else:
        typer.echo(result_text(result, max_characters=limits.characters, digits=FOR_PEOPLE))
