"""A fuzz that follows coverage: what takes a guard along a new way is kept, and varied further.

``sys.settrace`` sees which line of the watched files follows which. A statement that shows a new
pair joins the corpus; the next statements are made from the corpus, those that came last more
often. All follows from a seed.
"""

import os
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from types import FrameType, ModuleType
from typing import Any

from tally import RecordTried

from planweave.tools.database import QueryFailed, QueryRefused

_PIECE = re.compile(r"\w+|\s+|.", re.DOTALL)
_LONGEST = 600
_SIGNS = "'\"`;()[]{}.,:$@\\/*-+=|&<>!?#~^%_ \n\t\r\x00\u00a0\u200b\u2028\uff07\ud800eEuUxXnNbB019"
Arc = tuple[str, int, int]


def seconds(full: bool) -> float:
    """How long to go on, in processor time; ``PLANWEAVE_ATTACK_SECONDS`` says otherwise."""
    return float(os.environ.get("PLANWEAVE_ATTACK_SECONDS", "60" if full else "0.5"))


def respelled(text: str, draw: random.Random, spaces: Sequence[str]) -> str:
    """Other white space, comments and letters; texts stay what they are, mostly."""
    how = draw.random()
    if how < 0.5:
        return text
    if how < 0.6:
        return text.swapcase()
    pieces = text.split(" ")
    return "".join(
        piece + (draw.choice(spaces) if draw.random() < 0.3 else " ") for piece in pieces
    )


def damaged(text: str, draw: random.Random, known: Sequence[str], tokens: Sequence[str]) -> str:
    """Some words left out, twice, elsewhere, or from a known statement, and tokens added."""
    pieces = text.split(" ")
    for _ in range(draw.randint(1, 3)):
        place = draw.randrange(len(pieces) + 1)
        other = draw.choice(known).split(" ")
        start = draw.randrange(len(other))
        match draw.randint(0, 4):
            case 0:
                del pieces[place : place + 1]
            case 1:
                pieces.insert(place, draw.choice(tokens))
            case 2:
                pieces[place:place] = other[start : start + draw.randint(1, 4)]
            case 3:
                pieces[place:place] = pieces[start : start + 1]
            case _:
                pieces[place:] = other[start:]
    return " ".join(pieces)


class Guided:
    """A source of statements that learns from what they reach.

    Args:
        seed: What the statements follow from.
        watched: Modules of the guard.
        known: Statements to begin with.
        fresh: Makes a statement by a grammar.
    """

    def __init__(
        self,
        seed: int,
        watched: Sequence[ModuleType],
        known: Sequence[str],
        fresh: Callable[[], str],
    ) -> None:
        self._draw = random.Random(f"guided{seed}")
        self._files = {str(module.__file__) for module in watched}
        self._fresh = fresh
        self._known = [statement for statement in known if 0 < len(statement) < _LONGEST]
        self._words = sorted({piece for one in self._known for piece in _PIECE.findall(one)})
        self.corpus: list[str] = []
        self.arcs: set[Arc] = set()

    def statements(self, seconds: float) -> Iterator[str]:
        """The known statements, and then others until the processor time is over."""
        yield from self._known  # a few of them take long
        end = time.process_time() + seconds
        while time.process_time() < end:
            yield self._next()

    @contextmanager
    def watching(self, statement: str) -> Iterator[None]:
        """Keep the statement if the block goes a new way through the watched files."""
        seen: set[Arc] = set()
        last: dict[FrameType, int] = {}

        def line(frame: FrameType, event: str, argument: object) -> Any:
            before, last[frame] = last.get(frame, 0), frame.f_lineno
            seen.add((frame.f_code.co_filename, before, frame.f_lineno))
            return line

        def call(frame: FrameType, event: str, argument: object) -> Any:
            return line if frame.f_code.co_filename in self._files else None

        outer = sys.gettrace()
        sys.settrace(call)
        try:
            yield
        finally:
            sys.settrace(outer)
            if not seen <= self.arcs:
                self.arcs |= seen
                self.corpus.append(statement)

    def _next(self) -> str:
        if self._draw.random() < 0.2 or not self.corpus:
            return self._fresh()
        place = max(self._draw.randrange(len(self.corpus)), self._draw.randrange(len(self.corpus)))
        text = self.corpus[place]
        for _ in range(self._draw.choice((1, 1, 2, 4))):
            text = self._varied(text)
        return text[:_LONGEST]

    def _varied(self, text: str) -> str:
        draw, pieces = self._draw, _PIECE.findall(text) or [""]
        place = draw.randrange(len(pieces))
        other = _PIECE.findall(draw.choice(self.corpus)) or [""]
        start = draw.randrange(len(other))
        match draw.randrange(8):
            case 0:
                del pieces[place]
            case 1:
                pieces[place] = draw.choice(self._words)
            case 2:
                pieces.insert(place, draw.choice(self._words))
            case 3:
                pieces.insert(place, draw.choice(_SIGNS))
            case 4:
                pieces[place:place] = other[start : start + draw.randint(1, 12)]
            case 5:
                pieces[place:] = other[start:]
            case 6:  # a part of the statement again, elsewhere
                end = place + draw.randint(1, 8)
                pieces[start:start] = pieces[place:end]
            case _:
                spot = draw.randrange(len(text) + 1)
                return text[:spot] + draw.choice(_SIGNS) + text[spot + draw.randint(0, 1) :]
        return "".join(pieces)


def attacked(
    guided: Guided,
    generated: Iterable[str],
    guard: Callable[[str], str],
    harm: Callable[[Sequence[str]], list[str]],
    record: RecordTried,
    name: str,
    *,
    full: bool,
    at_once: int = 1,
) -> list[str]:
    """Put statements to a guard, and to the engine what it lets pass; those that did harm.

    They are made by a grammar, and then follow what they reach in the guard. ``harm`` gets as many
    at once as are told.
    """
    ways: list[tuple[str, Iterable[str], Callable[[str], AbstractContextManager[None]]]] = [
        ("generated", generated, lambda _: nullcontext()),
        ("guided", guided.statements(seconds(full)), guided.watching),
    ]
    found: list[str] = []
    for kind, statements, watching in ways:
        counted, before, passed = Counter[str](), len(found), list[str]()
        for statement in statements:
            counted["tried"] += 1
            try:
                with watching(statement):
                    passed.append(guard(statement))
            except (QueryRefused, QueryFailed) as error:
                counted[type(error).__name__] += 1
            except Exception as error:  # the guard itself must not fail
                found.append(f"{statement!r}: {type(error).__name__}: {error}")
            else:
                counted["passed"] += 1
            if len(passed) == at_once:
                found += harm(passed)
                passed = []
        found += harm(passed)
        record(counted["tried"], len(found) - before, f"{name} {kind}")
        print(name, kind, dict(counted))  # noqa: T201 (how much got through: what it is worth)
        assert counted["passed"] > counted["tried"] / 50, "too little is made that passes"
    print(len(guided.arcs), "arcs by", len(guided.corpus), "statements")  # noqa: T201
    return found
