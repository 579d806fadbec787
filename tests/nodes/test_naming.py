"""What the calculator may use of facts, by which name."""

from cases import cases

from planweave.memory import Fact, Table, Value
from planweave.nodes.support.briefing import fact_text
from planweave.nodes.support.naming import named_values
from planweave.tools.calculator import calculate


def fact(values: dict[str, Value], *, table: Table | None = None, page: int = 0) -> Fact:
    made = Fact(
        number=3,
        text="The fee is $40.",
        values=values,
        source="documents" if page else "sql",
        query="",
        quote={"document": "rules.txt", "page": page, "text": "The fee is $40."} if page else None,
    )
    if table:
        made["table"] = table
    return made


@cases(
    ({"value": 40.0, "unit": "$"}, "f3 + $1", "41 USD"),
    ({"area_m²": 3.0, "Gro\u0308ße": 2.0}, "f3_area_m2 * f3_Größe", "6"),
    ({"first": "$40", "second bag": "$45", "until": "page 2"}, "f3_second_bag * 2", "90 USD"),
    ({"value": 40.0, "unit": "USD", "weight": "50 lbs"}, "f3 / f3_weight", "0.8 USD/lb"),
    ({"limit": "50 lbs"}, "51 lbs > f3", "true"),
    ({"price": 2, "name": "Bonn"}, "f3 * f3_price", "4"),
    ({"output": "5.5 Mtpa"}, "2 * f3_output", "11"),
)
def test_each_value_has_a_name(values: dict[str, Value], expression: str, result: str) -> None:
    found = calculate(expression, named_values([fact(values, page=2)]))
    assert found.steps[-1].result == result


def test_a_text_that_is_no_quantity_has_no_name() -> None:
    values: dict[str, Value] = {"day": "2024-05-01", "town": "Bonn", "kind": "3", "sum": "1 + 2 kg"}
    assert named_values([fact(values)]) == {}


def test_the_columns_of_several_rows_are_lists_where_all_rows_are_there() -> None:
    rows: list[list[Value]] = [["Bonn", 3, None], ["Kiel", 4.5, 1]]
    table = Table(columns=["name", "AVG(cost)", "rank"], rows=rows, complete=True)
    names = named_values([fact({}, table=table)])
    assert names == {"f3_AVG_cost": [3, 4.5]}
    assert calculate("count(c > 3 for c in f3_AVG_cost)", names).value == 1
    assert named_values([fact({}, table={**table, "complete": False})]) == {}


def test_the_names_are_shown_with_the_fact() -> None:
    shown = fact_text(fact({"value": 40.0, "unit": "USD", "second bag": "$45"}, page=2))
    assert shown.endswith("The fee is $40. (f3 = 40.0 USD, f3_second_bag = $45)")
