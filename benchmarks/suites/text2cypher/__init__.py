"""Text to Cypher: questions about graphs, answered by one query each."""

from planweave.benchmarks.suites.text2cypher.load import load
from planweave.benchmarks.suites.text2cypher.suite import TextToCypher

__all__ = ["TextToCypher", "load"]
