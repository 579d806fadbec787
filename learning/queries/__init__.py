"""Queries that were learned or kept: paths with slots for what a question names."""
