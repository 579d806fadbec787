"""``planweave ask`` and ``planweave terms``: real documents, scripted server, installed program."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from cases import cases
from command_line import CommandLine, assert_one_clear_error
from market import DRAFT, FUREPA, NAME, QUESTION, RAT, REVISED, add_report, needs_minilm
from offers import scripted
from openai_server import Answer, serving
from scripted import tell

SEARCH = {"thought": "Look it up.", "tool": "documents", "input": "levelised cost of hydrogen"}
QUOTE = "The levelised cost of hydrogen (LCOH) is USD 5.5/kg in 2023."
READ = {
    "findings": [{"page": 1, "quote": QUOTE, "statement": "It costs USD 5.5/kg.", "values": []}]
}
ANSWER = tell("In 2023 it costs USD 5.5/kg [1].", "USD 5.5/kg")
SEARCHED = ("--setting", "whole_collection=off")
"""The collection would fit into one prompt."""
V1 = (SEARCH, READ, ANSWER)
V3 = (
    {"steps": ["Find the cost."]},
    {"task": "Find the cost of hydrogen."},
    SEARCH,
    READ,
    {"steps": ["Answer."]},
    {"reason": "Fact [1] says it.", "verdict": "TERMINATE"},
    ANSWER,
)


@pytest.fixture
def library(planweave: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    """The program with a collection "market" of one report, searched by words."""
    monkeypatch.setenv("PLANWEAVE_DATA_DIR", str(tmp_path / "data"))
    add_report(tmp_path)
    return planweave


@cases("--graph", "--database")
def test_a_graph_is_asked_in_cypher_by_either_option(
    option: str, planweave: CommandLine, tmp_path: Path
) -> None:
    script = tmp_path / "cities.cypher"
    script.write_text('CREATE (a:City {name: "Ulm"});')
    replies = (
        {"thought": "Count.", "tool": "cypher", "input": "MATCH (c:City) RETURN count(c) AS n"},
        {"why": "One is there [1].", "facts": [1], "decision": "1", "unknown": ""},
    )
    with serving(*scripted(*replies)) as model:
        asked = ("ask", "How many cities?", "--method", "single_rag", "--model", model.name)
        run = planweave(*asked, option, str(script))
    assert run.returncode == 0, run.stderr
    assert "  cypher\n" in run.stdout


ASSISTED = ("--setting", "assist=on", "--setting", "least_answerable=0")
CHEAPEST = "Which offer is cheapest?"


def test_what_the_program_corrected_stands_below_the_query(
    planweave: CommandLine, offers: str
) -> None:
    asked = ("ask", CHEAPEST, "--database", offers, "--method", "single_rag", *ASSISTED)
    with serving(Answer("SELECT nam, price FROM offers ORDER BY price LIMIT 1")) as model:
        shown = planweave(*asked, "--model", model.name)
        told = planweave(*asked, "--model", model.name, "--json")
    assert shown.returncode == told.returncode == 0, shown.stderr + told.stderr
    corrected = "    corrected: offers → offer; nam → offers.name\n"
    assert shown.stdout.index("SELECT") < shown.stdout.index(corrected)
    assert corrected in told.stderr
    assert json.loads(told.stdout)["turns"][0]["corrected"] == [
        "offers → offer",
        "nam → offers.name",
    ]


def test_a_confirmed_query_is_an_example_for_later_questions(
    planweave: CommandLine, offers: str
) -> None:
    wrong, right = (f"SELECT name FROM offer ORDER BY price {way} LIMIT 1" for way in ("", "DESC"))
    sources = ("--database", offers, "--method", "single_rag", *ASSISTED)
    with serving(Answer(wrong)) as model:
        first = planweave(
            "ask", "Which is dearest?", *sources, "--model", model.name, COLUMNS="120"
        )
        (hint,) = [line for line in first.stdout.splitlines() if "keep it as an example" in line]
        confirm = hint.partition(": planweave ")[2].split()
        assert planweave(*confirm, "--query", right).returncode == 0
        asked = len(model.requests)
        assert planweave("ask", CHEAPEST, *sources, "--model", model.name).returncode == 0
    assert right not in str(model.requests[:asked])
    assert right in str(model.requests[asked:])


def test_json_tells_why_the_method_was_chosen(planweave: CommandLine, offers: str) -> None:
    asked = ("ask", CHEAPEST, "--database", offers, *ASSISTED, "--json")
    with serving(Answer("SELECT name FROM offer ORDER BY price LIMIT 1")) as model:
        chosen = json.loads(planweave(*asked, "--model", model.name).stdout)
        given = json.loads(
            planweave(*asked, "--model", model.name, "--method", "single_rag").stdout
        )
    assert chosen["reason"] == "a small model answers best from one query"
    assert chosen["method"] == given["method"] == "single_rag"
    assert "reason" not in given


def test_queries_that_disagree_are_both_shown(planweave: CommandLine, offers: str) -> None:
    first, other = (f"SELECT name FROM offer ORDER BY {by} LIMIT 1" for by in ("price", "name"))
    asked = ("ask", CHEAPEST, "--database", offers, "--method", "single_rag", *ASSISTED)
    more = ("--setting", "query_candidates=2")
    for wanted in ((), ("--json",)):
        with serving(Answer(first), Answer(other)) as model:
            run = planweave(*asked, *more, "--model", model.name, *wanted, COLUMNS="120")
        assert run.returncode == 0, run.stderr
        if wanted:
            verdict = json.loads(run.stdout)["answer"]["verdict"]
            assert verdict["other"] == {"text": "ash", "query": other}
        else:
            reason = run.stdout.index("Not sure: only 50% of the queries")
            assert reason < run.stdout.index(f"Another reading: ash ({other})")


@cases(
    (
        "agent_v3",
        V3,
        [
            *("Plan", "1. Find the cost.", "task: Find the cost of hydrogen."),
            *("found report.txt p. 1", "[1] It costs USD 5.5/kg.", "[1] report.txt, p. 1:"),
            *("─ Answer ─", "5.5/kg [1].", "1 of 1 claims supported", "7 model calls"),
        ],
    ),
    (
        "rat",
        RAT,
        [
            *("Draft", f"1. {DRAFT[0]}", f"2. {DRAFT[1]}"),
            *("Step 1: changed (report.txt, p. 1)", f"-{DRAFT[0]}", f"+{REVISED}"),
            *("levelised cost of hydrogen", "[1] Market report", "[1] report.txt, p. 1:"),
            *("Step 2: unchanged (report.txt, p. 2)", "rise of prices", "[2] Prices of offers"),
            *("─ Answer ─", "5.5/kg [1].", "6 model calls"),
        ],
    ),
    pytest.param(
        "furepa",
        FUREPA,
        [
            *("◦ query", "levelised cost of hydrogen", "◦ query", "LCOH in 2023"),
            *("found report.txt p. 1", "[1] Market report", "[1] report.txt, p. 1:"),
            *("◦ query", "rise of prices", "a year of offers", "found report.txt p. 2"),
            *("[2] Prices of offers", "[2] report.txt, p. 2:"),
            *("─ Answer ─", "5.5/kg [1].", "3 model calls"),
        ],
        marks=needs_minilm,
    ),
)
def test_ask_tells_what_a_method_does(
    method: str, replies: Sequence[Mapping[str, object]], order: Sequence[str], library: CommandLine
) -> None:
    with serving(*scripted(*replies)) as model:
        run = library(
            *("ask", QUESTION, "--collection", NAME, "--setting", "pages=1", "--method", method),
            *("--setting", "replan=every_observation", "--model", model.name, *SEARCHED),
        )
    assert run.returncode == 0, run.stderr
    place = 0
    for text in (QUESTION, *order):
        place = run.stdout.index(text, place) + len(text)
    assert len(model.requests) == len(replies)


def test_a_term_is_learned_confirmed_used_and_forgotten(library: CommandLine) -> None:
    def ask() -> str:
        with serving(*scripted(*V1)) as model:
            library(
                *("ask", "What is the LCOH?", "--collection", "market", "--method", "agent_v1"),
                *("--model", model.name, *SEARCHED),
            )
        return "\n".join(message["content"] for message in model.requests[0]["messages"])

    assert "levelised cost of hydrogen" not in ask()
    listed = json.loads(library("terms", "list", "--json").stdout)
    assert listed["LCOH"]["page"] == 1
    assert listed["LCOH"]["confirmed"] is False
    assert "levelised cost of hydrogen" in library("terms", "list").stdout
    assert library("terms", "confirm", "LCOH").returncode == 0
    assert "LCOH: levelised cost of hydrogen" in ask()
    assert library("terms", "forget", "LCOH").returncode == 0
    assert json.loads(library("terms", "list", "--json").stdout) == {}


def test_a_term_that_was_never_learned_is_told(planweave: CommandLine) -> None:
    for command in ("confirm", "forget"):
        run = planweave("terms", command, "XYZ")
        assert_one_clear_error(run, "'XYZ' was never learned", "planweave terms list")


def test_a_run_waits_for_approval_and_says_how_to_go_on(library: CommandLine) -> None:
    with serving(*scripted(*V3)) as model:
        asked = ("ask", "What?", "--collection", "market", "--model", model.name)
        run = library(*asked, "--approve", *SEARCHED)
    assert_one_clear_error(run, "waits for approval", "planweave ask --resume", code=5)


def test_an_empty_collection_is_said_to_be_so(library: CommandLine) -> None:
    library("docs", "remove", "report.txt", "--collection", "market")
    run = library("ask", "What?", "--collection", "market")
    assert_one_clear_error(run, "'market' is empty", "planweave docs add")


def test_documents_are_read_beside_a_database_only_if_they_are_named(
    planweave: CommandLine, offers: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLANWEAVE_DATA_DIR", str(tmp_path / "data"))
    (tmp_path / "note.txt").write_text("Birch delivers late.")
    (tmp_path / "none.txt").write_text("Nothing.")
    planweave("docs", "add", "note.txt", "--embeddings", "none")
    asked = ("ask", "Which offer?", "--database", offers, "--model", "script:none.txt")
    small = (*asked, "--setting", "assist=on")
    assert planweave(*small).stdout.startswith("single_rag ")
    assert planweave(*small, "--collection", "default").stdout.startswith("agent_v1 ")
    whole = "found note.txt"
    assert whole not in planweave(*asked).stdout
    assert whole in planweave(*asked, "--collection", "default").stdout


@cases(((), "planweave docs add FILE"), (("--collection", "none"), "no document collection 'none'"))
def test_no_source_is_reported_at_once(
    options: tuple[str, ...], words: str, planweave: CommandLine
) -> None:
    run = planweave("ask", "What?", *options)
    assert_one_clear_error(run, words, "planweave docs add")
    assert run.stdout == ""
