"""Spans by TAT-QA's metric (Zhu et al. 2021, section 5.1): exact match and F1, scale included.

Its normalisation of numbers and words is written from the published evaluation script.
"""

import re
import string
from collections.abc import Sequence

from planweave.benchmarks.suites.agents.quantity import is_number, quantities
from planweave.tools.short_answers import AnswerMatch

SCALES = {"thousand": 1e3, "million": 1e6, "billion": 1e9, "percent": 0.01}

_SCALE = re.compile(rf"\b({'|'.join(SCALES)})s?\b", re.IGNORECASE)
_ARTICLE = re.compile(r"\b(a|an|the)\b")
_SEPARATORS = (r"\s*;\s*", r"\s*[;,](?!\d)\s*", r"\s*(?:;|,(?!\d)|\band\b)\s*")
_SIGNS = str.maketrans("", "", string.punctuation)


def match_spans(gold: Sequence[str], scale: str, answer: str) -> AnswerMatch:
    """Compare an answer with the gold one.

    The answer names its scale in words. If the gold has several spans, the answer is split in the
    way that matches best.
    """
    wanted = _normalised_words(_join_spans(gold, scale))
    best = AnswerMatch(0.0, 0.0)
    for parts in _split_spans(answer) if len(gold) > 1 else [[answer]]:
        for form in _answer_forms(parts):
            words = _normalised_words(form)
            exact = float(bool(words) and words == wanted)
            best = max(best, AnswerMatch(exact, _f1(set(words), set(wanted))))
    return best


def _split_spans(answer: str) -> list[list[str]]:
    """The ways to split a text into spans; a span may itself hold a comma or an "and"."""
    return [list(filter(None, re.split(separator, answer))) for separator in _SEPARATORS]


def _answer_forms(parts: Sequence[str]) -> list[str]:
    """The forms of an answer to compare; a bare number may also be an unrounded share of 1."""
    named = (
        [m for part in parts if (m := _SCALE.search(part))] if all(map(is_number, parts)) else []
    )
    scale = named[-1][1].lower() if named else ""
    plain = [_SCALE.sub("", part).strip() if scale else part for part in parts]
    forms = [_join_spans(plain, scale)]
    if len(plain) == 1 and not scale and "%" not in plain[0] and is_number(plain[0]):
        forms.append(f"{quantities(plain[0])[0].value:.4f}")
    return forms


def _join_spans(parts: Sequence[str], scale: str) -> str:
    return " ".join(_with_scale(part, scale) for part in sorted(parts))


def _with_scale(part: str, scale: str) -> str:
    if not is_number(part):
        return f"{part} {scale}".strip()
    (found,) = quantities(part)
    value = found.value * found.scale
    if found.percent:
        return f"{value / 100:.4f}"
    return f"{round(value, 2) * SCALES.get(scale, 1.0):.4f}"


def _normalised_words(text: str) -> list[str]:
    """Lower-case words without punctuation and articles; numbers by their value."""
    plain = (_normalise_word(word) for word in re.split(r"[\s-]+(?!\d)|\s+", text.lower()))
    return _ARTICLE.sub(" ", " ".join(plain)).split()


def _normalise_word(word: str) -> str:
    if is_number(word):
        (found,) = quantities(word)
        return f"{found.value * found.scale / (100 if found.percent else 1):.4f}"
    return word.translate(_SIGNS)


def _f1(answer: set[str], gold: set[str]) -> float:
    common = len(answer & gold)
    return round(2 * common / (len(answer) + len(gold)), 2) if common else 0.0
