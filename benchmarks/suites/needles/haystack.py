"""The haystack: a stretch of a text, cut at sentences, with needles spread over it."""

import random
import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from pathlib import Path

from pydantic import BaseModel

from planweave import BadInput
from planweave.records import read_records, read_text

CHARACTERS_PER_TOKEN = 4
"""Estimate for lengths; English prose has slightly more in common tokenisers."""

_PIECE = 300
_FIX = "Name a text file, or .jsonl or .jsonl.gz with a page's text on each line."


class _Page(BaseModel):
    text: str


@dataclass(frozen=True)
class Haystack:
    """A text in sentences; a sentence of over 300 characters is split."""

    sentences: tuple[str, ...]

    @classmethod
    def of(cls, text: str) -> "Haystack":
        """Split a text into sentences."""
        found = re.split(r"(?<=[.!?])\s+", " ".join(text.split()))
        pieces = (textwrap.wrap(whole, _PIECE, break_on_hyphens=False) for whole in found)
        return cls(tuple(chain.from_iterable(pieces)))

    @property
    def text(self) -> str:
        """The whole text."""
        return " ".join(self.sentences)

    def draw_stretch(self, characters: int, draw: random.Random) -> list[str]:
        """About so many characters from a random sentence on; the text is treated as a circle."""
        start = draw.randrange(len(self.sentences))
        rotated = self.sentences[start:] + self.sentences[:start]
        ends = list(accumulate(len(sentence) + 1 for sentence in rotated))
        if ends[-1] < characters:
            raise BadInput(
                f"The text has about {estimate_tokens(self.text)} tokens, which is too short.",
                fix="Name a longer text, or lower --longest.",
            )
        nearest = min(range(len(ends)), key=lambda at: abs(ends[at] - characters))
        return list(rotated[: nearest + 1])


def load(path: Path) -> Haystack:
    """Read a haystack: a text file, or JSON lines with the ``text`` of a page each."""
    if ".jsonl" in path.suffixes:
        text = "\n".join(page.text for page in read_records(path, _Page, fix=_FIX))
    else:
        text = read_text(path, fix=_FIX)
    if not text.strip():
        raise BadInput(f"{path} contains no text.", fix=_FIX)
    return Haystack.of(text)


def estimate_tokens(text: str) -> int:
    """Length of a text in tokens, estimated at four characters each."""
    return round(len(text) / CHARACTERS_PER_TOKEN)


def hide_needles(
    haystack: Haystack, needles: Sequence[str], length: int, draw: random.Random
) -> str:
    """Draw a stretch of the haystack and spread the needles evenly from beginning to end."""
    left = length * CHARACTERS_PER_TOKEN - sum(len(needle) + 1 for needle in needles)
    if left <= 0:
        raise BadInput(
            f"{len(needles)} needles alone are longer than {length} tokens.",
            fix="Raise --shortest, or lower --needles.",
        )
    sentences = haystack.draw_stretch(left, draw)
    starts = [0, *accumulate(len(sentence) + 1 for sentence in sentences)]
    for number, needle in reversed(list(enumerate(needles))):
        wanted = starts[-1] * number / max(1, len(needles) - 1)
        sentences.insert(min(range(len(starts)), key=lambda at: abs(starts[at] - wanted)), needle)
    return " ".join(sentences)
