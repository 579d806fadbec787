"""Turns files of rows (CSV, Excel, Parquet, SQLite) into databases for questions."""

SHEETS = (".xlsx", ".xlsm", ".xls", ".ods")
ROWS = (".csv", ".tsv", *SHEETS, ".parquet")
"""Files that are read into a database first."""
KINDS = (*ROWS, ".db", ".sqlite", ".sqlite3")
"""Files that become a database."""
