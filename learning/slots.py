"""Instructions with slots, so that a path learned on one question serves another.

``Search[Scott Derrickson nationality]`` for "Were Scott Derrickson and Ed Wood of the same
nationality?" becomes ``Search[{1} {asked}]``. Queries of databases have slots of their own
(:mod:`planweave.learning.queries.literals`). The paper (arXiv 2504.13032) stores instructions as
they are; slots are ours.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from planweave.learning.paths import Path
from planweave.learning.queries.literals import slotted
from planweave.learning.queries.memory import is_finish, is_query
from planweave.learning.vectors import Embed, Floats

ASKED, FOUND, ANSWER = "{asked}", "{found}", "{answer}"

_ACTION = re.compile(r"(\w+)\[(.*)\]", re.DOTALL)
_OBJECT = re.compile(r"\b([a-z]+) \d+\b")
_TOKEN = re.compile(r"\w[\w'\u2019.&/-]*\w|\w")
_QUOTED = re.compile(r'["“]([^"”]{3,60})["”]')
_CAPITALS = re.compile(
    r"[A-Z0-9][\w'\u2019&.-]*"
    r"(?:(?: (?:of|the|de|in|for|on|to|a|von|van|la|du|at))* [A-Z0-9(][\w'\u2019&.()-]*)*"
)
_EMPTY_WORDS = """
a about all also an and any are as at be been both but by did do does for from had has have he her
his how if in into is it its name not of on only or she than that the their them then there these
they this those to was were what when where which who whom whose why will with you your
"""
_EMPTY = frozenset(_EMPTY_WORDS.split())
_OPENERS = _EMPTY | {"after", "before", "between"}
_SHARED, _FEWEST = 0.1, 3


@dataclass(frozen=True)
class Slots:
    """Turns the words that belong to one question alone into slots.

    ``{1}``, ``{2}``, …: what the question names, in reading order; ``{asked}``: its other words
    that carry meaning; ``{found}``: a name that the question does not have, so that it was found
    on the way; ``{answer}``: what ``Finish`` is given. In an argument in brackets each comes once,
    in that order, then the words that are left; what is searched for is a bag of words here.
    Outside brackets a numbered object (``shelf 6``) loses its number and becomes a slot if the
    question names it. The query of a database keeps its text but for the values that the question
    names, and the ``finish[decision]`` behind it its own. Equal instructions in a row become one.

    Attributes:
        objects: Words that stored instructions number, such as ``shelf``; a question that has
            them names them.
        fixed: Actions in brackets, in small letters, that belong to the environment and not to a
            question, such as ``click[buy now]``; they stay as they are.
    """

    objects: frozenset[str] = frozenset()
    fixed: frozenset[str] = frozenset()

    @classmethod
    def of(cls, paths: Iterable[Path]) -> "Slots":
        """The slots for questions like those of stored paths.

        Fixed is what the paths of a tenth of the questions have in common, of at least three.
        """
        kept = [*paths]
        done = {(path.question, text) for path in kept for text in path.instructions}
        plain = [text for _, text in done if not _ACTION.fullmatch(text)]
        bracketed = {(asked, text.lower()) for asked, text in done if _ACTION.fullmatch(text)}
        enough = max(_FEWEST, _SHARED * len({path.question for path in kept}))
        counts = Counter(text for _, text in bracketed)
        return cls(
            objects=frozenset(word for text in plain for word in _OBJECT.findall(text)),
            fixed=frozenset(text for text, count in counts.items() if count >= enough),
        )

    def names(self, question: str) -> list[str]:
        """What a question names: quoted, with capitals or digits, or a known object."""
        found = [(match.start(1), match.group(1)) for match in _QUOTED.finditer(question)]
        rest = _QUOTED.sub(lambda match: " " * len(match.group()), question)
        for match in _CAPITALS.finditer(rest):
            words = match.group().split(" ")
            start = match.start()
            while words and words[0].lower().strip(".,") in _OPENERS:
                start += len(words.pop(0)) + 1
            name = " ".join(words).strip(" .,'\u2019-()")
            if len(name) > 1:
                found.append((start, name))
        words_of = _TOKEN.finditer(question)
        found += [(m.start(), m.group()) for m in words_of if m.group() in self.objects]
        return list(dict.fromkeys(name for _, name in sorted(found)))

    def question(self, question: str) -> str:
        """The form of a question: its names as ``{1}``, ``{2}``, and so on."""
        numbered = enumerate(self.names(question), start=1)
        for number, name in sorted(numbered, key=lambda pair: -len(pair[1])):
            question = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", f"{{{number}}}", question)
        return question

    def path(self, path: Path) -> Path:
        """The path with slots in its instructions; its question stays as it was asked."""
        where: dict[str, str] = {}
        for number, name in enumerate(self.names(path.question), start=1):
            for token in content_words(name):
                where.setdefault(token.lower(), f"{{{number}}}")
        for token in content_words(path.question):
            where.setdefault(token.lower(), ASKED)
        kept = slotted(path).instructions
        asks = any(map(is_query, kept))  # elsewhere `finish[…]` holds the answer of one question
        formed = [text if asks and is_finish(text) else self._formed(text, where) for text in kept]
        changes = [new for old, new in zip(["", *formed], formed, strict=False) if old != new]
        return replace(path, instructions=tuple(changes))

    def _formed(self, instruction: str, where: dict[str, str]) -> str:
        """One instruction, given the slot of each word of the question."""
        if is_query(instruction):
            return instruction
        if (action := _ACTION.fullmatch(instruction)) is None:
            named = {word: slot for word, slot in where.items() if slot != ASKED}
            return _OBJECT.sub(lambda match: named.get(match.group(1), match.group(1)), instruction)
        verb, argument = action.group(1).capitalize(), action.group(2)
        if verb == "Finish":
            return f"{verb}[{ANSWER}]"
        if instruction.lower() in self.fixed:
            return f"{verb}[{argument}]"
        parts = [where.get(token.lower(), _new(token)) for token in content_words(argument)]
        return f"{verb}[{' '.join(sorted(dict.fromkeys(parts), key=_rank))}]"


def question_vectors(questions: Sequence[str], embed: Embed, slots: Slots | None) -> Floats:
    """The vectors [n, d] by which questions are compared.

    With slots, the mean direction of a question as it was asked and of its form: what it asks for
    and how it asks both tell which path serves.
    """
    vectors = embed(questions)
    if slots is None:
        return vectors
    both = vectors + embed([slots.question(question) for question in questions])
    return np.asarray(both / np.linalg.norm(both, axis=1, keepdims=True), np.float32)


def finishes(instruction: str) -> bool:
    """Whether it only hands in the answer, as every path of its environment ends."""
    return instruction.lower().startswith("finish[")


def content_words(text: str) -> list[str]:
    """The words that carry meaning, without an ending ``'s``."""
    plain = (token.replace("\u2019", "'").removesuffix("'s") for token in _TOKEN.findall(text))
    return [token for token in plain if token.lower() not in _EMPTY]


def _new(token: str) -> str:
    return FOUND if token[0].isupper() or token[0].isdigit() else token.lower()


def _rank(part: str) -> tuple[int, str]:
    """Names by number, then what was found, what is asked, and other words as they come."""
    if part in (FOUND, ASKED):
        return (1 + (part == ASKED), "")
    return (0, part.zfill(4)) if part.startswith("{") else (3, "")
