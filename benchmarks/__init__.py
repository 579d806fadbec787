"""Suites with their truth, metrics, the runner and the report."""
