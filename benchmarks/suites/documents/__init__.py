"""The search of documents."""
