"""What a prompt says of the present."""

from datetime import date

from planweave.nodes.support.present_form import present_form

LAST_YEAR = "How many books did Ann read last year?"


def test_a_question_is_told_the_days_that_it_speaks_of() -> None:
    said = present_form(LAST_YEAR, "2024-06-19 12:00:00")
    assert said == '"last year" is from 2023-01-01 to 2023-12-31.'
    assert present_form("Who came yesterday?", "2024-06-19") == '"yesterday" is 2024-06-18.'


def test_the_day_is_told_where_no_span_is() -> None:
    assert present_form("How old is Ann?", "2024-06-19") == "Today is 2024-06-19."
    assert f"{date.today().year - 1}-12-31" in present_form(LAST_YEAR, "")


def test_a_present_that_the_rules_state_goes_first() -> None:
    rules = "A book counts if it was read. Today is 2020-02-03."
    assert "2019-12-31" in present_form(LAST_YEAR, "2024-06-19", rules)


def test_what_does_not_depend_on_the_present_is_not_told_it() -> None:
    assert present_form("How many books did Ann read in 2023?", "2024-06-19") == ""
