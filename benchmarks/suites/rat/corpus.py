"""The corpora that RAT searches: a document collection for each family, without tested items.

Code: MBPP's problems outside its test part, with their solutions. Maths: GSM8K's training part.
Planning: the wiki of the crafting world. Writing: HotpotQA's paragraphs. A text that shares ten
words in a row with a tested item is dropped and reported (the n-gram rule of Guo et al. 2024,
section 2.4).
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from pydantic import JsonValue

from planweave import BadInput
from planweave.benchmarks.core.lines import read_published
from planweave.benchmarks.core.metrics import group_by
from planweave.benchmarks.suites.mhqa import multihop
from planweave.benchmarks.suites.rat.items import Family, corpus_name, load
from planweave.benchmarks.suites.writing.suite import load_tasks
from planweave.tools.documents.collection import OnEmbedded, delete_collection, open_collection
from planweave.tools.documents.store import collections

WORDS_IN_A_ROW = 10
_WORD = re.compile(r"\w+")
_LAST_TESTED = 510
"""MBPP tests the tasks 11 to 510; 1 to 10 are meant for prompts."""


class Text(NamedTuple):
    """One text of a corpus, or of a tested item."""

    name: str
    text: str


class Dropped(NamedTuple):
    """A dropped text, and the words that it shares with a tested item."""

    name: str
    tested: str
    words: str


class BuiltCorpus(NamedTuple):
    """A new corpus."""

    collection: str
    kept: list[Text]
    dropped: list[Dropped]

    def as_json(self) -> dict[str, JsonValue]:
        """The number of kept texts, and the name of every dropped text and of the item it repeats.

        Published texts are never written.
        """
        return {
            "collection": self.collection,
            "kept": len(self.kept),
            "dropped": [{"name": one.name, "tested": one.tested} for one in self.dropped],
            "words_in_a_row": WORDS_IN_A_ROW,
        }


def build_corpus(
    family: Family, data: Path, *, embeddings: str = "minilm", progress: OnEmbedded | None = None
) -> BuiltCorpus:
    """Rebuild the corpus of a family from the published files in ``data``."""
    texts, tested = _READERS[family](data)
    kept, dropped = drop_tested(texts, tested)
    name = corpus_name(family)
    if name in collections():
        delete_collection(name)
    documents = group_by(kept, lambda one: one.name).items()
    built = open_collection(name, embeddings=embeddings, create=True)
    built.add_texts({n: [one.text for one in own] for n, own in documents}, progress=progress)
    return BuiltCorpus(name, kept, dropped)


def drop_tested(texts: Iterable[Text], tested: Iterable[Text]) -> tuple[list[Text], list[Dropped]]:
    """Split texts into those that share no run of words with a tested item, and the others.

    A shorter item is one run.
    """
    runs: dict[tuple[str, ...], str] = {}
    for item in tested:
        for run in _word_runs(item.text):
            runs.setdefault(run, item.name)
    lengths = {len(run) for run in runs}
    kept, dropped = [], []
    for text in texts:
        words = _words(text.text)
        shared = (run for length in lengths for run in _windows(words, length) if run in runs)
        if found := next(shared, None):
            dropped.append(Dropped(text.name, runs[found], " ".join(found)))
        else:
            kept.append(text)
    return kept, dropped


def _word_runs(text: str) -> Iterator[tuple[str, ...]]:
    words = _words(text)
    return _windows(words, min(WORDS_IN_A_ROW, len(words))) if words else iter(())


def _windows(words: list[str], length: int) -> Iterator[tuple[str, ...]]:
    return (tuple(words[at : at + length]) for at in range(len(words) - length + 1))


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]


def _read_code(data: Path) -> tuple[list[Text], list[Text]]:
    problems = read_published(data / "mbpp.jsonl.gz")
    texts, tested = [], []
    for row in problems:
        number = int(row["task_id"])
        name, text, code = f"MBPP {number}", row["text"], row["code"].replace("\r", "")
        if number > _LAST_TESTED:
            texts.append(Text(name, f"{text}\n\n{code}"))
        else:
            tested += [Text(name, text), Text(name, code)]
    for row in [
        *read_published(data / "humaneval.jsonl.gz"),
        *read_published(data / "MbppPlus.jsonl.gz"),
    ]:
        name = row["task_id"]
        tested += [Text(name, row["prompt"]), Text(name, row["canonical_solution"])]
    return texts, tested


def _read_maths(data: Path) -> tuple[list[Text], list[Text]]:
    train = read_published(data / "gsm8k_train_1000.jsonl.gz")
    texts = [
        Text(f"GSM8K train {number}", f"{row['question']}\n\n{_without_marks(row['answer'])}")
        for number, row in enumerate(train, start=1)
    ]
    tested = [
        Text(f"GSM8K test {number}", row["question"])
        for number, row in enumerate(read_published(data / "gsm8k_test.jsonl.gz"), start=1)
    ]
    hard = read_published(data / "gsm_hard.jsonl.gz")
    tested += [Text(f"GSM-Hard {number}", row["input"]) for number, row in enumerate(hard, start=1)]
    return texts, tested


def _without_marks(worked: str) -> str:
    """A worked answer without calculator marks."""
    return re.sub(r"<<.*?>>", "", worked).replace("#### ", "The answer is ")


def _read_planning(data: Path) -> tuple[list[Text], list[Text]]:
    passages = read_published(data / "wiki_passages.jsonl.gz")
    goals = load("planning", "Minecraft", data)
    texts = [Text(passage["title"], passage["text"]) for passage in passages]
    return texts, [Text(f"Minecraft {goal.id}", goal.asked) for goal in goals]


def _read_writing(data: Path) -> tuple[list[Text], list[Text]]:
    """The Wikipedia paragraphs published with HotpotQA's questions."""
    files = sorted({*data.glob("*_distractor_*.json*"), *data.glob("hotpot_train_*.json*")})
    if not files:
        raise BadInput(
            f"{data} contains no paragraphs of HotpotQA.",
            fix="Give the folder of hotpot_dev_distractor_v1.json with --data.",
        )
    found = (multihop.load(path) for path in files)
    paragraphs = {one: None for file in found for question in file for one in question.paragraphs}
    tasks = [Text(f"{task.dataset} {task.id}", task.asked) for task in load_tasks("")]
    return [Text(*paragraph) for paragraph in paragraphs], tasks


_READERS = {
    "code": _read_code,
    "maths": _read_maths,
    "planning": _read_planning,
    "writing": _read_writing,
}
