"""Rows as an answer: which questions they answer as they are, and what speaks against them."""

import re
from datetime import date

from planweave.memory import Fact
from planweave.tools.checking.decisions import (
    COUNTING,
    Following,
    Requirements,
    asks_amount,
    cites,
    no,
    numbers_unused,
    phrase_of,
    unbound,
    undivided,
    unspoken,
)
from planweave.tools.checking.otherwise import SHARE
from planweave.tools.checking.queries import flat
from planweave.tools.checking.tables import (
    FactRows,
    aggregated,
    bounded_rows,
    named_rows,
    query_ranks,
    views,
)
from planweave.tools.checking.units import is_unit_word
from planweave.tools.checking.words import conditions, numbers_of, root, roots, superlatives, tokens
from planweave.tools.present import spans

_WORDS_ASKED = re.compile(
    r"^\W*(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should|may|must|why"
    r"|explain|describe|summari[sz]e|compare)\b|\bshould\b|\brecommend|\badvi[cs]e|\bbetter\b"
    r"|\bhow (?:can|could|do|does|did|should|would|to|come)\b",
    re.I,
)
"""A question for yes or no, for advice or for reasons: rows alone do not answer it."""


_SORTED = re.compile(
    r"\bfrom (?:the )?(?:(?:most|least) \w+|\w+)(?: \w+)? to (?:the )?(?:most|least|\w+est)\b"
    r"|\bfrom (?:the )?(?:most|least|\w+est)\b|\b(?:first|last)\s*names?\b"
    r"|\b(?:the )?(?:first|last) \d+ \w+",
    re.I,
)
"""Words of a rank that ask for none: an order of all rows, names of people, spans of time."""
_ORDER = re.compile(
    r"\b(?:sort|order|rank)(?:ed)? (?:\w+ )?(?:by|from|in|alphabetically)\b|\balphabetical"
    r"|\b(?:a|de)scending\b|\bin (?:the )?order of\b|\bfrom (?:the )?\w+ to (?:the )?\w+est\b"
    r"|\bfirst (?:\d+|two|three|four|five|ten) (?!(?:minute|hour|day|week|month|quarter|year)s)",
    re.I,
)
_CONVERSION = re.compile(
    r"\s+as\s+(?:real|float|double)\b|\b(?:cast|nullif|tofloat)\b|\b1(?:\.0)?\s*\*|,\s*0\b"
    r"|\s+as\s+\w+$|\s+|[()]",
    re.IGNORECASE,
)
"""What makes a ratio a real number or names it, and changes nothing else."""
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = re.compile(rf"\b((?:{'|'.join(_MONTHS)})[a-z]*)\.? (?=\d)", re.IGNORECASE)
_NAMED_NUMBER = re.compile(
    r"\b(?:phone|telephone|fax|house|serial|account|order|course|flight|room) number of\b", re.I
)
"""A number that names something and counts nothing."""
_COUNTS_CASES = re.compile(r"\bsum\(\s*case when [^()]*? then 1 else 0 end\s*\)")
_CONVERTED = re.compile(r"/ ?\(?(?:60|100|1000|3600)(?:\.0)?\b")
"""An amount in a larger unit than the stored one."""
_IN_YEAR = re.compile(r"\bin ((?:19|20)\d{2})\b", re.IGNORECASE)
_DATED = re.compile(
    r"\b(?:19|20)\d{2}\b|\bnow\b|\bcurrent_|\b(?:(?:cur)?date(?:time)?|timestamp)\(\)", re.I
)
"""A day, or the database's clock, in a query."""
_BY_TWO = re.compile(r"\btop \d+\b[^?.,;]*\bby [^?.,;]*\band\b", re.IGNORECASE)
_BOTH_ENDS = re.compile(
    r"\b(?:first\b[^?.;]* and [^?.;]*\blast|oldest\b[^?.;]* and [^?.;]*\b(?:newest|youngest)"
    r"|(?:highest|most|largest|longest|best)\b[^?.;]* and [^?.;]*"
    r"\b(?:lowest|fewest|least|smallest|shortest|worst))\b",
    re.IGNORECASE,
)
_RANKS = re.compile(r"\border\s+by\s+(.*)", re.IGNORECASE | re.DOTALL)
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_EACH = re.compile(r"\b(?:each|every|per)\b", re.I)
_FOR_EACH = re.compile(r"\bfor (?:each|every)\b|\beach of (?:our|the|my|these)\b", re.IGNORECASE)
_STATE = re.compile(r"\b(?:still|no longer|any ?more|not yet)\b", re.IGNORECASE)
_BOUND = re.compile(r"\b(?:where|having|case|iif)\b", re.IGNORECASE)
_NO_VALUE = "The query found no value."
"""A number of nothing is more often a name that no row holds than an answer."""
_SEVERAL = re.compile(
    r"\band (?:(how many)|(?:what|which|who|how|when|where|why)\b)([^?.;,]*)", re.IGNORECASE
)


def rows_asked(question: str, view: FactRows) -> list[int]:
    """The columns by which the rows of a query answer a question as they are; none if they do not.

    A row that comes first answers with its names: the value by which it does is shown beside them.
    """
    columns = list(range(len(view.columns)))
    if _WORDS_ASKED.search(question):
        return []
    ranks = superlatives(_SORTED.sub("", question))
    if not ranks or _EACH.search(question) or _SEVERAL.search(question):
        return columns
    if any(rank.word in ("best", "worst") for rank in ranks):
        return []
    if len(view.rows) > 1:
        several = view.reading.extremes or float(len(view.rows)) in numbers_of(question)
        return columns if several else []
    asked = Requirements(question, "", roots(question), [])
    texts = [c for c in columns if not view.is_ordered(c)]
    if not texts or asks_amount(asked, view):
        return columns
    phrase = phrase_of(question, view)
    return [c for c in columns if c in texts or roots(view.columns[c]) & phrase]


def follow_rows(fact: Fact, question: str, *, trusted: bool = False) -> Following:
    """Whether the rows of a query, as they are, answer the question.

    Of a query that is ``trusted`` no word of the question needs to be in query or rows. If a model
    has judged the rows, it is also trusted with what the check cannot follow: a denial, or several
    questions in one.
    """
    asked = Requirements(question, "", roots(question), conditions(question))
    facts, (view, *_) = [fact], views([fact])
    if problem := unspoken(asked, facts, [view], in_rows=True, trusted=trusted):
        return no(problem)
    used: set[int] = set()
    named = named_rows(view, asked.question, used)
    queried = {float(n) for n in _NUMBER.findall(view.reading.bare)}
    open_bounds = [bound for bound in asked.bounds if bound.number not in queried]
    within, left = bounded_rows(named, open_bounds, used)
    others = f"Fact {cites(view.facts)} also shows rows without what the question asks for."
    problems = (
        "" if _says_something(fact) else _NO_VALUE,
        "" if trusted and "chance" in fact else _one_of_several(asked, view),
        others if len(within.rows) < len(view.rows) else "",
        unbound(left, facts),
        numbers_unused(asked, view, used, facts),
        aggregated(set(tokens(asked.question)), view),
        _uncounted(asked, view),
        _unranked(asked, view, trusted=trusted),
        _unsorted(asked, view),
        _says_nothing(asked, view),
        _other_months(asked, view),
        _unended(asked, view),
        _undated(asked, view),
        undivided(asked, view),
        _ungrouped(asked, view),
        _of_nothing(view),
        _ranks_by_one(asked, view),
        _one_end(asked, view),
        _any_state(asked, view),
        "" if view.complete else f"Fact {cites(view.facts)} shows the first rows only.",
    )
    if problem := next(filter(None, problems), ""):
        return no(problem)
    return Following("supported", f"The rows of fact {cites(view.facts)}.", view.facts)


def _one_of_several(asked: Requirements, view: FactRows) -> str:
    """Why rows answer one of several questions only; empty if they show what both ask for.

    Rows for each of the values that the question names answer both, and so do numbers that a query
    computes for one name each, or columns that say what the second asks for.
    """
    second = _SEVERAL.search(asked.question)
    if second is None:
        return ""
    named = {mention.cell for mention in view.mentions(asked.question)}
    if len(view.rows) == len(named) > 1:
        return ""
    expressions = view.reading.expressions
    shown = [roots(expressions.get(column, column)) for column in view.columns[1:]]
    numbers = sum(view.is_ordered(c) for c in range(len(view.columns)))
    if len(view.rows) == 1 and numbers == len(view.columns) == len({*view.reading.names}):
        return ""
    if not second[1]:
        is_shown = any(roots(second[2]) & words for words in shown)
    elif _BOUND.search(view.reading.text):
        is_shown = False  # what both count may differ
    else:
        both = COUNTING.search(asked.question[: second.start()]) is not None
        is_shown = "count" in view.reading.aggregates and bool(shown) and numbers > both
    return "" if is_shown else "The question asks for several things."


def _says_something(fact: Fact) -> bool:
    table = fact.get("table")
    return table is not None and any(cell not in (None, 0) for row in table["rows"] for cell in row)


def asks_for_order(question: str) -> bool:
    """Whether a question says in which order it wants its rows."""
    return _ORDER.search(question) is not None


def _unsorted(asked: Requirements, view: FactRows) -> str:
    """Why rows are not in the order that the question asks for; empty if they may be."""
    if len(view.rows) < 2 or not asks_for_order(asked.question) or view.reading.order:
        return ""
    return f"The query of fact {cites(view.facts)} does not sort, as the question asks."


def _says_nothing(asked: Requirements, view: FactRows) -> str:
    """Why rows say nothing new: a value divided by itself or shown twice, a name looked for."""
    fact = f"Fact {cites(view.facts)}"
    written = [_CONVERSION.sub("", text).lower() for text in view.reading.expressions.values()]
    written = [text for text in written if "''" not in text]  # what a name tells apart
    if any(above == below for above, _, below in (text.partition("/") for text in written)):
        return f"{fact} divides a value by itself."
    numbers = [c for row in view.rows for c in row if isinstance(c, int | float)]
    if len(view.rows) == 1 and SHARE.search(asked.question) and {*numbers} & {1, 100}:
        return f"{fact} shows the whole where a part is asked for."
    if len({*written}) < len(written):
        return f"{fact} shows the same value twice."
    cells = {str(cell).casefold() for row in view.rows for cell in row}
    sought = {name.casefold() for name in view.reading.names}
    return f"{fact} only shows what it was asked about." if cells <= sought else ""


def _other_months(asked: Requirements, view: FactRows) -> str:
    """A month of the question that the query does not name; empty if it names all."""
    query = view.reading.text.lower()
    numbers = {int(digits) for digits in re.findall(r"\d+", query)}
    for month in _MONTH.findall(asked.question):
        short = month[:3].lower()
        if _MONTHS.index(short) + 1 not in numbers and short not in query:
            return f"No cited fact takes account of “{month}”."
    return ""


def _unended(asked: Requirements, view: FactRows) -> str:
    """A year of the question that the query only lets begin; empty if it ends it, or names none."""
    query = view.reading.text
    for year in _IN_YEAR.findall(asked.question):
        begins = re.search(rf">=? *(?:DATE\(|DATETIME\()?'{year}-", query, re.IGNORECASE)
        if begins and "<" not in query and "between" not in query.lower():
            return f"The query of fact {cites(view.facts)} does not end with {year}."
    return ""


def _undated(asked: Requirements, view: FactRows) -> str:
    """A span of days of the question that the query does not bound; empty if it names a day."""
    said = next((span.said for span in spans(asked.question, date.today())), "")
    if not said or _DATED.search(view.reading.text):
        return ""
    return f"No cited fact takes account of “{said}”."


def _ungrouped(asked: Requirements, view: FactRows) -> str:
    """Why one column is none "for each tree": it is one number, or it does not say whose."""
    adds_up = view.reading.aggregates or view.reading.extremes
    if len(view.reading.expressions) != 1 or not _FOR_EACH.search(asked.question):
        return ""
    if len(view.rows) > 1:
        return f"Fact {cites(view.facts)} does not show what each row is of."
    if view.rows and adds_up:
        return f"Fact {cites(view.facts)} shows one number where several are asked for."
    return ""


def _of_nothing(view: FactRows) -> str:
    """Why a group may be none: rows without a value in the column that they are grouped by."""
    grouped = "group by" in view.reading.text.lower() and view.rows
    if not grouped or all(row[0] is not None for row in view.rows):
        return ""
    return f"Fact {cites(view.facts)} has a group without a name."


def _ranks_by_one(asked: Requirements, view: FactRows) -> str:
    """Why the first rows may be others: the question ranks by two things, the query by one."""
    order = _RANKS.search(view.reading.bare) if view.reading.limited else None
    if not order or not _BY_TWO.search(asked.question) or "," in flat(order[1]):
        return ""
    return f"The query of fact {cites(view.facts)} ranks by one of two things."


def _one_end(asked: Requirements, view: FactRows) -> str:
    """Why a row is not all of "the first and the last"; empty if the query takes no single row."""
    if not view.reading.limited or len(view.rows) > 1 or not _BOTH_ENDS.search(asked.question):
        return ""
    return f"Fact {cites(view.facts)} shows one end where the question asks for both."


def _any_state(asked: Requirements, view: FactRows) -> str:
    """Why rows are of what is and of what was; empty if the query bounds them, or may do so."""
    still = _STATE.search(asked.question)
    if not still or _BOUND.search(view.reading.text):
        return ""
    return f"No cited fact takes account of “{still[0]}”."


def _uncounted(asked: Requirements, view: FactRows) -> str:
    """Why rows do not say how many there are; empty if they may."""
    counted = COUNTING.search(_NAMED_NUMBER.sub("", asked.question))
    if not counted or "count" in view.reading.aggregates:
        return ""
    query = view.reading.text.lower()
    is_unit = is_unit_word(root(counted[1])) and _CONVERTED.search(query)
    if is_unit or (counted[1].lower() == "days" and "julianday" in query):
        return ""
    if _COUNTS_CASES.search(query) or any(
        view.is_ordered(c) and root(counted[1]) in view.roots(c) for c in range(len(view.columns))
    ):
        return ""
    return "The question asks for a number, and the query counts nothing."


def _unranked(asked: Requirements, view: FactRows, *, trusted: bool) -> str:
    """Why the first rows are not those that the question asks for; empty if they may be.

    What a trusted query ranks by is its own affair, where only one direction can be meant.
    """
    reading, ranks = view.reading, superlatives(_SORTED.sub("", asked.question))
    if not ranks or (_EACH.search(asked.question) and not reading.limited):
        cut = reading.limited and not numbers_of(asked.question)
        return f"Nothing says why fact {cites(view.facts)} shows no other rows." if cut else ""
    if query_ranks(reading, ranks[0], asked.spoken, asked.spoken):
        return ""
    order, directions = reading.order, {direction for direction, _ in ranks[0].senses}
    is_first = order is not None and order.limited and order.place == ranks[0].place
    if trusted and is_first and order and directions == {order.direction}:
        return ""
    return f"The query of fact {cites(view.facts)} does not rank by what is {ranks[0].word}."
