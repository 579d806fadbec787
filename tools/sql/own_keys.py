"""Keys of other things that a query compares with."""

from typing import TYPE_CHECKING

from planweave.tools.sql.catalogue import Catalogue

if TYPE_CHECKING:
    from sqlglot import exp


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
