"""Kinds of re-planning, on changes that a person would file under that kind."""

from cases import cases

from planweave.benchmarks.suites.dqa.analysis import Category, replan_category

ROW = "Retrieve the buildings that supply steel"
DEMAND = "Retrieve the demand for steel"
GAIN = "Calculate the new price of steel for each building"
BEST = "Compare the prices and take the lowest"


@cases(
    ([ROW, DEMAND, BEST], [DEMAND, ROW, BEST], "re-order"),
    ([ROW, GAIN], [ROW, "Assume that coal matters most"], "replace"),
    ([ROW, GAIN], [ROW, "Calculate the new price of coal for each building"], "change target"),
    ([ROW, BEST], [ROW, DEMAND, BEST], "add look-up"),
    ([ROW, BEST], [ROW, GAIN, BEST], "add calculation"),
    ([ROW], [ROW, DEMAND, GAIN], "add both actions"),
    (
        ["Retrieve the demand and the supply of steel"],
        ["Retrieve the demand of steel", "Retrieve the supply of steel"],
        "divide to sub-steps",
    ),
    ([ROW], [ROW, "Assume that levels are linear"], "others"),
    ([ROW, DEMAND, GAIN], [ROW, GAIN], "delete"),
    (
        ["Retrieve the demand of steel", "Retrieve the supply of steel", BEST],
        ["Retrieve the demand and the supply of steel", BEST],
        "merge",
    ),
)
def test_category(before: list[str], after: list[str], expected: Category) -> None:
    assert replan_category(before, after) == expected
