"""The check of answers."""
