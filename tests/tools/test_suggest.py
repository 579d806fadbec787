from cases import cases

from planweave.tools.suggest import nearest, values_near


@cases(
    ("contry", ["goods", "country", "trade_node"], ("country",)),
    ("COUNTRY", ["country"], ("country",)),
    ("tradenode", ["trade_node", "node_country"], ("trade_node",)),
    ("country", ["country_name", "goods"], ("country_name",)),
    ("genoa_node", ["genoa", "venice"], ("genoa",)),
    ("good", ["goods", "goods"], ("goods",)),
    ("xyz", ["goods", "country"], ()),
    ("a", [], ()),
    ("", ["goods"], ()),
    ("id", ["building_id", "goods_id"], ()),  # two letters are too few to mean anything
)
def test_nearest(name: str, candidates: list[str], expected: tuple[str, ...]) -> None:
    assert nearest(name, candidates) == expected


def test_the_best_come_first() -> None:
    candidates = ["power", "total_power", "base_trading_power", "powers"]
    assert nearest("power", candidates, n=2) == ("power", "powers")


def test_few_values_are_all_listed() -> None:
    assert values_near("lhasa", ["basra"]) == "its only value is 'basra'"
    assert values_near("lhasa", ["basra", "genoa"]) == "its 2 values are 'basra', 'genoa'"
    assert values_near("lhasa", []) == "it holds no values"


def test_many_values_are_counted_and_the_nearest_listed() -> None:
    values = [*(f"port {number}" for number in range(1_500)), "basra", "lahore"]
    assert values_near("lhasa", values).startswith("of its 1,502 values the nearest are 'basra'")
    some = values_near("7", values, every=False, shown=str)
    assert some.startswith("of its more than 1,502 values the nearest are port 7")
    assert values_near("ZZZ", values) == (
        "it has 1,502 values, such as 'port 0', 'port 1', 'port 2', 'port 3', 'port 4'"
    )
