"""Tools that are safe by themselves and work without any language model."""

from planweave.tools.calculator import CalculationFailed, calculate, is_unit
from planweave.tools.connect import is_graph, open_database
from planweave.tools.database import (
    Database,
    DatabaseUnavailable,
    Limits,
    QueryFailed,
    QueryRefused,
    QueryResult,
    QueryTimeout,
    RoleTooPowerful,
    Schema,
)
from planweave.tools.result_text import result_text
from planweave.tools.schema_text import schema_text
from planweave.tools.suggest import nearest

__all__ = [
    "CalculationFailed",
    "Database",
    "DatabaseUnavailable",
    "Limits",
    "QueryFailed",
    "QueryRefused",
    "QueryResult",
    "QueryTimeout",
    "RoleTooPowerful",
    "Schema",
    "calculate",
    "is_graph",
    "is_unit",
    "nearest",
    "open_database",
    "result_text",
    "schema_text",
]
