"""Names beside keys: ``director_id`` alone says little to a person."""

from typing import NamedTuple

from sqlglot import exp

from planweave.tools.linking import parts_of, plain, stem
from planweave.tools.sql.catalogue import Catalogue
from planweave.tools.sql.joins import told_apart
from planweave.tools.sql.slips import sources_of


class _Named(NamedTuple):
    """A table whose key a query shows, and the columns that name its rows.

    ``alias`` is what the query calls the table of the shown column, ``key`` the key that it is.
    """

    alias: str
    table: str
    key: str
    names: tuple[str, ...]
    is_joined: bool


def name_keys(select: exp.Select, catalogue: Catalogue, question: str) -> list[str]:
    """Show what a row is called beside its key; the table that says so is joined if need be.

    A key that the question asks for by its name stays alone.
    """
    group, asked = select.args.get("group"), f" {_stemmed(question)} "
    if not question or (not group and any(one.find(exp.AggFunc) for one in select.expressions)):
        return []
    changes, shown = [], {one.name.lower() for one in select.find_all(exp.Column)}
    for one in list(select.expressions):
        key = one.unalias()
        if not isinstance(key, exp.Column) or (group and key not in group.expressions):
            continue
        found = _named(select, key, catalogue)
        if found is None or f" {_stemmed(' '.join(parts_of(key.name)))} " in asked:
            continue
        if shown & {name.lower() for name in found.names}:
            continue
        names = _columns(select, key, found, catalogue)
        select.set("expressions", [*select.expressions, *names])  # ORDER BY 2 stays what it is
        if group:
            group.set("expressions", [*group.expressions, *(name.copy() for name in names)])
        shown |= {name.lower() for name in found.names}
        changes += [f"shows {name.sql()}" for name in names]
    return changes


def _stemmed(text: str) -> str:
    return " ".join(map(stem, plain(text).split()))


def _named(select: exp.Select, key: exp.Column, catalogue: Catalogue) -> _Named | None:
    """What names the rows that a column stands for; None if it is no key, or nothing does."""
    tables = sources_of(select)
    if not all(isinstance(table, exp.Table) for table in tables):
        return None
    homes = [
        (table.alias_or_name, table.name.lower())
        for table in tables
        if key.name.lower() in catalogue.columns.get(table.name.lower(), {})
        and key.table.lower() in ("", table.alias_or_name.lower())
    ]
    if len(homes) != 1:
        return None
    alias, home = homes[0]
    target, target_key = catalogue.stands_for(home, key.name.lower())
    names = catalogue.names(target)
    is_joined = target == home
    if not names or (not is_joined and target in {table.name.lower() for table in tables}):
        return None
    return _Named(alias, target, target_key, names, is_joined)


def _columns(
    select: exp.Select, key: exp.Column, found: _Named, catalogue: Catalogue
) -> list[exp.Column]:
    """The columns that name a row, of a table that is joined by its key if it is not there."""
    columns, table = catalogue.columns[found.table], found.alias
    if not found.is_joined:
        table = catalogue.name(found.table)
        source = exp.Table(this=exp.to_identifier(table, quoted=not table.isidentifier()))
        ends = exp.column(key.name, table=found.alias), exp.column(columns[found.key], table=table)
        link = exp.EQ(this=ends[0], expression=ends[1])
        select.join(source, on=link, join_type="left", copy=False)
        told_apart(select, catalogue)
    return [exp.column(one, table=table) for one in found.names]
