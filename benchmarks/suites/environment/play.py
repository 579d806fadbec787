"""Plays tasks of environments without a language model, by replaying or following paths."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean
from time import perf_counter
from typing import TypeAlias

from planweave import BadInput
from planweave.benchmarks.core.metrics import Estimate, Spread, rate, spread
from planweave.benchmarks.core.table import ReportTable
from planweave.benchmarks.suites.environment.players import Lead, Player, player_factory
from planweave.benchmarks.suites.environment.suite import ENDS
from planweave.learning.guide import Guide
from planweave.tools.environments import Environment, EnvironmentFailed, Observation, Task

MOST_STEPS = 100
"""The most actions of a player in one task; a gold path is played to its end."""

_PROPOSALS = 3

Choose: TypeAlias = Callable[[Task], Player]
"""Returns the player of a task that has begun."""


@dataclass(frozen=True, kw_only=True)
class Played:
    """One played task."""

    task: str
    kind: str
    score: float
    done: bool
    steps: int
    recall: float | None  # share of the gold path's actions, except the last, that were done
    choice_seconds: float
    reset_seconds: float
    step_seconds: float  # including those of the player
    error: str = ""

    def as_json(self) -> dict[str, object]:
        """As JSON, with numbers rounded to four decimals."""
        return {n: round(v, 4) if isinstance(v, float) else v for n, v in asdict(self).items()}


class Gold:
    """Follows the gold path."""

    def __init__(self, task: Task) -> None:
        self._left = [*(task.gold or ())]

    def act(self, _seen: Observation, _possible: object) -> str | None:
        """The next action of the path."""
        return self._left.pop(0) if self._left else None


@dataclass(frozen=True, kw_only=True)
class Summary:
    """The results of a policy."""

    policy: str
    score: Estimate
    success: Estimate  # share of tasks with the whole score
    recall: float | None
    kinds: Mapping[str, tuple[float, int]]  # mean score and number of tasks by kind
    steps: Spread
    choice_seconds: Spread  # seconds to choose a task's path; the first choice includes preparation
    reset_seconds: Spread
    steps_per_second: float  # over all tasks, without their resets
    crashes: int
    timeouts: int  # number of time-outs of a step
    given_up: Sequence[str]


def path_followers(environment: Environment, guide: Guide, *, proposed: bool) -> Choose:
    """A function that makes players which follow a path of past successes.

    With ``proposed``, a player follows the best of three proposals (InstructRAG). Otherwise, or if
    no path fits the question, it follows the whole path of the nearest question (RAP).
    """
    make_player = player_factory(environment.name)

    def player(task: Task) -> Player:
        candidates = guide.propose(task.question, _PROPOSALS) if proposed else []
        if candidates:
            path = candidates[guide.select(task.question, candidates)].instructions
        else:
            path = guide.form(guide.nearest(task.question, 1)[0])
        return make_player(make_lead(guide, task.question, path))

    return player


def make_lead(guide: Guide, question: str, path: Sequence[str]) -> Lead:
    """The lead of a player: a path whose slots hold the names of the question."""
    return Lead(question, guide.adapted(path, question), guide.slots.names(question))


def play(
    environment: Environment, tasks: Iterable[Task], choose: Choose, most: int = MOST_STEPS
) -> Iterable[Played]:
    """Play tasks in order, each with at most ``most`` actions of a player."""
    for task in tasks:
        yield _play_task(environment, task, choose, most)


def _play_task(environment: Environment, task: Task, choose: Choose, most: int) -> Played:
    done: list[str] = []
    seen, error = Observation(""), ""
    started = begun = chosen = perf_counter()
    try:
        seen = environment.reset(task)
        begun = chosen = perf_counter()
        player = choose(task)
        chosen = perf_counter()
        most = len(task.gold or ()) if isinstance(player, Gold) else most
        while not seen.done and len(done) < most:
            action = player.act(seen, environment.admissible)
            if action is None:
                break
            done.append(action)
            seen = environment.step(action)
    except EnvironmentFailed as failed:
        error = str(failed)
    ended = perf_counter()
    if begun == started:  # the environment failed to begin
        begun = chosen = ended
    return Played(
        task=task.id,
        kind=task.kind,
        score=seen.score,
        done=seen.done,
        steps=len(done),
        recall=_gold_recall(done, task.gold),
        choice_seconds=chosen - begun,
        reset_seconds=begun - started,
        step_seconds=ended - chosen,
        error=error,
    )


def _gold_recall(done: Sequence[str], gold: Sequence[str] | None) -> float | None:
    wanted = {action.lower() for action in (gold or ())[:-1]}
    return len(wanted & {action.lower() for action in done}) / len(wanted) if wanted else None


def summarise(policy: str, played: Sequence[Played], environment: Environment) -> Summary:
    """Means over the played tasks."""
    score, success = rate([p.score for p in played]), rate([p.score == 1 for p in played])
    steps, resets = spread([p.steps for p in played]), spread([p.reset_seconds for p in played])
    choices = spread([p.choice_seconds for p in played])
    if not (score and success and steps and resets and choices):
        raise BadInput(
            "There is no task to play.",
            fix="Name another split or policy; gold takes tasks with known paths (--data).",
        )
    recalls = [one.recall for one in played if one.recall is not None]
    kinds = {kind: [p.score for p in played if p.kind == kind] for kind in {p.kind for p in played}}
    return Summary(
        policy=policy,
        score=score,
        success=success,
        recall=fmean(recalls) if recalls else None,
        kinds={kind: (fmean(scores), len(scores)) for kind, scores in sorted(kinds.items())},
        steps=steps,
        choice_seconds=choices,
        reset_seconds=resets,
        steps_per_second=steps.mean * steps.n / sum(one.step_seconds for one in played),
        crashes=getattr(environment, "crashes", 0),
        timeouts=getattr(environment, "timeouts", 0),
        given_up=[f"{one.task}: {one.error}" for one in played if one.error],
    )


def play_table(name: str, made: Sequence[Summary]) -> ReportTable:
    """A table of the policies of an environment."""
    shown = [name for name in ENDS if any(getattr(one, name) for one in made)]
    heads = ("policy", "score", "success", "gold actions done", "steps", "steps a second")
    return ReportTable(
        title=f"{name}, without a language model",
        columns=(*heads, *(ENDS[name] for name in shown)),
        rows=[
            (
                *(one.policy, one.score, one.success, one.recall, one.steps, one.steps_per_second),
                *(getattr(one, name) for name in shown),
            )
            for one in made
        ],
        note="Means with 95 % intervals and the number of tasks; steps: mean · median · p95.",
    )
