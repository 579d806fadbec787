"""A table that a query joins and does not need: it repeats rows, or leaves some out."""

from typing import TYPE_CHECKING

from planweave.tools.linking import parts_of, plain, stem
from planweave.tools.sql.catalogue import Catalogue

if TYPE_CHECKING:
    from sqlglot import exp


def drop_unneeded_join(select: "exp.Select", catalogue: Catalogue, question: str) -> list[str]:
    """Leave out one of two tables if the query reads it in the join alone.

    It stays if the question names it, or does not name the other one. It stays, too, where the
    query counts rows for each row of the other one: those are rows of this table.

    Args:
        select: Changed in place.
        catalogue: What the schema holds.
        question: What is asked.
    """
    from sqlglot import exp

    source, joins = select.args.get("from_"), select.args.get("joins") or []
    if (
        not source
        or len(joins) != 1
        or joins[0].side
        or any(one.is_star for one in select.expressions)
    ):
        return []
    tables, on = [source.this, joins[0].this], joins[0].args.get("on")
    if not isinstance(on, exp.EQ) or not all(isinstance(one, exp.Table) for one in tables):
        return []
    joined_by = {id(column) for column in on.find_all(exp.Column)}
    read = [one for one in select.find_all(exp.Column) if id(one) not in joined_by]
    words = {stem(word) for word in plain(question).split()}
    for kept, left in (tables, tables[::-1]):
        home, columns = kept.name.lower(), catalogue.columns.get(left.name.lower(), {})
        is_read = any(
            one.table.lower() == left.alias_or_name.lower()
            or (not one.table and one.name.lower() in columns)
            for one in read
        )
        if is_read or _is_named(left, words) or not _is_named(kept, words):
            continue
        group = select.args.get("group")
        own = {*catalogue.keys.get(home, ()), catalogue.naming(home).lower()}
        each = {key.name.lower() for key in group.expressions} if group else set()
        if select.find(exp.Count) and each & own:
            continue
        source.set("this", kept.copy())
        select.set("joins", None)
        return [f"without {left.name}"]
    return []


def _is_named(table: "exp.Table", words: set[str]) -> bool:
    return {stem(part.casefold()) for part in parts_of(table.name)} <= words
