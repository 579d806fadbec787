"""What was learned, as paths of instructions: shipped with planweave, in a file, or an owner's.

An instruction is ``sql[…]`` or ``cypher[…]`` with slots, or ``finish[decision]``: decide what that
column of the last result holds, a row by itself.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from planweave.learning.paths import TaskPath, read_paths, select_succeeded
from planweave.learning.queries.slots import find_phrases

SHIPPED, OWN = "shipped", "own"
"""Names of experience beside those of files: what ships with planweave, and the owner's own."""

FINISH = "finish[decision]"
"""How the paths end whose queries name the column of the decision themselves."""

LIKENESS = 0.25
"""Two questions less alike than this are not of one kind (docs/learning.md says how it was set)."""

_FILE = Path(__file__).parents[1] / "artefacts" / "dqa-experience.jsonl"
_INSTRUCTION = re.compile(r"((?i:sql|cypher)|finish)\[(.*)\]", re.DOTALL)
_WORD = re.compile(r"[a-z]{3,}")
_ENDINGS = re.compile(r"(ing|ed|es|s)$")


@lru_cache(maxsize=8)
def load_learned(name: str) -> tuple[TaskPath, ...]:
    """The paths that succeeded, of the shipped experience or of a file."""
    return tuple(select_succeeded(read_paths(_FILE if name == SHIPPED else Path(name))))


def parse_instruction(instruction: str) -> tuple[str, str] | None:
    """The tool of an instruction and its input; None if no tool of a decider can carry it out."""
    match = _INSTRUCTION.fullmatch(instruction.strip())
    return (match[1].lower(), match[2]) if match else None


def is_query(instruction: str) -> bool:
    """Whether it asks a database."""
    found = parse_instruction(instruction)
    return found is not None and found[0] != "finish"


def is_finish(instruction: str) -> bool:
    """Whether it reads a decision off the last result."""
    found = parse_instruction(instruction)
    return found is not None and found[0] == "finish"


def find_fitting(paths: Sequence[TaskPath], question: str, tools: Sequence[str]) -> list[TaskPath]:
    """The paths for questions like this one that need no tool but these, the most alike first.

    Those that are equally alike stay in their order: the best one is first in a file.
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
    """Words that two questions share, of all words of both, from 0 to 1; names do not count."""
    one, two = _stems(question), _stems(other)
    return len(one & two) / max(1, len(one | two))


def _stems(question: str) -> set[str]:
    quoted = set(find_phrases(question)[: question.count('"') // 2])
    words = {word for word in _WORD.findall(question.lower()) if word not in quoted}
    return {_ENDINGS.sub("", word) for word in words}
