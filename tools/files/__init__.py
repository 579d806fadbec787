"""Files of rows (CSV, Excel, Parquet, SQLite) as databases that can be asked."""

SHEETS = (".xlsx", ".xlsm", ".xls", ".ods")
ROWS = (".csv", ".tsv", *SHEETS, ".parquet")
"""Files that are read into a database before they are asked."""
KINDS = (*ROWS, ".db", ".sqlite", ".sqlite3")
"""Files that become a database."""
