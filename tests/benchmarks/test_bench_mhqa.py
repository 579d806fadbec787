"""The multi-hop benchmark: published scores, samples, paragraphs found, the two commands."""

import gzip
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import bench_command
import pytest
from bench_command import rows
from cases import cases
from json_lines import write_lines
from published import published
from records import answered, record, score
from scripted import Prompt, Reply, act, playing, tell
from typer.testing import Result

from planweave import BadInput
from planweave.benchmarks.core.record import Record
from planweave.benchmarks.core.store import read
from planweave.benchmarks.suites.mhqa import multihop, suite
from planweave.benchmarks.suites.mhqa.multihop import MultiHop, Paragraph, SubQuestion
from planweave.benchmarks.suites.mhqa.retrieval import search
from planweave.benchmarks.suites.mhqa.tables import judge_support, mhqa_tables
from planweave.learning import CandidateQuery
from planweave.memory import Context
from planweave.models import ModelRequest, register_provider
from planweave.testing import ScriptedModel
from planweave.tools.documents.collection import open_collection
from planweave.tools.documents.store import collections
from planweave.tools.short_answers import match_answer, normalise_answer

FILM = "Stull is a film that was directed by Ann Lee."
PERSON = "Ann Lee was born in Kansas."
OTHER = "Ann Lee is also the name of a boat."
QUESTION = "Where was the director of the film Stull born?"
CONTEXT = [
    ["Boat", ["A boat swims."]],
    ["Stull", ["Stull is a film", " that was directed by Ann Lee."]],
    ["Ann Lee", [PERSON]],
]
WIKI = {
    "id": "a/1",
    "question": QUESTION,
    "answer": "Kansas",
    "supporting_facts": [["Stull", 0], ["Stull", 1], ["Ann Lee", 0]],
    "context": CONTEXT,
}
EVIDENCES = {"evidences": [["Stull", "director", "Ann Lee"], ["Ann Lee", "born in", "Kansas"]]}
MUSIQUE = {
    "id": "3hop__1",
    "question": QUESTION,
    "answer": "The State of Kansas",
    "answer_aliases": ["Kansas"],
    "question_decomposition": [
        {"question": "Stull >> director", "answer": "Ann Lee", "paragraph_support_idx": 2},
        {"question": "#1 >> born in", "answer": "Kansas", "paragraph_support_idx": 1},
        {"question": "#2 >> state", "answer": "Kansas", "paragraph_support_idx": 1},
    ],
    "paragraphs": [
        {"idx": n, "title": title, "paragraph_text": words, "is_supporting": n > 0}
        for n, (title, words) in enumerate(
            [("Ann Lee", OTHER), ("Ann Lee", PERSON), ("Stull", FILM)]
        )
    ],
}


BOAT, STULL, LEE = (
    Paragraph(*both) for both in (("Boat", "A boat swims."), ("Stull", FILM), ("Ann Lee", PERSON))
)
FROM_HOTPOT = MultiHop(
    id="a/1",
    dataset="hotpotqa",
    question=QUESTION,
    answers=("Kansas",),
    paragraphs=(BOAT, STULL, LEE),
    supporting=(STULL, LEE),
    hops=2,
)
STEPS = (SubQuestion("Stull director", "Ann Lee"), SubQuestion("Ann Lee born in", "Kansas"))
FROM_MUSIQUE = MultiHop(
    id="3hop__1",
    dataset="musique",
    question=QUESTION,
    answers=("The State of Kansas", "Kansas"),
    paragraphs=(Paragraph("Ann Lee", OTHER), LEE, STULL),
    supporting=(STULL, LEE),
    hops=3,
    steps=(STEPS[0], SubQuestion("#1 born in", "Kansas"), SubQuestion("#2 state", "Kansas")),
)


@cases(
    ([WIKI, WIKI], FROM_HOTPOT),
    ([WIKI | EVIDENCES], replace(FROM_HOTPOT, dataset="2wikimultihopqa", steps=STEPS)),
    ([MUSIQUE], FROM_MUSIQUE),
    ([WIKI | {"id": None}], replace(FROM_HOTPOT, id=QUESTION)),
    ids=["hotpotqa", "2wikimultihopqa", "musique", "a lost id"],
)
def test_each_format(records: list[object], question: MultiHop, tmp_path: Path) -> None:
    for name in ("some.jsonl", "some.jsonl.gz"):
        assert multihop.load(write_lines(tmp_path / name, *records)) == [question]


@cases(
    ({"question": "?", "answer": "!"}, r"Line 1 .*supporting_facts: Field required"),
    (WIKI | {"context": []}, "at least 1 item"),
    (WIKI | {"supporting_facts": [["Nowhere", 0]]}, "names none of its paragraphs"),
    (MUSIQUE | {"paragraphs": "none"}, "valid array"),
    ([[]], "Record 1"),
)
def test_wrong_records_are_reported_in_a_sentence(
    record: object, said: str, tmp_path: Path
) -> None:
    with pytest.raises(BadInput, match=said) as told:
        multihop.load(write_lines(tmp_path / "some.jsonl", record))
    assert "\n" not in str(told.value)


@cases(
    ("The Cat, sat on A   mat!", "cat sat on mat"),
    ("U.S.", "us"),
    ("an apple-pie", "applepie"),
    ("theatre", "theatre"),
    ("  ", ""),
    ("the", ""),
)
def test_the_published_normalisation(answer: str, plain: str) -> None:
    assert normalise_answer(answer) == plain


@cases(
    ("the Kansas.", ["Kansas"], 1.0, 1.0),
    ("Kansas City", ["Kansas"], 0.0, 2 / 3),
    ("born in Kansas City", ["Kansas", "Kansas City"], 0.0, 2 / 3),
    ("to be or not to be", ["to be to"], 0.0, 2 * 3 / 9),
    ("Ohio", ["Kansas"], 0.0, 0.0),
    ("", ["Kansas"], 0.0, 0.0),
    ("Yes", ["yes"], 1.0, 1.0),
    ("yes it is", ["yes"], 0.0, 0.0),
    ("no", ["no one"], 0.0, 0.0),
    ("KS", ["Kansas", "K.S."], 1.0, 1.0),
)
def test_exact_match_and_f1(answer: str, golds: list[str], exact: float, f1: float) -> None:
    found = match_answer(answer, golds)
    assert found.exact == exact
    assert found.f1 == pytest.approx(f1)


def test_paragraphs_found_by_hand() -> None:
    wanted = [("a", 1), ("b", 1), ("b", 2)]
    part = judge_support(wanted, [("b", 2), ("b", 2), ("c", 1)])
    assert part.recall == pytest.approx(1 / 3)
    assert part.whole == 0.0
    assert judge_support(wanted, [("b", 1), ("x", 1), ("b", 2), ("a", 1)]) == (1.0, 1.0)
    assert judge_support(wanted, []) == (0.0, 0.0)


def write(folder: Path, rows: Mapping[str, Sequence[object]]) -> Path:
    for name, records in rows.items():
        write_lines(folder / suite.FILES[name][0], *records)
    return folder


@pytest.fixture
def data(tmp_path: Path) -> Path:
    second = WIKI | {"id": "2", "question": "Who directed Stull?", "answer": "Ann Lee"}
    rows: dict[str, list[object]] = {
        "hotpotqa": [WIKI, second],
        "2wiki": [WIKI | EVIDENCES],
        "musique": [MUSIQUE],
    }
    return write(tmp_path / "given", rows)


class Chosen:
    """Stands in for the trained assessor, which needs weights: the last query is best."""

    def scores(
        self, question: str, evidence: Sequence[str], candidates: Sequence[CandidateQuery]
    ) -> list[float]:
        return [float(place) for place in range(len(candidates))]


class Reader:
    """Answers from the facts it is shown: Kansas if the right paragraph is among them."""

    def __init__(self) -> None:
        self.prompts: list[Prompt] = []
        self.says: Callable[[Prompt], Reply | None] = lambda _: None

    def __call__(self, prompt: Prompt) -> Reply:
        self.prompts.append(prompt)
        if said := self.says(prompt):
            return said
        known = PERSON in prompt.text
        short = "Kansas" if known else None
        match prompt.task:
            case "draft":
                return {"thought": "It is a film.", "steps": ["Find the director."]}
            case "reason":
                queries = [] if known else ["Stull film", "Ann Lee born"]
                return {"reasoning": "So [1].", "answer": short, "queries": queries}
            case "think":
                return {"thought": "Ann Lee directed Stull.", "answer": short}
            case "action":
                return act("finish") if known else act("documents", "Ann Lee born in")
            case "read":
                finding = {"page": 1, "quote": PERSON, "statement": PERSON, "number": ""}
                return {"findings": [finding]}
        return tell("So it is [1].", short or "Ohio")


@pytest.fixture(autouse=True)
def reader(word_search: None, word_vectors: None, monkeypatch: pytest.MonkeyPatch) -> Reader:
    for name, value in suite._WHOLE_PARAGRAPHS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("planweave.nodes.hops.assessor.plan_assessor", Chosen)
    made = Reader()

    def model(_: ModelRequest) -> ScriptedModel:
        return playing(made)

    register_provider("reader", model)
    return made


pool = partial(suite.load_pool, embeddings="words:64", status=print)


def test_a_title_is_a_document_and_its_paragraphs_are_pages(data: Path) -> None:
    (one,) = pool("musique", data)
    opened = open_collection(one.collection)
    assert {info.name: info.pages for info in opened.documents()} == {"Ann Lee": 2, "Stull": 1}
    assert one.supporting == [("Stull", 1), ("Ann Lee", 2)]
    assert [opened.page(*p) for p in one.supporting] == [f"Stull: {FILM}", f"Ann Lee: {PERSON}"]


def test_a_corpus_is_made_once_for_the_same_paragraphs(data: Path, tmp_path: Path) -> None:
    first = pool("hotpotqa", data)
    assert {one.collection for one in first} == {one.collection for one in pool("hotpotqa", data)}
    assert len(collections("bench")) == 1
    more = WIKI | {"context": [["Cat", ["A cat."]], *CONTEXT]}
    write(tmp_path / "other", {"hotpotqa": [more]})
    assert pool("hotpotqa", tmp_path / "other")[0].collection != first[0].collection
    assert len(collections("bench")) == 2


def test_an_alias_is_a_right_answer(data: Path) -> None:
    (one,) = pool("musique", data)
    found = one.score(answered("kansas"))
    assert (found.value, found.answer) == (1.0, "kansas")
    assert found.details["hops"] == 3
    assert found.details["supporting"] == [list(place) for place in one.supporting]
    assert one.score(None).value == one.score(None).details["f1"] == 0.0


def test_a_sample_is_part_of_a_larger_one_and_the_data_sets_come_in_turn(data: Path) -> None:
    hotpot, musique = pool("hotpotqa", data), pool("musique", data)
    made = suite.samples([hotpot, musique], methods=["direct", "furepa"], settings=Context())
    assert [(one.question, one.method) for one in made] == [
        ("hotpotqa-a-1", "direct"),
        ("hotpotqa-a-1", "furepa"),
        ("musique-3hop__1", "direct"),
        ("musique-3hop__1", "furepa"),
        ("hotpotqa-2", "direct"),
        ("hotpotqa-2", "furepa"),
    ]
    assert len({one.key for one in made}) == 6
    assert made[2].context.collection == musique[0].collection


@pytest.mark.published
@cases(("hotpotqa", 272), ("2wiki", 120), ("musique", 127))
def test_published_questions_have_their_paragraphs(dataset: str, number: int) -> None:
    questions = suite.load(dataset, published("."))
    assert len(questions) == number
    assert all(set(one.supporting) <= set(one.paragraphs) for one in questions)
    assert all(match_answer(one.answers[0], one.answers) == (1.0, 1.0) for one in questions)


def bench(data: Path, out: Path, *words: object, name: str = "mhqa", fails: str = "") -> Result:
    given: tuple[object, ...] = (name, "--data", data, "--out", out, "--embeddings", "words:64")
    if name == "mhqa":
        given += ("--model", "reader:x")
    return bench_command.bench(*given, *words, fails=fails)


def results(out: Path) -> dict[tuple[str, str], Record]:
    found = read(out / "reader-x.jsonl").records.values()
    return {(one.question, one.method): one for one in found}


def test_every_method_answers_and_is_scored(data: Path, tmp_path: Path) -> None:
    bench(data, tmp_path, "--dataset", "2wiki")
    found = {method: record for (_, method), record in results(tmp_path).items()}
    assert set(found) == set(suite.WAYS)
    assert not [record.error for record in found.values() if record.error]
    right = {method for method, record in found.items() if record.score.value}
    assert right == set(suite.WAYS) - {"direct", "cot", "rag-1"}
    assert {len(found[method].facts) for method in ("direct", "cot")} == {0}
    assert (len(found["rag-1"].facts), len(found["rag-5"].facts)) == (1, 3)


@cases(
    ("furepa", "Ann Lee born", False),
    ("furepa-no-assessor", "Stull film", False),
    ("furepa-no-masking", "Ann Lee born", True),
)
def test_an_ablation_is_a_setting_of_the_graph(
    method: str, first: str, shown: bool, data: Path, tmp_path: Path, reader: Reader
) -> None:
    bench(data, tmp_path, "--dataset", "2wiki", "--setting", "pages=1", "--method", method)
    (found,) = results(tmp_path).values()
    assert found.turns[0]["input"] == first
    assert [prompt.task for prompt in reader.prompts][:2] == ["reason", "reason"]
    assert (f"documents: {first}" in reader.prompts[1].text) == shown


def test_a_long_paragraph_is_found_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLANWEAVE_CHUNK_TOKENS", "10")
    long = WIKI | {"context": [["Stull", [FILM * 12]], *CONTEXT[2:]]}
    write(tmp_path, {"hotpotqa": [long]})
    bench(tmp_path, tmp_path, "--dataset", "hotpotqa", name="mhqa-retrieval")
    (name,) = collections("bench")
    chunks = {info.name: info.chunks for info in open_collection(name).documents()}
    assert chunks == {"Ann Lee": 1, "Stull": 1}


@cases("", ".gz")
def test_the_published_files_are_found(pack: str, tmp_path: Path) -> None:
    official = {key: value for key, value in WIKI.items() if key != "id"} | {"_id": "5a7f"}
    whole = {"hotpotqa": [official], "2wiki": [official | EVIDENCES]}
    for name, records in whole.items():
        path = tmp_path / f"{suite.FILES[name][1]}{pack}"
        path.parent.mkdir()
        content = json.dumps(records, indent=1).encode()
        path.write_bytes(gzip.compress(content) if pack else content)
        (found,) = suite.load(name, tmp_path)
        assert (found.id, len(found.steps)) == ("5a7f", 0 if name == "hotpotqa" else 2)


def test_retrieval_without_a_model(data: Path, tmp_path: Path) -> None:
    done = bench(data, tmp_path, name="mhqa-retrieval")
    assert "No figure here depends on a language model." in " ".join(done.output.split())
    kept = json.loads((tmp_path / "retrieval.json").read_text("utf-8"))
    assert kept["questions"] == {"hotpotqa": 2, "2wiki": 1, "musique": 1}
    assert len(kept["result"]) == 3 * 3 * 3
    rows = {(row["data set"], row["search"], row["k"]): row["found"] for row in kept["result"]}
    assert all(rows["hotpotqa", mode, 5]["value"] == 1 for mode in ("fused", "dense"))
    assert str(tmp_path) not in json.dumps(kept)


def test_fewer_pages_are_the_first_of_more(data: Path) -> None:
    (one,) = pool("musique", data)
    found = {(each.mode, each.k): each.support.recall for each in search([[one]])}
    best = open_collection(one.collection).search(QUESTION, k=2)
    places = [(page.document, page.page) for page in best]
    assert found["fused", 2] == judge_support(one.supporting, places).recall
    assert found["fused", 2] <= found["fused", 5] <= found["fused", 10] == 1.0


def scored(
    question: str, method: str, answer: str, places: Sequence[tuple[str, int]] | None = None
) -> Record:
    """A record whose gold answer is "red car", on the paragraphs (p, 1) and (p, 2)."""
    dataset, _, hops = question.partition("-")
    found = match_answer(answer, ["red car"])
    details = {"f1": found.f1, "hops": int(hops[0]), "supporting": [["p", 1], ["p", 2]]}
    quotes = [{"document": title, "page": page, "text": ""} for title, page in places or ()]
    return record(
        question,
        method,
        suite="mhqa",
        scenario=dataset,
        score=score(found.exact, answer or None, answers=["red car"], **details),
        facts=[{"number": n, "quote": quote} for n, quote in enumerate(quotes, 1)],
        turns=[] if places is None else [{"input": "q"}] * 2,
    )


RECORDS = [
    scored("x-2i", "direct", ""),
    scored("x-2i", "furepa", "the red car", [("p", 1), ("p", 2)]),
    scored("x-2i", "rag-1", "red", [("p", 1)]),
    scored("x-3j", "direct", "car"),
    scored("x-3j", "furepa", "red car", [("q", 1), ("p", 2)]),
    scored("x-3j", "rag-1", "blue", [("q", 1)]),
]


def test_answers_and_paragraphs_by_hand() -> None:
    found = rows(mhqa_tables(RECORDS, tuple(suite.WAYS)), "Answers and paragraphs by data set")
    assert [[cell.split(" ")[0] for cell in row] for row in found] == [
        ["x", "direct", "0.0%", "33.3%", "-", "-"],
        ["x", "rag-1", "0.0%", "33.3%", "25.0%", "0.0%"],
        ["x", "furepa", "100.0%", "100.0%", "75.0%", "50.0%"],
    ]


def test_furepa_beside_the_others_by_hand() -> None:
    tables = mhqa_tables(RECORDS, tuple(suite.WAYS))
    assert rows(tables, "FuRePA beside the others, on the same questions") == [
        ["direct", "2", "+66.7 [+33.3, +100.0]", "-"],
        ["rag-1", "2", "+66.7 [+33.3, +100.0]", "+50.0 [+50.0, +50.0]"],
    ]


def test_each_model_is_compared_with_itself() -> None:
    other = [one.model_copy(update={"model": "n"}) for one in RECORDS if one.method != "rag-1"]
    tables = mhqa_tables([*RECORDS, *other], tuple(suite.WAYS))
    compared = rows(tables, "FuRePA beside the others, on the same questions")
    assert [row[:2] for row in compared] == [["direct m", "2"], ["direct n", "2"], ["rag-1 m", "2"]]


def test_rounds_by_hand() -> None:
    found = rows(mhqa_tables(RECORDS, tuple(suite.WAYS)), "Rounds")
    assert found == [
        [part, method, questions, " · ".join(rounds * 3), "0"]
        for part, questions in (("all", "2"), ("x, 2 hops", "1"), ("x, 3 hops", "1"))
        for method, rounds in (("direct", "0"), ("rag-1", "2"), ("furepa", "2"))
    ]
