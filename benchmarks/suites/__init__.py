"""Benchmark suites, one package each."""
