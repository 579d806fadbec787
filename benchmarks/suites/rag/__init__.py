"""Faithfulness and relevance of answers from documents."""
