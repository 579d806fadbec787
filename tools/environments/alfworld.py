"""ALFWorld: household tasks in text, played by TextWorld with the official games (Shridhar 2021).

The engine works in a separate process (``alfworld_process``); nothing of it is imported here.
"""

import json
import tempfile
import zlib
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from pydantic import BaseModel

from planweave import BadInput
from planweave.records import read_records, read_text
from planweave.tools.environments.base import Task
from planweave.tools.environments.opening import environment
from planweave.tools.environments.remote import RemoteEnvironment

SPLITS = ("train", "valid_seen", "valid_unseen")

_FIX = "Run alfworld-download and name the folder that it fills: --data FOLDER"


class Game(BaseModel):
    """One game as stored in the collected files: only what differs from game to game."""

    id: str
    task_type: str
    task: str
    pddl_problem: str
    walkthrough: list[str]


class ALFWorld(RemoteEnvironment):
    """Games of household tasks; the score is 1 when the task is done.

    Args:
        data: A folder with ``games_SPLIT.jsonl.xz``, ``alfred.pddl`` and
            ``alfred_grammar.twl2.txt``, or the folder that ``alfworld-download`` fills, with
            ``json_2.1.1/SPLIT/…/game.tw-pddl``.
    """

    name = "alfworld"

    def __init__(self, data: Path) -> None:
        self._official = data / "json_2.1.1"
        if not (self._official.is_dir() or (data / "alfred.pddl").is_file()):
            raise BadInput(f"The folder {data} has no games of ALFWorld.", fix=_FIX)
        super().__init__(
            "planweave.tools.environments.alfworld_process", install="pip install 'alfworld>=0.4.2'"
        )
        self._data = data
        self._splits: dict[str, list[Task]] = {}
        self._games: dict[str, bytes | Path] = {}
        self._folder = tempfile.TemporaryDirectory(prefix="planweave-alfworld-")

    def tasks(self, split: str = "") -> Sequence[Task]:
        """See :class:`Environment`; reading ``train`` takes some seconds."""
        if split and split not in SPLITS:
            raise BadInput(f"ALFWorld has no split {split!r}.", fix=f"It has: {', '.join(SPLITS)}.")
        chosen = [split] if split else SPLITS
        for one in chosen:
            if one not in self._splits:
                self._splits[one] = self._read(one)
        return [task for one in chosen for task in self._splits[one]]

    def begin(self, task: Task) -> dict[str, object]:
        """The path of the game file, which is written first if needed."""
        if task.id not in self._games:
            self.tasks(task.id.partition("/")[0])
        game = self._games[task.id]
        if isinstance(game, bytes):
            path = Path(self._folder.name) / "game.tw-pddl"
            path.write_text(json.dumps(self._restore_game(game, task)), encoding="utf-8")
            return {"game": str(path)}
        return {"game": str(game)}

    def close(self) -> None:
        """See :class:`Environment`."""
        super().close()
        self._folder.cleanup()
        Path(self._folder.name).mkdir(exist_ok=True)

    def _read(self, split: str) -> list[Task]:
        return self._downloaded(split) if self._official.is_dir() else self._collected(split)

    def _collected(self, split: str) -> list[Task]:
        games = read_records(self._data / f"games_{split}.jsonl.xz", Game, fix=_FIX)
        self._games |= {game.id: zlib.compress(game.pddl_problem.encode()) for game in games}
        return [_task(game.id, game.task_type, game.task, game.walkthrough) for game in games]

    def _downloaded(self, split: str) -> list[Task]:
        tasks = []
        root = self._official
        for path in sorted((root / split).glob("*/*/game.tw-pddl")):
            kind, name = path.parent.parent.name.partition("-")[0], path.parent
            if "movable" in str(name) or "Sliced" in str(name):
                continue  # the official environment does not play it either
            game = json.loads(read_text(path, fix=_FIX))
            if not game.get("solvable"):
                continue
            own = name.relative_to(root).as_posix()
            self._games[own] = path
            question = game["grammar"].partition("Your task is to: ")[2].partition('"')[0]
            tasks.append(_task(own, kind, question, game["walkthrough"]))
        return tasks

    @cached_property
    def _shared_files(self) -> tuple[str, str]:
        """The domain and the grammar that all games share."""
        grammar = read_text(self._data / "alfred_grammar.twl2.txt", fix=_FIX)
        return read_text(self._data / "alfred.pddl", fix=_FIX), grammar

    def _restore_game(self, problem: bytes, task: Task) -> dict[str, object]:
        """The official game file."""
        domain, grammar = self._shared_files
        return {
            "pddl_domain": domain,
            "grammar": grammar.replace("@@TASK@@", task.question),
            "pddl_problem": zlib.decompress(problem).decode(),
            "solvable": True,
            "walkthrough": list(task.gold or ()),
        }


def _task(own: str, kind: str, question: str, walkthrough: Sequence[str]) -> Task:
    return Task(id=own, kind=kind, question=question.strip(), gold=tuple(walkthrough))


@environment("alfworld", needs=_FIX)
def connect(data: Path) -> ALFWorld:
    """Open the environment on a folder of games."""
    return ALFWorld(data)
