"""Rewrites a query as a ranking: one row for each option and its value, the best first."""

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from sqlglot import exp

from planweave.tools.checking.words import roots
from planweave.tools.database import Option, Schema
from planweave.tools.linking import Values
from planweave.tools.sql.tree import clear_clauses, group_by, parse_query

VALUE = "value"
"""Name of the column with the deciding value."""


def build_ranking(
    query: str,
    option: Option,
    dialect: str,
    *,
    highest: bool,
    missing: Mapping[str, float] = MappingProxyType({}),
) -> str | None:
    """Rewrite a query as a ranking of options.

    Args:
        query: A SELECT that computes a value for each option, as a model wrote it.
        option: The ranked column; its table need not be joined.
        dialect: sqlglot's name of the dialect.
        highest: Whether the highest value is best.
        missing: For columns the number that replaces NULL.

    Returns:
        The query for the option and its value; None if it has no value by which it ranks.
    """
    tree = parse_query(query, dialect)
    if not isinstance(tree, exp.Select) or tree.args.get("from_") is None:
        return None
    value = _find_value(tree)
    if value is None:
        return None
    value = value.copy().transform(lambda node: _replace_null(node, missing))
    tables = [one for one in tree.find_all(exp.Table) if one.name.lower() == option.table.lower()]
    own = [one for one in tables if one.find_ancestor(exp.Select) is tree]
    alias = own[0].alias_or_name if own else option.table
    if own:
        for each in tree.find_all(exp.Column):
            if each.table.lower() == option.table.lower() and each.table != alias:
                each.set("table", exp.to_identifier(alias))  # the query forgot the alias
    has_aggregate = value.find(exp.AggFunc) is not None
    column = exp.column(option.column, table=alias)
    clear_clauses(tree, "distinct", "group", "limit", "offset")
    if has_aggregate or not option.is_key:
        group_by(tree, [column])
    if not has_aggregate and not option.is_key:
        value = _aggregate(value, alias)
    tree.set("expressions", [column, exp.alias_(value, VALUE)])
    order = exp.Ordered(this=exp.column(VALUE), desc=highest, nulls_first=False)
    tree.set("order", exp.Order(expressions=[order]))
    return tree.sql(dialect=dialect)


def _replace_null(node: exp.Expr, missing: Mapping[str, float]) -> exp.Expr:
    """Replace a column with ``COALESCE(column, number)`` if NULL counts as a number."""
    if not isinstance(node, exp.Column) or node.name.lower() not in missing:
        return node
    if isinstance(node.parent, exp.Coalesce | exp.Is):
        return node
    number = exp.Literal.number(f"{missing[node.name.lower()]:g}")
    return exp.Coalesce(this=node.copy(), expressions=[number])


def _aggregate(value: exp.Expr, alias: str) -> exp.Expr:
    """Sum a value over the rows of an option; columns of the option's own row count once."""
    columns = list(value.find_all(exp.Column))
    own = [column for column in columns if column.table.lower() == alias.lower()]
    if columns and len(own) == len(columns):
        return exp.Max(this=value)
    if own and isinstance(value, exp.Add | exp.Sub):
        left, right = (_aggregate(end.copy(), alias) for end in (value.this, value.expression))
        return type(value)(this=left, expression=right)
    return exp.Sum(this=value)


def _find_value(tree: exp.Select) -> exp.Expr | None:
    """Find what the query ranks by: the column ``value``, its order, or its aggregate."""
    shown: dict[str, exp.Expr] = {
        one.alias_or_name.lower(): one.unalias() for one in tree.expressions
    }
    if VALUE in shown:
        return shown[VALUE]
    if order := tree.args.get("order"):
        first: exp.Expr = order.expressions[0].this
        if isinstance(first, exp.Literal) and first.is_int:
            return next(iter([*shown.values()][int(first.name) - 1 :]), None)
        is_alias = isinstance(first, exp.Column) and not first.table
        return shown.get(first.name.lower(), first) if is_alias else first
    return next((one.unalias() for one in tree.expressions if one.find(exp.AggFunc)), None)


def find_option_column(
    schema: Schema, values: Values, options: Sequence[str], question: str
) -> Option | None:
    """Find the column of the options of a decision.

    Args:
        schema: The database's.
        values: Returns the stored texts of a column, by table and column.
        options: The possible decisions. If several columns have them all, one that the question
            names is preferred, then one with fewer other values.
        question: Without options, it names the table whose names (or ids) they are.
    """
    words = roots(question)
    if options:
        found = [
            (not roots(f"{entity.name} {field.name}") & words, len(stored), entity.name, field)
            for entity in schema.entities
            for field in entity.fields
            if set(options) <= set(stored := values(entity.name, field.name))
        ]
        if not found:
            return None
        _, _, table, field = min(found, key=lambda one: one[:3])
        return Option(table, field.name, field.key)
    wants_id = re.search(r"\bids?\b", question, re.I) is not None
    for entity in schema.entities:
        if not roots(entity.name) & words:
            continue
        keys = [field for field in entity.fields if field.key]
        names = [field for field in entity.fields if field.name.lower() == "name"]
        if wants_id and len(keys) == 1:
            return Option(entity.name, keys[0].name, is_key=True)
        if names:
            return Option(entity.name, names[0].name, names[0].key)
    return None
