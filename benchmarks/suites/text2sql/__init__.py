"""Text to SQL: questions about relational databases, answered by one query each."""
