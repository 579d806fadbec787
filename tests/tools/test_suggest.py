import pytest

from planweave.tools.suggest import nearest


@pytest.mark.parametrize(
    ("name", "candidates", "expected"),
    [
        ("contry", ["goods", "country", "trade_node"], ("country",)),
        ("COUNTRY", ["country"], ("country",)),
        ("tradenode", ["trade_node", "node_country"], ("trade_node",)),
        ("country", ["country_name", "goods"], ("country_name",)),
        ("genoa_node", ["genoa", "venice"], ("genoa",)),
        ("xyz", ["goods", "country"], ()),
        ("a", [], ()),
        ("", ["goods"], ()),
        ("id", ["building_id", "goods_id"], ()),  # two letters are too few to mean anything
    ],
)
def test_nearest(name: str, candidates: list[str], expected: tuple[str, ...]) -> None:
    assert nearest(name, candidates) == expected


def test_best_comes_first_and_n_bounds() -> None:
    candidates = ["power", "total_power", "base_trading_power", "powers"]
    assert nearest("power", candidates, n=2) == ("power", "powers")


def test_repeated_candidates_are_taken_once() -> None:
    assert nearest("good", ["goods", "goods"]) == ("goods",)
