"""Question sets about relational and graph databases."""

from pathlib import Path

from planweave.benchmarks.suites.query_writing.question import QueryQuestion
from planweave.benchmarks.suites.text2cypher.suite import load as about_graphs
from planweave.benchmarks.suites.text2sql.suite import load as about_tables


def questions_in(folder: Path) -> list[QueryQuestion]:
    """Load a folder's questions: about graphs if it has a folder ``graphs``, else about tables."""
    return (about_graphs if (folder / "graphs").is_dir() else about_tables)(folder)
