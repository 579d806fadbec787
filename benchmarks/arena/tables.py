"""Tables of votes: skill, win rates, every pair, and the position bias of a judge."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from math import sqrt
from statistics import NormalDist
from typing import NamedTuple

from planweave.benchmarks.arena.votes import ArenaVote, Vote
from planweave.benchmarks.core.metrics import Estimate, rate
from planweave.benchmarks.core.table import ReportTable, Rows, table_of_rows
from planweave.errors import require

_DRAW_PROBABILITY = 0.1
"""TrueSkill's usual probability of a draw between equals."""


class Skill(NamedTuple):
    """Skill of a method as a normal distribution; 25 and 25/3 before the first vote."""

    mean: float
    deviation: float


class Standing(NamedTuple):
    """A method in the arena; a tie counts as half a win."""

    source: str
    skill: Skill
    rate: Estimate
    wins: int
    ties: int
    bad: int


def skills(decisions: Sequence[ArenaVote]) -> dict[str, Skill]:
    """Skill by TrueSkill (Herbrich, Minka & Graepel 2006), vote by vote; both bad is a draw.

    For two players the model of Thurstone and Mosteller is TrueSkill, given its draw margin and
    undamped variances.
    """
    require("The arena", "arena", "openskill")
    from openskill.models import ThurstoneMostellerFull, ThurstoneMostellerFullRating

    beta = 25 / 6
    margin = NormalDist().inv_cdf((_DRAW_PROBABILITY + 1) / 2) * sqrt(2) * beta
    model = ThurstoneMostellerFull(beta=beta, epsilon=margin, gamma=lambda *_, **__: 1.0)
    found: dict[str, ThurstoneMostellerFullRating] = {}
    for decision in decisions:
        a, b = (found.get(name) or model.rating() for name in (decision.a, decision.b))
        ranks = {"a": [1.0, 2.0], "b": [2.0, 1.0]}.get(decision.verdict, [1.0, 1.0])
        [[found[decision.a]], [found[decision.b]]] = model.rate([[a], [b]], ranks=ranks)
    return {name: Skill(rating.mu, rating.sigma) for name, rating in found.items()}


def standings(decisions: Sequence[ArenaVote]) -> list[Standing]:
    """Every method, the most skilled first."""
    found = []
    for source, skill in skills(decisions).items():
        own = [one for one in decisions if source in (one.a, one.b)]
        points = rate([_win_points(one, source) for one in own], [one.task for one in own])
        assert points is not None  # noqa: S101 (a method is rated by its votes)
        found.append(
            Standing(
                source=source,
                skill=skill,
                rate=points,
                wins=sum(_win_points(one, source) == 1 for one in own),
                ties=sum(one.verdict == "tie" for one in own),
                bad=sum(one.verdict == "both_bad" for one in own),
            )
        )
    return sorted(found, key=lambda one: -one.skill.mean)


def _win_points(decision: ArenaVote, source: str) -> float:
    if decision.verdict in ("tie", "both_bad"):
        return 0.5
    return float((decision.a if decision.verdict == "a" else decision.b) == source)


def arena_tables(
    decisions: Sequence[ArenaVote], votes: Sequence[Vote], who: str
) -> list[ReportTable]:
    """All tables; ``who`` names the voters in their titles."""
    tables = (_standings(decisions), _pairs(decisions), _judge(votes))
    return [replace(one, title=f"{one.title} ({who})") for one in tables if one.rows]


@table_of_rows(
    "Standings",
    "method | skill ± 2 sd | win rate | wins | ties | both bad",
    note="Skill: TrueSkill, start 25, in the order of the votes; both bad is a draw. Win rate: "
    "draws count half; in brackets the 95 % interval (Wilson, with errors clustered by task) "
    "and how many comparisons with other methods the votes decide: a vote on a text that "
    "several methods wrote counts for each of them.",
)
def _standings(decisions: Sequence[ArenaVote]) -> Rows:
    for one in standings(decisions):
        skill = f"{one.skill.mean:.1f} ± {2 * one.skill.deviation:.1f}"
        yield one.source, skill, one.rate, one.wins, one.ties, one.bad


@table_of_rows(
    "Every pair", "first | second | win rate of the first | first better | second better"
)
def _pairs(decisions: Sequence[ArenaVote]) -> Rows:
    for first, second in combinations(sorted({name for one in decisions for name in one[1:3]}), 2):
        own = [one for one in decisions if {one.a, one.b} == {first, second}]
        points = [_win_points(one, first) for one in own]
        if found := rate(points, [one.task for one in own]):
            yield first, second, found, points.count(1.0), points.count(0.0)


@table_of_rows(
    "The judge itself",
    "pairs | same verdict both ways round | prefers what it reads first | unread",
    note="A verdict that changes with the order counts as a tie. A judge that goes by the "
    "texts alone prefers what it reads first in half of its verdicts for either side.",
)
def _judge(votes: Sequence[Vote]) -> Rows:
    """Position bias of a judge that sees both orders; empty for people."""
    both = [vote for vote in votes if vote.unswapped and vote.swapped]
    sided = [
        (preferred == place, vote.task)
        for vote in both
        for preferred, place in ((vote.unswapped, "a"), (vote.swapped, "b"))
        if preferred in ("a", "b")
    ]
    first = rate([value for value, _ in sided], [task for _, task in sided])
    same = rate([v.unswapped == v.swapped for v in both], [v.task for v in both])
    unread = sum(vote.verdict is None for vote in votes)
    if both or unread:
        yield len(both), same, first, unread
