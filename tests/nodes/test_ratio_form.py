"""Which ratios are given a form."""

import pytest
from shop import database_of

from planweave.nodes.support.ratio_form import ratio_form
from planweave.tools.sql import SqlDatabase

GROUPS, TABLES, SHARE = "two groups of rows", "FROM publication", "to all rows"


papers = database_of("""
CREATE TABLE publication (pages INT, words INT, printed DATE);
CREATE TABLE author (name TEXT); CREATE TABLE classes (name TEXT);
CREATE TABLE sales (amount REAL);
""")


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
        ("What is the ratio of pages to words of each publication?", ""),
        ("What is the ratio of publications in 2020 to all authors?", ""),
        ("What is the ratio of the pages of publications in 2020 to those of authors?", ""),
        ("What is the ratio of sales in May to sales in June?", ""),  # of their amounts, perhaps
        ("How many publications has each author?", ""),
    ],
)
def test_ratios_of_counts(papers: SqlDatabase, question: str, form: str) -> None:
    said = ratio_form(question, papers)
    assert form in said
    assert bool(form) is bool(said)
