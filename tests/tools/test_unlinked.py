"""Words of a question that nothing in a database corresponds to."""

from collections.abc import Iterator

import pytest

from planweave.tools.sql import SqlDatabase, open_sql

CLINIC = """
CREATE TABLE doctors (id INTEGER PRIMARY KEY, full_name TEXT, specialty TEXT, sale_price REAL);
CREATE TABLE check_ins (id INTEGER PRIMARY KEY, doctor_id INTEGER REFERENCES doctors (id));
INSERT INTO doctors VALUES (1, 'Ada Berg', 'dermatology', 20);
"""


@pytest.fixture(scope="module")
def clinic(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqlDatabase]:
    path = tmp_path_factory.mktemp("clinic") / "clinic.sql"
    path.write_text(CLINIC, encoding="utf-8")
    database = open_sql(path)
    yield database
    database.close()


@pytest.mark.parametrize(
    "question",
    [
        "How many doctors are there for each specialty?",
        "Which doctor of dermatology had the most check-ins?",
        "What does the most expensive doctor cost?",
        "List the doctors who are called 'Zacharias'.",
        "Which doctors never had a check-in?",
        "Which specialty comes up several times?",
        "Which five doctors serve in each specialty/field?",
        "What is the most money that the doctors have gotten?",
        "How many patients were seen by Zacharias Quell?",
        "Which doctors operate a check-in before noon?",
        "Which physicians are not checked in yet?",
        "What is the full-year specialty grade (FSG) of each specialty?",
        "How many doctors belong to a speciality that repeats?",
        "Welche Ärztin hat die meisten Termine?",
        "Combien de médecins y a-t-il par spécialité ?",
        "",
    ],
)
def test_questions_that_may_have_an_answer(clinic: SqlDatabase, question: str) -> None:
    assert clinic.unlinked(question, "patients are check_ins").share <= 0.2


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("What is the language of Brazil?", ("language",)),
        ("Which doctor has the largest garden?", ("garden",)),
        ("How does elevation affect the climate?", ("elevation", "affect", "climate")),
    ],
)
def test_questions_about_what_is_not_there(
    clinic: SqlDatabase, question: str, words: tuple[str, ...]
) -> None:
    found = clinic.unlinked(question)
    assert found.words == words
    assert found.share > 0.2


def test_what_is_explained_is_known(clinic: SqlDatabase) -> None:
    question = "Which doctor has the largest garden?"
    assert clinic.unlinked(question, "The garden of a doctor is sale_price.").words == ()


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("SELECT d.blood_type FROM doctors AS d", "blood_type"),
        ("SELECT COUNT(*) AS garden FROM doctors ORDER BY garden", ""),
        ("SELECT doc_name FROM doctors WHERE note LIKE '%garden%'", ""),
        ("SELECT salePrice FROM doctors", ""),
        ("SELECT rating FROM doctors", ""),
        ("SELECT (", ""),
    ],
)
def test_a_name_that_only_the_question_has(clinic: SqlDatabase, query: str, name: str) -> None:
    question = "Which blood type, garden and sale price has each doctor?"
    assert clinic.invented(query, question) == name
    assert clinic.invented(query, question, "The blood type is the type.") == ""
