"""Tools that are safe by themselves and work without any language model."""

from tools.calculator import CalculationFailed, calculate, is_unit
from tools.connect import is_graph, open_database
from tools.database import (
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
from tools.result_text import result_text
from tools.schema_text import schema_text
from tools.suggest import nearest

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
