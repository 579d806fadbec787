"""Decision QA as an environment."""

import pytest

from planweave import BadInput
from planweave.simulators.registry import scenario
from planweave.tools.environments import open_environment


def test_a_task_is_read_about_and_decided() -> None:
    with open_environment("decision") as environment:
        task = environment.tasks("locating")[0]
        asked = scenario("locating").ask(scenario("locating").generate(1, 300), 1)
        assert (task.kind, task.question) == ("locating", asked.prompt)
        seen = environment.reset(task).text
        assert "merchant" in seen  # the rules
        assert "base_trading_power" in seen.partition("SQL")[2]  # a column, in the schema
        assert "Trade_node" in seen  # a label
        for query in (
            "SQL[SELECT COUNT(*) AS n FROM trade_node]",
            "Cypher[MATCH (n:Trade_node) RETURN count(n) AS n]",
        ):
            assert f"n\n{len(asked.world['trade_node'].rows)}" in environment.step(query).text
        assert environment.admissible() == ("SQL[…]", "Cypher[…]", "Finish[…]")
        best, wrong = asked.simulate(semantics="printed").best, "nowhere"
        assert environment.step(f"Finish[{wrong}]").score == 0
        done = environment.step(f"Finish[{best}]")
        assert (done.done, done.score) == (True, 1)


def test_what_a_question_names_is_looked_up_beside_its_actions() -> None:
    with open_environment("decision") as environment:
        assert environment.look_up("sql", "SELECT 'x'") == ()  # no task yet
        task = environment.tasks("building")[0]
        environment.reset(task)
        asked = scenario("building").ask(scenario("building").generate(1, 300), 1)
        name = str(asked.parameters["goods"])
        where = f"WHERE goods_name = '{name}'"
        assert environment.look_up("sql", f"SELECT goods_name FROM goods {where}") == (name,)
        match = f"MATCH (g:Goods {{name: '{name}'}})"
        assert environment.look_up("cypher", f"{match} RETURN g.name") == (name,)
        assert environment.look_up("sql", "SELECT code FROM goods LIMIT 3") == ()  # no texts
        assert environment.look_up("sql", "SELECT name FROM nowhere") == ()
        assert not environment.step("SQL[SELECT 1 AS one]").done


def test_what_makes_no_sense_is_said_and_changes_nothing() -> None:
    with open_environment("decision") as environment:
        assert "Invalid" in environment.step("Finish[x]").text  # no task yet
        environment.reset(environment.tasks("building")[0])
        assert "Invalid" in environment.step("dance").text
        assert not environment.step("SQL[DROP TABLE goods]").done
        assert "goods" in environment.step("SQL[SELECT * FROM good]").text
        assert "code" in environment.step("SQL[SELECT * FROM goods LIMIT 1]").text


def test_an_unknown_scenario_is_said() -> None:
    with open_environment("decision") as environment:
        with pytest.raises(BadInput, match="no questions"):
            environment.tasks("chess")
        assert len(environment.tasks()) == 40
