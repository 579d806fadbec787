"""An instruction graph on disk: one SQLite database, which holds no code."""

import json
import os
import pathlib
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from planweave import BadInput
from planweave.learning.paths import TaskPath
from planweave.learning.vectors import Floats

_VERSION = 1
_SCHEMA = """
CREATE TABLE graph(version INTEGER NOT NULL, threshold REAL NOT NULL);
CREATE TABLE path(id INTEGER PRIMARY KEY, task TEXT NOT NULL, question TEXT NOT NULL,
    instructions TEXT NOT NULL, nodes TEXT NOT NULL, reward REAL NOT NULL, origin TEXT NOT NULL);
CREATE TABLE vector(instruction TEXT PRIMARY KEY, numbers BLOB NOT NULL) WITHOUT ROWID;
"""


@dataclass(frozen=True, slots=True)
class Stored:
    """What a graph is made of."""

    threshold: float
    paths: Sequence[tuple[TaskPath, tuple[int, ...]]]
    vectors: Mapping[str, Floats]


def write(file: pathlib.Path, stored: Stored) -> None:
    """Write a graph; a file of that name is replaced once the new one is whole."""
    part = file.with_name(f"{file.name}.{os.getpid()}.part")
    try:
        part.unlink(missing_ok=True)
        with closing(sqlite3.connect(part)) as database, database:
            database.executescript(_SCHEMA)
            database.execute("INSERT INTO graph VALUES (?, ?)", (_VERSION, stored.threshold))
            database.executemany(
                "INSERT INTO path VALUES (NULL, ?, ?, ?, ?, ?, ?)", map(_row, stored.paths)
            )
            database.executemany(
                "INSERT INTO vector VALUES (?, ?)",
                ((text, vector.astype("<f4").tobytes()) for text, vector in stored.vectors.items()),
            )
        part.replace(file)
    except (OSError, sqlite3.Error) as error:
        raise BadInput(
            f"The instruction graph cannot be written to {file} ({error}).",
            fix="Free some space on the disk, and check who may write there.",
        ) from None
    finally:
        part.unlink(missing_ok=True)


def read(file: pathlib.Path) -> Stored:
    """Read a graph."""
    try:
        with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as database:
            database.execute("PRAGMA trusted_schema = OFF")
            stored = _read(database)
            _check(stored)
    except (sqlite3.Error, ValueError, TypeError, KeyError, RecursionError) as error:
        raise BadInput(
            f"The instruction graph {file} is absent, damaged or of another version ({error}).",
            fix="Build it again from its paths.",
        ) from None
    return stored


def _row(stored: tuple[TaskPath, tuple[int, ...]]) -> tuple[str | float, ...]:
    path, nodes = stored
    instructions = json.dumps(path.instructions, ensure_ascii=False)
    texts = path.task, path.question, instructions, json.dumps(nodes)
    return *texts, path.reward, path.origin


def _read(database: sqlite3.Connection) -> Stored:
    ((version, threshold),) = database.execute("SELECT version, threshold FROM graph")
    if version != _VERSION:
        raise ValueError(f"version {version}")
    paths = [
        (
            TaskPath(task, question, tuple(json.loads(texts)), reward, origin),
            tuple(json.loads(nodes)),
        )
        for task, question, texts, nodes, reward, origin in database.execute(
            "SELECT task, question, instructions, nodes, reward, origin FROM path ORDER BY id"
        )
    ]
    vectors = {
        text: np.frombuffer(numbers, "<f4").astype(np.float32)
        for text, numbers in database.execute("SELECT instruction, numbers FROM vector")
    }
    return Stored(threshold, paths, vectors)


def _check(stored: Stored) -> None:
    if len({vector.shape for vector in stored.vectors.values()}) > 1:
        raise ValueError("its vectors differ in length")
    if not all(np.isfinite(vector).all() for vector in stored.vectors.values()):
        raise ValueError("a vector is not finite")
    for path, nodes in stored.paths:
        known = all(text in stored.vectors for text in path.instructions)
        whole = all(type(node) is int and node >= 0 for node in nodes)
        apart = all(a != b for a, b in pairwise(nodes))
        if not (known and whole and apart and len(nodes) == len(path.instructions)):
            raise ValueError("a path cannot be walked")
