import pytest
from cases import cases
from records import record

from planweave.benchmarks.core.metrics import (
    Estimate,
    Paired,
    bootstrap,
    group_by_method,
    rate,
    sign_test,
    sign_tests,
    wilson,
)


def test_wilson_against_a_published_example_and_around_every_share() -> None:
    # Newcombe 1998, table I: 81 of 263, and 0 of 20
    assert wilson(81 / 263, 263) == pytest.approx((0.2553, 0.3662), abs=5e-5)
    assert wilson(0.0, 20) == pytest.approx((0.0, 0.1611), abs=5e-5)
    for n in range(1, 500):
        for share in (0.0, 1 / n, 1.0):
            low, high = wilson(share, n)
            assert 0 <= low <= share <= high <= 1


@cases(
    ([1, 0, 0, 1], "abcd", 0.25, 0.5, 4),  # sqrt(4 · 0.5²) / 4
    # runs on one question are not independent
    ([1, 1, 0, 0], "aabb", 2**0.5 / 4, 0.5, 2),  # two clusters that deviate by +1 and -1
    ([1, 0, 1, 0], "aabb", 0, 0.5, 2),
    ([0, 0, 0, 0], "aabb", 0, 0, 2),
)
def test_a_rate_by_hand(
    values: list[float], clusters: str, error: float, share: float, independent: int
) -> None:
    found = rate(values, [*clusters])
    assert found is not None
    assert [found.value, found.error] == pytest.approx([share, error])
    assert (found.low, found.high) == pytest.approx(wilson(share, independent))
    assert (found.n, found.clusters) == (4, independent)
    if independent == 4:
        assert rate(values) == found
    assert rate([]) is None


def test_an_estimate_as_a_share_and_in_a_form() -> None:
    found = Estimate(0.4, 0.1, 0.21, 0.63, 20, 20)
    assert str(found) == f"{found}" == "40.0% [21-63] (20)"
    assert f"{found:.2f}" == "0.40 [0.21, 0.63]"
    assert f"{found:+.1f}" == "+0.4 [+0.2, +0.6]"


def test_a_bootstrap_draws_the_rows_of_a_question_together() -> None:
    rows = [(0.0, 1.0), (1.0, 1.0), (1.0, 3.0), (0.0, 3.0)]
    first, second = bootstrap(rows, clusters=["a", "a", "b", "b"])
    assert (first.value, first.low, first.high, first.error) == (0.5, 0.5, 0.5, 0)
    assert (first.n, first.clusters) == (4, 2)
    assert (second.value, second.low, second.high) == (2, 1, 3)  # a alone, b alone
    assert second.error == pytest.approx(0.5**0.5, abs=0.02)
    alone, _ = bootstrap(rows)
    assert (alone.low, alone.high, alone.clusters) == (0, 1, 4)


def test_a_bootstrap_of_a_figure_of_several_means() -> None:
    rows = [(float(number), 2.0 * number) for number in range(1, 9)]
    (ratio,) = bootstrap(rows, lambda one, two: [two / one], seed=3, draws=50)
    assert (ratio.value, ratio.low, ratio.high, ratio.error) == (2, 2, 2, 0)


def test_the_sign_test_by_hand() -> None:
    first = dict.fromkeys("abcdef", False) | {"a": True, "g": True, "alone": True}
    second = dict.fromkeys("bcdefg", True) | {"a": False, "other": True}
    # only first: a; only second: b…f; p = 2 · (C(6, 0) + C(6, 1)) / 2⁶
    assert sign_test(first, second) == Paired(7, 1, 5, 14 / 64)
    assert sign_test({}, {}) == Paired(0, 0, 0, 1.0)
    assert sign_test({"a": True}, {"a": True}).p == 1.0
    assert sign_test({"a": 1, "b": 0.2, "c": 0.5}, {"a": 0.1, "b": 0.3, "c": 0.5})[:3] == (3, 1, 1)


def test_groups_name_what_differs_and_follow_the_paper() -> None:
    records = [record("q1", "planrag", 1.0), record("q1", "single_rag", 0.0)]
    assert list(group_by_method(records)) == ["single_rag", "planrag"]
    other = record("q1", "planrag", 1.0, model="n", settings={"replan": "adaptive"})
    wanted = ["single_rag m replan=None", "planrag m replan=None", "planrag n replan=adaptive"]
    assert list(group_by_method([*records, other])) == wanted


def test_methods_are_compared_on_the_questions_that_both_were_asked() -> None:
    planned = [record(f"q{n}", "planrag", value) for n, value in enumerate((1.0, 1.0, 0.0), 1)]
    groups = group_by_method(
        [*planned, *(record(name, "single_rag", 0.0) for name in ("q1", "q3"))]
    )
    assert sign_tests(groups) == {("single_rag", "planrag"): Paired(2, 0, 1, 1.0)}
