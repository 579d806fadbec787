"""What schema and data alone correct in a query, and what they must leave as it is."""

from pathlib import Path

import pytest
from shop import OpenSql, database_of

from planweave.tools.sql import SqlDatabase, open_sql

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


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        pytest.param(
            "SELECT T2.amount FROM customer T1 JOIN sale T2 ON T1.customer_id = T2.customer_id "
            "WHERE T2.city = 'Genoa'",
            ((40.0,), (400.0,)),
            id="a column of the other table",
        ),
        pytest.param(
            "SELECT city, SUM(amount) FROM sale GROUP BY city",
            (("Genoa", 440.0), ("Lübeck", 20.0)),
            id="a table that is missing is joined by its key",
        ),
        pytest.param(
            "SELECT customer.name, product.colour FROM customer JOIN product "
            "ON customer.customer_id = product.product_id",
            (("Ada", "Red"), ("Ben", "Blue"), ("Cleo", "Red")),
            id="keys of different things are no join",
        ),
        pytest.param(
            "SELECT v.city FROM visit v WHERE v.name = 'Ada'",
            (("Lübeck",),),
            id="a table named in error gives way",
        ),
        pytest.param("SELECT cty FROM customer", (("Genoa",), ("Genoa",), ("Lübeck",)), id="typo"),
        pytest.param(
            "SELECT nam FROM customers WHERE city = 'lübeck'",
            (("Ada",),),
            id="table, column and value by other spellings",
        ),
        pytest.param(
            "SELECT name FROM customer WHERE is_active = 'no'", (("Ben",),), id="yes or no"
        ),
        pytest.param(
            "SELECT name FROM customer WHERE is_active = 1 AND city = 'Genoa' OR city = 'Lübeck'",
            (("Ada",), ("Cleo",)),
            id="alternatives for one column",
        ),
        pytest.param(
            "SELECT sale_id FROM sale WHERE sold LIKE '2024-01%' OR sold LIKE '2024-02%' "
            "AND strftime('%d', sold) = '06'",
            (),
            id="alternatives for a date, and a part of it",
        ),
        pytest.param("SELECT COUNT(*) / 2 FROM sale", ((1.5,),), id="a ratio keeps its fraction"),
        pytest.param(
            "SELECT city, COUNT(*) FROM customer", (("Genoa", 2), ("Lübeck", 1)), id="no GROUP BY"
        ),
        pytest.param(
            "SELECT COUNT(*) FROM customer GROUP BY city", (("Genoa", 2), ("Lübeck", 1)), id="key"
        ),
        pytest.param(
            'SELECT name FROM product ORDER BY "unit price" DESC LIMIT 1',
            (("Desk", 200.0),),
            id="the ranking value is shown",
        ),
        pytest.param(
            'SELECT "unit price" FROM product ORDER BY "unit price"',
            (("Desk", 200.0), ("Lamp", 20.0)),
            id="the name of what is ranked is shown",
        ),
        pytest.param(
            "SELECT city FROM customer GROUP BY city ORDER BY COUNT(*) DESC",
            (("Genoa", 2), ("Lübeck", 1)),
            id="what groups are sorted by is shown",
        ),
        pytest.param(
            "SELECT customer_id FROM sale JOIN customer ON sale.customer_id = customer.customer_id "
            "WHERE amount > 100",
            ((2,),),
            id="a column of both tables",
        ),
        pytest.param(
            "SELECT sale_id FROM sale WHERE sold >= DATE('now', '-30 days')", ((3,),), id="now"
        ),
        pytest.param(
            "SELECT '2024-01-15' - sold FROM sale WHERE sale_id = 1", ((10.0,),), id="days"
        ),
        pytest.param(
            "SELECT sale_id FROM sale WHERE STRFTIME('%Y-%m', sold) BETWEEN '2024-01-01' "
            "AND '2024-02-29'",
            ((1,), (2,)),
            id="months are compared with months",
        ),
        pytest.param(
            "SELECT COUNT(*) FROM sale WHERE STRFTIME('%Y', sold) = 2024", ((3,),), id="year"
        ),
        pytest.param(
            "SELECT COUNT(*) FROM sale WHERE STRFTIME('%Y-%m', sold) = '2024'",
            ((3,),),
            id="a month that is a year",
        ),
        pytest.param(
            "SELECT SUM(s.sales_id) FROM sales AS s", ((6,),), id="the key by its table's name"
        ),
        pytest.param(
            "SELECT COUNT(*) FROM sale WHERE sold >= STRFTIME('%Y', 'now') + 1",
            ((0,),),
            id="a date is compared with a year",
        ),
        pytest.param(
            "SELECT name FROM customer WHERE city = 'Genoa' AND name LIKE ?",
            (("Ben",), ("Cleo",)),
            id="a value that was left open",
        ),
        pytest.param(
            "SELECT city FROM customer ORDER BY COUNT(*) DESC LIMIT 2",
            (("Genoa", 2), ("Lübeck", 1)),
            id="no GROUP BY below a ranking by a count",
        ),
    ],
)
def test_what_is_corrected(
    shop: SqlDatabase, query: str, rows: tuple[tuple[object, ...], ...]
) -> None:
    done = shop.corrected(query, now="2024-06-19 12:00:00")
    assert done.changes
    assert sorted(shop.run(done.query).rows, key=repr) == sorted(rows, key=repr)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT name FROM customer WHERE city = 'Genoa' ORDER BY name",
        "SELECT c.name, SUM(s.amount) AS total FROM customer c JOIN sale s "
        "ON c.customer_id = s.customer_id GROUP BY c.name ORDER BY total DESC LIMIT 1",
        "WITH t AS (SELECT customer_id, SUM(amount) AS total FROM sale GROUP BY customer_id) "
        "SELECT c.name, t.total FROM t JOIN customer c ON c.customer_id = t.customer_id",
        "SELECT a.name, b.name FROM customer a JOIN customer b ON a.city = b.city "
        "AND a.customer_id < b.customer_id",
        "SELECT name FROM customer c WHERE EXISTS (SELECT 1 FROM sale s "
        "WHERE s.customer_id = c.customer_id)",
        "SELECT name FROM customer WHERE customer_id NOT IN (SELECT customer_id FROM sale)",
        "SELECT COUNT(*) FROM sale WHERE amount > 10 AND (pieces = 1 OR pieces = 2)",
        "SELECT DISTINCT city FROM customer ORDER BY city LIMIT 2",
        "SELECT name FROM customer WHERE city = 'Atlantis'",
        "SELECT name FROM customer LIMIT 1 OFFSET 3 / 2",
        "SELECT s.sale_id FROM sale s JOIN visit v ON s.sold = v.seen_on "
        "AND s.customer_id = v.customer_id",
        "SELECT c.name, c.is_active, SUM(s.amount) - c.is_active FROM sale s JOIN customer c "
        "ON s.customer_id = c.customer_id GROUP BY c.name, c.is_active",
        "SELECT c.customer_id, c.name, COUNT(*) FROM customer c JOIN sale s "
        "ON c.customer_id = s.customer_id GROUP BY c.customer_id",
        'SELECT colour, name, MAX("unit price") FROM product GROUP BY colour',
        "SELECT UPPER(city) AS town, COUNT(*) FROM customer GROUP BY town",
        "SELECT STRFTIME('%Y-%m', sold) AS month FROM sale WHERE STRFTIME('%Y', sold) = '2024'",
    ],
)
def test_a_sound_query_stays(shop: SqlDatabase, query: str) -> None:
    assert shop.corrected(query)[:2] == (query, ())


@pytest.mark.parametrize("query", ["SELECT", "SELECT (", "DROP TABLE sale", "no query at all"])
def test_what_is_no_query_is_left_to_the_guard(shop: SqlDatabase, query: str) -> None:
    assert shop.corrected(query).query == query


def test_a_table_that_the_question_names_goes_first(shop: SqlDatabase) -> None:
    query = "SELECT s.name FROM sale s"
    asked = shop.corrected(query, question="Which product is sold?")
    assert {row[0] for row in shop.run(asked.query).rows} == {"Lamp", "Desk"}
    assert shop.corrected(query)[:2] == (query, ())


def test_what_a_question_speaks_of(shop: SqlDatabase) -> None:
    values, columns = shop.linked("What is the unit price of lamps for Lübeck?")
    assert values == "Values in the data: customer.city = 'Lübeck'; product.name = 'Lamp'."
    assert columns == "Columns that the question names: product.unit price."
    assert shop.linked("How are you?") == []


@pytest.mark.parametrize(
    ("question", "found"),
    [
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
    ],
)
def test_a_misspelt_value(opened: OpenSql, question: str, found: tuple[str, str]) -> None:
    library = opened(
        "CREATE TABLE book (title TEXT, author TEXT, land TEXT, place TEXT);"
        "INSERT INTO book VALUES ('The Glass Ferry', 'Ana Lund', 'Slovenia', 'Bay 13');"
        "INSERT INTO book (land) VALUES ('İzmir');"
    )
    assert library.misspelt(question) == found


def test_a_value_that_looks_like_sql_stays_a_text(opened: OpenSql) -> None:
    database = opened("CREATE TABLE t (a TEXT); INSERT INTO t VALUES ('X''; DROP TABLE t; --');")
    done = database.corrected("SELECT a FROM t WHERE a = 'x''; drop table t; --'")
    assert database.run(done.query).rows == (("X'; DROP TABLE t; --",),)


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("DATEDIFF('2024-01-05', '2024-01-02')", 3.0),
        ("DATEDIFF('day', sold, '2024-01-08')", 3.0),
        ("YEAR(sold)", 2024),
        ("EXTRACT(MONTH FROM sold)", 1),
        ("DATE_TRUNC('month', sold)", "2024-01-01"),
        ("DATE_SUB(sold, INTERVAL 1 MONTH)", "2023-12-05"),
        ("sold - INTERVAL '2 weeks'", "2023-12-22"),
        ("LEFT(sold, 4)", "2024"),
    ],
)
def test_functions_of_other_dialects(shop: SqlDatabase, expression: str, value: object) -> None:
    done = shop.corrected(f"SELECT {expression} FROM sale WHERE sale_id = 1")
    assert done.changes
    assert shop.run(done.query).rows == ((value,),)


def test_a_name_of_two_tables_is_of_the_one_that_is_asked_about(shop: SqlDatabase) -> None:
    query = (
        "SELECT name FROM customer JOIN sale ON sale.customer_id = customer.customer_id "
        "JOIN product ON sale.product_id = product.product_id WHERE sale_id = 1"
    )
    for question, name in (("Which product was sold?", "Lamp"), ("Who bought it?", "Ada")):
        assert shop.run(shop.corrected(query, question=question).query).rows == ((name,),)


@pytest.mark.parametrize(
    ("query", "question", "shown"),
    [
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
        ("SELECT amount FROM sale", "Return the sale ID and the amount.", "sale_id"),
        ("SELECT city FROM customer", "What are the names and cities of customers?", "name"),
        ("SELECT city FROM customer", "What is the name of customers?", ""),
    ],
)
def test_what_the_question_names_is_shown(
    shop: SqlDatabase, query: str, question: str, shown: str
) -> None:
    done = shop.corrected(query, question=question)
    added = {*shop.run(done.query).columns} - {*shop.run(query).columns}
    assert added == ({shown} if shown else set())
    if not shown:
        assert done.query == query


BOTH = "FROM customer c JOIN sale s ON s.customer_id = c.customer_id"


@pytest.mark.parametrize(
    ("question", "query", "rows"),
    [
        (
            "Which city bought the most pieces?",
            f"SELECT c.city, s.pieces {BOTH} ORDER BY s.pieces DESC LIMIT 1",
            (("Genoa", 4),),
        ),
        (
            "Which city has the highest number of pieces?",
            f"SELECT c.city, s.pieces AS n {BOTH} ORDER BY n DESC LIMIT 1",
            (("Genoa", 4),),
        ),
        ("Which cities bought over 3 pieces?", f"SELECT c.city {BOTH} WHERE s.pieces > 3", "Genoa"),
        (
            "Which cities bought over 3 pieces since February?",
            f"SELECT c.city {BOTH} WHERE s.pieces > 3 AND s.sold >= '2024-02-01'",
            "Genoa",
        ),
        (
            "Who bought the fewest pieces?",
            f"SELECT c.city, s.pieces * 2 AS p {BOTH} ORDER BY p LIMIT 1",
            (("Lübeck", 2),),
        ),
    ],
)
def test_what_a_thing_has_in_all_is_added_up(
    shop: SqlDatabase, question: str, query: str, rows: object
) -> None:
    done = shop.corrected(query, question=question)
    assert any(change.startswith("adds up ") for change in done.changes)
    assert shop.run(done.query).rows == (((rows,),) if isinstance(rows, str) else rows)


@pytest.mark.parametrize(
    ("question", "query"),
    [
        ("Which sale has the most pieces?", "SELECT sale_id, pieces FROM sale ORDER BY pieces"),
        ("Which sales are of over 1 piece?", f"SELECT c.city, s.pieces {BOTH} WHERE s.pieces > 1"),
        ("Which city has the dearest sale?", f"SELECT c.city, s.amount {BOTH} ORDER BY s.amount"),
        ("Which city bought most?", f"SELECT c.city, SUM(s.pieces) AS n {BOTH} ORDER BY n"),
        ("Which city is first?", f"SELECT c.city {BOTH} WHERE s.pieces > 1 OR s.amount > 9"),
    ],
)
def test_single_rows_that_are_asked_for_are_not_added_up(
    shop: SqlDatabase, question: str, query: str
) -> None:
    changes = shop.corrected(query, question=question).changes
    assert not any(change.startswith("adds up ") for change in changes)


def test_the_last_day_of_a_span_counts(opened: OpenSql) -> None:
    calls = opened(
        "CREATE TABLE call (made DATETIME, day DATE);"
        "INSERT INTO call VALUES ('2024-03-31 18:00:00', '2024-03-31');"
    )
    for ends in (
        "made BETWEEN '2024-03-01' AND '2024-03-31'",
        "made <= DATE('2024-03-31')",
        "made <= '2024-03-31'",
    ):
        query = calls.corrected(f"SELECT COUNT(*) FROM call WHERE {ends}").query
        assert calls.run(query).rows == ((1,),)
    for sound in ("made <= '2024-03-31 12:00:00'", "day <= '2024-03-31'", "made < '2024-03-31'"):
        query = f"SELECT COUNT(*) FROM call WHERE {sound}"
        assert calls.corrected(query).query == query


def test_counts_that_are_stored_are_added_up(opened: OpenSql) -> None:
    visits = opened(
        "CREATE TABLE checkin (shop TEXT, count INTEGER); CREATE TABLE shop (name TEXT);"
        "INSERT INTO checkin VALUES ('A', 3), ('A', 4), ('B', 1);"
    )
    query = "SELECT shop, COUNT(*) FROM checkin GROUP BY shop"
    for question, first in (("How many check-ins has each shop?", 7), ("How often is A seen?", 2)):
        done = visits.corrected(query, question=question)
        assert visits.run(done.query).rows[0] == ("A", first)
    each = "SELECT COUNT(DISTINCT shop) FROM checkin"
    assert visits.corrected(each, question="How many shops have check-ins?").query == each


def test_a_reference_goes_before_a_column_of_the_same_name(opened: OpenSql) -> None:
    food = opened(
        "CREATE TABLE restaurant (id INTEGER, name TEXT, city_name TEXT);"
        "CREATE TABLE location (restaurant_id INTEGER, street TEXT, city_name TEXT);"
        "INSERT INTO restaurant VALUES (1, 'A', 'Rome'), (2, 'B', 'Rome');"
        "INSERT INTO location VALUES (1, 'Via Uno', 'Rome'), (2, 'Via Due', 'Rome');"
    )
    done = food.corrected("SELECT name, street FROM restaurant")
    assert food.run(done.query).rows == (("A", "Via Uno"), ("B", "Via Due"))


def test_as_many_rows_as_are_asked_for(shop: SqlDatabase) -> None:
    query = "SELECT sale_id, amount FROM sale ORDER BY amount DESC"
    for question, count in (
        ("Show the top 2 sales.", 2),
        ("What is the top one?", 3),
        ("The top 2 of the top 3?", 3),
        ("Which sales are the dearest, sorted by amount in descending order?", 3),
        ("Show the top 2 % of the sales.", 3),
    ):
        assert len(shop.run(shop.corrected(query, question=question).query).rows) == count
    limited = f"{query} LIMIT 1"
    for question in ("Show the top 2 sales.", "Which sale is the first, sorted by amount?"):
        assert shop.corrected(limited, question=question).query == limited
    listed = shop.corrected(limited, question="Which sales were made, ordered by amount?")
    assert len(shop.run(listed.query).rows) == 3


def test_far_tables_give_way_to_a_column_that_ends_alike(opened: OpenSql) -> None:
    clinic = opened(
        "CREATE TABLE doctor (doctor_id INTEGER PRIMARY KEY, loc_state TEXT);"
        "CREATE TABLE patient (patient_id INTEGER PRIMARY KEY, addr_state TEXT);"
        "CREATE TABLE visit (patient_id INTEGER REFERENCES patient (patient_id),"
        " doctor_id INTEGER REFERENCES doctor (doctor_id), visit_cost REAL);"
        "INSERT INTO doctor VALUES (1, 'TX'); INSERT INTO patient VALUES (1, 'CA');"
        "INSERT INTO visit VALUES (1, 1, 5);"
    )
    for query, value in (
        ("SELECT loc_state FROM patient", "CA"),
        ("SELECT loc_state FROM visit", "TX"),
        ("SELECT visit_cost FROM patient", 5.0),
    ):
        assert clinic.run(clinic.corrected(query).query).rows == ((value,),)


def test_columns_with_a_common_beginning_are_called_by_the_rest(opened: OpenSql) -> None:
    broker = opened(
        "CREATE TABLE sbTicker (sbTickerId INT, sbTickerSymbol TEXT, sbTickerKind TEXT);"
        "INSERT INTO sbTicker VALUES (1, 'A', 'x');"
    )
    query = "SELECT sbTickerId FROM sbTicker"
    for question in ("Return the ID and the ticker symbol.", "Return the id and symbol of x."):
        done = broker.corrected(query, question=question)
        assert broker.run(done.query).columns == ("sbTickerId", "sbTickerSymbol")


def test_a_column_that_is_asked_for_goes_before_one_of_another_table(opened: OpenSql) -> None:
    app = opened(
        "CREATE TABLE users (user_id INTEGER PRIMARY KEY, user_type TEXT);"
        "CREATE TABLE sessions (user_id INTEGER REFERENCES users (user_id), device_type TEXT);"
        "INSERT INTO users VALUES (1, 'guest'); INSERT INTO sessions VALUES (1, 'phone');"
    )
    query = "SELECT user_type FROM sessions"
    for question, value in (("Which device types are used?", "phone"), ("Who is here?", "guest")):
        assert app.run(app.corrected(query, question=question).query).rows == ((value,),)


def test_a_year_that_is_stored_as_a_number_is_no_date(opened: OpenSql) -> None:
    papers = opened(
        "CREATE TABLE paper (title TEXT, year INTEGER, printed_year DATE);"
        "INSERT INTO paper VALUES ('Ice', 2020, '2021-01-05');"
    )
    for column, year in (("year", 2020), ("printed_year", 2021)):
        for query in (
            f"SELECT YEAR({column}) FROM paper",
            f"SELECT CAST(STRFTIME('%Y', {column}) AS INTEGER) FROM paper",
        ):
            assert papers.run(papers.corrected(query).query).rows == ((year,),)


def test_a_value_that_no_row_holds_is_doubted(shop: SqlDatabase) -> None:
    doubts = shop.corrected("SELECT name FROM product WHERE colour = 'Mauve'").doubts
    assert doubts == ("product.colour is never 'Mauve'; it is one of: Red, Blue.",)


def test_the_real_name_of_a_table_with_an_alias(shop: SqlDatabase) -> None:
    query = "SELECT SUM(sale.amount) FROM sale AS s WHERE sale.pieces = 1"
    assert shop.run(shop.corrected(query).query).rows == ((20.0,),)


def test_a_name_with_another_number_is_not_meant(opened: OpenSql) -> None:
    columns = ", ".join(f"metric_{number} REAL" for number in range(500))
    wide = opened(f"CREATE TABLE readings (name TEXT, {columns});")
    assert wide.corrected("SELECT metric_700 FROM readings").changes == ()
    assert wide.corrected("SELECT metrik_70 FROM readings").query.endswith(
        "metric_70 FROM readings"
    )


def test_a_missing_value_is_not_the_lowest(opened: OpenSql) -> None:
    staff = opened(
        "CREATE TABLE staff (name TEXT, pay REAL); INSERT INTO staff VALUES ('A', NULL), ('B', 2);"
    )
    query = staff.corrected("SELECT name, pay FROM staff ORDER BY pay LIMIT 1").query
    assert staff.run(query).rows == (("B", 2.0),)


def test_a_word_for_a_table_or_a_calculation_is_no_value(opened: OpenSql) -> None:
    lines = opened(
        "CREATE TABLE sales_day (amount REAL); CREATE TABLE note (kind TEXT);"
        "INSERT INTO note VALUES ('sale'), ('Average'), ('urgent');"
    ).linked("What is the average of urgent sales?")
    assert lines == ["Values in the data: note.kind = 'urgent'."]


def test_a_state_is_spoken_of_in_another_form(opened: OpenSql) -> None:
    orders = opened("CREATE TABLE o (state TEXT); INSERT INTO o VALUES ('cancelled'), ('open');")
    assert orders.linked("Who cancels most?") == ["Values in the data: o.state = 'cancelled'."]


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        ("SELECT AVG(unit price) FROM product", ((110.0,),)),
        ("SELECT p.unit price FROM product p WHERE p.Unit Price > 20", ((200.0,),)),
        ("SELECT `product id` FROM product WHERE `unit price` > 20", ((2,),)),
        ("SELECT product_id FROM product WHERE colour = 'unit price' OR unit price = 20", ((1,),)),
    ],
)
def test_names_of_several_words_are_as_stored(
    shop: SqlDatabase, query: str, rows: tuple[object, ...]
) -> None:
    done = shop.corrected(query)
    assert any(change.startswith("the name is ") for change in done.changes)
    assert shop.run(done.query).rows == rows


@pytest.mark.parametrize(
    "query",
    [
        "SELECT sale id FROM sale",
        "SELECT 1 AS is active FROM customer",
        "SELECT \"unit price\" FROM product WHERE colour = 'a b'",
    ],
)
def test_an_alias_and_a_quoted_name_stay(shop: SqlDatabase, query: str) -> None:
    assert not any(c.startswith("the name is ") for c in shop.corrected(query).changes)


def test_what_is_asked_for_by_another_word_is_added_up_unless_it_is_a_state(
    opened: OpenSql,
) -> None:
    flat = opened(
        "CREATE TABLE t (product TEXT, amount REAL, balance REAL);"
        "INSERT INTO t VALUES ('tea', 5, 9), ('oil', 4, 1), ('oil', 4, 7);"
    )

    def first(measure: str) -> object:
        query = f"SELECT product, {measure} FROM t ORDER BY {measure} DESC LIMIT 1"
        done = flat.corrected(query, question="Which goods bring in the most cash?")
        return flat.run(done.query).rows[0]

    assert first("amount") == ("oil", 8.0)
    assert first("balance") == ("tea", 9.0)


@pytest.mark.parametrize(
    ("question", "instructions", "cities"),
    [
        ("Which cities have an average amount above 30?", "", ["Genoa"]),
        ("Which cities buy for more than 30 on average?", "", ["Genoa"]),
        ("Which cities are big spenders?", "Their mean amount is over 30.", ["Genoa"]),
        ("Which cities had a sale above 30?", "", ["Genoa", "Genoa"]),
        ("Which cities have an average amount above 300?", "", ["Genoa", "Genoa"]),
    ],
)
def test_an_average_is_compared_where_one_is_asked_for(
    shop: SqlDatabase, question: str, instructions: str, cities: list[str]
) -> None:
    query = f"SELECT c.city {BOTH} WHERE s.amount > 30"
    done = shop.corrected(query, question=question, instructions=instructions)
    assert [row[0] for row in shop.run(done.query).rows] == cities
    assert ("AVG" in done.query) == (len(cities) == 1)


@pytest.mark.parametrize(
    ("question", "by", "first"),
    [
        ("Which sale is the oldest?", "sold DESC", 1),
        ("What are the top 1 newest sales?", "sold", 3),
        ("Which sale is the cheapest?", "price DESC", 2),
        ("Which sale has the highest number?", "price DESC", 1),
        ("Which sale comes first?", "sold DESC", 3),
    ],
)
def test_rows_are_sorted_as_the_question_says(
    opened: OpenSql, question: str, by: str, first: int
) -> None:
    sales = opened(
        "CREATE TABLE sale (id INTEGER PRIMARY KEY, sold DATE, price REAL);"
        "INSERT INTO sale VALUES (1, '2020-01-01', 9), (2, '2021-01-01', 4), (3, '2022-01-01', 5);"
    )
    done = sales.corrected(f"SELECT id FROM sale ORDER BY {by} LIMIT 1", question=question)
    assert sales.run(done.query).rows[0][0] == first


AGAINST = "What is the difference between the amount of Genoa and that of Lübeck?"


@pytest.mark.parametrize(
    ("query", "question", "number"),
    [
        (f"SELECT SUM(s.amount) {BOTH} WHERE c.city IN ('Lübeck', 'Genoa')", AGAINST, 420),
        (f"SELECT MAX(s.amount) {BOTH} WHERE c.city = 'Lübeck' OR c.city = 'Genoa'", AGAINST, 380),
        (
            f"SELECT c.city, SUM(s.amount) {BOTH} WHERE c.city IN ('Lübeck', 'Genoa') "
            "GROUP BY c.city ORDER BY 2 LIMIT 1",
            AGAINST,
            420,
        ),
        (
            f"SELECT SUM(s.amount) - SUM(s.amount) {BOTH} WHERE c.city = 'Genoa' "
            "AND c.city = 'Lübeck' AND s.pieces > 1",
            AGAINST,
            None,
        ),
        (
            f"SELECT SUM(s.amount) {BOTH} WHERE c.city = 'Genoa' "
            f"UNION SELECT SUM(s.amount) {BOTH} WHERE c.city = 'Lübeck'",
            AGAINST,
            420,
        ),
        (f"SELECT SUM(s.amount) - SUM(s.amount) {BOTH} WHERE c.city = 'Lübeck'", AGAINST, 420),
        (f"SELECT c.city, SUM(s.amount) {BOTH} GROUP BY c.city", AGAINST, 420),
        (
            "SELECT COUNT(*) FROM customer WHERE city = 'Genoa' "
            "- COUNT(*) FROM customer WHERE city = 'Lübeck'",
            "How many more customers has Genoa than Lübeck?",
            1,
        ),
        (
            "SELECT COUNT(*) FROM customer WHERE city = 'Genoa' "
            "/ SELECT COUNT(*) FROM customer WHERE city = 'Lübeck'",
            "What is the ratio of customers in Genoa to those in Lübeck?",
            2,
        ),
        (
            f"SELECT COUNT(DISTINCT c.name) {BOTH} WHERE c.city IN ('Lübeck', 'Genoa')",
            "What is the ratio of buyers in Genoa to those in Lübeck?",
            2,
        ),
        (
            "SELECT COUNT(*) FROM customer WHERE city IN ('Lübeck', 'Genoa')",
            "How many more customers are there in Genoa than in Lübeck?",
            1,
        ),
        (
            "SELECT 1.0 * COUNT(CASE WHEN city = 'Genoa' THEN 1 END) / COUNT(*) FROM customer",
            "What is the ratio of Genoa customers to non-Genoa customers?",
            2,
        ),
        (
            "SELECT 1.0 * COUNT(CASE WHEN city = 'Genoa' THEN 1 END) / COUNT(*) FROM customer",
            "What is the ratio of customers in Genoa to those in all other cities?",
            2,
        ),
        (
            "SELECT 1.0 * COUNT(CASE WHEN city = 'Genoa' THEN 1 END) / COUNT(*) FROM customer",
            "What is the ratio of Genoa customers to all?",
            pytest.approx(2 / 3),
        ),
        (f"SELECT SUM(s.amount) {BOTH} WHERE c.city IN ('Lübeck', 'Genoa')", "In total?", 460),
    ],
)
def test_two_groups_are_set_against_each_other(
    shop: SqlDatabase, query: str, question: str, number: float | None
) -> None:
    done = shop.corrected(query, question=question)
    assert shop.run(done.query).rows == ((number,),)


def test_a_ranking_keeps_what_it_ranks_by(shop: SqlDatabase) -> None:
    query = f"SELECT c.city, SUM(s.amount) {BOTH} GROUP BY c.city ORDER BY 2"
    question = "Which city has the greater difference between Genoa and Lübeck?"
    assert shop.corrected(query, question=question, ranks=True).query == query


def test_ids_of_a_distinct_list_are_shown(shop: SqlDatabase) -> None:
    question = "Return the distinct list of customer IDs and cities of those who are active."
    query = "SELECT DISTINCT city FROM customer WHERE is_active = 1"
    done = shop.corrected(query, question=question)
    assert sorted(shop.run(done.query).rows, key=str) == [("Genoa", 3), ("Lübeck", 1)]


@pytest.mark.parametrize(
    ("query", "question", "rows"),
    [
        ("SELECT STRFTIME('%Y-%m-%d') - '14 days' = 0", "Within 14 days?", ((0,),)),
        (
            "SELECT amount FROM sale WHERE sold >= STRFTIME('%Y-%m-%d', '2024-06-11') - '14 days'",
            "Of the last 14 days?",
            ((40.0,),),
        ),
        (
            "SELECT JULIANDAY('2024-01-02') - JULIANDAY(sold) FROM sale WHERE pieces = 1",
            "How many hours before the 2nd, in hours?",
            ((-72.0,),),
        ),
        (
            "SELECT 24 * (JULIANDAY('2024-01-02') - JULIANDAY(sold)) FROM sale WHERE pieces = 1",
            "How many hours before the 2nd, in hours?",
            ((-72.0,),),
        ),
    ],
)
def test_spans_are_counted_as_the_question_says(
    shop: SqlDatabase, query: str, question: str, rows: tuple[object, ...]
) -> None:
    assert shop.run(shop.corrected(query, question=question).query).rows == rows


@pytest.mark.parametrize(
    ("question", "query", "rows"),
    [
        (
            "What is sold per month?",
            "SELECT sold, SUM(amount) FROM sale GROUP BY sold",
            (("2024-01", 20.0), ("2024-02", 400.0), ("2024-06", 40.0)),
        ),
        (
            "Show the yearly sales.",
            "SELECT DATE(sold) AS day, SUM(amount) FROM sale GROUP BY DATE(sold)",
            (("2024", 460.0),),
        ),
        (
            "What are the monthly sales since February?",
            "SELECT SUM(amount) FROM sale WHERE sold >= '2024-02-01'",
            (("2024-02", 400.0), ("2024-06", 40.0)),
        ),
        (
            "What is sold in each month and year?",
            "SELECT sold, SUM(pieces) FROM sale WHERE amount > 30 GROUP BY sold",
            (("2024-02", 2), ("2024-06", 2)),
        ),
        (
            "What is sold per month and per year?",
            "SELECT sold, SUM(pieces) FROM sale WHERE amount > 30 GROUP BY sold",
            (("2024-02-05", 2), ("2024-06-01", 2)),
        ),
        (
            "How many sales a city are there each day?",
            "SELECT city, COUNT(*) FROM sale JOIN customer USING (customer_id) GROUP BY city",
            (("Genoa", 2), ("Lübeck", 1)),
        ),
    ],
)
def test_months_and_years_that_are_asked_for(
    shop: SqlDatabase, question: str, query: str, rows: object
) -> None:
    assert shop.run(shop.corrected(query, question=question).query).rows == rows


@pytest.mark.parametrize(
    ("test", "question", "number"),
    [
        ("month IN ('June', 'August')", "How many from June to August 2022?", 3),
        ("(month = 'June' OR month = 'July')", "Between June 2022 and August 2022?", 3),
        ("month IN ('June', 'August') AND year = 2021", "From June to August?", 1),
        ("month = 'June'", "How many in June 2022?", 1),
        ("month = 'June'", "How many in June?", 2),
        ("month IN ('June', 'August')", "In June and in August?", 3),
        ("month IN ('June', 'July')", "From June 2021 to July 2022?", 3),
    ],
)
def test_months_by_name_are_a_span(tmp_path: Path, test: str, question: str, number: int) -> None:
    script = "CREATE TABLE tip (month TEXT, year INTEGER); INSERT INTO tip VALUES "
    rows = "('June', 2021), ('June', 2022), ('July', 2022), ('August', 2022), ('May', 2022);"
    (tmp_path / "tips.sql").write_text(script + rows, encoding="utf-8")
    database = open_sql(tmp_path / "tips.sql")
    done = database.corrected(f"SELECT COUNT(*) FROM tip WHERE {test}", question=question)
    assert database.run(done.query).rows == ((number,),)
    database.close()


WORKSHOP = """
CREATE TABLE bike (bike_id INTEGER PRIMARY KEY, kind TEXT, brand TEXT);
CREATE TABLE job ("job no" INTEGER PRIMARY KEY, bike_id INTEGER REFERENCES bike (bike_id),
    "brought in" DATE, brand TEXT, minutes INTEGER, visitors INTEGER, state TEXT,
    price INTEGER, tip INTEGER, warm INTEGER, cold INTEGER);
INSERT INTO bike VALUES (1, 'city', 'Elan'), (2, 'race', 'Elan'), (3, 'cargo', 'Ox');
INSERT INTO job VALUES
    (1, 1, '2023-03-01', 'Elan', 30, 2, 'D', 10, 1, 20, 15),
    (2, 2, '2023-11-01', 'Elan', 90, 3, 'O', 20, NULL, 30, 22),
    (3, 2, '2024-02-01', 'Elan', 30, 4, 'D', 30, 3, 9, 2),
    (4, 3, '2024-06-03', 'Ox', 60, 5, 'W', 40, NULL, 5, 1);
"""


workshop = database_of(WORKSHOP)


IN_TYPES = "SELECT AVG(minutes) FROM job WHERE bike_id IN (SELECT bike_id FROM bike WHERE kind"


@pytest.mark.parametrize(
    ("query", "question", "rows"),
    [
        pytest.param(
            "SELECT Brought In, state FROM job WHERE job no = 1",
            "When was job 1 brought in, and what is its state?",
            (("2023-03-01", "D"),),
            id="a name with a blank whose second word is SQL",
        ),
        pytest.param(
            f"{IN_TYPES} IN ('city', 'race'))",
            "How long does a city bike take, and how long a race bike?",
            (("city", 30.0), ("race", 60.0)),
            id="two values, looked up in another table",
        ),
        pytest.param(
            "SELECT SUM(minutes) FROM job WHERE state = 'D' OR state = 'O'",
            "What is the total of D, and what of O?",
            (("D", 60), ("O", 90)),
            id="two values",
        ),
        pytest.param(
            f"{IN_TYPES} IN ('city', 'race'))",
            "How long do a city bike and a race bike take together?",
            ((50.0,),),
            id="two values together",
        ),
        pytest.param(
            "SELECT SUM(minutes) FROM job WHERE brand = 'Elan'",
            "How many hours did we spend on Elan?",
            ((2.5,),),
            id="hours of minutes",
        ),
        pytest.param(
            "SELECT SUM(minutes) / 30 FROM job WHERE brand = 'Elan'",
            "How many hours did we spend on Elan, in halves?",
            ((5.0,),),
            id="what divides is left as it is",
        ),
        pytest.param(
            "SELECT brand, MAX(warm) - MIN(cold) FROM job GROUP BY brand",
            "What is the difference between the warmest and the coldest of each brand?",
            (("Elan", 28), ("Ox", 4)),
            id="a difference of extremes",
        ),
        pytest.param(
            "SELECT AVG(price) FROM job WHERE state IN ('D', 'O')",
            "Give me the average price of D and O, for both.",
            (("D", 20.0), ("O", 20.0)),
            id="for both",
        ),
        pytest.param(
            "SELECT \"job no\" FROM job WHERE STRFTIME('%A', \"brought in\") = 'Wednesday'",
            "Which jobs came on a Wednesday?",
            ((1,), (2,)),
            id="the name of a day",
        ),
        pytest.param(
            "SELECT COUNT(*) FROM job WHERE state = 'done'",
            "How many jobs are done?",
            ((2,),),
            id="a code of one letter",
        ),
        pytest.param(
            "SELECT COUNT(*) FROM job WHERE state = 'lost'",
            "How many jobs are lost?",
            ((0,),),
            id="no code begins so",
        ),
    ],
)
def test_questions_in_ordinary_words(
    workshop: SqlDatabase, query: str, question: str, rows: tuple[object, ...]
) -> None:
    done = workshop.corrected(query, question=question, now="2024-06-19 12:00:00")
    assert workshop.run(done.query).rows == rows


def test_a_key_is_looked_for_among_its_own(opened: OpenSql) -> None:
    bees = opened(
        "CREATE TABLE keeper (keeper_id INTEGER PRIMARY KEY, name TEXT);"
        "CREATE TABLE hive (hive_id INTEGER PRIMARY KEY,"
        " keeper_id INTEGER REFERENCES keeper (keeper_id), next_hive INTEGER);"
        "INSERT INTO keeper VALUES (1, 'Ann'), (2, 'Bo'); INSERT INTO hive VALUES (1, 2, 7);"
    )
    done = bees.corrected("SELECT name FROM keeper WHERE keeper_id IN (SELECT hive_id FROM hive)")
    assert bees.run(done.query).rows == (("Bo",),)
    sound = "SELECT name FROM keeper WHERE keeper_id IN (SELECT next_hive FROM hive)"
    assert not bees.corrected(sound).changes


@pytest.mark.parametrize(
    ("shown", "unit", "value"),
    [
        ("AVG(JULIANDAY(b) - JULIANDAY(a)) * 60", "minutes", 90),
        ("AVG((JULIANDAY(b) - JULIANDAY(a)) * 1440)", "hours", 1.5),
        ("AVG(JULIANDAY(b) - JULIANDAY(a)) * 7", "minutes", 0.4375),
    ],
)
def test_days_are_multiplied_by_what_the_unit_says(
    opened: OpenSql, shown: str, unit: str, value: float
) -> None:
    calls = opened(
        "CREATE TABLE t (a DATETIME, b DATETIME);"
        "INSERT INTO t VALUES ('2024-01-01 10:00:00', '2024-01-01 11:30:00');"
    )
    done = calls.corrected(f"SELECT {shown} FROM t", question=f"How long is it in {unit}?")
    assert calls.run(done.query).rows[0][0] == pytest.approx(value)


def test_tables_without_declared_keys_are_joined_by_their_names(opened: OpenSql) -> None:
    hall = opened(
        "CREATE TABLE hirers (hirer_no INTEGER, hirer_name TEXT);"
        "CREATE TABLE bookings (booking_no INTEGER, hirer INTEGER, cares_for_hirers INTEGER);"
        "CREATE TABLE payments (payment_no INTEGER, booking INTEGER, amount REAL);"
        "INSERT INTO hirers VALUES (1, 'Ann'), (2, 'Bo');"
        "INSERT INTO bookings VALUES (10, 2, 1), (11, 2, 1);"
        "INSERT INTO payments VALUES (20, 10, 5), (21, 11, 6);"
    )
    done = hall.corrected("SELECT hirer_name, SUM(amount) FROM payments GROUP BY hirer_name")
    assert hall.run(done.query).rows == (("Bo", 11),)


@pytest.mark.parametrize(
    ("query", "question", "rows"),
    [
        pytest.param(
            "SELECT product_id, SUM(pieces) FROM sale GROUP BY product_id ORDER BY 2 DESC LIMIT 1",
            "Which product sold most often?",
            ((1, 3, "Lamp"),),
            id="the table that names it is joined",
        ),
        pytest.param(
            "SELECT customer_id FROM customer WHERE city = 'Lübeck'",
            "Who lives in Lübeck?",
            ((1, "Ada"),),
            id="its own table names it",
        ),
        pytest.param(
            "SELECT customer_id FROM customer WHERE city = 'Lübeck'",
            "Give the customer IDs of those in Lübeck.",
            ((1,),),
            id="the key itself is asked for",
        ),
        pytest.param(
            "SELECT sale_id FROM sale WHERE amount = 40", "Which sale?", ((3,),), id="nothing names"
        ),
        pytest.param(
            "SELECT product_id, city FROM sale JOIN customer "
            "ON customer.customer_id = sale.customer_id WHERE city = 'Lübeck'",
            "Which went to Lübeck?",
            ((1, "Lübeck", "Lamp"),),
            id="a key without its table, beside a join",
        ),
        pytest.param(
            "SELECT s.product_id FROM sale s JOIN visit v ON v.customer_id = s.customer_id "
            "UNION SELECT product_id FROM sale WHERE sale_id = 3",
            "Which product?",
            ((1,),),
            id="a union stays",
        ),
    ],
)
def test_names_stand_beside_keys(
    shop: SqlDatabase, query: str, question: str, rows: tuple[tuple[object, ...], ...]
) -> None:
    assert shop.run(shop.corrected(query, question=question).query).rows == rows


PEOPLE = """
CREATE TABLE person (no INTEGER PRIMARY KEY, first_name TEXT, last_name TEXT, title TEXT);
CREATE TABLE room (no INTEGER PRIMARY KEY, label TEXT, boss INTEGER REFERENCES person (no));
INSERT INTO person VALUES (1, 'Ada', 'Berg', 'Dr'), (2, 'Ben', 'Dahl', NULL);
INSERT INTO room VALUES (1, 'Attic', 2), (2, 'Cellar', 2), (3, 'Hall', 1);
"""


@pytest.mark.parametrize(
    ("query", "row"),
    [
        ("SELECT boss FROM room WHERE no = 1", (2, "Ben", "Dahl")),
        ("SELECT no FROM room WHERE boss = 1", (3, "Hall")),
    ],
)
def test_people_have_two_names_and_rooms_a_label(
    opened: OpenSql, query: str, row: tuple[object, ...]
) -> None:
    people = opened(PEOPLE)
    assert people.run(people.corrected(query, question="Which?").query).rows == (row,)


@pytest.mark.parametrize(
    ("question", "rows"),
    [
        ("What is the dearest product, and its colour?", (("Blue", 200.0),)),
        ("What is the highest price of each colour?", (("Blue", 200.0), ("Red", 20.0))),
    ],
)
def test_beside_an_extreme_stands_its_row(
    shop: SqlDatabase, question: str, rows: tuple[tuple[object, ...], ...]
) -> None:
    done = shop.corrected('SELECT colour, MAX("unit price") FROM product', question=question)
    assert shop.run(done.query).rows == rows


STAYS = """
CREATE TABLE stay (
    id INTEGER PRIMARY KEY, town TEXT, pets TEXT, days INTEGER, came TEXT, moved TEXT
);
INSERT INTO stay VALUES (1, 'Rome', 'Y', 4, '2024-01-02', '2020-05-01'),
    (2, 'Rome', 'N', 2, '2024-02-02', '2021-05-01'), (3, 'Oslo', 'N', 7, '2024-03-02', NULL),
    (4, NULL, 'N', 9, '2024-04-02', NULL), (5, NULL, 'Y', 9, '2024-04-09', NULL);
"""


@pytest.mark.parametrize(
    ("query", "question", "rows"),
    [
        pytest.param(
            "SELECT AVG(days) FROM stay WHERE town IN ('Rome', 'Oslo')",
            "How long on average for Rome, and for Oslo?",
            (("Oslo", 7.0), ("Rome", 3.0)),
            id="two averages",
        ),
        pytest.param(
            "SELECT SUM(days) FROM stay WHERE town IN ('Rome', 'Oslo')",
            "How many days in Rome and in Oslo?",
            ((13,),),
            id="one sum of both",
        ),
        pytest.param(
            "SELECT AVG(days) FROM stay WHERE pets = 'Y'",
            "Compare the average days with pets and without.",
            (("N", 6.0), ("Y", 6.5)),
            id="both sides of a flag",
        ),
        pytest.param(
            "SELECT COUNT(*) FROM stay WHERE town = 'Rome' UNION "
            "SELECT COUNT(*) FROM stay WHERE town = 'Oslo'",
            "Do more go to Rome or to Oslo?",
            (("Oslo", 1), ("Rome", 2)),
            id="a union of two numbers",
        ),
        pytest.param(
            "SELECT COUNT(*) FROM stay WHERE town = 'Rome' UNION "
            "SELECT SUM(days) FROM stay WHERE town = 'Oslo'",
            "How many in Rome, and how long in Oslo?",
            ((2,), (7,)),
            id="a union of two things",
        ),
        pytest.param(
            "SELECT id, MIN(moved) FROM stay",
            "Who has the least?",
            ((1, "2020-05-01"),),
            id="a missing value is no extreme",
        ),
        pytest.param(
            "SELECT AVG(days) FROM stay WHERE pets = 'N'",
            "What is the average stay of those that are not with pets, and the average for Rome?",
            ((6.0,),),
            id="one side of a flag",
        ),
        pytest.param(
            "SELECT town, SUM(days) FROM stay GROUP BY town ORDER BY SUM(days) DESC LIMIT 1",
            "Which town has the most days?",
            (("Oslo", 7),),
            id="no town is no answer",
        ),
        pytest.param(
            "SELECT id FROM stay WHERE town = 'Rome' ORDER BY moved DESC LIMIT 1",
            "Who of Rome has been here longest?",
            ((1, "2020-05-01"),),
            id="who moved first is here longest",
        ),
        pytest.param(
            "SELECT AVG(came - moved) FROM stay WHERE id = 1",
            "How many hours lie between?",
            ((32_184.0,),),
            id="dates that are declared as texts",
        ),
    ],
)
def test_groups_and_dates_of_an_ordinary_table(
    opened: OpenSql, query: str, question: str, rows: tuple[tuple[object, ...], ...]
) -> None:
    stays = opened(STAYS)
    found = stays.run(stays.corrected(query, question=question).query).rows
    assert sorted(found, key=str) == sorted(rows, key=str)


def test_a_table_whose_name_has_a_blank_is_quoted(opened: OpenSql) -> None:
    times = opened(
        'CREATE TABLE "Swim Times" (Swimmer TEXT, "Best Time" REAL);'
        "INSERT INTO \"Swim Times\" VALUES ('Ann', 3), ('Ann', 5), ('Bo', 9);"
    )
    done = times.corrected('SELECT AVG("Best Time") FROM SwimTimes', question="Per swimmer?")
    assert times.run(done.query).rows == (("Ann", 4.0), ("Bo", 9.0))


@pytest.mark.parametrize(
    ("test", "question", "towns"),
    [
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
    ],
)
def test_what_never_has_something_is_asked_of_all_its_rows(
    opened: OpenSql, test: str, question: str, towns: list[str]
) -> None:
    stays = opened(STAYS)
    done = stays.corrected(f"SELECT town FROM stay WHERE {test}", question=question)
    assert sorted({str(row[0]) for row in stays.run(done.query).rows if row[0]}) == towns
