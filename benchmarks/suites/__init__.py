"""Benchmark suites, one package each."""

_NAMES = (
    *("agents", "dqa", "environment", "mhqa", "needles", "prompt_format", "rat"),
    *("rules", "shop", "text2cypher", "text2sql", "writing"),
)
OWN = {name: f"planweave.benchmarks.suites.{name}.suite" for name in _NAMES}
"""The module of each of our own."""
