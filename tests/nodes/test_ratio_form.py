"""Which ratios are given a form, and which."""

from pathlib import Path

import pytest

from planweave.nodes.support.ratio_form import ratio_form
from planweave.tools.sql import open_sql

GROUPS, TABLES = "two groups of rows", "FROM publication"


@pytest.mark.parametrize(
    ("question", "form"),
    [
        ("What is the ratio of publications from 2020 to publications from 2019?", GROUPS),
        ("The proportion of the number of classes that belong to A to classes in B?", GROUPS),
        ("What is the ratio of publications to authors?", TABLES),
        ("What is the ratio of the number of publications to the number of authors?", TABLES),
        ("What is the ratio of pages to words of each publication?", ""),
        ("What is the ratio of publications in 2020 to all?", ""),
        ("What is the ratio of publications from 2020 to publications?", ""),
        ("How many publications has each author?", ""),
    ],
)
def test_the_form_of_a_ratio(tmp_path: Path, question: str, form: str) -> None:
    path = tmp_path / "papers.sql"
    path.write_text(
        "CREATE TABLE publication (pages INT, words INT, year INT);"
        "CREATE TABLE author (name TEXT); CREATE TABLE classes (name TEXT);"
    )
    database = open_sql(path)
    found = ratio_form(question, database)
    database.close()
    assert form in found if form else found == ""
