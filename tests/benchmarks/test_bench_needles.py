import gzip
import json
import random
import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import bench_command
import pytest
from cases import cases
from langchain_core.messages import BaseMessage
from published import published
from snapshots import compare
from speaking import speaks

from planweave import BadInput, prompts
from planweave.benchmarks.core.store import read
from planweave.benchmarks.core.suite import Sample
from planweave.benchmarks.suites.needles.haystack import (
    Haystack,
    estimate_tokens,
    hide_needles,
    load,
)
from planweave.benchmarks.suites.needles.suite import (
    NeedleOptions,
    find_words,
    fitting_lengths,
    ingredients,
    samples,
)
from planweave.memory import Context

bench = partial(bench_command.bench, "needles")

TEXT = " ".join(f"Sentence {n} speaks of hydrogen and of nothing else." for n in range(2_000))
SAID = re.compile(r"stew is (\w+)\.")


def made(haystack: Haystack | None = None, **changed: object) -> list[Sample]:
    fields: dict[str, object] = {"shortest": 500, "longest": 1000, "step": 500, "runs": 2}
    fields |= {"data": Path(), "model": "any:model"} | changed
    options = NeedleOptions(**fields)  # type: ignore[arg-type]  # by name
    lengths, _ = fitting_lengths(options, Context())
    return samples(haystack or Haystack.of(TEXT), lengths, options, Context())


def given(folder: Path) -> Path:
    (folder / "text.txt").write_text(TEXT, encoding="utf-8")
    return folder / "text.txt"


def test_no_ingredient_is_another_and_none_is_in_the_frame() -> None:
    every = ingredients()
    assert len(set(every)) == len(every) == 40
    assert all(find_words(word, every) == {word} for word in every)
    frame = prompts.load("needles/question").text + prompts.load("needles/system").text
    assert not find_words(frame, every)


@cases(
    ("1. WALNUTS\n2. Gooseberries", {"walnut"}),
    ("Radishes, and a truffle!", {"radish", "truffle"}),
    ("horseradish", {"horseradish"}),
    ("Sálmon? No: sórrel.", {"sorrel"}),
    ("walnutty", set()),
    ("", set()),
)
def test_what_a_reply_names(text: str, expected: set[str]) -> None:
    words = ("walnut", "radish", "horseradish", "truffle", "sorrel")
    assert find_words(text, words) == expected


@pytest.mark.parametrize("length", [200, 1_000, 5_000])
@pytest.mark.parametrize("count", [1, 2, 10])
def test_needles_are_spread_evenly_and_the_length_is_kept(length: int, count: int) -> None:
    needles = [f"Needle {n} is here." for n in range(count)]
    text = hide_needles(Haystack.of(TEXT), needles, length, random.Random(1))
    sentence = 60
    assert abs(len(text) - 4 * length) <= sentence
    starts = [text.index(needle) for needle in needles]
    assert starts == sorted(starts)
    assert starts[0] == 0
    for n, start in enumerate(starts[1:], 1):
        assert abs(start - len(text) * n / (count - 1)) <= 3 * sentence
    if count > 1:
        assert text.endswith(needles[-1])
    rest = text
    for needle in needles:
        rest = rest.replace(needle, "", 1)
    assert all(piece in TEXT for piece in re.split(r"(?<=[.])\s+", rest.strip()))


def test_a_text_without_sentences_is_cut_at_words_and_joined_at_its_end() -> None:
    haystack = Haystack.of("word " * 2_000)
    assert all(len(sentence) <= 300 for sentence in haystack.sentences)
    assert haystack.text == ("word " * 2_000).strip()
    short = Haystack.of("One. Two. Three. Four.")
    drawn = {tuple(short.draw_stretch(10, random.Random(seed))) for seed in range(20)}
    assert ("Four.", "One.") in drawn


def test_texts_and_pages_are_read(tmp_path: Path) -> None:
    lines = "\n".join(json.dumps({"page": n, "text": f"Page {n}.\nIt ends."}) for n in (1, 2))
    plain, packed, prose = (tmp_path / name for name in ("a.jsonl", "b.jsonl.gz", "c.txt"))
    plain.write_text(lines + "\n", encoding="utf-8")
    packed.write_bytes(gzip.compress(lines.encode()))
    prose.write_text("Page 1. It ends. Page 2. It ends.", encoding="utf-8")
    for path in (plain, packed, prose):
        assert load(path).sentences == ("Page 1.", "It ends.", "Page 2.", "It ends.")


@cases(
    ("a.txt", b"\xff\xfe\x00"),
    ("a.txt", b"  \n"),
    ("a.jsonl", b'{"page": 1}'),
    ("a.jsonl", b"[1]"),
    ("a.jsonl", b"no json"),
    ("a.jsonl.gz", b"no gzip"),
    ("", b""),
)
def test_a_file_that_is_no_haystack(name: str, content: bytes, tmp_path: Path) -> None:
    if name:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(BadInput, match=r"cannot be read|contains no text|not as it should be"):
        load(tmp_path / name)


def test_samples_are_drawn_by_seed_and_not_from_the_text() -> None:
    first = made()
    wanted = [("500-1", "500 tokens"), ("1000-1", "1000 tokens")]
    wanted += [("500-2", "500 tokens"), ("1000-2", "1000 tokens")]
    assert [(s.question, s.scenario) for s in first] == wanted
    assert [s.key for s in made()] == [s.key for s in first]
    assert not {s.key for s in made(seed=2)} & {s.key for s in first}
    assert {s.key for s in made(runs=3)} > {s.key for s in first}
    every = {tuple(SAID.findall(s.asked)) for s in first}
    assert len(every) == 4
    assert all(len(set(words)) == 10 for words in every)
    taken = ingredients()[:30]
    left = made(Haystack.of(TEXT + " " + " ".join(taken)))
    assert {word for s in left for word in SAID.findall(s.asked)} == set(ingredients()[30:])


def test_what_does_not_fit_is_left_out_or_refused() -> None:
    fits = made(shortest=4000, longest=10_000, step=1000, window=8192, runs=1)
    assert [sample.question for sample in fits] == ["4000-1", "5000-1", "6000-1", "7000-1"]
    with pytest.raises(BadInput, match=r"9000 tokens do not fit.*8192 tokens of any:model"):
        made(shortest=9000, longest=9000, window=8192)
    assert made(window=8192)
    with pytest.raises(BadInput, match="too short"):
        made(longest=40_000)
    with pytest.raises(BadInput, match="10 needles alone are longer than 100 tokens"):
        made(shortest=100)
    with pytest.raises(BadInput, match="There are 9 ingredients"):
        made(Haystack.of(TEXT + " " + " ".join(ingredients()[9:])))


def test_the_whole_prompt(tmp_path: Path) -> None:
    seen: list[Sequence[BaseMessage]] = []

    def note(messages: Sequence[BaseMessage]) -> str:
        seen.append(messages)
        return "walnut"

    words = ("--needles", 3, "--shortest", 150, "--longest", 150, "--runs", 1)
    bench("--data", given(tmp_path), "--model", speaks(note), "--out", tmp_path, *words)
    (messages,) = seen
    compare("needles", {"find": messages})


def _forgetful(messages: Sequence[BaseMessage]) -> str:
    """Names all needles but the last, and one that was not there."""
    words = SAID.findall(messages[-1].text)
    absent = next(word for word in ingredients() if word not in words)
    return "\n".join(f"- {word.title()}" for word in (*words[:-1], absent))


def test_the_command_its_picture_and_its_resumption(tmp_path: Path) -> None:
    source = ("--data", given(tmp_path), "--longest", 2000, "--out", tmp_path)
    words = (*source, "--model", speaks(_forgetful))
    first = bench(*words, "--runs", 1)
    assert "0 done before, 2 to do" in first.output
    assert "recall 90.0%" in first.output
    more = bench(*words, "--runs", 3, "--json")
    assert "2 done before, 4 to do" in more.output
    tables = bench_command.printed(more)
    assert tables["Recall"][0][1]["value"] == pytest.approx(0.9)
    for row in tables["By length"]:
        assert 0 < row[1] - row[0] < 130  # what the model counted: the frame comes on top
        assert row[3:] == [0, 3, 0]
    shares = [row[1:] for row in tables["By position and length"]]
    assert shares == [["100%", "100%"]] * 9 + [["0%", "0%"]]
    page = (tmp_path / "report.md").read_text("utf-8")
    assert "![Recall by length of the text and position of the needle](recall.png)" in page
    assert (tmp_path / "recall.png").read_bytes().startswith(b"\x89PNG")
    [path] = tmp_path.glob("*.jsonl")
    [sample, *_] = read(path).records.values()
    assert "# Text" in sample.calls[0].with_prompt(sample.texts).prompt[1].content


def test_lengths_that_make_no_sense(tmp_path: Path) -> None:
    words = ("--data", given(tmp_path), "--out", tmp_path)
    bench(*words, "--longest", 500, fails="less than --shortest")
    bench(*words, "--shortest", 9000, "--longest", 9000, fails="do not fit")
    small = ("--model", speaks(_forgetful), "--window", 2000, "--runs", 1)
    bench(*words, *small, "--shortest", 2000, fails="2000 tokens of speaking")
    assert not [*tmp_path.glob("*.jsonl")]
    shown = bench(*words, *small, "--longest", 32_000).output
    assert "are left out" in shown
    assert "1 to do" in shown


@pytest.mark.published
def test_no_needle_is_in_the_published_report() -> None:
    haystack = load(published("docs/iea_global_hydrogen_review_2024_pages.jsonl.gz"))
    assert estimate_tokens(haystack.text) > 100_000
    assert len(made(haystack, shortest=32_000, longest=32_000, runs=1)) == 1
    assert not find_words(haystack.text, ingredients())
