"""Text to SQL: questions about relational databases, answered by one query each."""

from planweave.benchmarks.suites.text2sql.load import load
from planweave.benchmarks.suites.text2sql.suite import TextToSql

__all__ = ["TextToSql", "load"]
