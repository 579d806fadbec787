"""Roles of RAT and its baselines."""
