"""Tables that a query makes up, and keys of other things that it compares with."""

from typing import TYPE_CHECKING

from planweave.tools.sql.catalogue import Catalogue

if TYPE_CHECKING:
    from sqlglot import exp


def keep_to_the_only_table(tree: "exp.Query", catalogue: Catalogue) -> list[str]:
    """Read from the only table what a query looks for in tables that there are not.

    Small models expect ``Visits JOIN Customers`` where all is in one sheet.
    """
    from sqlglot import exp

    own = {common.alias_or_name.lower() for common in tree.find_all(exp.CTE)}
    if len(catalogue.columns) != 1 or own:
        return []
    (known,) = catalogue.columns
    changes = []
    for select in tree.find_all(exp.Select):
        source, joins = select.args.get("from_"), select.args.get("joins") or []
        tables = [one.this for one in (source, *joins) if one and isinstance(one.this, exp.Table)]
        made_up = [table for table in tables if table.name.lower() != known]
        if source is None or not made_up or len(tables) != len(joins) + 1:
            continue
        kept = next((table for table in tables if table not in made_up), made_up[0])
        aliases = {table.alias_or_name.lower() for table in made_up}
        name = kept.alias or catalogue.name(known)
        for column in select.find_all(exp.Column):
            if column.table.lower() in aliases:
                column.set("table", exp.to_identifier(name))
        changes += [f"there is no table {table.name}" for table in made_up]
        source.set("this", exp.to_table(catalogue.name(known), alias=kept.alias or None))
        select.set("joins", [one for one in joins if one.this not in (*made_up, kept)] or None)
    return changes


def look_in_the_same_key(tree: "exp.Query", catalogue: Catalogue) -> list[str]:
    """``keeper_id NOT IN (SELECT hive_id …)`` compares keepers with hives; the keeper is meant."""
    from sqlglot import exp

    changes = []
    keys = {column for table in catalogue.keys.values() for column in table}
    for test in tree.find_all(exp.In):
        query = test.args.get("query")
        inner = query.this if query is not None else None
        shown = inner.expressions if isinstance(inner, exp.Select) else []
        if len(shown) != 1 or not isinstance(shown[0], exp.Column):
            continue
        outer, found = test.this, shown[0]
        if not isinstance(outer, exp.Column) or outer.name.lower() == found.name.lower():
            continue
        names = {outer.name.lower(), found.name.lower()}
        ends = ({link.left_column, link.right_column} for link in catalogue.links)
        if names <= keys and names not in ends:
            changes.append(f"{found.sql()} → {outer.name}")
            found.replace(exp.column(outer.name, quoted=outer.this.quoted))
    return changes
