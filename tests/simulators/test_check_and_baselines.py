"""The deciders without a model, and the check, on worlds made by hand."""

from planweave.simulators import baselines, registry
from planweave.simulators.check import check
from planweave.simulators.outcome import Decision
from planweave.simulators.published import DataSet
from planweave.simulators.scenario import Question, QuestionDatabase
from planweave.simulators.tables import Row, Value, World


def question(name: str, rows: tuple[list[Row], ...], answer: Decision, **asked: Value) -> Question:
    scenario = registry.scenario(name)
    world = World.filled(scenario.tables, rows)
    return Question(
        id=f"{name}-1",
        scenario=scenario,
        text="",
        goal="",
        rules="",
        parameters=asked,
        answer=answer,
        database=QuestionDatabase(scenario, lambda: world),
    )


def locating(answer: str = "a", development: float = 0.0) -> Question:
    rows: tuple[list[Row], ...] = (
        [("us", "h", development), ("rest", "a", 0.0)],
        [
            ("a", 10.0, False, 20.0, 6.0, 0.0),
            ("b", 10.0, True, 20.0, 9.0, 0.0),
            ("far", 10.0, True, 20.0, 10.0, 0.0),
            ("h", 10.0, True, 20.0, 0.0, 0.0),
        ],
        [*(("a", "h", 1.0), ("b", "h", 6.0), ("b", "far", 3.0), ("far", "a", 10.0))],
        [
            ("a", "us", False, False, 6.0, 6.0),
            ("a", "rest", True, False, 14.0, 14.0),
            ("h", "us", True, False, 20.0, 20.0),
        ],
    )
    return question("locating", rows, answer, country="us", home="h")


def test_locating_baselines() -> None:
    # Sources of h are a (6 - 1 elsewhere) and b (9 - 6); "us" is present in a alone.
    assert baselines.unsteered_outflow(locating()) == "a"
    assert baselines.one_hop(locating()) == "a"
    assert baselines.random_source(locating()) == float(locating().simulate().accepts("a"))


def building(second: float) -> Question:
    rows: tuple[list[Row], ...] = (
        [("ore", 0, 10.0, 10.0, 1.0), ("tools", 1, 10.0, 10.0, 100.0)],
        [(1, "mine", 5), (2, "smithy", 5), (3, "smithy", 10)],
        [
            (0, 1, 90.0, 90.0, 5),
            (1, 2, 10.0, 10.0, 5),
            *([(1, 3, second, second, 10 if second < 1000 else 0)] * bool(second)),
        ],
        [(0, 2, 10.0, 10.0, 5), (0, 3, 10.0, 10.0, 10)],
    )
    return question("building", rows, 2, goods="tools")


def test_building_baselines() -> None:
    assert baselines.output_per_level(building(19.0)) == 2
    assert baselines.output_per_level(building(21.0)) == 3
    assert baselines.output_per_level(building(1000.0)) == 2  # nothing by no level
    assert baselines.only_supplier(building(19.0)) is None
    assert baselines.only_supplier(building(0.0)) == 2


def test_the_check_counts_every_question_once() -> None:
    dataset = DataSet("here", (building(0.0), locating("b")))
    seen: list[tuple[int, int]] = []
    first, second = check(dataset, progress=lambda *at: seen.append(at)).scenarios
    assert seen == [(1, 2), (2, 2)]
    assert (first.equal, first.clean) == (["building-1"], ["building-1"])
    right = {score.name: score.right for score in first.baselines}
    assert right == {"output per level": 1, "only supplier": 1}
    # "b" is no best decision: the country has no power there.
    assert (second.different, second.clean, second.checked) == (["locating-1"], [], 1)
    wanted = {"unsteered outflow": (0, 1), "one hop": (0, 1), "random source": (1, 1)}
    assert {score.name: (score.annotated, score.right) for score in second.baselines} == wanted
