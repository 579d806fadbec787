"""Reading documents: search, read, learn abbreviations."""
