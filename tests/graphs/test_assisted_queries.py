"""Queries with aids: written in plain text, corrected, repaired, and chosen by what they return."""

import sqlite3
from contextlib import closing
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from cases import cases
from scripted import Replies, Run, act, answer_of, decide, keep, plan

from planweave import BadInput
from planweave.learning.experience import experience_of
from planweave.learning.paths import IN_CONTEXT, TaskPath
from planweave.memory import Input, WorkingMemory
from planweave.tools.database import DatabaseUnavailable, Limits, QueryResult, QueryTimeout
from planweave.tools.sql import SqlDatabase

CHEAPEST = "SELECT name, cost FROM plant ORDER BY cost LIMIT 1"
LEAST = "MATCH (p:Plant) RETURN p.name, p.cost ORDER BY p.cost LIMIT 1"
DEARER = "SELECT name, cost FROM plant WHERE cost > 7.5 LIMIT 1"


@pytest.fixture
def single(run: Run) -> Run:
    """Runs the method of one query with the aids: one candidate, and nothing is refused."""

    async def single(
        script: Replies, given: Input | None = None, **context: object
    ) -> WorkingMemory:
        settings = {"assist": "on", "query_candidates": 1, "least_answerable": 0.0, **context}
        return await run("single_rag", script, given, **settings)

    return single


def facts(memory: WorkingMemory) -> list[str]:
    return [fact["text"].partition("\n")[2].strip() for fact in memory["facts"]]


async def test_one_source_needs_no_selector(single: Run) -> None:
    script = Replies(write=[f"```sql\n{CHEAPEST};\n```"])
    memory = await single(script)
    assert script.tasks == ["write"]  # and rows need no answering machine
    assert answer_of(memory)["decision"] == "Bonn"
    assert memory["turns"][0]["input"] == CHEAPEST
    assert facts(memory) == ["Bonn | 7.25"]
    assert memory["usage"]["query_writer"]["calls"] == 1


async def test_the_schema_comes_first_and_the_question_is_linked_to_the_data(single: Run) -> None:
    script = Replies(write=[CHEAPEST], decide=[decide("Bonn", 1)])
    given = {"question": "Which plant in the region West is cheapest?"}
    await single(script, given, rules="Cost decides.")
    system, task = script.prompts[0].messages
    assert "CREATE TABLE plant" in system.text
    assert "plant.region = 'west'" in task.text
    assert "Cost decides." in task.text
    assert task.text.endswith("Return only the SQL (SQLite) query.")


async def test_rules_without_a_ranking_are_in_the_prompt(single: Run) -> None:
    script = Replies(write=[CHEAPEST], decide=[decide("Bonn", 1)])
    given = {"question": "Is a plant in the region West open?"}
    await single(script, given, rules="West is open.")
    assert "West is open." in script.prompts[0].messages[1].text


@cases(
    ("SELECT cheapest FROM nowhere", "There is no table nowhere"),
    ("SELECT name FROM plant WHERE cost > 99", "finds nothing"),
    ("SELECT MIN(cost) FROM plant", "for each of several things"),
)
async def test_a_bad_query_is_written_again(first: str, complaint: str, single: Run) -> None:
    script = Replies(write=[first, CHEAPEST], decide=[decide("Bonn", 1)])
    given = {"question": "What is the least cost of every single one?"}
    memory = await single(script, given)
    assert complaint in script.prompts[1].text
    assert facts(memory) == ["Bonn | 7.25"]


async def test_an_empty_database_is_reported_at_once(single: Run, tmp_path: Path) -> None:
    script = Replies()
    with pytest.raises(BadInput, match="has no tables"):
        await single(script, database=str(_made(tmp_path, "")))
    assert not script.prompts


async def test_empty_tables_are_reported_before_any_call(single: Run, tmp_path: Path) -> None:
    path = _made(tmp_path, "CREATE TABLE plant (name TEXT); CREATE TABLE depot (name TEXT);")
    with pytest.raises(BadInput, match="All tables of the database are empty"):
        await single(Replies(), database=str(path))
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("INSERT INTO plant VALUES ('Bonn')")
        connection.commit()
    script = Replies(write=["SELECT name FROM plant"])
    memory = await single(script, {"question": "Which plants are there?"}, database=str(path))
    assert answer_of(memory)["decision"] == "Bonn"


async def test_of_a_large_schema_what_is_asked_about_is_shown(single: Run, tmp_path: Path) -> None:
    note = "note" * 30
    tables = "".join(f"CREATE TABLE log_{n} (id INTEGER, {note}{n} TEXT);" for n in range(80))
    depot = "CREATE TABLE depot (name TEXT, rent REAL); INSERT INTO depot VALUES ('North', 5);"
    script = Replies(write=["SELECT name, rent FROM depot"], decide=[decide("North", 1)])
    given = {"question": "Which depot has the lowest rent?"}
    await single(script, given, database=str(_made(tmp_path, tables + depot)))
    prompt = script.prompts[0].messages[0].text
    assert "depot(name text [North], rent real)" in prompt
    assert "log_7" not in prompt


def _made(folder: Path, script: str) -> Path:
    path = folder / "made.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(script)
    return path


@cases(
    ("SELECT name FROM plant WHERE cost > 99", 1, "The query found no rows. No row meets"),
    ("SELECT x FROM nowhere", 3, "There is no table nowhere"),
)
async def test_the_problem_of_the_only_queries_is_reported(
    query: str, candidates: int, problem: str, single: Run
) -> None:
    memory = await single(Replies(write=[query] * (candidates + 1)), query_candidates=candidates)
    answer = answer_of(memory)
    assert (answer["decision"], memory["facts"]) == (None, [])
    assert answer["unknown"].startswith(problem)


async def test_the_result_that_most_candidates_agree_on_is_taken(single: Run) -> None:
    wrong = "SELECT name, cost FROM plant ORDER BY cost DESC LIMIT 1"
    same = "SELECT cost, name FROM plant WHERE cost = (SELECT MIN(cost) FROM plant)"
    script = Replies(write=[wrong, CHEAPEST, same], decide=[decide("Bonn", 1)])
    memory = await single(script, query_candidates=3)
    assert memory["turns"][0]["input"] == CHEAPEST  # the shorter of the two that agree
    assert len(memory["facts"]) == 1


async def test_a_repeated_item_of_a_list_counts_once(single: Run) -> None:
    twice = "SELECT name FROM plant UNION ALL SELECT name FROM plant"
    script = Replies(write=["SELECT name FROM plant", twice])
    given = {"question": "Which plants are there?"}
    memory = await single(script, given, query_candidates=2)
    assert answer_of(memory)["verdict"]["kind"] == "supported"


async def test_of_queries_with_the_same_rows_one_that_sorts_as_asked_is_taken(single: Run) -> None:
    sorts = "SELECT name FROM plant AS one ORDER BY name"
    script = Replies(write=["SELECT name FROM plant", sorts])
    given = {"question": "List the plants in alphabetical order."}
    memory = await single(script, given, query_candidates=2)
    assert "ORDER BY name" in memory["turns"][0]["input"]


async def test_an_endless_query_is_run_once(single: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[str] = []

    def never(self: SqlDatabase, query: str, limits: Limits) -> QueryResult:
        ran.append(query)
        raise QueryTimeout("The query was stopped after 10 s.")

    monkeypatch.setattr(SqlDatabase, "run", never)
    script = Replies(write=[CHEAPEST] * 5)
    memory = await single(script, query_candidates=4)
    assert ran == [CHEAPEST]
    assert answer_of(memory)["unknown"] == "The query was stopped after 10 s."


@cases(
    (
        "SELECT p.nam, p.cost FROM plants p ORDER BY p.cost LIMIT 1",
        "SELECT p.name, p.cost FROM plant AS p ORDER BY p.cost LIMIT 1",
        ["plants → plant", "p.nam → p.name"],
    ),
    (*("SELECT name FROM plant ORDER BY cost LIMIT 1",) * 2, None),
    ids=["corrected", "as it is"],
)
async def test_a_plans_query_is_corrected(
    written: str, carried_out: str, corrected: list[str] | None, run: Run
) -> None:
    actions = [act("sql", written), act("finish")]
    script = Replies(
        plan=[plan("Find.")], action=actions, judge=[keep()], decide=[decide("Bonn", 1)]
    )
    memory = await run("planrag", script, assist="on")
    assert "write" not in script.tasks
    assert memory["turns"][0]["input"] == carried_out
    assert memory["turns"][0].get("corrected") == corrected


def confirm(
    question: str, *actions: str, owner: str, reward: float = 1.0, origin: str = ""
) -> None:
    experience_of(owner).add([TaskPath("", question, actions, reward, origin)])


def shown(script: Replies) -> list[str]:
    """The texts between the schema and the question in the first prompt."""
    return [message.text for message in script.prompts[0].messages[1:-1]]


@cases(
    ("sql", "SELECT name FROM plant WHERE region = 'west'", CHEAPEST),
    ("cypher", "MATCH (p:Plant)-[:IN]->(r:Region {name: 'west'}) RETURN p.name", LEAST),
)
async def test_confirmed_queries_of_similar_questions_are_shown(
    tool: str, west: str, written: str, single: Run, graph: str
) -> None:
    confirm("Which plants are west?", f"{tool}[{west}]", owner=tool)
    confirm("Which plant is the dearest?", f"{tool}[{written} DESC]", owner=tool)
    script = Replies(write=[written], decide=[decide("Bonn", 1)])
    sources = {} if tool == "sql" else {"database": None, "graph": graph}
    given = {"question": "Which of the plants are west and cheap?"}
    await single(script, given, owner=tool, confirmed_queries=1, **sources)
    question, query = shown(script)
    assert question.startswith("Which plants are west?\nReturn only the ")
    assert query == f"```\n{west}\n```"


@cases(
    {"owner": "bob"},
    {"reward": 0.0},
    {"origin": f"thread abc{IN_CONTEXT}"},
    {"actions": ("sql[SELECT name FROM factory]",)},
    {"actions": ("sql[SELECT town FROM plant]",)},
    {"actions": ("sql[DELETE FROM plant]",)},
    {"actions": ("sql[SELECT name FROM plant WHERE region = {{plant.region}}]",)},
    {"actions": (f"sql[{CHEAPEST} -- {'so ' * 700}]",)},
    {"actions": ("sql[no query]",)},
    {"actions": ("finish[name]",)},
    {"actions": ("Search[plant]",)},
    {"actions": (f"sql[{CHEAPEST}]", "calculator[1 + 1]")},
    {
        "question": "What did each plant cost this year?",
        "actions": ("sql[SELECT name, cost FROM plant WHERE region > '2024-01-01']",),
    },
    {"context": {"confirmed_queries": 0}},
    {"context": {"rules": "Cost decides."}},
)
async def test_other_paths_are_not_shown(case: dict[str, Any], single: Run) -> None:
    actions = case.get("actions", (f"sql[{CHEAPEST}]",))
    owner = case.get("owner", "carl")
    judged = {"reward": case.get("reward", 1.0), "origin": case.get("origin", "")}
    confirm(case.get("question", "Which?"), *actions, owner=owner, **judged)
    script = Replies(write=[CHEAPEST], decide=[decide("Bonn", 1)])
    await single(script, owner="carl", **case.get("context", {}))
    assert shown(script) == []
    experience_of(owner).clear()


@cases(
    ((1.0, CHEAPEST, 1.0, DEARER), [DEARER]),  # of one question the latest
    ((1.0, CHEAPEST, 0.0, DEARER), [CHEAPEST]),
    ((1.0, CHEAPEST, 1.0, DEARER, 0.0, DEARER), [CHEAPEST]),
    ((1.0, CHEAPEST, 1.0, "SELECT town FROM plant"), [CHEAPEST]),
    ((1.0, CHEAPEST, 0.0, f"{CHEAPEST} ;"), []),
    ((1.0, DEARER, 1.0, CHEAPEST, 1.0, DEARER), [DEARER]),
)
async def test_of_a_question_the_latest_verdict_counts(
    verdicts: tuple[Any, ...], queries: list[str], single: Run
) -> None:
    for reward, query in zip(verdicts[::2], verdicts[1::2], strict=True):
        confirm("Which is dear?", f"sql[{query}]", owner="flo", reward=reward)
    script = Replies(write=[CHEAPEST])
    await single(script, owner="flo")
    assert shown(script)[1::2] == [f"```\n{query}\n```" for query in queries]
    experience_of("flo").clear()


@cases("What is the phone number of Bonn?", "what is  the phone number of bonn")
async def test_a_confirmed_question_is_answered_by_its_query(asked: str, single: Run) -> None:
    given = {"question": "What is the phone number of Bonn?"}
    refused = await single(Replies(), given, owner="eve", least_answerable=0.5)
    assert "nothing about: phone number" in answer_of(refused)["unknown"]
    confirm(given["question"], f"sql[{CHEAPEST}]", owner="eve")
    script = Replies()
    memory = await single(script, {"question": asked}, owner="eve", least_answerable=0.5)
    assert facts(memory) == ["Bonn | 7.25"]
    assert script.prompts == []
    assert answer_of(memory)["verdict"] == {
        "kind": "supported",
        "text": "In the facts: you confirmed the query of fact [1] for this question.",
    }
    experience_of("eve").clear()


@cases(
    ("Whose phone number was new last month?", "SELECT name FROM plant WHERE region LIKE '%-10-%'"),
    ("Which are overdue?", "SELECT name FROM plant WHERE region < '2026-11-01'"),
)
async def test_a_confirmed_query_of_another_day_does_not_answer(
    asked: str, query: str, single: Run
) -> None:
    confirm(asked, f"sql[{query}]", owner="hal")
    script = Replies(write=[CHEAPEST])
    memory = await single(script, {"question": asked}, owner="hal", least_answerable=0.5)
    assert "confirmed" not in memory["facts"][0]


async def test_a_confirmed_step_is_no_confirmed_question(run: Run) -> None:
    confirm("Which plants are west?", f"sql[{CHEAPEST}]", owner="ida")
    actions = [act("sql", "Which plants are west?"), act("finish")]
    script = Replies(
        plan=[plan("Find.")],
        action=actions,
        judge=[keep()],
        write=[CHEAPEST] * 4,
        decide=[decide("Bonn", 1)],
    )
    memory = await run("planrag", script, assist="on", owner="ida")
    assert "confirmed" not in memory["facts"][0]


async def test_a_confirmed_query_that_fails_is_written_again(
    single: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    confirm("Which?", f"sql[{DEARER}]", owner="gus")
    run = SqlDatabase.run

    def slow(self: SqlDatabase, query: str, limits: Limits) -> QueryResult:
        if query == DEARER:
            raise QueryTimeout("The query was stopped after 10 s.")
        return run(self, query, limits)

    monkeypatch.setattr(SqlDatabase, "run", slow)
    memory = await single(Replies(write=[CHEAPEST]), {"question": "Which?"}, owner="gus")
    assert facts(memory) == ["Bonn | 7.25"]
    assert "confirmed" not in memory["facts"][0]


async def test_unusable_experience_stops_no_question(single: Run) -> None:
    confirm("Which?", f"sql[{CHEAPEST}]", owner="dan")
    experience_of("dan").file.write_text("no database")
    script = Replies(write=[CHEAPEST])
    assert facts(await single(script, owner="dan")) == ["Bonn | 7.25"]


async def test_a_graph_is_asked_alike(single: Run, graph: str) -> None:
    script = Replies(write=["MATCH (p:Factory) RETURN p.name", LEAST], decide=[decide("Bonn", 1)])
    memory = await single(script, database=None, graph=graph)
    assert facts(memory) == ["Bonn | 7.25"]
    assert memory["turns"][0]["tool"] == "cypher"
    assert {*memory["languages"]} == {"cypher"}


@cases(
    (CHEAPEST, "In the facts"),
    ("SELECT region, cost, name FROM plant ORDER BY cost LIMIT 1", "In the facts"),
    (DEARER, "Not sure: only"),
)
async def test_queries_that_disagree_are_unsure(last: str, verdict: str, single: Run) -> None:
    script = Replies(write=[CHEAPEST, CHEAPEST, last], decide=[decide("Bonn", 1)])
    memory = await single(script, query_candidates=3)
    answer = answer_of(memory)
    assert answer["decision"] == "Bonn"
    assert answer["verdict"]["text"].startswith(verdict)


OTHER = {"text": "Aachen, 10.5", "query": DEARER}


@cases(
    ([CHEAPEST, DEARER], {}, "Bonn", True),
    ([CHEAPEST, DEARER], {"strict": True}, None, True),
    ([CHEAPEST, CHEAPEST, DEARER], {"least_agreement": 0.5}, "Bonn", False),
    ids=["in doubt", "withheld", "without doubt"],
)
async def test_what_the_others_returned_is_told_in_doubt(
    queries: list[str], settings: dict[str, Any], decision: str | None, told: bool, single: Run
) -> None:
    memory = await single(Replies(write=queries), query_candidates=len(queries), **settings)
    answer = answer_of(memory)
    assert answer["decision"] == decision
    assert memory["facts"][0]["other"] == OTHER
    assert answer["verdict"].get("other") == (OTHER if told else None)
    other = f"\n\nAnother reading: Aachen, 10.5 (`{DEARER}`)"
    assert (other in memory["messages"][-1].text) is told


@cases(
    ("SELECT 1 FROM nowhere", None),
    ("SELECT name FROM plant WHERE cost > 99", "no rows"),
    ("SELECT MIN(cost) AS least, MAX(cost) AS most FROM plant", "least: 7.25, most: 10.5"),
    ("SELECT cost, region FROM plant", "10.5: west; 7.25: west; 9: east"),
    ("SELECT 1 UNION SELECT 2 UNION SELECT 3 UNION SELECT 4", "1, 2, 3 and 1 more"),
)
async def test_another_reading_is_one_line(query: str, text: str | None, single: Run) -> None:
    memory = await single(Replies(write=[CHEAPEST, query]), query_candidates=2)
    assert answer_of(memory)["verdict"]["kind"] == "unsure"
    other = answer_of(memory)["verdict"].get("other")
    assert (other and other["text"]) == text


async def test_a_result_without_any_option_is_asked_for_again(single: Run) -> None:
    script = Replies(write=["SELECT MIN(cost) FROM plant", CHEAPEST], decide=[decide("Bonn", 1)])
    memory = await single(script, candidates=["Aachen", "Bonn"])
    assert "The answer is one of: Aachen, Bonn" in script.prompts[0].text
    assert "shows none of the options: Aachen, Bonn." in script.prompts[1].text
    assert facts(memory) == ["Bonn | 7.25"]


RANKED = "SELECT name, cost AS value FROM plant ORDER BY value DESC LIMIT 1"


async def test_a_ranking_decides_without_the_model(single: Run) -> None:
    script = Replies(write=[RANKED])
    memory = await single(script, rules="The cost decides.")
    assert script.tasks == ["write"]
    assert facts(memory) == ["Bonn | 7.25\nCottbus | 9\nAachen | 10.5"]
    answer = answer_of(memory)
    assert answer["decision"] == "Bonn"
    assert "Cottbus" in answer["why"]
    assert answer["basis"] == {"how": "lowest", "column": "value"}


async def test_another_reading_of_a_ranking_is_its_first_option(single: Run) -> None:
    script = Replies(write=[RANKED, "SELECT name, -cost AS value FROM plant"])
    given = {"question": "Which plant has the lowest cost?"}
    memory = await single(script, given, rules="The lowest cost decides.", query_candidates=2)
    answer = answer_of(memory)
    assert (answer["decision"], answer["verdict"]["other"]["text"]) == ("Bonn", "Aachen, -10.5")


@cases(
    (RANKED, "supported", "In the facts: it has the lowest value in fact [1]."),
    (
        "SELECT name, LENGTH(name) AS value FROM plant",
        "not_in_facts",
        "Not in the facts: the query does not use “cost”. "
        "The query uses “name”, of which nothing is said.",
    ),
)
async def test_the_verdict_on_a_ranking_names_what_its_query_leaves_out(
    query: str, kind: str, text: str, single: Run
) -> None:
    asked = Input(question="Which plant has the lowest cost?")
    rules, candidates = "The lowest cost decides.", ("Bonn", "Cottbus")
    script = Replies(write=[query])
    answer = answer_of(await single(script, asked, rules=rules, candidates=candidates))
    assert answer["verdict"] == {"kind": kind, "text": text}


@cases(
    (RANKED, ("Aachen", "Cottbus"), "Cottbus", ""),
    ("SELECT name, 1 AS value FROM plant", (), None, "are equal"),
)
async def test_the_best_admitted_option_is_decided_unless_it_has_equals(
    query: str, candidates: tuple[str, ...], decision: str | None, unknown: str, single: Run
) -> None:
    script = Replies(write=[query])
    memory = await single(script, rules="The cost decides.", candidates=candidates)
    answer = answer_of(memory)
    assert answer["decision"] == decision
    assert unknown in answer["unknown"]


@cases(
    ("Which language does the government speak?", ["no"], "seems to hold nothing that answers"),
    ("Which language does it speak?", ["yes", "SELECT language FROM plant"], "about: language."),
    ("Who runs Achen?", ["no"], 'has no "Achen", but it has "Aachen"'),
    ("What is the phone number of each plant?", [], "nothing about: phone number."),
    ids=["no place for it", "no such name", "a similar name", "no word for it"],
)
async def test_what_has_no_answer_is_refused(
    question: str, replies: list[str], problem: str, single: Run
) -> None:
    script = Replies(write=[*replies, CHEAPEST])
    memory = await single(script, {"question": question}, least_answerable=0.5)
    assert answer_of(memory)["decision"] is None
    assert problem in answer_of(memory)["unknown"]
    assert script.left["write"] == [CHEAPEST]


async def test_a_model_that_cannot_tell_is_not_asked(single: Run) -> None:
    smallest = {"model": "embedded:0.5b", "least_answerable": None}
    unasked = Replies(write=[])
    question = {"question": "Which plant has an email and insurance?"}
    refused = answer_of(await single(unasked, question, **smallest))
    assert not unasked.tasks
    assert "no word for: email, insurance" in refused["unknown"]
    script = Replies(write=[CHEAPEST])
    assert answer_of(await single(script, **smallest))["decision"] == "Bonn"


@cases(
    ("Which government never spoke a language?", "Which government spoke a language?"),
    ("Which government hasn't a language?", "Which government has a language?"),
    ("Which governments cannot speak a language?", "Which governments can speak a language?"),
    ("Which government is without a language?", "Which government is with a language?"),
)
async def test_a_denial_is_judged_without_its_not(question: str, asked: str, single: Run) -> None:
    script = Replies(write=["yes", CHEAPEST])
    await single(script, {"question": question}, least_answerable=0.5)
    likely, written = script.prompts
    assert f"Question: {asked}\n" in likely.text
    assert question in written.text


async def test_a_query_that_fails_twice_is_sampled(single: Run) -> None:
    script = Replies(write=["SELECT x FROM none"] * 2 + [CHEAPEST] * 2, decide=[decide("Bonn", 1)])
    memory = await single(script)
    assert facts(memory) == ["Bonn | 7.25"]


@pytest.mark.parametrize("assist", ["on", "off"])
async def test_a_database_may_be_lost(
    run: Run, monkeypatch: pytest.MonkeyPatch, assist: str
) -> None:
    def gone(_: str) -> None:
        raise DatabaseUnavailable("The server at db.internal does not answer.")

    monkeypatch.setattr("planweave.nodes.deciding.query.open_database", gone)
    for owner, said in (
        ("local", "The server at db.internal does not answer."),
        ("ann", "The database cannot be used at present. Ask the operator: the server's log"),
    ):
        script = Replies(action=[act("sql", CHEAPEST)], decide=[decide(None)])
        memory = await run("single_rag", script, owner=owner, assist=assist)
        assert memory["turns"][0]["problem"].startswith(said)
        assert said in answer_of(memory)["unknown"]


async def test_rules_with_an_invalid_date_count_as_without_a_date(single: Run) -> None:
    rules = "Today is 2024-30-12. The lowest cost decides."
    script = Replies(write=[CHEAPEST])
    asked = Input(question="Which plant is cheapest this year?")
    memory = await single(script, asked, rules=rules, candidates=("Aachen", "Bonn"))
    assert answer_of(memory)["decision"] == "Bonn"


@cases(
    ("The lowest cost decides.", f'"this year" is from {date.today().year}-01-01'),
    ("Today is 2020-05-01. The lowest cost decides.", "This year is from '2020-01-01' on."),
)
async def test_the_prompt_of_a_ranking_has_its_dates(rules: str, said: str, single: Run) -> None:
    script = Replies(write=[CHEAPEST])
    asked = Input(question="Which plant is cheapest this year?")
    await single(script, asked, rules=rules, candidates=("Aachen", "Bonn"))
    assert said in script.prompts[0].text
