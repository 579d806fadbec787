"""SQL databases, read-only and bounded: SQLite, PostgreSQL, MariaDB and MySQL."""

from planweave.tools.sql.database import SqlDatabase, open_sql

__all__ = ["SqlDatabase", "open_sql"]
