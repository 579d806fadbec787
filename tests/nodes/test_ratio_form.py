"""Which ratios are given a form."""

from collections.abc import Iterator

import pytest

from planweave.nodes.support.ratio_form import ratio_form
from planweave.tools.sql import SqlDatabase, open_sql

GROUPS, TABLES, SHARE = "two groups of rows", "FROM publication", "to all rows"


@pytest.fixture(scope="module")
def papers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqlDatabase]:
    path = tmp_path_factory.mktemp("papers") / "papers.sql"
    path.write_text(
        "CREATE TABLE publication (pages INT, words INT, printed DATE);"
        "CREATE TABLE author (name TEXT); CREATE TABLE classes (name TEXT);"
        "CREATE TABLE sales (amount REAL);"
    )
    database = open_sql(path)
    yield database
    database.close()


@pytest.mark.parametrize(
    ("question", "form"),
    [
        ("What is the ratio of publications from 2020 to publications from 2019?", GROUPS),
        ("The proportion of the number of classes that belong to A to classes in B?", GROUPS),
        ("What is the ratio of long publications to publications that are short?", GROUPS),
        ("What is the ratio of publications in 2020 to all publications?", SHARE),
        ("The ratio of short publications to the total number of publications?", SHARE),
        ("What is the ratio of publications to authors?", TABLES),
        ("What is the ratio of the number of publications to the number of authors?", TABLES),
    ],
)
def test_ratios_of_counts(papers: SqlDatabase, question: str, form: str) -> None:
    assert form in ratio_form(question, papers)


@pytest.mark.parametrize(
    "question",
    [
        "What is the ratio of pages to words of each publication?",
        "What is the ratio of publications in 2020 to all authors?",
        "What is the ratio of the pages of publications in 2020 to those of authors?",
        "What is the ratio of sales in May to sales in June?",  # of their amounts, perhaps
        "How many publications has each author?",
    ],
)
def test_other_questions(papers: SqlDatabase, question: str) -> None:
    assert ratio_form(question, papers) == ""
