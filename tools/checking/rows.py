"""Rows as the answer: which questions they answer, and reasons against them."""

import re
from collections.abc import Iterator, Sequence
from datetime import date

from planweave.memory import Fact
from planweave.tools.checking.decisions import (
    COUNTING,
    DecisionCheck,
    Requirements,
    asks_amount,
    cite,
    find_asked_roots,
    find_mismatch,
    find_missing_division,
    find_open_bound,
    find_unused_number,
    reject,
)
from planweave.tools.checking.shapes import EACH, FOR_EACH, find_wrong_shape
from planweave.tools.checking.tables import (
    FactRows,
    find_missing_aggregate,
    is_ranked_by_query,
    select_bounded_rows,
    select_named_rows,
    views,
)
from planweave.tools.checking.units import is_unit_word
from planweave.tools.checking.words import (
    find_bounds,
    find_numbers,
    find_superlatives,
    root,
    roots,
    tokens,
)
from planweave.tools.present import find_spans

_WORDS_ASKED = re.compile(
    r"^\W*(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should|may|must|why"
    r"|explain|describe|summari[sz]e|compare)\b|\bshould\b|\brecommend|\badvi[cs]e|\bbetter\b"
    r"|\bhow (?:can|could|do|does|did|should|would|to|come)\b",
    re.I,
)
"""Questions for yes or no, advice or reasons, which rows alone do not answer."""
_SORTED = re.compile(
    r"\bfrom (?:the )?(?:(?:most|least) \w+|\w+)(?: \w+)? to (?:the )?(?:most|least|\w+est)\b"
    r"|\bfrom (?:the )?(?:most|least|\w+est)\b|\b(?:first|last)\s*names?\b"
    r"|\b(?:the )?(?:first|last) \d+ \w+|\b(?:most|least|\w+est)(?: \w+)? first\b",
    re.I,
)
"""Superlatives that do not ask for a rank: an order of all rows, names of people, spans of time."""
_ORDER = re.compile(
    r"\b(?:sort|order|rank)(?:ed)? (?:\w+ )?(?:by|from|in|alphabetically)\b|\balphabetical"
    r"|\b(?:a|de)scending\b|\bin (?:the )?order of\b|\bfrom (?:the )?\w+ to (?:the )?\w+est\b"
    r"|\bfirst (?:\d+|two|three|four|five|ten) (?!(?:minute|hour|day|week|month|quarter|year)s)",
    re.I,
)
_COMPARED = re.compile(r"\bcompared (?:to|with)\b", re.I)
_ONE_NUMBER = re.compile(
    r"\b(?:difference|differs?|differed|ratio|percent\w*|gr[eo]w\w*|increase\w*|decrease\w*|change\w*)\b"
    r"|\bhow (?:much|many) (?:more|less|fewer)\b",
    re.I,
)
_COMPUTES_UNION = re.compile(r"\b(?:COUNT|SUM|AVG|MIN|MAX)\s*\(.*\bUNION\b", re.I | re.DOTALL)
_TWO_SIDES = re.compile(r"[-/]|\bCASE\b", re.I)
_CONVERSION = re.compile(
    r"\s+as\s+(?:real|float|double)\b|\b(?:cast|nullif|tofloat)\b|\b1(?:\.0)?\s*\*|,\s*0\b"
    r"|\*\s*100(?:\.0)?\b|\b100(?:\.0)?\s*\*"
    r"|\s+as\s+\w+$|\s+|[()]",
    re.IGNORECASE,
)
"""Parts of an expression that only convert a ratio to a real number or name it."""
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = re.compile(rf"\b((?:{'|'.join(_MONTHS)})[a-z]*)\.? (?=\d)", re.IGNORECASE)
_NAMED_NUMBER = re.compile(
    r"\b(?:phone|telephone|fax|house|serial|account|order|course|flight|room) number of\b", re.I
)
"""Numbers that identify something and do not count."""
_COUNTS_CASES = re.compile(r"\bsum\(\s*case when .*? then 1 else 0 end\s*\)", re.DOTALL)
_CONVERTED = re.compile(r"/ ?\(?(?:60|100|1000|3600)(?:\.0)?\b")
"""The conversion of an amount to a larger unit than the stored one."""
_DATED = re.compile(
    r"\b(?:19|20)\d{2}\b|\bnow\b|\bcurrent_|\b(?:(?:cur)?date(?:time)?|timestamp)\(\)", re.I
)
"""A day, or the database's clock, in a query."""
_SHARE = re.compile(r"(?<!\d )\b(?:percent(?:age)?|share|proportion|fraction)\b", re.IGNORECASE)
_SHARE_OF = re.compile(r"\b(?:percent|percentage|proportion|fraction|share) of\b", re.IGNORECASE)
_DIVIDES = re.compile(r"/|\bavg\b", re.IGNORECASE)
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_ONCE = re.compile(r"\bwhen\b.{0,200}\b(?:first|last)\b", re.IGNORECASE)
"""Matches a question for the day of one thing among several."""
_STATE = re.compile(r"\b(?:still|no longer|any ?more|not yet)\b", re.IGNORECASE)
_FILTER = re.compile(r"\b(?:where|having|case|iif)\b", re.IGNORECASE)
_SEVERAL = re.compile(
    r"\band (?:(how many)|(?:what|which|who|how|when|where|why)\b)([^?.;,]*)", re.IGNORECASE
)


def find_answer_columns(question: str, view: FactRows) -> list[int]:
    """Find the columns with which rows answer a question; none if rows are not the answer.

    A first row answers with its names; the value of its rank appears beside them.
    """
    columns = list(range(len(view.columns)))
    if _WORDS_ASKED.search(question):
        return []
    ranks = find_superlatives(_SORTED.sub("", question))
    if not ranks or EACH.search(question) or _SEVERAL.search(question):
        return columns
    if any(rank.word in ("best", "worst") for rank in ranks):
        return []
    if len(view.rows) > 1:
        several = view.reading.extremes or float(len(view.rows)) in find_numbers(question)
        return columns if several else []
    asked = Requirements(question, "", roots(question), [])
    texts = [c for c in columns if not view.is_ordered(c)]
    if not texts or asks_amount(asked, view):
        return columns
    phrase = find_asked_roots(question, view)
    return [c for c in columns if c in texts or roots(view.columns[c]) & phrase]


def check_rows(fact: Fact, question: str, *, trusted: bool = False) -> DecisionCheck:
    """Check whether the rows of a query are the answer to the question.

    If the query is ``trusted``, words of the question may be missing in query and rows.
    """
    asked = Requirements(question, "", roots(question), find_bounds(question))
    view = views([fact])[0]
    problem = find_mismatch(asked, [fact], [view], in_rows=True, trusted=trusted)
    problem = problem or next(filter(None, _find_problems(asked, view, fact, trusted)), "")
    if problem:
        return reject(problem)
    return DecisionCheck("supported", f"The rows of fact {cite(view.facts)}.", view.facts)


def _find_problems(asked: Requirements, view: FactRows, fact: Fact, trusted: bool) -> Iterator[str]:
    """The reasons why rows may not be the answer; empty ones do not count."""
    where, question, reading = cite(view.facts), asked.question, view.reading
    used: set[int] = set()
    queried = {float(number) for number in _NUMBER.findall(reading.bare)}
    open_bounds = [bound for bound in asked.bounds if bound.number not in queried]
    named = select_named_rows(view, question, used)
    within, left = select_bounded_rows(named, open_bounds, used)
    table = fact.get("table")
    if table is None or all(cell in (None, 0) for row in table["rows"] for cell in row):
        yield "The query found no value."  # 0 often comes from a name that no row has
    if not _answers_all(question, view):
        yield "The question asks for several things."
    if len(within.rows) < len(view.rows):
        yield f"Fact {where} also shows rows without what the question asks for."
    yield find_open_bound(left, [fact])
    yield find_unused_number(asked, view, used, [fact])
    yield find_missing_aggregate(set(tokens(question)), view)
    if not _has_count(question, view):
        yield "The question asks for a number, and the query counts nothing."
    if _SHARE_OF.search(question) and not _DIVIDES.search(reading.text):
        yield "The question asks for a share, and the query divides nothing."
    yield _find_wrong_rank(asked, view, trusted=trusted)
    if len(view.rows) > 1 and asks_for_order(question) and not reading.order:
        yield f"The query of fact {where} does not sort, as the question asks."
    if repetition := _find_repetition(question, view):
        yield f"Fact {where} {repetition}."
    yield from _find_unused_times(question, reading.text)
    yield find_missing_division(asked, view)
    yield _find_missing_group(question, reading.text, [] if table is None else table["rows"])
    yield from _find_wrong_parts(question, view, where)
    yield from find_wrong_shape(question, view, trusted=trusted)
    if not view.complete:
        yield f"Fact {where} shows the first rows only."


def _answers_all(question: str, view: FactRows) -> bool:
    """Whether rows answer the second question of two, too.

    One row for each value that the question names answers both. So do numbers that the query
    computes for one name each, and columns for what the second question asks for.
    """
    second = _SEVERAL.search(question)
    if second is None:
        return True
    named = {mention.cell for mention in view.mentions(question)}
    if len(view.rows) == len(named) > 1:
        return True
    expressions = view.reading.expressions
    shown = [roots(expressions.get(column, column)) for column in view.columns[1:]]
    numbers = sum(view.is_ordered(c) for c in range(len(view.columns)))
    if len(view.rows) == 1 and numbers == len(view.columns) == len({*view.reading.names}):
        return True
    if not second[1]:
        return any(roots(second[2]) & words for words in shown)
    if _FILTER.search(view.reading.text):
        return False  # the two questions may count different rows
    both = COUNTING.search(question[: second.start()]) is not None
    return "count" in view.reading.aggregates and bool(shown) and numbers > both


def _find_missing_group(question: str, query: str, rows: Sequence[Sequence[object]]) -> str:
    """Why numbers do not compare two groups: one is missing, or nothing tells them apart."""
    if any(len(row) > 1 or not isinstance(row[0], int | float) for row in rows):
        return ""
    is_comparison = _COMPARED.search(question) and not _ONE_NUMBER.search(question)
    if len(rows) == 1 and is_comparison and not _TWO_SIDES.search(query):
        return "The question compares two things, and the query shows one value."
    if len(rows) > 1 and _COMPUTES_UNION.search(query):
        return "Nothing in the rows says which value is which."
    return ""


def asks_for_order(question: str) -> bool:
    """Whether a question says how to sort the rows."""
    return _ORDER.search(question) is not None


def _find_repetition(question: str, view: FactRows) -> str:
    """What rows do if they say nothing new, such as showing a value twice; empty if they do not."""
    written = [_CONVERSION.sub("", text).lower() for text in view.reading.expressions.values()]
    written = [text for text in written if "''" not in text]  # literals distinguish expressions
    if any(above == below for above, _, below in (text.partition("/") for text in written)):
        return "divides a value by itself"
    numbers = [c for row in view.rows for c in row if isinstance(c, int | float)]
    if len(view.rows) == 1 and _SHARE.search(question) and {*numbers} & {1, 100}:
        return "shows the whole where a part is asked for"
    if len({*written}) < len(written):
        return "shows the same value twice"
    cells = {str(cell).casefold() for row in view.rows for cell in row}
    sought = {name.casefold() for name in view.reading.names}
    return "only shows what it was asked about" if cells <= sought else ""


def _find_unused_times(question: str, query: str) -> Iterator[str]:
    """A month, or a span that depends on today, that the query does not use."""
    numbers = {int(digits) for digits in re.findall(r"\d+", query)}
    for month in _MONTH.findall(question):
        short = month[:3].lower()
        if _MONTHS.index(short) + 1 not in numbers and short not in query.lower():
            yield f"No cited fact takes account of “{month}”."
    span = next((span.said for span in find_spans(question, date.today())), "")
    if span and not _DATED.search(query):
        yield f"No cited fact takes account of “{span}”."


def _find_wrong_parts(question: str, view: FactRows, where: str) -> Iterator[str]:
    """Groups that are not shown or have no name, and an omitted state."""
    reading, rows = view.reading, view.rows
    if len(reading.expressions) == 1 and FOR_EACH.search(question):
        if len(rows) > 1:
            yield f"Fact {where} does not show what each row is of."
        elif rows and (reading.aggregates or reading.extremes):
            yield f"Fact {where} shows one number where several are asked for."
    if "group by" in reading.text.lower() and any(row[0] is None for row in rows):
        yield f"Fact {where} has a group without a name."
    state = _STATE.search(question)
    if state and not _FILTER.search(reading.text):
        yield f"No cited fact takes account of “{state[0]}”."


def _has_count(question: str, view: FactRows) -> bool:
    """Whether rows contain the count that a question asks for; true if it asks for none."""
    counted = COUNTING.search(_NAMED_NUMBER.sub("", question))
    if not counted or "count" in view.reading.aggregates:
        return True
    query, noun = view.reading.text.lower(), counted[1]
    if is_unit_word(root(noun)) and _CONVERTED.search(query):
        return True
    if (noun.lower() == "days" and "julianday" in query) or _COUNTS_CASES.search(query):
        return True
    ordered = (c for c in range(len(view.columns)) if view.is_ordered(c))
    return any(root(noun) in view.roots(c) for c in ordered)


def _find_wrong_rank(asked: Requirements, view: FactRows, *, trusted: bool) -> str:
    """Why the first rows are not those that the question asks for; empty if they may be.

    A trusted query may rank by any column if only one direction is possible.
    """
    reading, ranks = view.reading, find_superlatives(_SORTED.sub("", asked.question))
    if not ranks or (EACH.search(asked.question) and not reading.limited):
        says_why = find_numbers(asked.question) or _ONCE.search(asked.question)
        is_cut = reading.limited and not says_why
        return f"Nothing says why fact {cite(view.facts)} shows no other rows." if is_cut else ""
    if is_ranked_by_query(reading, ranks[0], asked.roots, asked.roots):
        return ""
    order, directions = reading.order, {direction for direction, _ in ranks[0].senses}
    is_first = order is not None and order.limited and order.place == ranks[0].place
    if trusted and is_first and order and directions == {order.direction}:
        return ""
    return f"The query of fact {cite(view.facts)} does not rank by what is {ranks[0].word}."
