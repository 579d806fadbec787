"""Learned queries: formulas over the attributes of each candidate in a database."""
