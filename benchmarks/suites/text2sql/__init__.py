"""Text to SQL: questions about relational databases, answered by one query each."""

from planweave.benchmarks.suites.text2sql.load import load
from planweave.benchmarks.suites.text2sql.suite import NAME, TextToSql

__all__ = ["NAME", "TextToSql", "load"]
