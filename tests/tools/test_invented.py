"""Names that a query takes from its question and that the database does not have."""

from cases import cases
from shop import database_of

from planweave.tools.sql import SqlDatabase

CLINIC = """
CREATE TABLE doctors (id INTEGER PRIMARY KEY, full_name TEXT, specialty TEXT, sale_price REAL);
CREATE TABLE check_ins (id INTEGER PRIMARY KEY, doctor_id INTEGER REFERENCES doctors (id));
INSERT INTO doctors VALUES (1, 'Ada Berg', 'dermatology', 20);
"""


clinic = database_of(CLINIC)


@cases(
    ("SELECT d.blood_type FROM doctors AS d", "blood_type"),
    ("SELECT COUNT(*) AS garden FROM doctors ORDER BY garden", ""),
    ("SELECT doc_name FROM doctors WHERE note LIKE '%garden%'", ""),
    ("SELECT salePrice FROM doctors", ""),
    ("SELECT rating FROM doctors", ""),
    ("SELECT (", ""),
)
def test_invented_names(query: str, name: str, clinic: SqlDatabase) -> None:
    question = "Which blood type, garden and sale price has each doctor?"
    assert clinic.invented(query, question) == name
    assert clinic.invented(query, question, "The blood type is the type.") == ""
