"""What a question asks of a thing though the database has no word for it, nor a column."""

from cases import cases
from shop import database_of

from planweave.tools.missing_words import find_missing_words, find_unknown_attribute
from planweave.tools.sql import SqlDatabase

shelter = database_of("""
CREATE TABLE animals (id INTEGER PRIMARY KEY, species TEXT, weight_kg REAL, bought_from TEXT,
  adoption_price REAL);
CREATE TABLE visits (id INTEGER PRIMARY KEY, animal_id INTEGER REFERENCES animals (id), day TEXT);
""")
clinic = database_of("""
CREATE TABLE doctors (id INTEGER PRIMARY KEY, full_name TEXT, specialty TEXT, sale_price REAL);
CREATE TABLE check_ins (id INTEGER PRIMARY KEY, doctor_id INTEGER REFERENCES doctors (id));
INSERT INTO doctors VALUES (1, 'Ada Berg', 'dermatology', 20);
""")
prices = database_of("CREATE TABLE prices (item TEXT, price REAL);")


@cases(
    ("What is the microchip number of each dog?", "microchip number"),
    ("What\u2019s the average body temperature for dogs?", "average body temperature"),
    ("List the passport number of every animal.", "passport number"),
    ("What is the average weight of each species?", ""),
    ("What is the total cost of all animals?", ""),
    ("What are the 3 busiest kennels of the year?", ""),
    ("List the customers of the shelter.", "customers"),
    ("Show the heaviest of all animals.", ""),
    ("Which dogs have a microchip?", ""),
    ("What is the priciest thing in the shop?", ""),
    ("What is the worth of each species, as weight_kg times adoption_price?", ""),
)
def test_missing_attributes(question: str, attribute: str, shelter: SqlDatabase) -> None:
    assert find_unknown_attribute(question, shelter.schema()) == attribute


def test_calendar_words_are_known_with_dates(shelter: SqlDatabase, prices: SqlDatabase) -> None:
    question, explained = "How many emails came on Saturdays in July?", "how many came on in"
    assert find_missing_words(question, shelter.schema(), explained) == {"email": "emails"}
    assert set(find_missing_words(question, prices.schema(), explained)) == {
        *("email", "saturday", "july")
    }


sales = database_of("CREATE TABLE sales (sold TEXT); INSERT INTO sales VALUES ('2025-01-02');")


def test_days_in_a_text_column_are_dates(sales: SqlDatabase) -> None:
    assert find_missing_words("When was it sold?", sales.schema()).keys() == {"was", "it"}


def test_explained_words_are_known(shelter: SqlDatabase) -> None:
    question = "What is the BMI of each dog?"
    assert find_unknown_attribute(question, shelter.schema()) == "BMI"
    assert find_unknown_attribute(question, shelter.schema(), "BMI = weight_kg / 2") == ""


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
