"""SQL databases, read-only and bounded: SQLite, PostgreSQL, MariaDB and MySQL."""

from planweave.tools.sql.database import SqlDatabase, open_sql
from planweave.tools.sql.ranking import Option

__all__ = ["Option", "SqlDatabase", "open_sql"]
