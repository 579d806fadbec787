"""Question sets about databases, of either kind."""

from pathlib import Path

from planweave.benchmarks.suites.query_writing.question import QueryQuestion
from planweave.benchmarks.suites.text2cypher.suite import load as about_graphs
from planweave.benchmarks.suites.text2sql.suite import load as about_tables


def questions_in(folder: Path) -> list[QueryQuestion]:
    """All questions of a folder: about graphs if it has a folder of these, else about tables."""
    is_graphs = (folder / "graphs").is_dir()
    return about_graphs(folder) if is_graphs else about_tables(folder)
