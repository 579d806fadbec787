"""Tasks of environments: paths replayed and followed without a language model, and how fast."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean
from time import perf_counter
from typing import TypeAlias

from planweave import BadInput
from planweave.benchmarks.core.metrics import Estimate, Spread, rate, spread
from planweave.benchmarks.core.table import ReportTable
from planweave.benchmarks.suites.environment.players import Lead, Player, player_of
from planweave.benchmarks.suites.environment.suite import ENDS
from planweave.learning.guide import Guide
from planweave.tools.environments import Environment, EnvironmentFailed, Observation, Task

MOST_STEPS = 100
"""Actions of a player in one task, at most; a gold path is done to its end."""

_PROPOSALS = 3

Choose: TypeAlias = Callable[[Task], Player]
"""Who plays a task that has begun."""


@dataclass(frozen=True, kw_only=True)
class Played:
    """One task as it was played."""

    task: str
    kind: str
    score: float
    done: bool
    steps: int
    recall: float | None  # share of the gold path's actions but the last that were done
    choice_seconds: float
    reset_seconds: float
    step_seconds: float  # with those of the player
    error: str = ""

    def as_json(self) -> dict[str, object]:
        """With numbers rounded to four digits after the point."""
        return {n: round(v, 4) if isinstance(v, float) else v for n, v in asdict(self).items()}


class Gold:
    """Does the gold path."""

    def __init__(self, task: Task) -> None:
        self._left = [*(task.gold or ())]

    def act(self, _seen: Observation, _possible: object) -> str | None:
        """The next action of the path."""
        return self._left.pop(0) if self._left else None


@dataclass(frozen=True, kw_only=True)
class Summary:
    """What a policy came to."""

    policy: str
    score: Estimate
    success: Estimate  # share of tasks with the whole score
    recall: float | None
    kinds: Mapping[str, tuple[float, int]]  # mean score and number of tasks by kind
    steps: Spread
    choice_seconds: Spread  # what choosing a task's path took; the first choice also prepares
    reset_seconds: Spread
    steps_per_second: float  # over all tasks, without their beginnings
    crashes: int
    timeouts: int  # times that it was ended because a step took too long
    given_up: Sequence[str]


def followers(environment: Environment, guide: Guide, *, proposed: bool) -> Choose:
    """Players that follow a path of past successes.

    A player is chosen for the task that has begun in ``environment``. With ``proposed`` it
    follows the one that is selected of three proposals (InstructRAG); else, or where no path
    fits the question, the whole path of the nearest question (RAP).
    """
    made = player_of(environment.name)

    def player(task: Task) -> Player:
        candidates = guide.propose(task.question, _PROPOSALS) if proposed else []
        if candidates:
            path = candidates[guide.select(task.question, candidates)].instructions
        else:
            path = guide.form(guide.nearest(task.question, 1)[0])
        return made(lead(guide, task.question, path))

    return player


def lead(guide: Guide, question: str, path: Sequence[str]) -> Lead:
    """What a player follows: a path with the names of the question in its slots."""
    return Lead(question, guide.adapted(path, question), guide.slots.names(question))


def play(
    environment: Environment, tasks: Iterable[Task], choose: Choose, most: int = MOST_STEPS
) -> Iterable[Played]:
    """Play tasks one after the other, each with at most so many actions of a player."""
    for task in tasks:
        yield _played(environment, task, choose, most)


def _played(environment: Environment, task: Task, choose: Choose, most: int) -> Played:
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
    if begun == started:  # the environment failed before it had begun
        begun = chosen = ended
    return Played(
        task=task.id,
        kind=task.kind,
        score=seen.score,
        done=seen.done,
        steps=len(done),
        recall=_recall(done, task.gold),
        choice_seconds=chosen - begun,
        reset_seconds=begun - started,
        step_seconds=ended - chosen,
        error=error,
    )


def _recall(done: Sequence[str], gold: Sequence[str] | None) -> float | None:
    wanted = {action.lower() for action in (gold or ())[:-1]}
    return len(wanted & {action.lower() for action in done}) / len(wanted) if wanted else None


def summary(policy: str, played: Sequence[Played], environment: Environment) -> Summary:
    """Means over the tasks that were played."""
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


def table(name: str, made: Sequence[Summary]) -> ReportTable:
    """The policies of an environment side by side."""
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
