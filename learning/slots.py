"""Instructions with slots, so that a path learned on one question fits another.

``Search[Clara Whitfield profession]`` for "Did Clara Whitfield and Otto Reyes share a profession?"
becomes ``Search[{1} {asked}]``. Queries of databases have slots of their own
(:mod:`planweave.learning.queries.literals`). The paper (arXiv 2504.13032) stores instructions
unchanged; slots are ours.
"""

import re
from collections import Counter
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from planweave.learning.paths import TaskPath
from planweave.learning.queries.literals import add_slots
from planweave.learning.queries.memory import is_finish, is_query
from planweave.learning.vectors import Embed, Floats

ASKED, FOUND, ANSWER, FITTING = "{asked}", "{found}", "{answer}", "{fitting}"

_ACTION = re.compile(r"(\w+)\[(.*)\]", re.DOTALL)
_OBJECT = re.compile(r"\b([a-z]+) \d+\b")
_TOKEN = re.compile(r"\w[\w'\u2019.&/-]*\w|\w")
_QUOTED = re.compile(r'["“]([^"”]{3,60})["”]')
_CAPITALS = re.compile(
    r"[A-Z0-9][\w'\u2019&.-]*"
    r"(?:(?: (?:of|the|de|in|for|on|to|a|von|van|la|du|at))* [A-Z0-9(][\w'\u2019&.()-]*)*"
)
_STOP_WORD_TEXT = """
a about all also an and any are as at be been both but by did do does for from had has have he her
his how if in into is it its name not of on only or she than that the their them then there these
they this those to was were what when where which who whom whose why will with you your
"""
_STOP_WORDS = frozenset(_STOP_WORD_TEXT.split())
_OPENERS = _STOP_WORDS | {"after", "before", "between"}
_FIXED_SHARE, _MIN_FIXED = 0.1, 3
_NUMBERED = re.compile(r"\{(\d+)\}")
_PIECE = re.compile(rf"\{{\w+\}}|{_TOKEN.pattern}")
_OPEN_TWICE = re.compile(r"\{fitting\}(?:\s+\{fitting\})+")
_AMOUNT = r"(?:[$€£]\s?\d[\d,.]*|\d[\d,.]*\s?(?:dollars?|euros?|usd|eur|bucks)\b)"
_LIMIT_WORDS = (
    r"(?:price[sd]?|pricing|costs?|costing|budget|lower|less|cheaper|under|below|at most|up to|"
    r"no more|not more|within|maximum|max)"
)
_LIMIT = re.compile(
    r"[,;]?\s*(?:\b(?:and|but|with|for|at|in|is|of|on|a|an|the|its|my|it|should|must|be)\s+)*"
    rf"\b{_LIMIT_WORDS}\b(?:\s+(?:\w+\s+){{0,3}}|\s*)(?:than|to|of|between)?\s*{_AMOUNT}"
    rf"(?:\s*(?:and|to|or|-)\s*{_AMOUNT})?"
    rf"|[,;]?\s*(?:\bfor\s+)?{_AMOUNT}\s+or\s+(?:less|lower|cheaper|under|below)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class QuestionSlots:
    """Turns the words that belong to one question alone into slots.

    ``{1}``, ``{2}``, …: the names in the question, in reading order. ``{asked}``: its other words
    with meaning. ``{found}``: a name that is not in the question, so it was found on the way.
    ``{answer}``: the argument of ``Finish``. In an argument in brackets each slot occurs once, in
    this order, before the remaining words; a search is a bag of words here. Outside brackets, a
    numbered object (``shelf 6``) loses its number, and becomes a slot if the question names it. In
    a database query only the values that the question names become slots; the ``finish[decision]``
    after it does not change. Equal instructions in a row become one.

    Attributes:
        objects: Words with numbers in stored instructions, such as ``shelf``; in a question they
            count as names.
        fixed: Actions in brackets, in lower case, that belong to the environment and not to a
            question, such as ``click[buy now]``; they do not change.
        moves: Actions in brackets, in lower case, that only move between the pages of the
            environment, such as ``click[< prev]``; paths do not contain them.

    A price limit (``and price lower than 50.00 dollars``) names nothing, and nobody searches for
    it: its words and its number fill no slot.
    """

    objects: frozenset[str] = frozenset()
    fixed: frozenset[str] = frozenset()
    moves: frozenset[str] = frozenset()

    @classmethod
    def of(cls, paths: Iterable[TaskPath], moves: Iterable[str] = ()) -> "QuestionSlots":
        """The slots for questions similar to those of stored paths.

        An action is fixed if the paths of a tenth of the questions have it, and of at least three.
        """
        moving = frozenset(moves)
        kept = [*paths]
        done = {(path.question, text) for path in kept for text in path.instructions}
        plain = [text for _, text in done if not _ACTION.fullmatch(text)]
        bracketed = {
            (asked, text.lower())
            for asked, text in done
            if _ACTION.fullmatch(text) and text.lower() not in moving
        }
        enough = max(_MIN_FIXED, _FIXED_SHARE * len({path.question for path in kept}))
        counts = Counter(text for _, text in bracketed)
        return cls(
            objects=frozenset(word for text in plain for word in _OBJECT.findall(text)),
            fixed=frozenset(text for text, count in counts.items() if count >= enough),
            moves=moving,
        )

    def names(self, question: str) -> list[str]:
        """The names in a question: quoted, with capitals or digits, or a known object."""
        question = remove_price_limit(question)
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
        """The form of a question, with its names as ``{1}``, ``{2}``, and so on."""
        numbered = enumerate(self.names(question), start=1)
        question = remove_price_limit(question)
        for number, name in sorted(numbered, key=lambda pair: -len(pair[1])):
            question = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", f"{{{number}}}", question)
        return question

    def path(self, path: TaskPath) -> TaskPath:
        """The path with slots in its instructions; its question does not change."""
        where: dict[str, str] = {}
        for number, name in enumerate(self.names(path.question), start=1):
            for token in content_words(name):
                where.setdefault(token.lower(), f"{{{number}}}")
        for token in content_words(remove_price_limit(path.question)):
            where.setdefault(token.lower(), ASKED)
        gone = [text for text in path.instructions if text.lower() not in self.moves]
        kept = add_slots(replace(path, instructions=tuple(gone) or path.instructions)).instructions
        asks = any(map(is_query, kept))  # elsewhere `finish[…]` holds the answer of one question
        formed = [
            text if asks and is_finish(text) else self._add_slots(text, where) for text in kept
        ]
        return replace(path, instructions=_drop_repetitions(formed), observations=())

    def forms(self, paths: Iterable[TaskPath]) -> dict[str, str]:
        """Each instruction with slots, by the question of the first path that has it."""
        made: dict[str, str] = {}
        for path in paths:
            for text in path.instructions:
                if text not in made:
                    alone = replace(path, instructions=(text,), observations=())
                    made[text] = self.path(alone).instructions[0]
        return made

    def shown(
        self, instructions: Sequence[str], question: str, origins: Iterable[str]
    ) -> tuple[str, ...] | None:
        """The instructions for a question, without anything that belongs to other questions.

        The names of the question fill the numbered slots. A slot without a name stays open. A word
        from elsewhere becomes an open slot: in brackets, a word that is not in this question;
        outside them, a word that is in a question of ``origins`` but not in this one. An object
        such as ``shelf`` stays, since it is a guess at a place or a tool. Equal instructions in a
        row become one. None if an instruction needs names and the question has none of them.
        """
        names, asked = self.names(question), _word_set(remove_price_limit(question))
        elsewhere = _word_set(" ".join(origins)) - _word_set(question) - self.objects
        if not can_fill(instructions, len(names)):
            return None
        shown = [
            text
            if is_query(text) or is_final_answer(text) or text.lower() in self.fixed
            else _open_slots(_fill_names(text, names), asked, elsewhere)
            for text in instructions
        ]
        return _drop_repetitions(shown)

    def _add_slots(self, instruction: str, where: dict[str, str]) -> str:
        """Add slots to one instruction, given the slot of each word of the question."""
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
        parts = [
            where.get(token.lower(), _found_or_word(token)) for token in content_words(argument)
        ]
        return f"{verb}[{' '.join(sorted(dict.fromkeys(parts), key=_sort_key))}]"


def embed_questions(questions: Sequence[str], embed: Embed, slots: QuestionSlots | None) -> Floats:
    """The vectors [n, d] by which questions are compared.

    With slots, the mean direction of a question and of its form: both its topic and its form
    indicate the right path.
    """
    vectors = embed(questions)
    if slots is None:
        return vectors
    both = vectors + embed([slots.question(question) for question in questions])
    return np.asarray(both / np.linalg.norm(both, axis=1, keepdims=True), np.float32)


def is_final_answer(instruction: str) -> bool:
    """Whether an instruction only submits the answer, as at the end of every path."""
    return instruction.lower().startswith("finish[")


def can_fill(instructions: Iterable[str], names: int) -> bool:
    """Whether a question with this number of names can fill the numbered slots of a path.

    In brackets, one name for each instruction with slots is enough. Outside brackets all are
    needed: ``take {1} from {2}`` means nothing without.
    """
    for text in instructions:
        wanted = {int(number) for number in _NUMBERED.findall(text)}
        got = sum(number <= names for number in wanted)
        if wanted and got < (1 if _ACTION.fullmatch(text) else len(wanted)):
            return False
    return True


def remove_price_limit(question: str) -> str:
    """Remove the price limit from a question; nobody searches for it."""
    return _LIMIT.sub("", question)


def content_words(text: str) -> list[str]:
    """The words with meaning, without a final ``'s``."""
    plain = (token.replace("\u2019", "'").removesuffix("'s") for token in _TOKEN.findall(text))
    return [token for token in plain if token.lower() not in _STOP_WORDS]


def _drop_repetitions(instructions: Sequence[str]) -> tuple[str, ...]:
    """Merge equal instructions in a row."""
    pairs = zip(["", *instructions], instructions, strict=False)
    return tuple(new for old, new in pairs if old != new)


def _word_set(text: str) -> frozenset[str]:
    return frozenset(word.lower() for word in content_words(text))


def _fill_names(instruction: str, names: Sequence[str]) -> str:
    """Fill the numbered slots with names; slots without a name stay open."""
    named = {str(number): name for number, name in enumerate(names, start=1)}
    return _NUMBERED.sub(lambda slot: named.get(slot[1], FITTING), instruction)


def _open_slots(instruction: str, asked: Container[str], elsewhere: Container[str]) -> str:
    """Replace words that belong to another question by open slots; the verb stays."""
    action = _ACTION.fullmatch(instruction)
    verb, words = (action[1], action[2]) if action else instruction.partition(" ")[::2]

    def piece(found: re.Match[str]) -> str:
        word = found[0].lower().replace("\u2019", "'").removesuffix("'s")
        own = word in asked or word in _STOP_WORDS if action else word not in elsewhere
        return found[0] if own or word.startswith("{") else FITTING

    opened = _OPEN_TWICE.sub(FITTING, _PIECE.sub(piece, words))
    if action is None:
        return f"{verb} {opened}".rstrip()
    if ASKED in opened or FOUND in opened:
        opened = " ".join(opened.replace(FITTING, "").split())
    return f"{verb}[{opened}]"


def _found_or_word(token: str) -> str:
    return FOUND if token[0].isupper() or token[0].isdigit() else token.lower()


def _sort_key(part: str) -> tuple[int, str]:
    """Sorts names by number, then the found, the asked, and the other words in order."""
    if part in (FOUND, ASKED):
        return (1 + (part == ASKED), "")
    return (0, part.zfill(4)) if part.startswith("{") else (3, "")
