"""Text to SQL: questions about relational databases, answered by one query each."""

from benchmarks.suites.text2sql.load import load
from benchmarks.suites.text2sql.suite import NAME, TextToSql

__all__ = ["NAME", "TextToSql", "load"]
