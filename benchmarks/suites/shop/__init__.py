"""Decisions of ordinary business users on small generated databases."""
