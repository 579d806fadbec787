"""Decision QA as an environment."""

import pytest

from planweave import BadInput
from simulators.registry import scenario
from tools.environments import open_environment


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
