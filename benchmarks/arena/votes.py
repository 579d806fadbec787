"""Arena: votes on the better of two texts on the same task, without naming the authors.

Wang et al. 2024, section 4.1: every pair of methods on every task, with the answers A, B, tie and
both bad.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import combinations
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

from pydantic import BaseModel, TypeAdapter

from planweave import BadInput
from planweave.benchmarks.core.lines import LineFile, read_lines
from planweave.benchmarks.core.metrics import group_by_method
from planweave.benchmarks.core.record import Record
from planweave.texts import digest

PairVerdict: TypeAlias = Literal["a", "b", "tie", "both_bad"]
MODEL = "model:"
"""Prefix of a voter that is a language model."""


class WrittenText(NamedTuple):
    """A text and the method that wrote it."""

    source: str
    text: str

    @property
    def digest(self) -> str:
        """Identifies the text."""
        return digest(self.text)


@dataclass(frozen=True)
class Pairing:
    """Two texts on one task."""

    task: str
    asked: str
    a: WrittenText
    b: WrittenText

    @property
    def key(self) -> str:
        """Identifies the pairing by its texts, without authors and sides."""
        return digest("\0".join([self.asked, *sorted((self.a.text, self.b.text))]))


class Vote(BaseModel, frozen=True):
    """A line of a file of votes; it identifies texts but not their authors."""

    match: str
    task: str
    a: str  # digest of the text on side A
    b: str
    verdict: PairVerdict | None
    voter: str
    unswapped: PairVerdict | None = None
    swapped: PairVerdict | None = None  # of a judge: its verdict with B shown before A
    at: str


class ArenaVote(NamedTuple):
    """A vote on the texts of two methods."""

    task: str
    a: str
    b: str
    verdict: PairVerdict


_VOTE: TypeAdapter[Vote] = TypeAdapter(Vote)


def make_pairings(records: Iterable[Record], seed: int) -> list[Pairing]:
    """Every pair of texts on the same task, in a random order and on random sides.

    Both depend only on the seed and the texts, so that further texts do not change existing
    pairings. Equal texts are not compared.
    """
    asked: dict[str, str] = {}
    entries: dict[str, list[WrittenText]] = {}
    for label, own in group_by_method(list(records)).items():
        for record in own:
            if text := record.score.answer:
                asked[record.question] = str(record.score.details.get("asked", record.question))
                entries.setdefault(record.question, []).append(WrittenText(label, text))
    made = []
    for task, written in entries.items():
        for pair in combinations(sorted(written, key=lambda entry: entry.text), 2):
            if pair[0].text != pair[1].text:
                match = Pairing(task, asked[task], *pair)
                draw = digest(f"{seed} {match.key}")
                swap = int(draw[0], 16) % 2
                made.append((draw, Pairing(task, asked[task], *pair[::-1]) if swap else match))
    if not made:
        raise BadInput(
            "The result files contain no two different texts on one task.",
            fix="Run at least two methods: planweave bench writing.",
        )
    return [match for _, match in sorted(made, key=lambda drawn: drawn[0])]


class Votes:
    """Votes on pairings; the last vote of a voter on a pairing counts.

    If ``voter`` is a model, only its votes count; if it is a person, those of all people.
    """

    def __init__(self, todo: Sequence[Pairing], lines: Iterable[Vote], voter: str) -> None:
        self.matches = {match.key: match for match in todo}  # equal texts are compared once
        self.voter = voter
        self._all = todo
        self._votes = {(vote.match, vote.voter): vote for vote in lines}

    def left(self) -> list[Pairing]:
        """The pairings that the voter has not decided yet, in order."""
        return [
            match for key, match in self.matches.items() if (key, self.voter) not in self._votes
        ]

    def counted(self) -> list[Vote]:
        """The votes that count, without those on removed texts."""
        mine = self.voter if self.voter.startswith(MODEL) else None
        return [
            vote
            for vote in self._votes.values()
            if vote.match in self.matches
            and (vote.voter == mine if mine else not vote.voter.startswith(MODEL))
        ]

    def decisions(self) -> list[ArenaVote]:
        """The votes as votes on methods, in the order of casting."""
        return [
            ArenaVote(match.task, *_side_sources(match, vote), vote.verdict)
            for vote in self.counted()
            if vote.verdict
            for match in self._all
            if match.key == vote.match
        ]


class Ballot(Votes):
    """The ballot of one voter, over a file to which each vote is appended.

    Votes of others stay. ``notify`` gets a sentence on repairs of the file.
    """

    def __init__(
        self, todo: Sequence[Pairing], path: Path, voter: str, notify: Callable[[str], None]
    ) -> None:
        self._file = LineFile(path, _VOTE, notify)
        super().__init__(todo, self._file.lines, voter)

    def cast(
        self,
        match: Pairing,
        verdict: PairVerdict | None,
        *,
        unswapped: PairVerdict | None = None,
        swapped: PairVerdict | None = None,
    ) -> None:
        """Append a vote; it is on the disk when this returns."""
        vote = Vote(
            match=match.key,
            task=match.task,
            a=match.a.digest,
            b=match.b.digest,
            verdict=verdict,
            voter=self.voter,
            unswapped=unswapped,
            swapped=swapped,
            at=datetime.now(UTC).isoformat(timespec="seconds"),
        )
        self._file.append(vote)
        self._votes[vote.match, vote.voter] = vote

    def close(self) -> None:
        """Close the file, so that other processes may write it."""
        self._file.close()


def read_votes(path: Path) -> list[Vote]:
    """Read the votes of a file, without an incomplete last line; none if there is no file."""
    return read_lines(path, _VOTE).lines if path.exists() else []


def _side_sources(match: Pairing, vote: Vote) -> tuple[str, str]:
    """The authors of the texts that the vote calls A and B."""
    first, second = match.a, match.b
    if first.digest != vote.a:
        first, second = second, first
    return first.source, second.source
