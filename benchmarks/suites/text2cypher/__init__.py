"""Text to Cypher: questions about graphs, answered by one query each."""
