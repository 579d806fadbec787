"""Paths that the agents of InstructRAG propose."""
