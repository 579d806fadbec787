"""The forms that a question gets in the prompt for its query: patterns, ratios, the present."""

from datetime import date

from cases import cases
from shop import database_of

from planweave.nodes.assist.forms import (
    fill_each_form,
    fill_pattern_form,
    fill_present_form,
    fill_ratio_form,
)
from planweave.tools import Database

SERVICES = """
CREATE (:Service {name: "web"});
CREATE (:Team {name: "Otter"});
MATCH (a:Service), (b:Service) CREATE (a)-[:DEPENDS_ON {}]->(b);
MATCH (a:Team), (b:Service) CREATE (a)-[:OWNS {}]->(b);
"""
services = database_of(SERVICES, "cql")


def assert_form(filled: str, form: str) -> None:
    assert form in filled
    assert bool(form) is bool(filled)


@cases(
    ("Which services are not owned by any team?", "WHERE NOT (x)-"),
    ("Which teams don't own a service?", "WHERE NOT (x)-"),
    ("Who has never broken a service?", "WHERE NOT (x)-"),
    ("Which services are not written in Rust and are old?", "WHERE NOT (x)-"),
    ("Which services are not discontinued?", ""),
    ("Which service is called 'has no name'?", ""),
    ("On what does web depend, directly or transitively?", "[:DEPENDS_ON*1..]"),
    ("What can be reached from web in at most three steps?", "[:DEPENDS_ON*1..3]"),
    ("What can be reached from web over 2 to 4 DEPENDS_ON links?", "[:DEPENDS_ON*2..4]"),
    ("Which services does Otter own?", ""),
)
def test_chains_and_missing_links_have_a_form(question: str, form: str, services: Database) -> None:
    assert_form(fill_pattern_form(question, services), form)


visits = database_of("""
CREATE TABLE visit (dog TEXT, day DATE, fee REAL, stars INT);
CREATE TABLE dog (name TEXT);
""")


@cases(
    ("Add up the fees of each dog. What is the average of these totals?", "SUM(<value>)"),
    ("How much has one dog been charged in total, on average?", "SUM(<value>)"),
    ("What is the average total fee per dog?", "SUM(<value>)"),
    ("What is the average number of visits per dog?", "COUNT(*)"),
    ("On average, how many visits does a dog make?", "COUNT(*)"),
    ("How many visits does each dog make?", ""),
    ("How many visits does each dog make, and what is the average fee?", ""),
    ("What were the fees in total, and how much is a visit on average?", ""),
    ("Show the total number of visits, the total fee, and the average fee of each dog.", ""),
    ("What are the average fee and the total fee per dog?", ""),
    ("What is the average share of the total fee per dog?", ""),
    ("What is the average number of stars per dog?", ""),
    ("What is the average number of days per visit?", ""),
    ("What is the average fee of each dog, and the total?", ""),
    ("For each dog, give the day of its last visit before 2024.", "MAX(<date>)"),
    ("When did each of our dogs first come here?", "MIN(<date>)"),
    ("List each dog with its most recent visit date.", "MAX(<date>)"),
    ("Show the date of the first paid visit of each dog.", "MIN(<date>)"),
    ("For each visit, give the day and the first name of the owner.", ""),
    ("For each dog, give the day of birth and the last fee.", ""),
    ("Give the fees of each quarter by its first date.", ""),
    ("When were the first and the last visit of each dog?", ""),
    ("Give the fee of each dog for each day of the last three months.", ""),
    ("List each dog with its day of birth, oldest first.", ""),
)
def test_values_of_each_have_a_form(question: str, form: str, visits: Database) -> None:
    assert_form(fill_each_form(question, visits), form)


GROUPS, TABLES, SHARE = "two groups of rows", "FROM publication", "to all rows"
papers = database_of("""
CREATE TABLE publication (pages INT, words INT, printed DATE);
CREATE TABLE author (name TEXT); CREATE TABLE classes (name TEXT);
CREATE TABLE sales (amount REAL);
""")


@cases(
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
)
def test_ratios_of_counts_have_a_form(question: str, form: str, papers: Database) -> None:
    assert_form(fill_ratio_form(question, papers), form)


LAST_YEAR, JUNE = "How many books did Ann read last year?", "2024-06-19 12:00:00"
RULES = "A book counts if it was read. Today is 2020-02-03."


@cases(
    (LAST_YEAR, JUNE, "", '"last year" is from 2023-01-01 to 2023-12-31.'),
    ("Who came yesterday?", JUNE, "", '"yesterday" is 2024-06-18.'),
    ("How old is Ann?", JUNE, "", "Today is 2024-06-19."),
    (LAST_YEAR, "", "", f"{date.today().year - 1}-12-31"),
    (LAST_YEAR, JUNE, RULES, "2019-12-31"),  # the present of the rules takes precedence
    ("How many books did Ann read in 2023?", JUNE, "", ""),
)
def test_days_have_a_form(question: str, now: str, rules: str, form: str) -> None:
    assert_form(fill_present_form(question, now, rules), form)
