"""The benchmark of RAT: corpora without tested items, grades, tables, and the two commands."""

import json
from collections.abc import Callable
from pathlib import Path

import bench_command
import pytest
from bench_command import Page, rows
from cases import cases
from json_lines import write_lines
from published import published
from records import record, score
from scripted import Prompt, Reply, register
from typer.testing import Result

from planweave.benchmarks.core.play import Way
from planweave.benchmarks.core.store import read
from planweave.benchmarks.core.suite import Sample, suite
from planweave.benchmarks.suites.rat.code_eval import Grade
from planweave.benchmarks.suites.rat.corpus import Text, drop_tested
from planweave.benchmarks.suites.rat.items import Item, corpus_name, load
from planweave.benchmarks.suites.rat.suite import Target
from planweave.benchmarks.suites.rat.tables import rat_tables
from planweave.benchmarks.suites.writing.suite import load_tasks
from planweave.memory import Context, WorkingMemory
from planweave.memory.records import Failure
from planweave.tools.documents import collection

TEN = "one two three four five six seven eight nine ten"
ADD = 'def add(a, b):\n    """The sum of two numbers."""\n'


@cases(
    (f"zero {TEN} eleven", f"minus {TEN}", TEN),
    ("One, two; three: FOUR five-six seven eight nine ten", TEN, TEN),
    (TEN.replace("ten", "10"), TEN, None),
    ("a short task of five words stands here", "task of five words", "task of five words"),
    ("task of five other words", "task of five words", None),
    ("", TEN, None),
    (TEN, "", None),
)
def test_ten_tested_words_drop_a_text(corpus: str, tested: str, words: str | None) -> None:
    kept, dropped = drop_tested([Text("c", corpus)], [Text("t", tested)])
    assert [one.name for one in kept] == ([] if words else ["c"])
    assert [tuple(one) for one in dropped] == ([("c", "t", words)] if words else [])


@pytest.mark.published
@cases(("code", "code"), ("maths", "math"))
def test_no_corpus_has_a_task(family: str, folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from planweave.benchmarks.suites.rat.corpus import _READERS

    texts, tested = _READERS[family](published(folder))
    kept, dropped = drop_tested([*texts, tested[0]], tested)
    assert tested[0].name in {one.name for one in dropped}
    assert len(kept) + len(dropped) == len(texts) + 1
    assert not {one.text for one in kept} & {one.text for one in tested}
    assert len(kept) > len(texts) / 2


@cases("planning", "writing")
def test_a_text_that_contains_a_task_or_goal_is_dropped(asked: str, data: Path) -> None:
    from planweave.benchmarks.suites.rat.corpus import _READERS

    if asked == "writing":
        context = [["Boat", ["A boat swims."]], ["Ship", [f"Essay: {load_tasks('')[0].asked}"]]]
        question = {"question": "?", "answer": "!", "supporting_facts": [["Boat", 0]]}
        write_lines(
            data / "writing/dev_distractor_subset.jsonl.gz", question | {"context": context}
        )
    else:
        (goal,) = load("planning", "Minecraft", data / asked)
        passages = [{"title": "Boat", "text": "A boat swims."}]
        cheat = {"title": "Ship", "text": f"How to {goal.asked} Mine an oak_log first."}
        write_lines(data / asked / "wiki_passages.jsonl.gz", *passages, cheat)
    kept, dropped = drop_tested(*_READERS[asked](data / asked))
    assert [one.name for one in kept] == ["Boat"]
    assert [one.name for one in dropped] == ["Ship"]


def human(number: int) -> dict[str, object]:
    return {
        "task_id": f"HumanEval/{number}",
        "prompt": ADD,
        "entry_point": "add",
        "canonical_solution": "    return a + b\n",
        "test": "def check(candidate):\n    assert candidate(1, 2) == 3\n",
    }


def mbpp(number: int) -> dict[str, object]:
    return {
        "task_id": number,
        "text": f"Write a function that gives {number}.",
        "code": f"def f():\r\n    return {number}",
        "test_list": [f"assert f() == {number}"],
        "test_setup_code": "",
    }


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A folder for each family, in the published formats."""
    code, maths, planning = (tmp_path / name for name in ("code", "maths", "planning"))
    write_lines(code / "humaneval.jsonl.gz", *map(human, range(4)))
    write_lines(code / "mbpp.jsonl.gz", *map(mbpp, (2, 11, 175, 176, 601, 602)))
    write_lines(code / "MbppPlus.jsonl.gz", human(9))
    asked = {"question": "I have 2 apples and buy 3. How many apples do I have?"}
    train = {"question": "I have 4 pears and eat 1. How many are left?", "answer": "4-1\n#### 3"}
    write_lines(maths / "gsm8k_test.jsonl.gz", asked | {"answer": "2+3=<<2+3=5>>5\n#### 5"})
    write_lines(maths / "gsm8k_train_1000.jsonl.gz", train, asked | {"answer": "#### 5"})
    write_lines(maths / "gsm_hard.jsonl.gz", {"input": "2 and 3?", "target": 5.0, "code": ""})
    log = {"type": "mine", "output": {"oak_log": 1}, "precondition": {}, "tool_any": []}
    planks = {"type": "craft", "output": {"oak_planks": 4}, "precondition": {"oak_log": 1}}
    write_lines(planning / "actions.jsonl.gz", log, planks | {"tool_any": []})
    names = {"oak_log": "Oak Log", "oak_planks": "Oak Planks"}.items()
    items = [{"name": name, "display": shown} for name, shown in names]
    write_lines(planning / "items.jsonl.gz", *items)
    write_lines(planning / "goals.jsonl.gz", {"item": "oak_planks"})
    (planning / "smelting.json").write_text('{"fuel_items_per_unit": {"oak_log": 1.5}}')
    recipe = "Crafting Oak Planks. One craft makes 4 oak_planks of 1 oak_log."
    passages = [{"title": "Crafting Oak Planks", "text": text} for text in (recipe, "Or spruce.")]
    write_lines(planning / "wiki_passages.jsonl.gz", *passages)
    return tmp_path


MINED = "STEP 1: mine 1 oak_log\nSTEP 2: craft 4 oak_planks"


@cases(
    ("code", "HumanEval", "def add(a, b):\n    return a + b", "def add(a, b):\n    return 3.5"),
    ("code", "MBPP", "def f():\n    return 11", "def f():\n    return 12"),
    ("maths", "GSM8K", "print(2 + 3)", "print(2 - 3)"),
    ("maths", "GSM-Hard", "def solution():\n    return 5", "1 / 0"),
    ("planning", "Minecraft", MINED, "STEP 1: craft 4 oak_planks"),
)
def test_right_and_wrong_products(
    family: str, dataset: str, right: str, wrong: str, data: Path
) -> None:
    item = load(family, dataset, data / family)[0]  # type: ignore[arg-type]
    assert item.grade(right).right
    failed = item.grade(wrong)
    assert not failed.right
    assert failed.reason
    if dataset == "MBPP":  # as in the paper, a part of it
        assert [item.id for item in load("code", "MBPP", data / "code")] == ["11", "175"]


def test_what_retrieval_did() -> None:
    attempt = {"steps": 4, "retrievals": 3, "checked": 2, "changed": 1, "right": True}
    found = score(1, attempts=[attempt])
    records = [record(name, "rat", score=found, scenario="HumanEval", suite="rat") for name in "ab"]
    made = rows(rat_tables(records), "What retrieval did")
    assert made == [["HumanEval", "rat", "3 · 3 · 3", "4 · 4 · 4", "50%", "0"]]


Bench = Callable[..., Result]


@pytest.fixture
def bench(tmp_path: Path, word_search: None) -> Bench:
    def bench(*words: object, fails: str = "") -> Result:
        out = ("--out", tmp_path / "results")
        return bench_command.bench(*words, *out, fails=fails)

    return bench


REPLIES: dict[str, tuple[Reply, Reply]] = {
    "code": (f"```python\n{ADD}    return a - b\n```", f"```python\n{ADD}    return a + b\n```"),
    "maths": ("```\nprint(6)\n```", "print(2 + 3)"),
    "planning": ({"steps": ["craft 4 oak_planks"]}, {"steps": []}),
}


def pupil(family: str, prompt: Prompt) -> Reply:
    """Wrong at first, and right after a look-up that corrects it."""
    match prompt.task:
        case "draft":
            return {"thought": "", "steps": ["mine 1 stone", "craft 4 oak_planks"]}
        case "query":
            return {"query": "oak_planks"}
        case "revise":
            steps = ["mine 1 oak_log", "craft 4 oak_planks"]
            first = "## Steps that are checked\n(nothing)" in prompt.text
            return {"steps": steps, "text": steps[not first], "earlier": []}
    assert prompt.task == ("steps" if family == "planning" else "program")
    wrong, right = REPLIES[family]
    return right if "mine 1 oak_log" in prompt.text else wrong


@cases("code", "maths", "planning")
def test_the_commands(
    family: str, bench: Bench, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = ("--family", family, "--data", data / family)
    monkeypatch.setattr("planweave.apps.cli.bench.common.STATUS_SECONDS", 0)
    built = bench("rat-corpus", *given, "--embeddings", "words:1")
    assert "passages are stored …" in built.output  # progress, also without a terminal
    told = json.loads((tmp_path / f"results/corpus-{family}.json").read_text())
    assert told["collection"] == corpus_name(family)
    assert f"{told['kept']} of {told['kept'] + len(told['dropped'])} texts" in built.output
    assert [x["name"] for x in told["dropped"]] == (["GSM8K train 2"] if family == "maths" else [])
    model = register(lambda prompt: pupil(family, prompt))
    ways = "direct,rag-1,rat,rat-non-causal"
    words = ("rat", *given, "--model", model, "--limit", 1, "--method", ways)
    page = Page.of(bench(*words, "--json"))
    scores = {str(row[1]): row[2] for row in page.rows("Score by data set")}
    found = {name: score["value"] for name, score in scores.items() if isinstance(score, dict)}
    assert found == {"direct": 0.0, "rag-1": 0.0, "rat": 1.0, "rat-non-causal": 1.0}
    retrieval = {str(row[1]): row for row in page.rows("What retrieval did")}
    assert set(retrieval) == {"rag-1", "rat", "rat-non-causal"}
    assert retrieval["rat"][4] == "50%"  # the second step was right
    assert retrieval["rat-non-causal"][4] == "50%"
    first = collection.open_collection(corpus_name(family)).search("a", k=1)[0]
    assert first.document in ("MBPP 601", "MBPP 602", "GSM8K train 1", "Crafting Oak Planks")
    assert "4 done before, 0 to do" in bench(*words).output
    assert (tmp_path / "results/report.md").exists()


def test_pass_at_5_over_two_programs(bench: Bench, data: Path) -> None:
    given = ("--family", "code", "--data", data / "code")
    bench("rat-corpus", *given, "--embeddings", "words:1")
    stated = {"thought": "", "steps": ["Write a function that gives 601.", "return"]}

    def script(prompt: Prompt) -> Reply:
        return stated if prompt.task == "draft" else pupil("code", prompt)

    words = ("--samples", 5, "--limit", 2, "--method", "direct,rat")
    page = Page.of(bench("rat", *given, "--model", register(script), *words, "--json"))
    several = {str(row[1]): row for row in page.rows("At least one of several attempts")}
    assert {row[2] for row in several.values()} == {5}
    assert several["rat"][3]["value"] == 1.0  # type: ignore[index, call-overload]
    assert several["direct"][3]["value"] == 0.0  # type: ignore[index, call-overload]


def author(prompt: Prompt) -> Reply:
    """Writes more if the prompt has more facts."""
    match prompt.task:
        case "draft":
            return {"thought": "", "steps": ["Apollo 8 flew in 1967."]}
        case "query":
            return {"query": "Apollo 8"}
        case "revise":
            return {"text": "Apollo 8 flew in 1968."}
    assert prompt.task == "text"
    return f"It flew.\n\n{'In 1968.' if '1968' in prompt.text else 'When?'}"


def test_written_texts_are_stored(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paragraphs = [["Apollo 8", ["Apollo 8 flew in 1968."]], ["Chess", ["Chess is a game."]]]
    question = {"id": "1", "question": "When?", "answer": "1968", "context": paragraphs}
    more = {"supporting_facts": [["Apollo 8", 0]], "type": "bridge", "level": "easy"}
    write_lines(tmp_path / "hotpot" / "dev_distractor_subset.jsonl.gz", question | more)
    bench("writing", fails="There is no corpus for writing yet")
    bench("rat-corpus", "--family", "writing", "--data", tmp_path, fails="no paragraphs of Hotpot")
    built = ("rat-corpus", "--family", "writing", "--data", tmp_path / "hotpot")
    assert "2 of 2 texts" in bench(*built, "--embeddings", "words:1").output
    words = ("writing", "--model", register(author), "--dataset", "history")
    page = Page.of(bench(*words, "--method", "direct,rat", "--limit", 2, "--json"))
    assert [row[0] for row in page.rows("Written")] == ["direct", "rat"]
    (retrieval,) = page.rows("What retrieval did")
    assert retrieval[4] == "100%"
    times = page.rows("Where the time of a question goes (table 8)")
    assert [row[:2] for row in times] == [["all", "direct"], ["all", "rat"]]
    (kept,) = (tmp_path / "results").glob("*.jsonl")
    records = list(read(kept).records.values())
    assert {record.suite for record in records} == {"writing"}
    texts = {record.method: record.score.answer for record in records}
    assert texts == {"direct": "It flew.\n\nWhen?", "rat": "It flew.\n\nIn 1968."}
    tasks = load_tasks("somewhere")
    kinds = [kind for kind in ("survey", "biography", "history") for _ in range(7)]
    assert [task.dataset for task in tasks] == kinds
    assert len({task.asked for task in tasks}) == 21
    assert tasks[0].content != load_tasks("elsewhere")[0].content
    asked = {task.asked for task in tasks if task.dataset == "history"}
    assert {record.score.details["asked"] for record in records} < asked
    assert "4 done before, 0 to do" in bench(*words, "--method", "direct,rat", "--limit", 2).output
    elsewhere = bench(*words, "--method", "direct", "--collection", corpus_name("writing"))
    assert "0 done before" not in elsewhere.output  # the same collection by its name
    bench(*words, "--web-search", "nowhere", fails="There is no web search 'nowhere'")
    bench(*words, "--collection", "nowhere", fails="no document collection 'nowhere'")
    maths = ("rat", "--family", "maths", "--data", tmp_path)
    bench(*maths, "--collection", "nowhere", fails="no document collection 'nowhere'")


def test_several_attempts_differ_in_seed_and_temperature(
    bench: Bench, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from planweave.models import chat

    asked: list[tuple[float, int | None]] = []
    original = chat.chat_model

    def noted(name: str, **settings: object) -> object:
        asked.append((settings["temperature"], settings["seed"]))  # type: ignore[arg-type]
        return original(name, **settings)  # type: ignore[arg-type]

    monkeypatch.setattr(chat, "chat_model", noted)
    given = ("--family", "maths", "--data", data / "maths")
    bench("rat-corpus", *given, "--embeddings", "words:1")
    model = register(lambda prompt: pupil("maths", prompt))
    bench("rat", *given, "--model", model, "--method", "direct")
    assert asked == [(0.8, 0), (0.8, 1), (0.8, 2)]  # word problems: three by default
    asked.clear()
    words = ("rat", *given, "--model", model, "--method", "direct", "--samples", 1)
    bench(*words)
    assert asked == [(0.0, 0)]
    collection.open_collection("mine", embeddings="words:1", create=True)
    assert "0 done before, 1 to do" in bench(*words, "--collection", "mine").output
    assert "1 done before, 0 to do" in bench(*words, "--collection", "mine").output


async def test_failures_of_all_attempts_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    async def played(_way: Way, _sample: object, _on_call: object, *, seed: int) -> WorkingMemory:
        failures = [Failure(role="drafter", kind="malformed", detail="?")] * (seed == 0)
        return {"failures": failures, "answer": None}

    monkeypatch.setattr(Way, "play", played)
    item = Item("GSM8K", "1", "How many?", "", lambda _: Grade(False, ""))
    target, given = Target(item, 3), Context()
    sample = Sample(
        suite="rat", question="1", method="direct", asked="How?", context=given, target=target
    )
    memory = await suite("rat").play(sample, print)
    assert len(memory["failures"]) == 1
    assert len(memory["attempts"]) == 3
