"""Instruction paths: the actions for a question, in order (arXiv 2504.13032, section 4.2).

A file of trajectories holds JSON lines or one JSON array, plain or packed; its fields have the
names of the published sets (HotpotQA, ALFWorld, ScienceWorld, WebShop).
"""

import gzip
import json
import pathlib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Annotated, BinaryIO, TypeAlias

from pydantic import AliasChoices, BaseModel, BeforeValidator, Field, JsonValue, StringConstraints

from planweave.records import read_records, writing
from planweave.texts import digest

TaskOf: TypeAlias = Callable[[Mapping[str, JsonValue]], str]
"""Names the task of a record from its ``question`` and the fields that are not read here."""

IN_CONTEXT = ", in context"
"""End of the origin of a path whose question is incomplete: by rules, or a follow-up."""

_MAX_CHARACTERS = 10_000
_MAX_BYTES = 256_000_000
_QUERY = re.compile(r"\s*(?:sql|cypher)\[", re.IGNORECASE)
_NOT_AN_ACTION = re.compile(r"(reset|think\b.*|)", re.IGNORECASE)
_FIX = 'Give a .jsonl or .jsonl.gz file of {"question": …, "steps": [{"action": …}, …]} a line.'


@dataclass(frozen=True, slots=True)
class TaskPath:
    """The instructions for one question of a task."""

    task: str  # type of the question, such as `pick_and_place_simple`; may be empty
    question: str
    instructions: tuple[str, ...]  # at least one, such as `Search[Scott Derrickson]`
    reward: float = 1.0  # between 0 and 1
    origin: str = ""
    observations: tuple[str, ...] = field(default=(), compare=False)  # what each showed

    @property
    def key(self) -> str:
        """Twelve hexadecimal digits of task, question, instructions, and whether in context."""
        marks = [IN_CONTEXT] if self.origin.endswith(IN_CONTEXT) else []
        contents = json.dumps([self.task, self.question, self.instructions, *marks])
        return digest(contents, 12)


@dataclass(frozen=True)
class MetaTask:
    """A type of question: paths to learn from, and paths to test with."""

    name: str
    support: tuple[TaskPath, ...]
    query: tuple[TaskPath, ...]


_Text = Annotated[str, StringConstraints(strip_whitespace=True, max_length=_MAX_CHARACTERS)]


class _Step(BaseModel):
    action: _Text
    observation: Annotated[str, BeforeValidator(lambda given: given or "")] = ""


def _list_to_step(given: object) -> object:
    """Convert a list of an action and its observation."""
    if not (isinstance(given, list) and given):
        return given
    shown = [text for text in given[1:2] if isinstance(text, str)]
    return {"action": given[0], "observation": "".join(shown)}


class _Trajectory(BaseModel, extra="allow"):
    """A record of a published set; with a ``task_description``, ``task`` is a type."""

    question: Annotated[_Text, Field(min_length=1)] = Field(
        validation_alias=AliasChoices("question", "task_description", "instruction", "task")
    )
    task_type: _Text = ""
    task: _Text = ""
    task_description: _Text | None = None
    steps: list[Annotated[_Step, BeforeValidator(_list_to_step)]]
    reward: Annotated[float, Field(ge=0, le=1)] = Field(
        default=1.0, validation_alias=AliasChoices("reward", "score", "success")
    )
    final_score: Annotated[float, Field(le=100)] | None = None
    source: _Text | None = None

    def path(self, file: str, task_of: TaskOf | None) -> TaskPath | None:
        """The path; None without an action."""
        kept = [step for step in self.steps if not _NOT_AN_ACTION.fullmatch(step.action)]
        instructions = tuple(one_line(step.action) for step in kept)
        shown = tuple(step.observation[:_MAX_CHARACTERS] for step in kept)
        if not instructions:
            return None
        own = self.task_type or (self.task if self.task_description is not None else "")
        if task_of:
            own = task_of({**(self.model_extra or {}), "question": self.question})
        reward = self.reward if self.final_score is None else max(0.0, self.final_score / 100)
        return TaskPath(
            task=own,
            question=self.question,
            instructions=instructions,
            reward=reward,
            origin=file if self.source is None else self.source,
            observations=shown if any(shown) else (),
        )


def read_paths(
    file: pathlib.Path,
    task_of: TaskOf | None = None,
    *,
    opened: BinaryIO | None = None,
    most_bytes: int | None = None,
) -> list[TaskPath]:
    """Read the paths of a file of trajectories, including failed ones, without thoughts and resets.

    A record has a question and its ``steps``, each with an ``action``. ``task_of`` names its task;
    by default the record names it. ``opened`` is read instead of ``file``, which then only gives
    the name. Unpacked, the file may have ``most_bytes``, by default 256 MB.
    """
    limit = most_bytes or _MAX_BYTES
    read = read_records(file, _Trajectory, fix=_FIX, opened=opened, most=limit)
    return [path for one in read if (path := one.path(file.name, task_of))]


def one_line(action: str) -> str:
    """An action on one line; a query keeps its lines, which end comments."""
    return action.strip() if _QUERY.match(action) else " ".join(action.split())


def select_succeeded(paths: Iterable[TaskPath]) -> list[TaskPath]:
    """Select the paths that solved their question."""
    return [path for path in paths if path.reward >= 1]


def to_json_lines(paths: Iterable[TaskPath]) -> str:
    """The text of a file that :func:`read_paths` reads back unchanged."""
    return "".join(json.dumps(_to_record(path), ensure_ascii=False) + "\n" for path in paths)


def write_paths(file: pathlib.Path, paths: Iterable[TaskPath]) -> None:
    """Write :func:`to_json_lines` into a file, with gzip if it ends in ``.gz``."""
    packed = to_json_lines(paths).encode("utf-8", "replace")
    with writing(file, fix="Name a file in a folder that can be written."):
        file.write_bytes(gzip.compress(packed, mtime=0) if file.suffix == ".gz" else packed)


def _to_record(path: TaskPath) -> dict[str, JsonValue]:
    return {
        "source": path.origin,
        "task_type": path.task,
        "question": path.question,
        "reward": path.reward,
        "steps": [
            {"action": instruction} | ({"observation": shown} if shown else {})
            for instruction, shown in zip_longest(path.instructions, path.observations)
        ],
    }
