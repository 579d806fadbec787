"""A query that ranks options: one row for each, with the value that decides, the best first."""

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from sqlglot import exp

from planweave.tools.checking.words import roots
from planweave.tools.database import Option, Schema
from planweave.tools.linking import Values
from planweave.tools.sql.slips import parsed

VALUE = "value"
"""What the column of the deciding value is called."""


def as_ranking(
    query: str,
    option: Option,
    dialect: str,
    *,
    highest: bool,
    missing: Mapping[str, float] = MappingProxyType({}),
) -> str | None:
    """The query with the option first, then the value, one row each, ordered and not cut.

    Args:
        query: A SELECT that computes a value for each option, as a model wrote it.
        option: What is ranked; the table is not joined yet if the query lacks it.
        dialect: sqlglot's name of the dialect.
        highest: Whether the highest value is best.
        missing: What counts where a column has no value.

    Returns:
        The query; None if it has no value by which it ranks.
    """
    tree = parsed(query, dialect)
    if not isinstance(tree, exp.Select) or tree.args.get("from_") is None:
        return None
    value = _value(tree)
    if value is None:
        return None
    value = value.copy().transform(lambda node: _filled(node, missing))
    names = [t for t in tree.find_all(exp.Table) if t.name.lower() == option.table.lower()]
    own = [t for t in names if t.find_ancestor(exp.Select) is tree]
    name = own[0].alias_or_name if own else option.table
    column = exp.column(option.column, table=name)
    for each in tree.find_all(exp.Column):
        # A name before the columns that is no table of the query: the alias was forgotten.
        if own and each.table.lower() == option.table.lower() and each.table != name:
            each.set("table", exp.to_identifier(name))
    tree.set("expressions", [column, exp.alias_(value.copy(), VALUE)])
    tree.set("distinct", None)
    if value.find(exp.AggFunc) or not option.is_key:
        tree.set("group", exp.Group(expressions=[column.copy()]))
    else:
        tree.set("group", None)
    if not value.find(exp.AggFunc) and not option.is_key:
        tree.expressions[1].set("this", _added_up(value.copy(), name))
    order = exp.Ordered(this=exp.column(VALUE), desc=highest, nulls_first=False)
    tree.set("order", exp.Order(expressions=[order]))
    tree.set("limit", None)
    tree.set("offset", None)
    return tree.sql(dialect=dialect)


def _filled(node: exp.Expr, missing: Mapping[str, float]) -> exp.Expr:
    """A column with what counts where it has no value."""
    if not isinstance(node, exp.Column) or node.name.lower() not in missing:
        return node
    if isinstance(node.parent, exp.Coalesce | exp.Is):
        return node
    number = exp.Literal.number(f"{missing[node.name.lower()]:g}")
    return exp.Coalesce(this=node.copy(), expressions=[number])


def _added_up(value: exp.Expr, name: str) -> exp.Expr:
    """The sum over the rows of an option; what the option has once is taken once."""
    columns = list(value.find_all(exp.Column))
    own = [column for column in columns if column.table.lower() == name.lower()]
    if columns and len(own) == len(columns):
        return exp.Max(this=value)
    if own and isinstance(value, exp.Add | exp.Sub):
        left, right = _added_up(value.this.copy(), name), _added_up(value.expression.copy(), name)
        return type(value)(this=left, expression=right)
    return exp.Sum(this=value)


def _value(tree: exp.Select) -> exp.Expr | None:
    """What the query ranks by: the column of that name, what it orders by, or its aggregate."""
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


def option_column(
    schema: Schema, values: Values, options: Sequence[str], question: str
) -> Option | None:
    """The column that holds the options of a decision.

    Args:
        schema: The database's.
        values: Stored texts of a column, by table and column.
        options: What may be decided. Of several columns that hold all of it, one that the question
            names goes before others, and one with fewer other values.
        question: If there are no options, it names the table whose names (or ids) they are.
    """
    words = roots(question)
    if options:
        found = [
            (not roots(f"{entity.name} {field.name}") & words, len(held), entity.name, field)
            for entity in schema.entities
            for field in entity.fields
            if set(options) <= set(held := values(entity.name, field.name))
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
