"""Corrections of a query by schema, data and question, and right queries that must stay."""

from cases import cases
from shop import OpenSql, database_of

from planweave.tools.database import Asked
from planweave.tools.sql import SqlDatabase

SHOP = """
CREATE TABLE customer (customer_id INTEGER PRIMARY KEY, name TEXT, city TEXT, is_active INTEGER);
CREATE TABLE product (product_id INTEGER PRIMARY KEY, name TEXT, "unit price" REAL, colour TEXT);
CREATE TABLE sale (
    sale_id INTEGER PRIMARY KEY,
    customer_id INTEGER REFERENCES customer (customer_id),
    product_id INTEGER REFERENCES product (product_id),
    sold DATE, amount REAL, pieces INTEGER
);
CREATE TABLE visit (visit_id INTEGER PRIMARY KEY, customer_id INTEGER, seen_on DATE);
INSERT INTO customer VALUES (1, 'Ada', 'Lübeck', 1), (2, 'Ben', 'Genoa', 0),
    (3, 'Cleo', 'Genoa', 1);
INSERT INTO product VALUES (1, 'Lamp', 20, 'Red'), (2, 'Desk', 200, 'Blue');
INSERT INTO sale VALUES
    (1, 1, 1, '2024-01-05', 20, 1), (2, 2, 2, '2024-02-05', 400, 2), (3, 3, 1, '2024-06-01', 40, 2);
"""


shop = database_of(SHOP)
BOTH = "FROM customer c JOIN sale s ON s.customer_id = c.customer_id"
Rows = tuple[tuple[object, ...], ...]


def rows_of(database: SqlDatabase, query: str, question: str = "", instructions: str = "") -> Rows:
    """The rows of a query after its correction."""
    asked = Asked(question=question, instructions=instructions, now="2024-06-19 12:00:00")
    return database.run(database.corrected(query, **asked).query).rows


def as_rows(wanted: object) -> Rows:
    """Rows as they are written in a case: ``(("Ada", 1), ("Ben", 2))``, or a single cell."""
    return wanted if isinstance(wanted, tuple) else ((wanted,),)


GENOA_FIRST = (("Genoa", 2), ("Lübeck", 1))


@cases(
    # a column of the other table
    (f"s.amount {BOTH} WHERE s.city = 'Genoa'", ((40,), (400,))),
    # a table that is missing is joined by its key
    ("city, SUM(amount) FROM sale GROUP BY city", (("Genoa", 440), ("Lübeck", 20))),
    # keys of different things are no join
    (
        "c.name, p.colour FROM customer c JOIN product p ON c.customer_id = p.product_id",
        (("Ada", "Red"), ("Ben", "Blue"), ("Cleo", "Red")),
    ),
    # a wrong table is replaced
    ("v.city FROM visit v WHERE v.name = 'Ada'", "Lübeck"),
    # misspelt column, table and value
    ("nam FROM customers WHERE city = 'lübeck'", "Ada"),
    # yes or no
    ("name FROM customer WHERE is_active = 'no'", "Ben"),
    # alternatives for one column; for a date, and a part of it
    (
        "name FROM customer WHERE is_active = 1 AND city = 'Genoa' OR city = 'Lübeck'",
        (("Ada",), ("Cleo",)),
    ),
    (
        "sale_id FROM sale WHERE sold LIKE '2024-01%' OR sold LIKE '2024-02%' "
        "AND strftime('%d', sold) = '06'",
        (),
    ),
    # a ratio keeps its fraction
    ("COUNT(*) / 2 FROM sale", 1.5),
    # no GROUP BY, or no key beside it
    ("city, COUNT(*) FROM customer", GENOA_FIRST),
    ("COUNT(*) FROM customer GROUP BY city", GENOA_FIRST),
    ("city FROM customer ORDER BY COUNT(*) DESC LIMIT 2", GENOA_FIRST),
    # the value and the name of a ranking, and what groups are sorted by, are shown
    ('name FROM product ORDER BY "unit price" DESC LIMIT 1', (("Desk", 200),)),
    ('"unit price" FROM product ORDER BY "unit price"', (("Desk", 200), ("Lamp", 20))),
    ("city FROM customer GROUP BY city ORDER BY COUNT(*) DESC", GENOA_FIRST),
    # a column of both tables
    (f"customer_id {BOTH} WHERE amount > 100", 2),
    # the present, and days between dates
    ("sale_id FROM sale WHERE sold >= DATE('now', '-30 days')", 3),
    ("'2024-01-15' - sold FROM sale WHERE sale_id = 1", 10.0),
    # the key by its table's name
    ("SUM(s.sales_id) FROM sales AS s", 6),
    # a value that was left open
    ("name FROM customer WHERE city = 'Genoa' AND name LIKE ?", (("Ben",), ("Cleo",))),
    # names of several words, without quotes
    ("AVG(unit price) FROM product", 110.0),
    ("p.unit price FROM product p WHERE p.Unit Price > 20", 200.0),
    ("`product id` FROM product WHERE `unit price` > 20", 2),
    ("product_id FROM product WHERE colour = 'unit price' OR unit price = 20", 1),
    # the name of a table that has an alias
    ("SUM(sale.amount) FROM sale AS s WHERE sale.pieces = 1", 20.0),
    # functions of other dialects
    ("DATEDIFF('2024-01-05', '2024-01-02')", 3.0),
    ("DATEDIFF('day', sold, '2024-01-08') FROM sale WHERE sale_id = 1", 3.0),
    ("YEAR(sold) FROM sale WHERE sale_id = 1", 2024),
    ("EXTRACT(MONTH FROM sold) FROM sale WHERE sale_id = 1", 1),
    ("DATE_TRUNC('month', sold) FROM sale WHERE sale_id = 1", "2024-01-01"),
    ("DATE_SUB(sold, INTERVAL 1 MONTH) FROM sale WHERE sale_id = 1", "2023-12-05"),
    ("sold - INTERVAL '2 weeks' FROM sale WHERE sale_id = 1", "2023-12-22"),
    ("LEFT(sold, 4) FROM sale WHERE sale_id = 1", "2024"),
)
def test_the_schema_corrects(query: str, rows: object, shop: SqlDatabase) -> None:
    done = shop.corrected(f"SELECT {query}", now="2024-06-19 12:00:00")
    assert done.changes
    assert sorted(shop.run(done.query).rows, key=repr) == sorted(as_rows(rows), key=repr)


@cases(
    "SELECT name FROM customer WHERE city = 'Genoa' ORDER BY name",
    f"SELECT c.name, SUM(s.amount) AS total {BOTH} GROUP BY c.name ORDER BY total DESC LIMIT 1",
    "WITH t AS (SELECT customer_id, SUM(amount) AS total FROM sale GROUP BY customer_id) "
    "SELECT c.name, t.total FROM t JOIN customer c ON c.customer_id = t.customer_id",
    "SELECT a.name, b.name FROM customer a JOIN customer b ON a.city = b.city AND a.name < b.name",
    "SELECT name FROM customer c WHERE EXISTS (SELECT 1 FROM sale s "
    "WHERE s.customer_id = c.customer_id)",
    "SELECT name FROM customer WHERE city = 'Atlantis'",
    "SELECT name FROM customer LIMIT 1 OFFSET 3 / 2",
    "SELECT s.sale_id FROM sale s JOIN visit v ON s.sold = v.seen_on "
    "AND s.customer_id = v.customer_id",
    f"SELECT c.name, c.city, SUM(s.amount) - c.is_active {BOTH} GROUP BY c.name, c.city",
    f"SELECT c.customer_id, c.name, COUNT(*) {BOTH} GROUP BY c.customer_id",
    'SELECT colour, name, MAX("unit price") FROM product GROUP BY colour',
    "SELECT UPPER(city) AS town, COUNT(*) FROM customer GROUP BY town",
    "SELECT STRFTIME('%Y-%m', sold) AS month FROM sale WHERE STRFTIME('%Y', sold) = '2024'",
)
def test_a_right_query_stays(query: str, shop: SqlDatabase) -> None:
    assert shop.corrected(query)[:2] == (query, ())


@cases("SELECT", "SELECT (", "DROP TABLE sale", "no query at all", "SELECT c._ FROM customer c")
def test_text_that_is_no_query_is_unchanged(query: str, shop: SqlDatabase) -> None:
    assert shop.corrected(query).query == query


def test_a_table_that_the_question_names_is_preferred(shop: SqlDatabase) -> None:
    query = "SELECT s.name FROM sale s"
    asked = shop.corrected(query, question="Which product is sold?")
    assert {row[0] for row in shop.run(asked.query).rows} == {"Lamp", "Desk"}
    assert shop.corrected(query)[:2] == (query, ())


def test_values_and_columns_that_a_question_mentions(shop: SqlDatabase) -> None:
    values, columns = shop.linked("What is the unit price of lamps for Lübeck?")
    assert values == "Values in the data: customer.city = 'Lübeck'; product.name = 'Lamp'."
    assert columns == "Columns that the question names: product.unit price."
    assert shop.linked("How are you?") == []


@cases(
    ("Who wrote the glas ferry?", ("the glas ferry", "The Glass Ferry")),
    ("What did Anna Lund write?", ("Anna Lund", "Ana Lund")),
    ("Which books are in Sloveniia?", ("Sloveniia", "Slovenia")),
    ("Which book by Ana Lund is in Sloveniia?", ("Sloveniia", "Slovenia")),
    ("Sloveniia has which books?", ("", "")),  # a first word is no name
    ("Which books are in sloveniia?", ("", "")),
    ("Which books are in Slovakia?", ("", "")),
    ("Which books by Ana Lunds are there?", ("", "")),
    ("What is in bay 14?", ("", "")),
    ("Which books are in İzmirr?", ("İzmirr", "İzmir")),  # small, İ is two characters
)
def test_a_misspelt_value(question: str, found: tuple[str, str], opened: OpenSql) -> None:
    library = opened(
        "CREATE TABLE book (title TEXT, author TEXT, land TEXT, place TEXT);"
        "INSERT INTO book VALUES ('The Glass Ferry', 'Ana Lund', 'Slovenia', 'Bay 13');"
        "INSERT INTO book (land) VALUES ('İzmir');"
    )
    assert library.misspelt(question) == found


@cases(
    ("SELECT SUM(amount) FROM sale", "What is sold per customer id?", "customer_id"),
    ("SELECT COUNT(*) FROM customer", "How many customers are there by city?", "city"),
    ("SELECT COUNT(*) FROM customer", "How many customers are in each city?", "city"),
    ('SELECT MIN("unit price") FROM product', "The least price of each product?", "name"),
    ("SELECT COUNT(*) FROM sale", "How many sales were made by customer 2?", ""),
    ("SELECT COUNT(*) FROM customer", "Count the customers, sorted by city.", ""),
    ("SELECT amount * 2 FROM sale", "What is twice the amount for each sale id?", "sale_id"),
    ("SELECT name FROM customer", "Return the name and the city of customers.", "city"),
    ("SELECT name FROM customer", "Who lives in a city?", ""),
    ("SELECT name FROM customer", "List customers (customer ID and name).", "customer_id"),
    ("SELECT city FROM customer", "What are the names and cities of customers?", "name"),
    ("SELECT city FROM customer", "What is the name of customers?", ""),
)
def test_asked_columns_are_shown(query: str, question: str, shown: str, shop: SqlDatabase) -> None:
    done = shop.corrected(query, question=question)
    added = {*shop.run(done.query).columns} - {*shop.run(query).columns}
    assert added == ({shown} if shown else set())
    if not shown:
        assert done.query == query


@cases(
    ("Which sale has the most pieces?", "SELECT sale_id, pieces FROM sale ORDER BY pieces"),
    ("Which sales are of over 1 piece?", f"SELECT c.city, s.pieces {BOTH} WHERE s.pieces > 1"),
    ("Which city has the dearest sale?", f"SELECT c.city, s.amount {BOTH} ORDER BY s.amount"),
    ("Which city bought most?", f"SELECT c.city, SUM(s.pieces) AS n {BOTH} ORDER BY n"),
    ("Which city is first?", f"SELECT c.city {BOTH} WHERE s.pieces > 1 OR s.amount > 9"),
)
def test_single_rows_are_not_summed(question: str, query: str, shop: SqlDatabase) -> None:
    changes = shop.corrected(query, question=question).changes
    assert not any(change.startswith("adds up ") for change in changes)


def test_a_period_includes_its_last_day(opened: OpenSql) -> None:
    calls = opened(
        "CREATE TABLE call (made DATETIME, day DATE);"
        "INSERT INTO call VALUES ('2024-03-31 18:00:00', '2024-03-31');"
    )
    for ends in ("made BETWEEN '2024-03-01' AND '2024-03-31'", "made <= '2024-03-31'"):
        query = calls.corrected(f"SELECT COUNT(*) FROM call WHERE {ends}").query
        assert calls.run(query).rows == ((1,),)
    for sound in ("made <= '2024-03-31 12:00:00'", "day <= '2024-03-31'", "made < '2024-03-31'"):
        query = f"SELECT COUNT(*) FROM call WHERE {sound}"
        assert calls.corrected(query).query == query


def test_a_value_that_no_row_has_is_doubted(shop: SqlDatabase) -> None:
    doubts = shop.corrected("SELECT name FROM product WHERE colour = 'Mauve'").doubts
    assert doubts == ("product.colour is never 'Mauve'; it is one of: Red, Blue.",)
    for other in ("<> 'Mauve'", "NOT IN ('Mauve')", "<> ''"):
        assert shop.corrected(f"SELECT name FROM product WHERE colour {other}").doubts == ()


def test_a_name_with_another_number_is_not_similar(opened: OpenSql) -> None:
    columns = ", ".join(f"metric_{number} REAL" for number in range(500))
    big = opened(f"CREATE TABLE readings (name TEXT, {columns});")
    assert big.corrected("SELECT metric_700 FROM readings").changes == ()
    assert big.corrected("SELECT metrik_70 FROM readings").query.endswith("metric_70 FROM readings")


def test_a_word_for_a_table_or_a_calculation_is_no_value(opened: OpenSql) -> None:
    lines = opened(
        "CREATE TABLE sales_day (amount REAL); CREATE TABLE note (kind TEXT);"
        "INSERT INTO note VALUES ('sale'), ('Average'), ('urgent');"
    ).linked("What is the average of urgent sales?")
    assert lines == ["Values in the data: note.kind = 'urgent'."]


def test_a_state_is_mentioned_in_another_form(opened: OpenSql) -> None:
    orders = opened("CREATE TABLE o (state TEXT); INSERT INTO o VALUES ('cancelled'), ('open');")
    assert orders.linked("Who cancels most?") == ["Values in the data: o.state = 'cancelled'."]


@cases(
    "SELECT sale id FROM sale",
    "SELECT 1 AS is active FROM customer",
    "SELECT \"unit price\" FROM product WHERE colour = 'a b'",
)
def test_an_alias_and_a_quoted_name_stay(query: str, shop: SqlDatabase) -> None:
    assert not any(c.startswith("the name is ") for c in shop.corrected(query).changes)


CITIES = f"SELECT c.city, SUM(s.amount) AS spent {BOTH} GROUP BY c.city"
TOTALS = (("Genoa", 440), ("Lübeck", 20))
COUNTED = f"SELECT c.city, COUNT(*) {BOTH} GROUP BY c.city"
PIECES = f"SELECT c.city, s.pieces AS n {BOTH} ORDER BY"
TWICE = f"SELECT c.city, s.pieces * 2 AS n {BOTH} ORDER BY n LIMIT 1"
BIG_SALES = f"SELECT c.city {BOTH} WHERE s.amount > 30"
MANY_PIECES = f"SELECT c.city {BOTH} WHERE s.pieces > 3"
ACTIVE = "Return the distinct list of customer IDs and cities of those who are active."
DIFFERENCE = "What is the difference between the amount of Genoa and that of Lübeck?"
EITHER = f"{BOTH} WHERE c.city IN ('Lübeck', 'Genoa')"
DEAREST = 'SELECT colour, MAX("unit price") FROM product'
ALL_THREE = f"SELECT name {BOTH} JOIN product p ON s.product_id = p.product_id WHERE sale_id = 1"
BY_AMOUNT = "SELECT sale_id, amount FROM sale ORDER BY amount DESC LIMIT 1"
MEAN = "SELECT AVG(amount) FROM sale"
MEAN_EACH = "SELECT sale_id, AVG(amount) AS m FROM sale GROUP BY sale_id ORDER BY m DESC"
CUSTOMER = "SELECT customer_id FROM customer"
NAMED = "SELECT DISTINCT city FROM customer"


@cases(
    # a column of two tables is of the one that is asked about
    ("Which product was sold?", ALL_THREE, "Lamp"),
    ("Which customer bought it?", ALL_THREE, "Ada"),
    # rows are summed
    ("Which city bought the most pieces?", f"{PIECES} s.pieces DESC LIMIT 1", (("Genoa", 4),)),
    ("Which city has the highest number of pieces?", f"{PIECES} n DESC LIMIT 1", (("Genoa", 4),)),
    ("Who bought the fewest pieces?", TWICE, (("Lübeck", 2),)),
    ("Which cities bought over 3 pieces?", MANY_PIECES, "Genoa"),
    ("Which cities bought over 3?", f"{MANY_PIECES} AND s.sold >= '2024-02-01'", "Genoa"),
    # sums and counts of groups are averaged
    ("Add up the sales of each city. What is the average of these totals?", CITIES, 230),
    ("What is the average total of sales per city?", f"{CITIES} ORDER BY 2 DESC", 230),
    ("The average total of sales per city, if over 30?", f"{CITIES} HAVING spent > 30", 440),
    ("What is the average number of sales per city?", COUNTED, 1.5),
    ("What is the total of each city, highest first?", f"{CITIES} ORDER BY 2 DESC", TOTALS),
    ("What is the average of these totals?", f"{CITIES} ORDER BY 2 LIMIT 1", (("Lübeck", 20),)),
    ("What is the average number of pieces per city?", CITIES, TOTALS),
    # averages are compared
    ("Which cities have an average amount above 30?", BIG_SALES, "Genoa"),
    ("Which cities buy for more than 30 on average?", BIG_SALES, "Genoa"),
    ("Which cities had a sale above 30?", BIG_SALES, (("Genoa",), ("Genoa",))),
    ("Which cities have an average amount above 300?", BIG_SALES, (("Genoa",), ("Genoa",))),
    # two groups are compared
    (DIFFERENCE, f"SELECT SUM(s.amount) {EITHER}", 420),
    (DIFFERENCE, f"SELECT MAX(s.amount) {BOTH} WHERE c.city = 'Lübeck' OR c.city = 'Genoa'", 380),
    (DIFFERENCE, f"SELECT c.city, SUM(s.amount) {EITHER} GROUP BY c.city ORDER BY 2 LIMIT 1", 420),
    (
        DIFFERENCE,
        f"SELECT SUM(s.amount) - SUM(s.amount) {BOTH} "
        "WHERE c.city = 'Genoa' AND c.city = 'Lübeck' AND s.pieces > 1",
        None,
    ),
    ("The ratio of buyers in Genoa to Lübeck?", f"SELECT COUNT(DISTINCT c.name) {EITHER}", 2),
    ("How many more were sold in Genoa than in Lübeck?", f"SELECT COUNT(*) {EITHER}", 1),
    ("In total?", f"SELECT SUM(s.amount) {EITHER}", 460),
    # columns that the question lists
    ("Give the customer IDs of those in Lübeck.", f"{CUSTOMER} WHERE city = 'Lübeck'", 1),
    (ACTIVE, f"{NAMED} WHERE is_active = 1", (("Lübeck", 1), ("Genoa", 3))),
    ("Which sale?", "SELECT sale_id FROM sale WHERE amount = 40", 3),  # nothing names it
    # a key alone is shown with its name
    ("Who spent over 100?", f"SELECT c.customer_id {BOTH} WHERE amount > 100", (("Ben", 2),)),
    ("Who never visited?", f"{CUSTOMER} EXCEPT SELECT 1", (("Ben", 2), ("Cleo", 3))),
    ("Who did?", f"{CUSTOMER} EXCEPT SELECT 1 UNION SELECT 7", ((2,), (3,), (7,))),
    ("Who was the last?", f"{CUSTOMER} ORDER BY 1 DESC LIMIT 1", 3),
    ("Who has no visit?", f"{CUSTOMER} WHERE customer_id > 2", (("Cleo", 3),)),
    ("Which?", "SELECT 'x' UNION SELECT 'y'", (("x",), ("y",))),
    ("Which customer_id?", f"{CUSTOMER} EXCEPT SELECT 1 EXCEPT SELECT 2", 3),
    ("Which code has Ben?", f"{CUSTOMER} WHERE name = 'Ben'", 2),
    ("The customer_id of Ben?", f"{CUSTOMER} WHERE name = 'Ben'", 2),
    # a union stays
    (
        "Which product?",
        "SELECT s.product_id FROM sale s JOIN visit v ON v.customer_id = s.customer_id "
        "UNION SELECT product_id FROM sale WHERE sale_id = 3",
        1,
    ),
    # an extreme is shown with its row, or for each group
    ("What is the dearest product, and its colour?", DEAREST, (("Blue", 200),)),
    ("The highest price of each colour?", DEAREST, (("Blue", 200), ("Red", 20))),
    # different values are counted
    ("How many different cities are there?", NAMED, 2),
    ("How many pieces?", "SELECT DISTINCT pieces FROM sale WHERE sale_id = 2", 2),
    ("How many different?", f"{NAMED} GROUP BY city LIMIT 1", "Genoa"),
    ("Which cities are there?", NAMED, (("Lübeck",), ("Genoa",))),
    # a sorted list has all rows
    ("Show the top 2 sales.", BY_AMOUNT, ((2, 400),)),
    ("Which sale is the first, sorted by amount?", BY_AMOUNT, ((2, 400),)),
    ("Which sales were made, ordered by amount?", BY_AMOUNT, ((2, 400), (3, 40), (1, 20))),
    ("What is each sale's amount, smallest first?", BY_AMOUNT, ((2, 400), (3, 40), (1, 20))),
    ("What is the mean amount, to one decimal?", MEAN, ((153.3,),)),
    ("What is the mean amount? Two decimal places, please.", MEAN, ((153.33,),)),
    ("How many sales were there, to one decimal?", "SELECT COUNT(*) FROM sale", ((3,),)),
    ("Which sale is the dearest, to one decimal?", f"{MEAN_EACH} LIMIT 1", ((2, 400),)),
    ("Which request first came in, ordered by amount?", BY_AMOUNT, ((2, 400),)),
    ("What is the most common first name?", BY_AMOUNT, ((2, 400),)),
)
def test_the_question_corrects(question: str, query: str, rows: object, shop: SqlDatabase) -> None:
    assert rows_of(shop, query, question) == as_rows(rows)


def test_corrections_by_the_instructions(shop: SqlDatabase) -> None:
    rows = rows_of(shop, BIG_SALES, "Which are big spenders?", "Their mean amount is over 30.")
    assert rows == (("Genoa",),)


def test_a_ranking_keeps_what_it_ranks_by(shop: SqlDatabase) -> None:
    query = f"SELECT c.city, SUM(s.amount) {BOTH} GROUP BY c.city ORDER BY 2"
    question = "Which city has the greater difference between Genoa and Lübeck?"
    assert shop.corrected(query, question=question, ranks=True).query == query


WORKSHOP = """
CREATE TABLE bike (bike_id INTEGER PRIMARY KEY, kind TEXT, brand TEXT);
CREATE TABLE job ("job no" INTEGER PRIMARY KEY, bike_id INTEGER REFERENCES bike (bike_id),
    "brought in" DATE, brand TEXT, minutes INTEGER, state TEXT, warm INTEGER, cold INTEGER);
INSERT INTO bike VALUES (1, 'city', 'Elan'), (2, 'race', 'Elan'), (3, 'cargo', 'Ox');
INSERT INTO job VALUES
    (1, 1, '2023-03-01', 'Elan', 30, 'D', 20, 15), (2, 2, '2023-11-01', 'Elan', 90, 'O', 30, 22),
    (3, 2, '2024-02-01', 'Elan', 30, 'D', 9, 2), (4, 3, '2024-06-03', 'Ox', 60, 'W', 5, 1);
"""
STAYS = """
CREATE TABLE stay (
    id INTEGER PRIMARY KEY, town TEXT, pets TEXT, days INTEGER, came TEXT, moved TEXT
);
INSERT INTO stay VALUES (1, 'Rome', 'Y', 4, '2024-01-02', '2020-05-01'),
    (2, 'Rome', 'N', 2, '2024-02-02', '2021-05-01'), (3, 'Oslo', 'N', 7, '2024-03-02', NULL),
    (4, NULL, 'N', 9, '2024-04-02', NULL), (5, NULL, 'Y', 9, '2024-04-09', NULL);
"""


@cases(
    ("pets = 'Y'", "Which towns never had Y in pets?", ["Oslo"]),
    ("pets <> 'Y'", "Which town has no stay with pets Y?", ["Oslo"]),
    ("pets = 'N'", "Which towns never had pets?", ["Oslo"]),
    ("days = 4 AND came >= '2024-02-01'", "Which towns never had 4 days?", ["Oslo", "Rome"]),
    ("days = 4 AND pets = 'Y'", "Which towns never had 4 days?", []),
    ("pets <> 'Y'", "Which towns had a stay other than Y?", ["Oslo", "Rome"]),
    ("pets = 'Z'", "Which towns never had that?", []),
    ("pets = 'N' AND days = 2", "Which towns of 2 days never had pets?", ["Rome"]),
    ("days <> 4 AND pets = 'Y'", "Which towns with pets Y never had 4?", []),
    ("days = 4 AND id NOT IN (SELECT id FROM stay WHERE days = 4)", "Never 4 days?", ["Oslo"]),
    (
        "pets = 'N' AND town NOT IN (SELECT town FROM stay WHERE days = 7)",
        "Which towns never had N and 7?",
        ["Rome"],
    ),
)
def test_never_is_of_all_rows(test: str, question: str, towns: list[str], opened: OpenSql) -> None:
    stays = opened(STAYS)
    rows = rows_of(stays, f"SELECT town FROM stay WHERE {test}", question)
    assert sorted({str(row[0]) for row in rows if row[0]}) == towns


PLACES = """
CREATE TABLE restaurant (id INTEGER, name TEXT, city_name TEXT);
CREATE TABLE location (restaurant_id INTEGER, street TEXT, city_name TEXT);
INSERT INTO restaurant VALUES (1, 'A', 'Rome'), (2, 'B', 'Rome');
INSERT INTO location VALUES (1, 'Via Uno', 'Rome'), (2, 'Via Due', 'Rome');
"""
CLINIC = """
CREATE TABLE doctor (doctor_id INTEGER PRIMARY KEY, loc_state TEXT);
CREATE TABLE patient (patient_id INTEGER PRIMARY KEY, addr_state TEXT);
CREATE TABLE visit (patient_id INTEGER REFERENCES patient (patient_id),
    doctor_id INTEGER REFERENCES doctor (doctor_id), visit_cost REAL);
INSERT INTO doctor VALUES (1, 'TX'); INSERT INTO patient VALUES (1, 'CA');
INSERT INTO visit VALUES (1, 1, 5);
"""
APP = """
CREATE TABLE users (user_id INTEGER PRIMARY KEY, user_type TEXT);
CREATE TABLE sessions (user_id INTEGER REFERENCES users (user_id), device_type TEXT);
INSERT INTO users VALUES (1, 'guest'); INSERT INTO sessions VALUES (1, 'phone');
"""
PAPERS = """
CREATE TABLE paper (title TEXT, year INTEGER, printed_year DATE);
INSERT INTO paper VALUES ('Ice', 2020, '2021-01-05');
"""
BEES = """
CREATE TABLE keeper (keeper_id INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE hive (hive_id INTEGER PRIMARY KEY,
    keeper_id INTEGER REFERENCES keeper (keeper_id), next_hive INTEGER);
INSERT INTO keeper VALUES (1, 'Ann'), (2, 'Bo'); INSERT INTO hive VALUES (1, 2, 7);
"""
KEEPERS = "SELECT name FROM keeper WHERE keeper_id IN (SELECT {} FROM hive)"
HALL = """
CREATE TABLE hirers (hirer_no INTEGER, hirer_name TEXT);
CREATE TABLE bookings (booking_no INTEGER, hirer INTEGER, cares_for_hirers INTEGER);
CREATE TABLE payments (payment_no INTEGER, booking INTEGER, amount REAL);
INSERT INTO hirers VALUES (1, 'Ann'), (2, 'Bo');
INSERT INTO bookings VALUES (10, 2, 1), (11, 2, 1);
INSERT INTO payments VALUES (20, 10, 5), (21, 11, 6);
"""
PAID = "SELECT hirer_name, SUM(amount) FROM payments GROUP BY hirer_name"
TIMES = """
CREATE TABLE "Swim Times" (Swimmer TEXT, "Best Time" REAL);
INSERT INTO "Swim Times" VALUES ('Ann', 3), ('Ann', 5), ('Bo', 9);
"""
TIPS = """
CREATE TABLE tip (month TEXT, year INTEGER);
INSERT INTO tip VALUES
    ('June', 2021), ('June', 2021), ('June', 2022), ('July', 2022), ('August', 2022), ('May', 2022);
"""
TIPPED = "SELECT COUNT(*) FROM tip WHERE"
CHECKINS = """
CREATE TABLE checkin (shop TEXT, count INTEGER); CREATE TABLE shop (name TEXT);
INSERT INTO checkin VALUES ('A', 3), ('A', 4), ('B', 1);
"""
TICKER = """
CREATE TABLE sbTicker (sbTickerId INT, sbTickerSymbol TEXT, sbTickerKind TEXT);
INSERT INTO sbTicker VALUES (1, 'A', 'x');
"""
GOODS = """
CREATE TABLE t (product TEXT, amount REAL, balance REAL);
INSERT INTO t VALUES ('tea', 5, 9), ('oil', 4, 1), ('oil', 4, 7);
"""
TICKER_IDS = "SELECT sbTickerId FROM sbTicker"
MOST_CASH = "Which goods bring in the most cash?"
MEASURE = "SELECT product, {0} FROM t ORDER BY {0} DESC LIMIT 1"
DAYS = "SELECT SUM(days) FROM stay"
JOBS = "SELECT COUNT(*) FROM job WHERE"
BY_SHOP = "SELECT shop, COUNT(*) FROM checkin GROUP BY shop"


@cases(
    # a reference goes before a column of the same name
    (PLACES, "", "SELECT name, street FROM restaurant", (("A", "Via Uno"), ("B", "Via Due"))),
    # far tables give way to a column that ends alike
    (CLINIC, "", "SELECT loc_state FROM patient", "CA"),
    (CLINIC, "", "SELECT loc_state FROM visit", "TX"),
    (CLINIC, "", "SELECT visit_cost FROM patient", 5.0),
    # a column that is asked for goes before one of another table
    (APP, "Which device types are used?", "SELECT user_type FROM sessions", "phone"),
    (APP, "Who is here?", "SELECT user_type FROM sessions", "guest"),
    (PAPERS, "", "SELECT YEAR(printed_year) FROM paper", 2021),
    (PAPERS, "", "SELECT CAST(STRFTIME('%Y', printed_year) AS INTEGER) FROM paper", 2021),
    (BEES, "", KEEPERS.format("next_hive"), ()),
    # tables without declared keys are joined by their names
    (HALL, "", PAID, (("Bo", 11),)),
    # a table whose name has a blank is quoted
    (TIMES, "Per swimmer?", 'SELECT AVG("Best Time") FROM SwimTimes', (("Ann", 4), ("Bo", 9))),
    (TIPS, "June to August?", f"{TIPPED} month IN ('June', 'August') AND year = 2021", 2),
    (TIPS, "How many in June?", f"{TIPPED} month = 'June'", 3),
    (TIPS, "In June and in August?", f"{TIPPED} month IN ('June', 'August')", 4),
    (TIPS, "June 2021 to July 2022?", f"{TIPPED} month IN ('June', 'July')", 4),
    # counts that are stored are added up
    (CHECKINS, "How many check-ins has each shop?", BY_SHOP, (("A", 7), ("B", 1))),
    (CHECKINS, "How often is A seen?", BY_SHOP, (("A", 2), ("B", 1))),
    (CHECKINS, "How many shops check in?", "SELECT COUNT(DISTINCT shop) FROM checkin", 2),
    # a name with a blank whose second word is SQL
    (WORKSHOP, "", "SELECT Brought In, state FROM job WHERE job no = 1", (("2023-03-01", "D"),)),
    # two values together
    (
        WORKSHOP,
        "How long do a city bike and a race bike take together?",
        "SELECT AVG(minutes) FROM job WHERE bike_id IN "
        "(SELECT bike_id FROM bike WHERE kind IN ('city', 'race'))",
        50,
    ),
    # a divisor stays
    (WORKSHOP, "How many half hours?", "SELECT SUM(minutes) / 30 FROM job", 7),
    # a difference of extremes
    (
        WORKSHOP,
        "What is the difference between the warmest and the coldest of each brand?",
        "SELECT brand, MAX(warm) - MIN(cold) FROM job GROUP BY brand",
        (("Elan", 28), ("Ox", 4)),
    ),
    # a code of one letter, and a text that none begins
    (WORKSHOP, "", f"{JOBS} state = 'done'", 2),
    (WORKSHOP, "", f"{JOBS} state = 'lost'", 0),
    # one sum of both
    (STAYS, "How long in Rome and in Oslo?", f"{DAYS} WHERE town IN ('Rome', 'Oslo')", 13),
    # a union of two things
    (
        STAYS,
        "How many in Rome, and how long in Oslo?",
        f"SELECT COUNT(*) FROM stay WHERE town = 'Rome' UNION {DAYS} WHERE town = 'Oslo'",
        ((2,), (7,)),
    ),
    # NULL is no extreme
    (STAYS, "Who has the least?", "SELECT id, MIN(moved) FROM stay", ((1, "2020-05-01"),)),
    # one side of a flag
    (
        STAYS,
        "What is the average stay of those that are not with pets, and the average for Rome?",
        "SELECT AVG(days) FROM stay WHERE pets = 'N'",
        6,
    ),
    # a group without a name is no answer
    (
        STAYS,
        "Which town has the most days?",
        "SELECT town, SUM(days) FROM stay GROUP BY town ORDER BY SUM(days) DESC LIMIT 1",
        (("Oslo", 7),),
    ),
    # columns that begin alike are called by the rest
    (TICKER, "Return the ID and the ticker symbol.", TICKER_IDS, ((1, "A"),)),
    (TICKER, "Return the id and symbol of x.", TICKER_IDS, ((1, "A"),)),
    # a sum of another word, but not of a state
    (GOODS, MOST_CASH, MEASURE.format("amount"), (("oil", 8),)),
    (GOODS, MOST_CASH, MEASURE.format("balance"), (("tea", 9),)),
    # a value that looks like SQL stays a text
    (
        "CREATE TABLE t (a TEXT); INSERT INTO t VALUES ('X''; DROP TABLE t; --');",
        "",
        "SELECT a FROM t WHERE a = 'x''; drop table t; --'",
        "X'; DROP TABLE t; --",
    ),
)
def test_schemas(script: str, question: str, query: str, rows: object, opened: OpenSql) -> None:
    assert rows_of(opened(script), query, question) == as_rows(rows)
