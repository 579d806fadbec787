"""Words of questions, claims and columns: roots, superlatives, comparatives, bounds."""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Literal, NamedTuple, TypeAlias

Direction: TypeAlias = Literal["highest", "lowest"]
Sense: TypeAlias = tuple[Direction, str]
"""A direction and the kind of column that it applies to; ``any`` for every kind."""

ANY = "any"
NUMBER = r"\d{1,3}(?:[,\u00a0\u202f]\d{3})+(?:\.\d+)?(?!\d)|\d+(?:\.\d+)?"
_WORD = re.compile(r"[^\W\d_]+|\d+(?:\.\d+)?")
_OF = re.compile(r"'s\b")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")


def word_set(text: str) -> frozenset[str]:
    """The words of a text as a set."""
    return frozenset(text.split())


KINDS: Mapping[str, frozenset[str]] = {
    name: frozenset(words.split())
    for name, words in {
        "cost": "cost costs price prices fee rent charge premium fare tariff bill expense expenses "
        "landed payment spend",
        "duration": "time duration day days hour hours minute minutes second seconds week weeks "
        "lead delay wait latency transit",
        "date": "date year born birth founded built created opened since start begin due hired "
        "month deadline",
        "age": "age",
        "speed": "speed velocity throughput mph kmh",
        "distance": "distance km mile miles kilometres kilometers",
        "size": "size area capacity volume population surface seats",
        "length": "length duration distance minutes hours days km height width span depth",
        "weight": "weight mass kg tons tonnes load",
        "height": "height elevation altitude",
        "temperature": "temperature temp degrees celsius",
        "pay": "salary wage wages income pay earnings budget wealth",
        "gain": "profit revenue margin score rating grade yield return benefit quality",
        "fault": "fault faults error errors defect defects delay risk loss emissions",
    }.items()
}

_ADJECTIVES: Mapping[str, tuple[Sense, ...]] = {
    **dict.fromkeys(("high", "great", "strong", "busy", "full"), (("highest", ANY),)),
    **dict.fromkeys(("low", "weak"), (("lowest", ANY),)),
    **dict.fromkeys(("large", "big"), (("highest", "size"), ("highest", ANY))),
    "small": (("lowest", "size"), ("lowest", ANY)),
    "cheap": (("lowest", "cost"),),
    "pricey": (("highest", "cost"),),
    "costly": (("highest", "cost"),),
    "fast": (("lowest", "duration"), ("highest", "speed")),
    "quick": (("lowest", "duration"), ("highest", "speed")),
    "slow": (("highest", "duration"), ("lowest", "speed")),
    "old": (("highest", "age"), ("lowest", "date")),
    "young": (("lowest", "age"), ("highest", "date")),
    "new": (("lowest", "age"), ("highest", "date")),
    "early": (("lowest", "date"),),
    "late": (("highest", "date"),),
    **dict.fromkeys(("long", "wide", "broad"), (("highest", "length"),)),
    **dict.fromkeys(("short", "narrow"), (("lowest", "length"),)),
    "near": (("lowest", "distance"),),
    "close": (("lowest", "distance"),),
    "heavy": (("highest", "weight"),),
    "light": (("lowest", "weight"),),
    "tall": (("highest", "height"),),
    "hot": (("highest", "temperature"),),
    "warm": (("highest", "temperature"),),
    "cold": (("lowest", "temperature"),),
    "cool": (("lowest", "temperature"),),
    "rich": (("highest", "pay"),),
    "poor": (("lowest", "pay"),),
}
_AFTER_MOST: Mapping[str, tuple[Sense, ...]] = {
    "expensive": (("highest", "cost"),),
    "costly": (("highest", "cost"),),
    "affordable": (("lowest", "cost"),),
    "economical": (("lowest", "cost"),),
    "recent": (("highest", "date"), ("lowest", "age")),
    "profitable": (("highest", "gain"),),
    "populous": (("highest", "size"),),
}
_OPPOSITE: Mapping[Direction, Direction] = {"highest": "lowest", "lowest": "highest"}
_GOOD: tuple[Sense, ...] = (
    *(("lowest", "cost"), ("lowest", "duration"), ("lowest", "fault"), ("highest", "gain")),
)


def _opposite(senses: Iterable[Sense]) -> tuple[Sense, ...]:
    return tuple((_OPPOSITE[direction], kind) for direction, kind in senses)


def _forms(base: str, ending: str) -> str:
    if base.endswith("e"):
        return base + ending[1:]
    if base.endswith("y"):
        return f"{base[:-1]}i{ending}"
    return base + (base[-1] if base in ("big", "hot") else "") + ending


_SUPERLATIVES: dict[str, tuple[Sense, ...]] = {
    **{_forms(base, "est"): senses for base, senses in _ADJECTIVES.items()},
    **dict.fromkeys(("most", "maximum", "max", "top", "maximal"), (("highest", ANY),)),
    **dict.fromkeys(("least", "fewest", "minimum", "min", "minimal"), (("lowest", ANY),)),
    "furthest": (("highest", "distance"),),
    "farthest": (("highest", "distance"),),
    "last": (("highest", "date"),),
    "best": _GOOD,
    "worst": _opposite(_GOOD),
}
_COMPARATIVES: dict[str, tuple[Sense, ...]] = {
    **{_forms(base, "er"): senses for base, senses in _ADJECTIVES.items()},
    **dict.fromkeys(("more", "over", "above", "exceeds", "exceed"), (("highest", ANY),)),
    **dict.fromkeys(("less", "fewer", "under", "below"), (("lowest", ANY),)),
    "better": _GOOD,
    "worse": _opposite(_GOOD),
}
_NO_SUPERLATIVES = word_set(
    "west interest request test rest guest forest latest harvest contest invest suggest "
    "protest honest digest manifest chest nest vest quest crest budapest bucharest est "
    "northwest southwest modest arrest behest ingest attest pest priest breast zest midwest "
    "everest trieste"
) - {"latest"}
NEGATIONS = word_set(
    "not no never none neither nor without cannot except excluding lacks lack fails nobody "
    "nothing unable false"
)
_NO_DENIAL = re.compile(
    r"\w_no\b|(?<=[a-z])No\b|\b[A-Z]\w* No\b|\b[Nn]o-(?=\w)"  # ord_no, ClaimNo, Order No, no-show
)
_ORDINALS = {
    word: number
    for number, words in enumerate(("second 2nd", "third 3rd", "fourth 4th", "fifth 5th"), start=2)
    for word in words.split()
}
GENERIC = word_set(
    "n count total value number num amount sum avg average mean min max result score cnt x y "
    "c v of the per by in a an as id key name names"
)
"""Words of column names that do not describe the column."""

_IRREGULAR = {
    "left": "leave",
    "lost": "lose",
    "sold": "sell",
    "bought": "buy",
    "spent": "spend",
    "held": "hold",
    "took": "take",
    "taken": "take",
    "went": "go",
    "brought": "bring",
    "wrote": "write",
    "written": "write",
    "won": "win",
    "kept": "keep",
    "made": "make",
}
_CONDITION = re.compile(
    r"(?P<at_least>at least|no less than|not less than|no fewer than|minimum of|from at least)|"
    r"(?P<at_most>at most|no more than|not more than|up to|within|maximum of|not exceed(?:ing)?)|"
    r"(?P<more>more than|greater than|higher than|larger than|longer than|over|above|"
    r"exceed(?:s|ing)?|older than|heavier than|later than|after)|"
    r"(?P<less>less than|fewer than|lower than|smaller than|cheaper than|shorter than|under|below|"
    r"younger than|lighter than|earlier than|before)",
    re.IGNORECASE,
)
_BOUND_WORDS = re.compile(
    r"\b(at least|no more than|not more than|no less than|no fewer than|not exceed(?:ing)?)\b"
    r"|\bno matter\b|\bwithout (?:repeats|duplicates|repetitions?)\b"
    r"|\b(?:also|even|or|including) (?:\w+ ){0,3}without\b",
    re.I,
)
_NEAR = 300
"""Characters before and after a bound that are searched for its words."""
_QUANTITY = re.compile(rf"\s*(?:an?\s+|the\s+)?(?:[A-Z]{{3}}\s*|[$€£]\s*)?({NUMBER})(?!\w*[-/]\d)")


class Superlative(NamedTuple):
    """A word such as "cheapest", its possible senses, and the place that it asks for."""

    word: str
    senses: tuple[Sense, ...]
    place: int = 1


class Bound(NamedTuple):
    """A bound such as "at least 4", and the roots of the words around it."""

    relation: Literal["at_least", "at_most", "more", "less"]
    number: float
    text: str
    roots: frozenset[str]

    def is_met_by(self, value: float) -> bool:
        """Whether a value meets the bound."""
        return {
            "at_least": value >= self.number,
            "at_most": value <= self.number,
            "more": value > self.number,
            "less": value < self.number,
        }[self.relation]


def tokens(text: str) -> list[str]:
    """The words and numbers of a text in lower case; ``unitPrice`` counts as two words."""
    return [word.lower() for word in _WORD.findall(_CAMEL.sub(" ", _OF.sub(" ", text)))]


@lru_cache(maxsize=1 << 16)
def root(word: str) -> str:
    """The common root of singular and plural: at most six letters."""
    word = word.lower()
    if len(word) > 4 and word.endswith("ies"):
        word = f"{word[:-3]}y"
    elif len(word) > 4 and word.endswith("ie"):  # movie, movies
        word = f"{word[:-2]}y"
    elif len(word) > 3 and word.endswith("s") and not word.endswith("ss"):
        word = word[:-1]
    return word[:6]


def stem(word: str) -> str:
    """The common stem of all forms of a word: ``late`` and ``lateness``, ``left`` and ``leave``.

    It distinguishes fewer words than :func:`root`, which also serves for names.
    """
    plain = _IRREGULAR.get(word.lower(), word.lower())
    return re.sub(r"(?:e?ness|ings?|ed|es|s|e|able)$", "", plain)[:6] if len(plain) > 3 else plain


GENERIC_ROOTS = frozenset(map(root, GENERIC))


def roots(text: str) -> frozenset[str]:
    """The roots of the words of a text, without numbers."""
    return frozenset(root(word) for word in tokens(text) if not word[0].isdigit())


def is_of_kind(kind: str, column: Iterable[str]) -> bool:
    """Whether a column (the roots of its words) is of a kind."""
    return bool({root(word) for word in KINDS.get(kind, ())} & set(column))


def find_superlatives(text: str) -> list[Superlative]:
    """Find the superlatives of a text; an unknown one has no senses."""
    words = tokens(text)
    found = []
    for at, word in enumerate(words):
        after = words[at + 1] if at + 1 < len(words) else ""
        place = next((_ORDINALS[w] for w in words[max(0, at - 1) : at] if w in _ORDINALS), 1)
        if word in ("most", "least") and after in _AFTER_MOST:
            senses = _AFTER_MOST[after]
            found.append(Superlative(word, senses if word == "most" else _opposite(senses), place))
        elif word in ("most", "least") and words[max(0, at - 1)] == "at":
            continue
        elif word in _SUPERLATIVES and not (word == "last" and after in ("year", "month", "week")):
            found.append(Superlative(word, _SUPERLATIVES[word], place))
        elif len(word) > 5 and word.endswith("est") and word not in _NO_SUPERLATIVES:
            found.append(Superlative(word, (), place))
    return found


def find_comparatives(text: str) -> list[Superlative]:
    """Find the comparatives of a text that are followed by "than", and "exceeds"."""
    words = tokens(text)
    found = []
    for at, word in enumerate(words):
        near = words[at + 1 : at + 9]
        if word in ("more", "less") and near[:1] and near[0] in _AFTER_MOST:
            senses = _AFTER_MOST[near[0]]
            found.append(Superlative(word, senses if word == "more" else _opposite(senses)))
        elif word in _COMPARATIVES and ("than" in near or word in ("exceeds", "exceed")):
            found.append(Superlative(word, _COMPARATIVES[word]))
    return found


def find_bounds(text: str) -> list[Bound]:
    """Find the bounds on numbers in a text."""
    found = []
    for match in _CONDITION.finditer(text):
        quantity = _QUANTITY.match(text, match.end())
        if not quantity or not match.lastgroup:
            continue
        before = re.split(
            r"[,;:.!?]\s|\b(?:and|which|that|who|with)\b",
            text[max(0, match.start() - _NEAR) : match.start()],
        )[-1]
        behind = re.split(
            r"[,;:!?]|\.\s|\b(?:and|or|with|at)\b", text[quantity.end() : quantity.end() + _NEAR]
        )[0]
        around = [*tokens(before)[-4:], *tokens(behind)[:3]]
        relation: str = match.lastgroup
        number = float(re.sub(r"[^\d.]", "", quantity[1]))
        whole = text[match.start() : quantity.end()].strip()
        found.append(
            Bound(relation, number, whole, frozenset(map(root, around)))  # type: ignore[arg-type]
        )
    return found


def count_negations(text: str) -> int:
    """Count the negative words of a text."""
    plain = _NO_DENIAL.sub(" ", re.sub("n['\u2019]t\\b", " not ", text))
    return sum(word in NEGATIONS for word in tokens(plain))


def denies(text: str) -> bool:
    """Whether a text denies something; a bound such as "no more than" does not count."""
    return count_negations(_BOUND_WORDS.sub("", text)) > 0


def find_numbers(text: str) -> list[float]:
    """Find the numbers of a text in order, without those in names such as ``S-12``."""
    found = re.finditer(rf"(?<![\w.-])(-?)(?:[$€£]|[A-Z]{{3}}\s?)?({NUMBER})(?![\d])", text)
    return [float(match[1] + re.sub(r"[^\d.]", "", match[2])) for match in found]
