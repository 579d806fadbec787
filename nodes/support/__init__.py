"""Shared by the nodes: prompts from state, turns, limits, checks. It contains no nodes."""
