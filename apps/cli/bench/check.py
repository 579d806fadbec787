"""``planweave bench check``: measure precision and recall of the check."""

import json
from typing import Annotated, Any

import typer
from rich.console import Console

from planweave.apps.options import AsJson
from planweave.apps.plain import print_line
from planweave.benchmarks.core.metrics import group_by
from planweave.benchmarks.core.report import cell_json, show_tables
from planweave.benchmarks.suites.check import measure as suite
from planweave.benchmarks.suites.check.measure import load_pack
from planweave.benchmarks.suites.check.pairs import generate_pairs
from planweave.benchmarks.suites.check.rankings import check_rankings
from planweave.benchmarks.suites.check.row_answers import check_row_answers


def check(
    *,
    seed: Annotated[int, typer.Option(help="Seed of the pairs.")] = 1,
    pairs: Annotated[
        int, typer.Option(help="Approximate number; 0: the pairs written by hand.", min=0)
    ] = 1000,
    failures: Annotated[bool, typer.Option("--failures", help="Print the wrong results.")] = False,
    as_json: AsJson = False,
) -> None:
    """Precision and recall of the check of decisions, sentences, rankings, rows; asks no model.

    The rankings, right and changed ones, are of the shops that the seed generates.
    """
    found = suite.check_pairs(generate_pairs(seed, pairs) if pairs else load_pack())
    found += check_rankings(seed) if pairs else []
    found += check_row_answers()
    console = Console(stderr=as_json, highlight=False)
    show_tables(suite.check_tables(found), console)
    if failures:
        for one in found:
            if one.wrong:
                pair = one.pair
                print_line(
                    console, f"{pair.case}: {pair.text!r} to {pair.question!r}: {one.reason}"
                )
    if as_json:
        typer.echo(json.dumps(_figures(seed, found), indent=2))


def _figures(seed: int, found: list[suite.Checked]) -> dict[str, Any]:
    figures: dict[str, Any] = {"seed": seed}
    for kind, own in group_by(found, lambda one: one.pair.kind).items():
        figures[kind] = {
            "pairs": len(own),
            "wrong_passed": sum(one.passed and not one.pair.supported for one in own),
            "precision": cell_json(suite.precision(own)),
            "recall": cell_json(suite.recall(own)),
        }
    return figures
