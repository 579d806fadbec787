"""Groups paths into tasks, and splits the tasks into seen and unseen ones."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np
from pydantic import JsonValue

from planweave import BadInput
from planweave.benchmarks.core.suite import drawn
from planweave.learning.overlap import reward_by_overlap
from planweave.learning.paths import MetaTask, TaskOf, TaskPath, read_paths
from planweave.learning.rl_agent import Reward
from planweave.learning.slots import QuestionSlots, is_final_answer

EnvironmentName: TypeAlias = Literal["hotpotqa", "alfworld", "scienceworld", "webshop"]

_FEWEST_PATHS = 4  # paths of a task
_YEAR = re.compile(
    r"\b\d{4}\b|january|february|march|april|june|july|august|october|november", re.I
)
_RULES = (
    ("location", r"\b(where|city|country|state|town|county|located|continent|island|village)\b"),
    ("organisation", r"\b(company|organi[sz]ation|team|band|university|agency|club|group)\b"),
    ("work", r"\b(film|movie|book|novel|album|song|series|magazine|play|show|opera)\b"),
    ("event", r"\b(war|battle|election|tournament|cup|festival|match|event|season)\b"),
)
_GOODS = (
    (
        "fashion",
        r"shoes?|sneakers?|boots?|sandals?|slippers|flats|heels?|(t-?|sweat)?shirts?|hood(ie|ed)|"
        r"sweaters?|jackets?|coats?|dress(es)?|pants|jeans|shorts|leggings|socks|bras?|briefs|"
        r"underwear|bodysuit|cardigans?|blouses?|suits?|skirts?|sleeves?d?|tops?|wear|waist(band)?",
    ),
    (
        "beauty",
        r"hair|skin|nails?|lips?|lipstick|lashes|makeup|brush(es)?|tooth\w*|teeth|mouth ?wash|"
        r"body|bath|shampoo|conditioner|lotion|creams?|serum|soap|deodorant|perfume|parfum|fragrance|wax|"
        r"cosmetics?|scrubber",
    ),
    (
        "grocery",
        r"food|snacks?|cookies?|chips|chocolate|coffee|teas?|drinks?|sugar|syrup|sauce|cheese|"
        r"fruits?|nuts?|candy|cakes?|bread|sausage|jerky|popcorn|gluten|keto|flavou?r\w*|ounces?|"
        r"organic|seeds|macaroons",
    ),
    (
        "electronics",
        r"phones?|headphones?|speakers?|cameras?|tv|televisions?|computer|pc|intel|laptop|tablet|ipad|"
        r"iphone|cables?|charg\w+|usb|hdmi|bluetooth|wireless|microphone|projector|monitor|screen|"
        r"antenna|batter(y|ies)|power|apple|speed",
    ),
)


def answer_type(record: Mapping[str, JsonValue]) -> str:
    """The task of a HotpotQA record: one of twelve answer types; empty for the dev split.

    The data have no such label. The first match decides: yes or no; one of two things that the
    question offers with "or"; a date; a number; a person, if the question asks who; a location,
    organisation, work or event, if the question has a word for one; a nationality or another
    adjective; a common noun, if the answer has no capital; else another proper noun.
    """
    if record.get("split") == "dev":
        return ""
    question, answer = str(record.get("question")).lower(), str(record.get("gold_answer")).strip()
    tests = (
        ("yes or no", answer.lower() in ("yes", "no")),
        ("choice", " or " in question and answer.lower() in question),
        ("date", _YEAR.search(answer)),
        ("number", re.search(r"\d", answer)),
        ("person", re.search(r"\bwho(m|se)?\b", question)),
        *((name, re.search(words, question)) for name, words in _RULES),
        ("adjective", re.fullmatch(r"[A-Z]\w+(an|ish|ese|ic)", answer)),
        ("common noun", answer[:1].islower()),
        ("proper noun", True),
    )
    return next(name for name, fits in tests if fits)


def goods_type(record: Mapping[str, JsonValue]) -> str:
    """The task of a WebShop record: the kind of goods that its instruction names.

    The data have no true categories. The first match decides: fashion, beauty, grocery,
    electronics, else home.
    """
    instruction = str(record.get("question")).lower()
    found = (name for name, words in _GOODS if re.search(rf"\b({words})\b", instruction))
    return next(found, "home")


TASK_OF: dict[EnvironmentName, TaskOf | None] = {
    "hotpotqa": answer_type,
    "alfworld": None,
    "scienceworld": None,
    "webshop": goods_type,
}
"""The function that returns a record's task; None if records name it."""


@dataclass(frozen=True)
class PathTasks:
    """The tasks of a file, split by one seed."""

    seen: list[MetaTask]
    unseen: list[MetaTask]
    failed: list[TaskPath]  # recorded ones, and paths of other questions
    slots: QuestionSlots | None  # None if instructions stay as published
    forms: Mapping[str, str] = field(default_factory=dict)  # then: each path with slots

    @property
    def reward(self) -> Reward:
        """The overlap, in order, with the successful path."""
        return partial(reward_by_overlap, forms=self.forms)


def read_typed(environment: EnvironmentName | None, file: Path) -> list[TaskPath]:
    """Read the paths of a file with their tasks, except those that only answer.

    Without an environment, the records name their tasks.
    """
    rule = TASK_OF[environment] if environment else None
    paths = [path for path in read_paths(file, rule) if path.task or rule is None]
    return [path for path in paths if not all(map(is_final_answer, path.instructions))]


def load(environment: EnvironmentName, file: Path) -> list[TaskPath]:
    """Load the paths of a file that has enough of them to train and to test."""
    paths = read_typed(environment, file)
    if len(_by_task([path for path in paths if path.reward == 1])) < 2:
        raise BadInput(
            f"{file} has too few successful paths: two tasks of {_FEWEST_PATHS} paths, not "
            "all of one question, are the least.",
            fix="Name a file of trajectories, such as hotpotqa_success.jsonl.gz.",
        )
    return paths


def draw_paths(paths: Sequence[TaskPath], limit: int | None) -> list[TaskPath]:
    """Draw a fixed sample of the paths, in their order; without a limit, all."""
    chosen = {path.key for path in drawn(paths, limit, 1, lambda path: path.key)}
    return [path for path in paths if path.key in chosen]


def split_tasks(paths: Sequence[TaskPath], seed: int, *, slots: bool = True) -> PathTasks:
    """Split the tasks: half are seen, and half of each task's paths are its support."""
    random = np.random.default_rng(seed)
    good = [path for path in paths if path.reward == 1]
    known = QuestionSlots.of(good)
    own_slots = known if slots else None

    def formed(path: TaskPath) -> TaskPath:
        return own_slots.path(path) if own_slots else path

    tasks = _by_task(good)
    names = random.permutation(sorted(tasks)).tolist()
    made = {}
    for name in names:
        own = [formed(tasks[name][row]) for row in random.permutation(len(tasks[name]))]
        questions = list(dict.fromkeys(path.question for path in own))
        support = frozenset(questions[: len(questions) // 2])
        made[name] = MetaTask(
            name,
            tuple(path for path in own if path.question in support),
            tuple(path for path in own if path.question not in support),
        )
    half = len(names) // 2
    seen, unseen = [made[name] for name in names[:half]], [made[name] for name in names[half:]]
    stored = [path for task in (*seen, *unseen) for path in task.support]
    failed = [formed(path) for path in paths if path.reward < 1]
    forms = {} if slots else known.forms(paths)
    return PathTasks(seen, unseen, failed + _swap_paths(stored, random), own_slots, forms)


def _by_task(paths: Sequence[TaskPath]) -> dict[str, list[TaskPath]]:
    names = dict.fromkeys(path.task for path in paths)
    tasks = {name: [path for path in paths if path.task == name] for name in names}
    asked = {name: {path.question for path in own} for name, own in tasks.items()}
    return {n: own for n, own in tasks.items() if len(own) >= _FEWEST_PATHS and len(asked[n]) > 1}


def _swap_paths(paths: Sequence[TaskPath], random: np.random.Generator) -> list[TaskPath]:
    """Pair each question with the path of another one."""
    others = random.permutation(len(paths))
    pairs = zip(paths, (paths[row].instructions for row in others), strict=True)
    return [
        TaskPath(path.task, path.question, instructions, 0.0, path.origin)
        for path, instructions in pairs
        if instructions != path.instructions
    ]
