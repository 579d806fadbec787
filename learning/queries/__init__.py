"""Queries that are learned: formulas over what a database says about each candidate."""
