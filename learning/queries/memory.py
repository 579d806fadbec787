"""Learned paths of instructions: shipped with planweave, in a file, or an owner's.

An instruction is ``sql[…]`` or ``cypher[…]`` with slots, or ``finish[decision]``: the decision is
the value of that column in the single row of the last result.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from planweave.learning.paths import TaskPath, read_paths, select_succeeded
from planweave.learning.queries.slots import find_phrases

SHIPPED, OWN = "shipped", "own"
"""Names of experience that are not files: the shipped one, and the owner's own."""

FINISH = "finish[decision]"
"""The last instruction of a path whose query names the column of the decision."""

LIKENESS = 0.25
"""Least similarity of two questions of one kind (docs/learning.md explains the choice)."""

_FILE = Path(__file__).parents[1] / "artefacts" / "dqa-experience.jsonl"
_INSTRUCTION = re.compile(r"((?i:sql|cypher)|finish)\[(.*)\]", re.DOTALL)
_WORD = re.compile(r"[^\W\d_]{3,}")
_ENDINGS = re.compile(r"(ing|ed|es|s)$")


@lru_cache(maxsize=8)
def load_learned(name: str) -> tuple[TaskPath, ...]:
    """Load the paths that succeeded from the shipped experience or a file."""
    return tuple(select_succeeded(read_paths(_FILE if name == SHIPPED else Path(name))))


def parse_instruction(instruction: str) -> tuple[str, str] | None:
    """The tool and the input of an instruction; None if no tool for decisions can carry it out."""
    match = _INSTRUCTION.fullmatch(instruction.strip())
    return (match[1].lower(), match[2]) if match else None


def is_query(instruction: str) -> bool:
    """Whether an instruction queries a database."""
    found = parse_instruction(instruction)
    return found is not None and found[0] != "finish"


def is_finish(instruction: str) -> bool:
    """Whether an instruction reads the decision from the last result."""
    found = parse_instruction(instruction)
    return found is not None and found[0] == "finish"


def find_fitting(paths: Sequence[TaskPath], question: str, tools: Sequence[str]) -> list[TaskPath]:
    """Find the paths of similar questions that need only these tools, most similar first.

    Equally similar paths stay in order: the best one is first in a file.
    """
    found = []
    for path in paths:
        actions = [parse_instruction(instruction) for instruction in path.instructions]
        known = [step and step[0] in (*tools, "finish") for step in actions]
        alike = round(likeness(question, path.question), 2)
        if all(known) and alike >= LIKENESS:
            found.append((-alike, path))
    return [path for _, path in sorted(found, key=lambda item: item[0])]


def likeness(question: str, other: str) -> float:
    """The share of common words of two questions, 0 to 1; names do not count."""
    if question.casefold().split() == other.casefold().split():
        return 1.0
    one, two = _stems(question), _stems(other)
    return len(one & two) / max(1, len(one | two))


def _stems(question: str) -> set[str]:
    quoted = set(find_phrases(question)[: question.count('"') // 2])
    words = {word for word in _WORD.findall(question.lower()) if word not in quoted}
    return {_ENDINGS.sub("", word) for word in words}
