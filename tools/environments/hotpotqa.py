"""HotpotQA as an environment: Search, Lookup and Finish over the pooled paragraphs of a file.

The actions are ReAct's (Yao et al. 2023, section 3.1). All paragraphs of the file's questions
replace Wikipedia, so that no server is needed.
"""

from collections.abc import Sequence
from pathlib import Path

from pydantic import AliasChoices, BaseModel, Field

from planweave.records import read_records
from planweave.texts import digest
from planweave.tools.documents.words import WordIndex
from planweave.tools.environments.base import (
    OPEN,
    Environment,
    Observation,
    Task,
    first_action,
    of_split,
)
from planweave.tools.environments.opening import environment
from planweave.tools.short_answers import match_answer, normalise_answer

_VERBS = ("search", "lookup", "finish")
_SHOWN_SENTENCES = 5
_SIMILAR = 5
_FIX = "Name HotpotQA's file of questions with paragraphs: --data hotpot_dev_distractor_v1.json"


class HotpotRecord(BaseModel):
    """A question with its paragraphs, in HotpotQA's format."""

    id: str | None = Field(default=None, validation_alias=AliasChoices("id", "_id"))
    question: str
    answer: str
    type: str = ""
    split: str = ""
    answer_kind_heuristic: str = ""
    supporting_facts: list[tuple[str, int]] = []
    context: list[tuple[str, list[str]]] = Field(min_length=1)

    def task(self) -> Task:
        """The question as a task; its gold path opens the supporting pages, then answers."""
        titles = dict.fromkeys(title for title, _ in self.supporting_facts)
        gold = (*(f"Search[{title}]" for title in titles), f"Finish[{self.answer}]")
        kind = self.answer_kind_heuristic or self.type
        own = self.id or digest(self.question, 12)
        return Task(id=own, kind=kind, question=self.question, gold=gold)


class HotpotQA(Environment):
    """Questions that need two pages; the score is the answer's F1 (0 to 1).

    ``Search[title]`` opens a page, or names the most similar pages by words (BM25);
    ``Lookup[words]`` shows the next sentence of that page with these words; ``Finish[answer]``
    ends.
    """

    name = "hotpotqa"

    def __init__(self, file: Path) -> None:
        records = read_records(file, HotpotRecord, fix=_FIX)
        self._tasks = [(record.split, record.task()) for record in records]
        tasks = (task for _, task in self._tasks)
        self._answers = {t.id: record.answer for t, record in zip(tasks, records, strict=True)}
        pages: dict[str, tuple[str, list[str]]] = {}
        for record in records:
            for title, sentences in record.context:
                pages.setdefault(normalise_answer(title), (title, [s.strip() for s in sentences]))
        self._pages = pages
        self._index = WordIndex.build([f"{t} {t} {' '.join(s)}" for t, s in pages.values()])
        self._keys = list(pages)
        self._task = ""
        self._sentences: list[str] = []
        self._sought, self._results = "", 0

    def tasks(self, split: str = "") -> Sequence[Task]:
        """See :class:`Environment`; records may name their split, official ones do not."""
        return of_split(self._tasks, split)

    def reset(self, task: Task) -> Observation:
        """See :class:`Environment`."""
        self._task = task.id
        self._sentences, self._sought, self._results = [], "", 0
        return Observation("")

    def step(self, action: str) -> Observation:
        """See :class:`Environment`."""
        parts = first_action(action, _VERBS)
        if parts is None:
            return Observation("Invalid action. Write Search[…], Lookup[…] or Finish[…].")
        verb, argument = parts
        if verb == "finish":
            score = match_answer(argument, [self._answers[self._task]]).f1
            return Observation("Episode finished.", done=True, score=score)
        return Observation(self._search(argument) if verb == "search" else self._lookup(argument))

    def admissible(self) -> tuple[str, ...]:
        """See :class:`Environment`; a lookup needs an open page."""
        lookup = [f"Lookup{OPEN}"] if self._sentences else []
        return f"Search{OPEN}", *lookup, f"Finish{OPEN}"

    def _search(self, title: str) -> str:
        self._sought, self._results = "", 0
        page = self._pages.get(normalise_answer(title))
        if page:
            self._sentences = page[1]
            return " ".join(page[1][:_SHOWN_SENTENCES])
        found = self._index.search(title, _SIMILAR)
        similar = [self._pages[self._keys[row]][0] for row, _ in found]
        return f"Could not find [{title}]. Similar: {similar}."

    def _lookup(self, words: str) -> str:
        if not self._sentences:
            return "There is no page to look in. Search first."
        if words.lower() != self._sought:
            self._sought, self._results = words.lower(), 0
        found = [sentence for sentence in self._sentences if self._sought in sentence.lower()]
        if self._results >= len(found):
            return "No more results."
        self._results += 1
        return f"(Result {self._results} / {len(found)}) {found[self._results - 1]}"


@environment("hotpotqa", needs=_FIX)
def connect(data: Path) -> HotpotQA:
    """Open the environment on a file of questions with their paragraphs."""
    return HotpotQA(data)
