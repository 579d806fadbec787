"""Which days the words of a question mean."""

from datetime import date

from cases import cases

from planweave.tools.present import depends_on_present, find_spans, find_year_parts

TODAY = date(2024, 3, 31)  # a Sunday


@cases(
    ("What did we sell last year?", "last year", "2023-01-01", "2023-12-31"),
    ("What did we sell in the last year?", "the last year", "2023-03-31", "2024-03-31"),
    ("What was sold in the past month?", "the past month", "2024-02-29", "2024-03-31"),
    ("Who came in the previous quarter?", "the previous quarter", "2023-10-01", "2023-12-31"),
    ("Who came this week?", "this week", "2024-03-25", "2024-03-31"),
    ("What is due next month?", "next month", "2024-04-01", "2024-04-30"),
    ("Sales of the last 30 days?", "last 30 days", "2024-03-01", "2024-03-31"),
    ("Sales of the past six months?", "past six months", "2023-09-30", "2024-03-31"),
    ("What is due in the next 2 weeks?", "next 2 weeks", "2024-03-31", "2024-04-14"),
    ("In the past 6 calendar months?", "past 6 calendar months", "2023-09-01", "2024-02-29"),
    ("Last 2 months, excluding the current one?", "Last 2 months", "2024-01-01", "2024-02-29"),
    ("Who joined 2 years ago?", "2 years ago", "2022-03-31", "2022-03-31"),
    ("Who came yesterday?", "yesterday", "2024-03-30", "2024-03-30"),
)
def test_spans_relative_to_today(question: str, said: str, first: str, last: str) -> None:
    assert [(one.said, f"{one.first}", f"{one.last}") for one in find_spans(question, TODAY)] == [
        (said, first, last)
    ]


@cases(
    ("What came in the first three months of 2024?", "2024-01-01", "2024-03-31"),
    ("What came in the last two months of 2023?", "2023-11-01", "2023-12-31"),
    ("Sales in the last quarter of 2023?", "2023-10-01", "2023-12-31"),
    ("Sales of the fourth quarter in 2023?", "2023-10-01", "2023-12-31"),
    ("Sales of the second half of 2023?", "2023-07-01", "2023-12-31"),
)
def test_parts_of_a_stated_year(question: str, first: str, last: str) -> None:
    assert [(f"{one.first}", f"{one.last}") for one in find_year_parts(question)] == [(first, last)]
    assert not depends_on_present(question)
    assert not [*find_year_parts("The first ten sales of 2023, the last quarter")]


@cases(
    ("How old is Ann?", True),
    ("How many days ago was the meter read?", True),
    ("What is the last year of each contract?", False),
    ("What was paid in the last 30 days of each contract?", False),
    ("Who came last?", False),
)
def test_only_some_questions_need_the_present(question: str, speaks: bool) -> None:
    assert depends_on_present(question) is speaks
