"""Queries with aids: written in plain text, corrected, repaired, and chosen by what they return."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from scripted import Replies, Run, act, answer_of, decide, keep, plan

from planweave import BadInput
from planweave.memory import WorkingMemory
from planweave.tools.database import Limits, QueryResult, QueryTimeout
from planweave.tools.sql import SqlDatabase

CHEAPEST = "SELECT name, cost FROM plant ORDER BY cost LIMIT 1"


def facts(memory: WorkingMemory) -> list[str]:
    return [fact["text"].partition("\n")[2].strip() for fact in memory["facts"]]


async def test_one_source_needs_no_selector(run: Run) -> None:
    script = Replies(write=[f"```sql\n{CHEAPEST};\n```"])
    memory = await run("single_rag", script, assist="on", query_candidates=1)
    assert script.tasks == ["write"]  # and rows need no answering machine
    assert answer_of(memory)["decision"] == "Bonn"
    assert memory["turns"][0]["input"] == CHEAPEST
    assert facts(memory) == ["Bonn | 7.25"]
    assert memory["usage"]["query_writer"]["calls"] == 1


async def test_the_schema_comes_first_and_the_question_is_linked_to_the_data(run: Run) -> None:
    script = Replies(write=[CHEAPEST], decide=[decide("Bonn", 1)])
    given = {"question": "Which plant in the region West is cheapest?"}
    await run("single_rag", script, given, assist="on", query_candidates=1, rules="Cost decides.")
    system, task = script.prompts[0].messages
    assert "CREATE TABLE plant" in system.text
    assert "plant.region = 'west'" in task.text
    assert "Cost decides." in task.text
    assert task.text.endswith("Return only the SQL (SQLite) query.")


async def test_rules_without_a_ranking_are_in_the_prompt(run: Run) -> None:
    script = Replies(write=[CHEAPEST], decide=[decide("Bonn", 1)])
    given = {"question": "Is a plant in the region West open?"}
    await run("single_rag", script, given, assist="on", query_candidates=1, rules="West is open.")
    assert "West is open." in script.prompts[0].messages[1].text


@pytest.mark.parametrize(
    ("first", "complaint"),
    [
        ("SELECT cheapest FROM nowhere", "There is no table nowhere"),
        ("SELECT name FROM plant WHERE cost > 99", "finds nothing"),
        ("SELECT MIN(cost) FROM plant", "for each of several things"),
    ],
)
async def test_a_query_that_is_objected_to_is_written_again(
    run: Run, first: str, complaint: str
) -> None:
    script = Replies(write=[first, CHEAPEST], decide=[decide("Bonn", 1)])
    given = {"question": "What is the least cost of every single one?"}
    memory = await run("single_rag", script, given, assist="on", query_candidates=1)
    assert complaint in script.prompts[1].text
    assert facts(memory) == ["Bonn | 7.25"]


async def test_an_empty_database_is_reported_before_any_model_is_asked(
    run: Run, tmp_path: Path
) -> None:
    script = Replies()
    with pytest.raises(BadInput, match="has no tables"):
        await run("single_rag", script, database=str(_made(tmp_path, "")), assist="on")
    assert not script.prompts


async def test_of_a_large_schema_the_tables_that_are_asked_about_are_shown(
    run: Run, tmp_path: Path
) -> None:
    tables = "".join(f"CREATE TABLE log_{n} (id INTEGER, note_{n} TEXT);" for n in range(300))
    depot = "CREATE TABLE depot (name TEXT, rent REAL); INSERT INTO depot VALUES ('North', 5);"
    script = Replies(write=["SELECT name, rent FROM depot"], decide=[decide("North", 1)])
    await run(
        "single_rag",
        script,
        {"question": "Which depot has the lowest rent?"},
        database=str(_made(tmp_path, tables + depot)),
        assist="on",
        query_candidates=1,
    )
    prompt = script.prompts[0].messages[0].text
    assert "depot(name text [North], rent real)" in prompt
    assert "log_7" not in prompt


def _made(folder: Path, script: str) -> Path:
    path = folder / "made.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(script)
    return path


async def test_a_query_without_rows_is_told_in_a_sentence(run: Run) -> None:
    script = Replies(write=["SELECT name FROM plant WHERE cost > 99"] * 2)
    memory = await run("single_rag", script, assist="on", query_candidates=1)
    assert answer_of(memory)["unknown"].startswith("The query found no rows. No row meets")


async def test_the_result_that_most_candidates_agree_on_is_taken(run: Run) -> None:
    wrong = "SELECT name, cost FROM plant ORDER BY cost DESC LIMIT 1"
    same = "SELECT cost, name FROM plant WHERE cost = (SELECT MIN(cost) FROM plant)"
    script = Replies(write=[wrong, CHEAPEST, same], decide=[decide("Bonn", 1)])
    memory = await run("single_rag", script, assist="on", query_candidates=3)
    assert memory["turns"][0]["input"] == CHEAPEST  # the shorter of the two that agree
    assert len(memory["facts"]) == 1


async def test_a_list_says_a_thing_once_however_often_it_stands_there(run: Run) -> None:
    twice = "SELECT name FROM plant UNION ALL SELECT name FROM plant"
    script = Replies(write=["SELECT name FROM plant", twice])
    given = {"question": "Which plants are there?"}
    memory = await run("single_rag", script, given, assist="on", query_candidates=2)
    assert answer_of(memory)["verdict"]["kind"] == "supported"


async def test_of_queries_with_the_same_rows_one_that_sorts_as_asked_is_taken(run: Run) -> None:
    sorts = "SELECT name FROM plant AS one ORDER BY name"
    script = Replies(write=["SELECT name FROM plant", sorts])
    given = {"question": "List the plants in alphabetical order."}
    memory = await run("single_rag", script, given, assist="on", query_candidates=2)
    assert "ORDER BY name" in memory["turns"][0]["input"]


async def test_a_query_that_never_ends_is_run_once(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[str] = []

    def never(self: SqlDatabase, query: str, limits: Limits) -> QueryResult:
        ran.append(query)
        raise QueryTimeout("The query was stopped after 10 s.")

    monkeypatch.setattr(SqlDatabase, "run", never)
    script = Replies(write=[CHEAPEST] * 5)
    memory = await run("single_rag", script, assist="on", query_candidates=4)
    assert ran == [CHEAPEST]
    assert answer_of(memory)["unknown"] == "The query was stopped after 10 s."


async def test_when_no_candidate_runs_the_problem_is_told(run: Run) -> None:
    script = Replies(write=["SELECT x FROM nowhere"] * 4)
    memory = await run("single_rag", script, assist="on", query_candidates=3)
    assert memory["facts"] == []
    assert "There is no table nowhere" in memory["turns"][0]["problem"]
    answer = answer_of(memory)
    assert answer["decision"] is None


async def test_a_plan_s_query_is_corrected_before_anything_is_asked(run: Run) -> None:
    script = Replies(
        plan=[plan("Find the cheapest plant.")],
        action=[
            act("sql", "SELECT p.nam, p.cost FROM plants p ORDER BY p.cost LIMIT 1"),
            act("finish"),
        ],
        judge=[keep()],
        decide=[decide("Bonn", 1)],
    )
    memory = await run("planrag", script, assist="on")
    assert "write" not in script.tasks
    assert facts(memory) == ["Bonn | 7.25"]


async def test_a_plan_s_query_that_runs_stays_as_it_is(run: Run) -> None:
    query = "SELECT name FROM plant ORDER BY cost LIMIT 1"
    script = Replies(
        plan=[plan("Find the cheapest plant.")],
        action=[act("sql", query), act("finish")],
        judge=[keep()],
        decide=[decide("Bonn", 1)],
    )
    memory = await run("planrag", script, assist="on")
    assert memory["turns"][0]["input"] == query


async def test_a_graph_is_asked_alike(run: Run, graph: str) -> None:
    query = "MATCH (p:Plant) RETURN p.name, p.cost ORDER BY p.cost LIMIT 1"
    script = Replies(write=["MATCH (p:Factory) RETURN p.name", query], decide=[decide("Bonn", 1)])
    memory = await run(
        "single_rag", script, database=None, graph=graph, assist="on", query_candidates=1
    )
    assert facts(memory) == ["Bonn | 7.25"]
    assert memory["turns"][0]["tool"] == "cypher"


async def test_without_aids_the_selector_writes_the_query(run: Run) -> None:
    script = Replies(action=[act("sql", CHEAPEST)], decide=[decide("Bonn", 1)])
    await run("single_rag", script)
    assert script.tasks == ["action", "decide"]


@pytest.mark.parametrize(
    ("last", "verdict"),
    [
        (CHEAPEST, "In the facts"),
        ("SELECT name, cost FROM plant ORDER BY cost DESC LIMIT 1", "Not sure: of the queries"),
    ],
)
async def test_queries_that_disagree_make_the_answer_unsure(
    run: Run, last: str, verdict: str
) -> None:
    script = Replies(write=[CHEAPEST, CHEAPEST, last], decide=[decide("Bonn", 1)])
    memory = await run("single_rag", script, assist="on", query_candidates=3)
    answer = answer_of(memory)
    assert answer["decision"] == "Bonn"
    assert answer["verdict"]["text"].startswith(verdict)


async def test_what_a_region_has_in_all_is_added_up(run: Run) -> None:
    query = "SELECT region, cost FROM plant ORDER BY cost DESC LIMIT 1"
    script = Replies(write=[query])
    question = {"question": "Which region has the most cost?"}
    memory = await run("single_rag", script, question, assist="on", query_candidates=1)
    assert "SUM(cost)" in memory["turns"][0]["input"]
    answer = answer_of(memory)
    assert (answer["decision"], answer["verdict"]["kind"]) == ("west", "supported")


async def test_a_result_without_any_option_is_asked_for_again(run: Run) -> None:
    script = Replies(write=["SELECT MIN(cost) FROM plant", CHEAPEST], decide=[decide("Bonn", 1)])
    memory = await run(
        "single_rag", script, assist="on", query_candidates=1, candidates=["Aachen", "Bonn"]
    )
    assert "The answer is one of: Aachen, Bonn" in script.prompts[0].text
    assert "shows none of the options: Aachen, Bonn." in script.prompts[1].text
    assert facts(memory) == ["Bonn | 7.25"]


RANKED = "SELECT name, cost AS value FROM plant ORDER BY value DESC LIMIT 1"


async def test_a_ranking_decides_without_the_model(run: Run) -> None:
    script = Replies(write=[RANKED])
    memory = await run(
        "single_rag", script, assist="on", query_candidates=1, rules="The cost decides."
    )
    assert script.tasks == ["write"]
    assert facts(memory) == ["Bonn | 7.25\nCottbus | 9\nAachen | 10.5"]
    answer = answer_of(memory)
    assert answer["decision"] == "Bonn"
    assert "Cottbus" in answer["why"]
    assert answer["basis"] == {"how": "lowest", "column": "value"}


async def test_the_verdict_on_a_ranking_says_what_its_query_leaves_out(run: Run) -> None:
    verdicts = []
    for query in (RANKED, "SELECT name, LENGTH(name) AS value FROM plant"):
        memory = await run(
            "single_rag",
            Replies(write=[query]),
            {"question": "Which plant has the lowest cost?"},
            assist="on",
            query_candidates=1,
            rules="The lowest cost decides.",
            candidates=("Bonn", "Cottbus"),
        )
        facts(memory)
        answer = answer_of(memory)
        verdicts.append(answer["verdict"])
    assert verdicts[0] == {
        "kind": "supported",
        "text": "In the facts: it has the lowest value in fact [1].",
    }
    assert verdicts[1] == {
        "kind": "not_in_facts",
        "text": "Not in the facts: the query does not use “cost”. "
        "The query uses “name”, of which nothing is said.",
    }


async def test_an_option_that_may_not_be_decided_is_passed_over(run: Run) -> None:
    memory = await run(
        "single_rag",
        Replies(write=[RANKED]),
        assist="on",
        query_candidates=1,
        rules="The cost decides.",
        candidates=("Aachen", "Cottbus"),
    )
    assert answer_of(memory)["decision"] == "Cottbus"


async def test_equal_options_decide_nothing(run: Run) -> None:
    memory = await run(
        "single_rag",
        Replies(write=["SELECT name, 1 AS value FROM plant"]),
        assist="on",
        query_candidates=1,
        rules="The cost decides.",
    )
    assert answer_of(memory)["decision"] is None
    assert "are equal" in answer_of(memory)["unknown"]


GOVERNMENT = {"question": "What is the language of the government?"}


@pytest.mark.parametrize(
    ("replies", "words"),
    [(["no"], "language, government"), (["yes", "SELECT language FROM plant"], "language")],
    ids=["the model finds no place for it", "the query needs a name that is none"],
)
async def test_what_the_database_knows_nothing_of_is_refused(
    run: Run, replies: list[str], words: str
) -> None:
    script = Replies(write=[*replies, CHEAPEST])
    memory = await run("single_rag", script, GOVERNMENT, assist="on", query_candidates=1)
    assert answer_of(memory)["decision"] is None
    assert f"nothing about: {words}." in answer_of(memory)["unknown"]


@pytest.mark.parametrize(
    ("replies", "settings"),
    [
        (["Yes.", CHEAPEST], {}),
        ([CHEAPEST], {"least_answerable": 0.0}),
        ([CHEAPEST], {"most_unlinked": 1.0}),
    ],
    ids=["the model finds it likely", "the model is not asked", "never refused"],
)
async def test_unknown_words_alone_refuse_nothing(
    run: Run, replies: list[str], settings: dict[str, float]
) -> None:
    script = Replies(write=replies)
    given: dict[str, Any] = {"assist": "on", "query_candidates": 1, **settings}
    memory = await run("single_rag", script, GOVERNMENT, **given)
    assert script.tasks == ["write"] * len(replies)
    assert facts(memory) == ["Bonn | 7.25"]


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("Which government never spoke a language?", "Which government spoke a language?"),
        ("Which government hasn't a language?", "Which government has a language?"),
        ("Which governments cannot speak a language?", "Which governments can speak a language?"),
        ("Which government is without a language?", "Which government is with a language?"),
    ],
)
async def test_whether_it_can_be_answered_is_asked_of_what_is_so(
    run: Run, question: str, asked: str
) -> None:
    script = Replies(write=["yes", CHEAPEST])
    await run("single_rag", script, {"question": question}, assist="on", query_candidates=1)
    likely, written = script.prompts
    assert f"Question: {asked}\n" in likely.text
    assert question in written.text


async def test_a_query_that_fails_twice_is_sampled(run: Run) -> None:
    script = Replies(
        write=["SELECT x FROM nowhere"] * 2 + [CHEAPEST] * 2, decide=[decide("Bonn", 1)]
    )
    memory = await run("single_rag", script, assist="on", query_candidates=1)
    assert facts(memory) == ["Bonn | 7.25"]


async def test_off_runs_the_query_as_it_is_written(run: Run) -> None:
    slip = "SELECT name, price FROM plant"
    script = Replies(action=[act("sql", slip)], decide=[])
    memory = await run("single_rag", script, assist="off")
    assert script.tasks == ["action"]
    assert memory["turns"][0]["input"] == slip
    assert "no such column: price" in memory["turns"][0]["problem"]
