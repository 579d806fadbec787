"""Reading documents: search, grade, read, learn abbreviations."""
