"""Two groups that a question sets against each other: their difference, their ratio, or both.

Small models filter by both groups at once, which is empty, or add them up together.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from sqlglot import exp

from planweave.tools.sql.catalogue import Catalogue
from planweave.tools.sql.slips import NO, YES, test_by, tests_of, values_of

_DIFFERENCE = re.compile(
    r"\bdifference between\b"
    r"|\bhow (?:much|many) (?:more|less|fewer|higher|lower|larger)\b.*\bthan\b",
    re.IGNORECASE,
)
_RATIO = re.compile(r"\bratio (?:of|between)\b", re.IGNORECASE)
_UNBRACKETED = re.compile(
    r"(?P<first>SELECT\s.+?\sFROM\s.+?)\s(?P<sign>[-/])\s(?:SELECT\s)?(?P<second>\S.*?\sFROM\s.+)",
    re.IGNORECASE | re.DOTALL,
)
_AND_OF_THE_OTHER = re.compile(
    r"\band (?:how (?:many|much|long|often)|what|(?:the )?(?:average|total|number))\b"
    r"|\bfor (?:both|each of the two)\b|\brespectively\b|\bcompare\b",
    re.IGNORECASE,
)
_TWICE = re.compile(
    r"\b(?P<of>by|for|from|in|of|on|to|with) [^?.;]*?(?:and|or|than) (?:[\w-]+ ){0,2}(?P=of) ",
    re.IGNORECASE,
)
"""The same preposition twice, as in "for urgent and for other ones": two averages, or one sum."""
_AND_WITHOUT = re.compile(r"\b(?:and|or|than) (?:[\w-]+ ){0,2}(?:without|non|not)\b", re.IGNORECASE)


class _Pair(NamedTuple):
    """Two values of a column that a query filters by, as the question orders them."""

    column: exp.Column
    first: exp.Expr
    second: exp.Expr
    rest: Sequence[exp.Expr]
    """What else the query filters by."""


def with_brackets(query: str) -> str:
    """``SELECT a FROM t - SELECT b FROM t`` with the brackets that it lacks; empty for the rest."""
    found = _UNBRACKETED.fullmatch(query.strip().rstrip(";"))
    return "SELECT ({first}) {sign} (SELECT {second})".format(**found.groupdict()) if found else ""


def compare_two_groups(select: exp.Select, question: str) -> list[str]:
    """Set the number of one group against that of the other, where the question asks for it."""
    made = exp.Sub if _DIFFERENCE.search(question) else exp.Div if _RATIO.search(question) else None
    pair = _pair(select, question) if made else None
    return _set_against(select, pair, made, question) if made and pair else []


def _set_against(
    select: exp.Select, pair: _Pair, made: type[exp.Binary], question: str
) -> list[str]:
    """Compute the only number of a query for each value of a pair, and compare the two."""
    group = select.args.get("group")
    shown = [one.unalias() for one in select.expressions]
    keys = [one for one in shown if not one.find(exp.AggFunc)]
    keys += group.expressions if group else []
    if select.args.get("having") or any(key != pair.column for key in keys):
        return []
    aggregates = {one for number in shown for one in number.find_all(exp.AggFunc)}
    aggregate = aggregates.pop() if len(aggregates) == 1 else None
    numbers = (exp.Avg, exp.Count, exp.Max, exp.Min, exp.Sum)
    if not isinstance(aggregate, numbers) or aggregate.find(exp.Case):
        return []
    is_compared = any(isinstance(one, made) for one in shown)
    is_named = all(one.name.lower() in question.lower() for one in (pair.first, pair.second))
    if not is_compared and not is_named:
        return []
    first, second = (_of(aggregate, pair.column, one) for one in (pair.first, pair.second))
    select.set("expressions", [made(this=first, expression=second)])
    test_by(select, pair.rest)
    for clause in ("group", "order", "limit", "distinct"):
        select.set(clause, None)
    return [f"compares {pair.first.sql()} with {pair.second.sql()}"]


def tell_apart(select: exp.Select, catalogue: Catalogue, question: str) -> list[str]:
    """One number for each of two values, where the question asks for that of the one and the other.

    "How long does an e-bike take, and how long a city bike?" is no question for both together, and
    "with a shed and without one" none for those with a shed alone.
    """
    shown = [one.unalias() for one in select.expressions]
    is_one = all(one.find(exp.AggFunc) for one in shown) and not select.args.get("group")
    is_mean = any(one.find(exp.Avg, exp.Div, exp.Max, exp.Min) for one in shown)
    cues = (_AND_OF_THE_OTHER, _TWICE) if is_mean else (_AND_OF_THE_OTHER,)
    if not is_one or not any(cue.search(question) for cue in cues):
        return []
    tree = select.copy()
    pair = _pair(tree, question) or (_pair(tree, question) if _joined(tree, catalogue) else None)
    is_said = pair and all(one.name.lower() in question.lower() for one in pair[1:3])
    column = pair.column if pair and is_said else _flag(tree, question)
    if column is None:
        return []
    tree.set("expressions", [column.copy(), *tree.expressions])
    tree.group_by(column.copy(), copy=False)
    select.set("where", None)
    select.args.update(tree.args)
    return [f"groups by {column.sql()}"]


def _flag(select: exp.Select, question: str) -> exp.Column | None:
    """The flag of which a query takes one side and the question both; the test is left out."""
    tests = tests_of(select)
    flags = [
        one
        for one in tests
        if isinstance(one, exp.EQ) and one.expression.name.casefold() in (*YES, *NO)
    ]
    if len(flags) != 1 or not _AND_WITHOUT.search(question):
        return None
    test_by(select, [one for one in tests if one is not flags[0]])
    column = flags[0].this
    return column if isinstance(column, exp.Column) else None


def gather(tree: exp.Query) -> tuple[exp.Query, list[str]]:
    """Tell the numbers of a union apart, whose sides differ in one value that they filter by."""
    sides = (tree.this, tree.expression) if isinstance(tree, exp.Union) else ()
    if not all(isinstance(one, exp.Select) and _is_number(one) for one in sides) or not sides:
        return tree, []
    tests = [[*one.find_all(exp.EQ)] for one in sides]
    if len(tests[0]) != len(tests[1]):
        return tree, []
    apart = [(a, b) for a, b in zip(*tests, strict=True) if a != b]
    if len(apart) != 1 or apart[0][0].this != apart[0][1].this:
        return tree, []
    (first, second), merged = apart[0], sides[0].copy()
    if not isinstance(first.this, exp.Column) or not isinstance(first.expression, exp.Literal):
        return tree, []
    other = sides[1].copy()
    for test in [one for one in other.find_all(exp.EQ) if one == second]:
        test.replace(first.copy())
    if other != merged:
        return tree, []  # they differ in more, such as what they count
    for test in [one for one in merged.find_all(exp.EQ) if one == first]:
        values = [first.expression.copy(), second.expression.copy()]
        test.replace(exp.In(this=first.this.copy(), expressions=values))
    column = first.this
    merged.set("expressions", [column.copy(), *merged.expressions])
    merged.group_by(column.copy(), copy=False)
    return merged, [f"groups by {column.sql()}"]


def _joined(select: exp.Select, catalogue: Catalogue) -> bool:
    """Join the table that a query only looks a key up in; whether there is one."""
    source = select.args.get("from_")
    if not source or select.args.get("joins"):
        return False
    for test in tests_of(select):
        inner = test.args.get("query") if isinstance(test, exp.In) else None
        inner = inner.unnest() if inner else None
        if not isinstance(inner, exp.Select) or len(inner.selects) != 1:
            continue
        if {name for name, value in inner.args.items() if value} != {
            "expressions",
            "from_",
            "where",
        }:
            continue
        table, key = inner.args["from_"].this, inner.selects[0]
        outside = isinstance(test.this, exp.Column) and isinstance(key, exp.Column)
        if not outside or catalogue.keys.get(table.name.lower()) != {key.name.lower()}:
            continue
        for side, home in ((inner, table), (select, source.this)):
            for column in side.find_all(exp.Column):
                if not column.table and (side is inner or not column.find_ancestor(exp.Subquery)):
                    column.set("table", exp.to_identifier(home.alias_or_name))
        link = exp.EQ(this=test.this.copy(), expression=key.copy())
        test.replace(inner.args["where"].this.copy())
        select.join(table.copy(), on=link, copy=False)
        return True
    return False


def _is_number(select: exp.Select) -> bool:
    """Whether a query returns one aggregate, as it is."""
    is_one = len(select.expressions) == 1 and not select.args.get("group")
    return is_one and isinstance(select.expressions[0].unalias(), exp.AggFunc)


def _pair(select: exp.Select, question: str) -> _Pair | None:
    """The only two values that a query wants of one column."""
    tests = tests_of(select)
    wanted: dict[exp.Column, list[exp.Expr]] = {}
    for test in tests:
        for column, values in values_of(test):
            wanted.setdefault(column, []).extend(values)
    twice = [(column, values) for column, values in wanted.items() if len({*values}) == 2]
    if len(twice) != 1:
        return None
    column, values = twice[0]
    rest = [test for test in tests if not any(one == column for one, _ in values_of(test))]
    asked = question.lower()
    first, second = sorted(dict.fromkeys(values), key=lambda one: asked.find(one.name.lower()))
    return _Pair(column, first, second, rest)


def _of(aggregate: exp.AggFunc, column: exp.Expr, value: exp.Expr) -> exp.AggFunc:
    """The aggregate over the rows that have a value."""
    test = exp.EQ(this=column.copy(), expression=value.copy())
    what, made = aggregate.this, aggregate.copy()
    if isinstance(what, exp.Distinct):
        taken = exp.Case().when(test, what.expressions[0].copy())
        made.set("this", exp.Distinct(expressions=[taken]))
    elif isinstance(what, exp.Star):
        made.set("this", exp.Case().when(test, exp.Literal.number(1)))
    else:
        made.set("this", exp.Case().when(test, what.copy()))
    return made
