"""Instruction paths: the actions that were taken for a question, in order (arXiv 2504.13032, 4.2).

A file of trajectories holds one JSON object a line, plain or with gzip; the names of its fields
are those of the published sets (HotpotQA, ALFWorld, ScienceWorld, WebShop).
"""

import gzip
import hashlib
import json
import pathlib
import re
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, BinaryIO, TypeAlias

from pydantic import (
    AliasChoices,
    BaseModel,
    BeforeValidator,
    Field,
    JsonValue,
    StringConstraints,
    TypeAdapter,
    ValidationError,
)

from planweave import BadInput

TaskOf: TypeAlias = Callable[[Mapping[str, JsonValue]], str]
"""Names the task of a record that was read."""

_MOST = 10_000
_MOST_BYTES = 256_000_000
_NOT_AN_ACTION = re.compile(r"(reset|think\b.*|)", re.IGNORECASE)
_RECORD: TypeAdapter[dict[str, JsonValue]] = TypeAdapter(dict[str, JsonValue])


@dataclass(frozen=True, slots=True)
class Path:
    """The instructions that were carried out for one question of a task.

    Attributes:
        task: The type of the question, such as ``pick_and_place_simple``; empty if it has none.
        question: What was asked.
        instructions: At least one, such as ``Search[Scott Derrickson]``, in order.
        reward: Between 0 and 1, what they came to.
        origin: Where they come from.
    """

    task: str
    question: str
    instructions: tuple[str, ...]
    reward: float = 1.0
    origin: str = ""

    @property
    def key(self) -> str:
        """Twelve hexadecimal digits that stand for task, question and instructions."""
        contents = json.dumps([self.task, self.question, self.instructions])
        return hashlib.sha256(contents.encode()).hexdigest()[:12]


_Text = Annotated[str, StringConstraints(strip_whitespace=True, max_length=_MOST)]


class _Step(BaseModel):
    action: _Text


def _as_step(given: object) -> object:
    return {"action": given[0]} if isinstance(given, list) and given else given


class _Trajectory(BaseModel):
    """A record of any of the published sets; beside a ``task_description`` ``task`` is a type."""

    question: Annotated[_Text, Field(min_length=1)] = Field(
        validation_alias=AliasChoices("question", "task_description", "instruction", "task")
    )
    task_type: _Text = ""
    task: _Text = ""
    task_description: _Text | None = None
    steps: list[Annotated[_Step, BeforeValidator(_as_step)]]
    reward: Annotated[float, Field(ge=0, le=1)] = Field(
        default=1.0, validation_alias=AliasChoices("reward", "score", "success")
    )
    final_score: Annotated[float, Field(le=100)] | None = None
    source: _Text | None = None

    def path(self, file: str, task: str | None) -> Path | None:
        """The path, or None without any action."""
        kept = (s.action for s in self.steps if not _NOT_AN_ACTION.fullmatch(s.action))
        instructions = tuple(" ".join(action.split()) for action in kept)
        if not instructions:
            return None
        own = self.task_type or (self.task if self.task_description is not None else "")
        reward = self.reward if self.final_score is None else max(0.0, self.final_score / 100)
        return Path(
            task=own if task is None else task,
            question=self.question,
            instructions=instructions,
            reward=reward,
            origin=file if self.source is None else self.source,
        )


def read_paths(file: pathlib.Path, task_of: TaskOf | None = None) -> list[Path]:
    """The paths of a file of trajectories, failed ones too; thoughts and resets are no actions.

    Args:
        file: JSON lines, ``.gz`` or not: a question and its ``steps``, each with an ``action``.
        task_of: Names the task of each record; by itself the one that the record names, if any.

    Raises:
        BadInput: The file cannot be read, or a line is no trajectory.
    """
    try:
        with file.open("rb") as opened:
            return paths_in(opened, file, task_of)
    except OSError as error:
        raise _unreadable(file, error) from None


def paths_in(
    opened: BinaryIO,
    file: pathlib.Path,
    task_of: TaskOf | None = None,
    *,
    most_bytes: int | None = None,
) -> list[Path]:
    """As :func:`read_paths`, of what is open already and is told of as ``file``.

    Raises:
        BadInput: It cannot be read, holds more than ``most_bytes`` when unpacked, or a line is no
            trajectory.
    """
    paths = []
    for number, line in enumerate(_lines(opened, file, most_bytes or _MOST_BYTES), start=1):
        if not line.strip():
            continue
        try:
            record = _RECORD.validate_json(line)
            trajectory = _Trajectory.model_validate(record)
        except ValidationError as error:
            wrong = error.errors(include_url=False, include_input=False)[0]
            field = ".".join(map(str, wrong["loc"]))
            raise BadInput(
                f"Line {number} of {file} is no trajectory ({field or 'record'}: {wrong['msg']}).",
                mend='Write {"question": …, "steps": [{"action": …}, …]} on each line.',
            ) from None
        path = trajectory.path(file.name, task_of(record) if task_of else None)
        if path is not None:
            paths.append(path)
    return paths


def succeeded(paths: Iterable[Path]) -> list[Path]:
    """Those paths that solved their question."""
    return [path for path in paths if path.reward >= 1]


def trajectories(paths: Iterable[Path]) -> str:
    """The text of a file that :func:`read_paths` reads back as it is."""
    return "".join(json.dumps(_record(path), ensure_ascii=False) + "\n" for path in paths)


def write_paths(file: pathlib.Path, paths: Iterable[Path]) -> None:
    """Write :func:`trajectories` into a file, with gzip if it ends in ``.gz``.

    Raises:
        BadInput: It cannot be written.
    """
    packed = trajectories(paths).encode("utf-8", "replace")
    try:
        file.write_bytes(gzip.compress(packed, mtime=0) if file.suffix == ".gz" else packed)
    except OSError as error:
        raise BadInput(
            f"The file {file} cannot be written ({error.strerror}).",
            mend="Name a file in a folder that can be written.",
        ) from None


def _record(path: Path) -> dict[str, JsonValue]:
    return {
        "source": path.origin,
        "task_type": path.task,
        "question": path.question,
        "reward": path.reward,
        "steps": [{"action": instruction} for instruction in path.instructions],
    }


def _lines(opened: BinaryIO, file: pathlib.Path, most: int) -> list[str]:
    try:
        unpacked = gzip.GzipFile(fileobj=opened) if file.suffix == ".gz" else opened
        raw = unpacked.read(most + 1)
        text = raw.decode("utf-8")
    except (OSError, EOFError, UnicodeDecodeError, zlib.error) as error:
        raise _unreadable(file, error) from None
    if len(raw) > most:
        raise BadInput(
            f"The file {file} holds more than {most / 1e6:.0f} MB of trajectories.",
            mend="Split it into several.",
        )
    return text.split("\n")


def _unreadable(file: pathlib.Path, error: Exception) -> BadInput:
    reason = getattr(error, "strerror", None) or "it is damaged"
    return BadInput(
        f"The file {file} of trajectories cannot be read ({reason}).",
        mend="Name a .jsonl or .jsonl.gz file.",
    )
