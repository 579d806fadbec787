"""What schema, data and question correct in a Cypher query."""

import pytest
from cases import cases
from shop import database_of

from planweave.tools.database import Database, QueryFailed

FILMS = """
CREATE (:Person {name: "Ada", born: 1970});
CREATE (:Movie {title: "Sea", released: 1999});
MATCH (a:Person), (b:Movie) CREATE (a)-[:REVIEWED {rating: 9, note: "slow"}]->(b);
MATCH (a:Person {name: "Ada"}), (b:Movie {title: "Sea"}) CREATE (a)-[:DIRECTED {}]->(b);
CREATE (:Event {title: "Fair", held: "1999-05-01", tags: ["art", "food"]});
CREATE (:Studio {title: "Hill's", fee: "100.50"});
MATCH (a:Person) CREATE (a)-[:FOLLOWS {}]->(a);
MATCH (a:Person), (b:Movie) CREATE (a)-[:ACTED_IN {}]->(b);
CREATE (:Club {name: "Owls", clubId: "7"});
MATCH (a:Studio), (b:Person {name: "Ada"}) CREATE (a)-[:EMPLOYS {}]->(b);
CREATE (:Critic {full_name: "Bo Vey", joined: 1});
CREATE (:Critic {full_name: "Al Bek", joined: 0});
MATCH (a:Critic {joined: 1}), (b:Club) CREATE (a)-[:BELONGS_TO {}]->(b);
"""
HILLS, SEA, FAIR = (("Hill's",),), (("Sea",),), (("Fair",),)
ADA, BEK, ONCE = (("Ada",),), (("Al Bek",),), (("Ada", 1),)
DIRECTOR = "MATCH (:Movie {title: 'ea'})<-[:DIRECTED]-(p) WHERE p.born > 1 RETURN p.name"
OR_ELSE = "MATCH (m:Movie {title: 'ea'}) WHERE m.released > 1 OR m.released < 1 RETURN m.title"
OLDEST = "UNWIND [1999, 1980] AS y MATCH (m:Movie) RETURN m.title ORDER BY m.released LIMIT 1"
NOTED = "MATCH (p:Person)-[:REVIEWED]->(m:Movie) WHERE m.title CONTAINS"
RATED = "MATCH (p:Person)-[:REVIEWED]->(m:Movie) WHERE m.title IN ['Sea', 'Lake']"
Rows = tuple[tuple[object, ...], ...]


films = database_of(FILMS, "cql")


def rows_of(films: Database, query: str, question: str = "") -> Rows:
    """The rows of the corrected query."""
    return films.run(films.corrected(query, question=question).query).rows


@cases(
    ("MATCH (m:Movie)-[:DIRECTED]->(p:Person) RETURN p.name", ADA),
    ("MATCH (p:Person)<-[r:REVIEWED]-(m:Movie) RETURN m.title", SEA),
    ("MATCH (p:Person)-[r:REVIEWED]->(m:Movie) RETURN p.rating", ((9,),)),
    ("MATCH (p:Person)-[:REVIEWED]->(m:Movie) WHERE m.rating > 5 RETURN m.title", SEA),
    ("MATCH (m:Movie)-[:REVIEWED]->(p:Person) RETURN m.born, p.rating", ((1970, 9),)),
    ("MATCH (p:Person)-[:REVIEWED]->(m:Movie) RETURN avg(r.rating)", ((9.0,),)),
    ("MATCH (p:Person) GROUP BY p HAVING count(p) > 0 RETURN p.name", ADA),
    ("MATCH (p:Person)-[:REVIEWED]->(m) GROUP BY p.name ORDER BY count(*) DESC", ONCE),
    ("MATCH (m:Movie)<-[:REVIEWED]-(r:Review) WHERE r.rating > 8 RETURN m.title", SEA),
    ("MATCH (c:Critic) WHERE NOT (c)-[:BELONGS_TO]->(:Club) RETURN c.name", BEK),
    ("MATCH (c:Critic) WHERE NOT EXISTS { (c)-[:BELONGS_TO]->(:Club) } RETURN c.name", BEK),
    ("MATCH (p:Person) RETURN p.name, count(p) AS n GROUP BY p.name HAVING n > 0", ONCE),
    ("MATCH (p:Person)-[:REVIEWED]->(m) RETURN p.name ORDER BY count(*) DESC LIMIT 2", ONCE),
    ("MATCH (m:Movie) RETURN m.released DESC LIMIT 1", (("Sea", 1999),)),
    ("MATCH (p:Person)-[r:REVIEWED]->(m:Movie) RETURN m.released", (("Sea", 1999),)),
    ("MATCH (s:Studio)-[:EMPLOYS]->(p:Person) WHERE s.born < 1980 RETURN s.title", HILLS),
    ("MATCH (s:Studio)-[:EMPLOY]->(p:Person) RETURN s.title", HILLS),
    ("MATCH (s:Studio)-[:DIRECTED]->(p:Person {name: 'Ada'}) RETURN s.title", HILLS),
    ("MATCH (s:Studio) RETURN s.studioName", HILLS),
    ("MATCH (m:Movie) RETURN m.relesed", (("Sea", 1999),)),
    ("MATCH (m:Movie) ORDER BY m.released DESC LIMIT 1", (("Sea", 1999),)),
    ("MATCH (m:Movie {released: >= 1990}) RETURN m.title", SEA),
    ("MATCH (s:Studio {title: STARTS WITH 'Hi'}) RETURN s.title", HILLS),
    ("MATCH (s:Studio {title: `ENDS WITH 's'`}) RETURN s.title", HILLS),
    ("MATCH (m:Movie) WHERE m.title LIKE 'S%' RETURN m.title", SEA),
    ("MATCH (m:Movie) WHERE m.title LIKE '%ea' RETURN m.title", SEA),
    ("MATCH (m:Movie) WHERE m.title LIKE 'ea' RETURN m.title", SEA),
    ("MATCH (m:Movie {title: '*e*'}) RETURN m.title", SEA),
    ("MATCH (m:Movie {released: {1990..1999}}) RETURN m.title", SEA),
    ("MATCH (m:Movie {released: {min: 1990, max: 1999}}) RETURN m.title", SEA),
    ("MATCH (m:Movie {title: 'Sea' or 'Lake'}) RETURN m.title", SEA),
    ("MATCH (m:Movie {released: 1999 OR released: 2001}) RETURN m.title", SEA),
    ("MATCH (s:Studio)-[:DIRECTED]->(m:Movie) WHERE m.born > 1960 RETURN s.title", HILLS),
    ("MATCH (p:Person)-[:REVIEWED]->(m:Movie)-[:DIRECTED]->(n:Movie) RETURN n.title", SEA),
    ("MATCH (p:Person)-[:REVIEWED]->(m:Movie)<-[:DIRECTED]-(m) RETURN m.title", SEA),
    ("MATCH (p:Person)-[:REVIEWED]->(m:Movie)-[:DIRECTED]->(q) WHERE p=q RETURN m.title", SEA),
    ("MATCH (s:Studio)-[:DIRECTED]->(m:Movie) RETURN s.title", HILLS),
)
def test_schema_corrections(query: str, rows: Rows, films: Database) -> None:
    done = films.corrected(query)
    assert done.changes
    assert films.run(done.query).rows == rows


@cases(
    "MATCH (p:Person {name: 'Sea'}) MATCH (m:Movie {title: 'Sea'}) RETURN p.name",
    "MATCH (p:Person)-[:DIRECTED]->(m:Movie) RETURN p.name, m.title",
    "MATCH (p:Person)--(m:Movie) RETURN p.name",
    "MATCH (m:Movie) WHERE m.born = 1970 RETURN m.title",
    "MATCH (a)-[:DIRECTED]->(b) RETURN b.title",
    "MATCH (o:ORDER)-[:LIMIT]->(g:Group) RETURN o.order, g.limit",
    "MATCH (p:Person) WITH p ORDER BY p.born LIMIT 1 RETURN p.name",
    "MATCH (a:Person)-[:DIRECTED]->(m), (b)-[:REVIEWED]->(m) WHERE a.born < 9 RETURN b.name",
    *("MATCH (c:Club) RETURN collect(c.clubId)", "MATCH (p:Person) RETURN DISTINCT p.born"),
    "MATCH (c:Club {name: 'Owls' OR clubId: '7'}) RETURN c.name",
    "MATCH (m:Movie) WITH m LIMIT 1 RETURN m.born",
    "MATCH (p:Person) GROUP BY p HAVING count(p) > 0 RETURN p.name, count(*)",
    *("CREATE (x:Person)", "MATCH (p:Person) GROUP BY HAVING count(p) > 0", "no query"),
)
def test_queries_that_are_not_corrected(query: str, films: Database) -> None:
    assert films.corrected(query)[:2] == (query, ())


@cases(
    ("MATCH (m:Movie {title: 'ea'}) RETURN m.title", "Titles containing 'ea'?", SEA),
    ("MATCH (m:Movie {title: {text: 'S'}}) RETURN m.title", "Titles that start with 'S'?", SEA),
    ("MATCH (m:Movie) WHERE m.title = 'ea' RETURN m.title", "Which has the title 'ea'?", ()),
    ("MATCH (m:Movie) WHERE m.title = 'ea' RETURN m.title", "Titles ending in 'ea'?", SEA),
    ("MATCH (m:Movie {title: 'ea'}) RETURN m.title", "Which is called 'ea'?", ()),
    ("MATCH (m:Movie {title: 'ea', released: 1999}) RETURN m.title", "Includes 'ea'?", SEA),
    ("MATCH (m:Movie {released: 1999, title: 'ea'}) RETURN m.title", "Includes 'ea'?", SEA),
    (DIRECTOR, "Who directed a title with the word 'ea'?", ADA),
    (OR_ELSE, "Which title includes 'ea'?", ()),
    ("MATCH (m:Movie {released: 1990}) RETURN m.title", "Which are from 1990?", ()),
    ("MATCH (m:Movie {released: 1990}) RETURN m.title", "Which came out after 1990?", SEA),
    ("MATCH (m:Movie {released: 1990}) RETURN m.title", "Which are from the 1990s?", SEA),
    ("MATCH (e:Event {held: 1990}) RETURN e.title", "What was held in the 1990s?", FAIR),
    ("MATCH (m:Movie {released: 1999}) RETURN m.title", "Which came out after 1999?", ()),
    ("MATCH (m:Movie {released: 1999}) RETURN m.title", "Which came out until 1999?", SEA),
    ("MATCH (e:Event {held: '1998-12-31'}) RETURN e.title", "Held after '1998-12-31'?", FAIR),
    ("MATCH (e:Event) WHERE e.held = '1999' RETURN e.title", "What was held in 1999?", FAIR),
    ("MATCH (e:Event {held: 1999}) RETURN e.title", "What was held in 1999?", FAIR),
    ("MATCH (e:Event) WHERE e.tags CONTAINS 'art' RETURN e.title", "About art?", FAIR),
    ("MATCH (e:Event) WHERE e.tags = 'art' RETURN e.title", "About art?", FAIR),
    ("MATCH (p:Person) WHERE p.rating > 5 RETURN p.name", "Who rated above 5?", ADA),
    (
        "MATCH (p:Person)-[:DIRECTED]->(m:Movie)<-[:REVIEWED]-(q:Person) RETURN q.name",
        "Which movies did the same person direct and review?",
        ADA,
    ),
    (OLDEST, "Which is the oldest movie?", SEA),
    (f"{NOTED} 'slo' RETURN m.title", "Which movies have 'slo' in the title?", ()),
    ("MATCH (p:Person {name: 'Ada'}) RETURN p.name", "Which movies did Ada review?", ADA),
    ("UNWIND ['Ada'] AS n MATCH (p:Person {name: n}) RETURN p.name", "Which studios?", ADA),
    (f"{RATED} RETURN p.name", "Who rated both 'Sea' and 'Lake'?", ()),
    (f"{RATED} RETURN p.name", "Who rated Sea as well as Lake?", ()),
    (f"{RATED} RETURN p.name", "Who rated Sea and also rated Lake?", ()),
    (f"{RATED} RETURN p.name", "Who rated Sea or Lake? Give both name and year.", ADA),
)
def test_comparisons_are_as_asked(query: str, question: str, rows: Rows, films: Database) -> None:
    assert rows_of(films, query, question) == rows


FOLLOWS = "MATCH (p:Person)-{}->(q:Person) RETURN DISTINCT q.name"
OF_ADA = "MATCH (p:Person {name: 'Ada'})-[:FOLLOWS]->(q:Person) RETURN q.name"
SKIPPED = "MATCH (s:Studio)-[:FOLLOWS]->(p:Person) RETURN s.title"
TWO_LINKS = "MATCH (s:Studio)-[:EMPLOYS]->(p)-[:DIRECTED]->(m:Movie) RETURN s.title, count(*)"
REVIEWS = "MATCH (p:Person)-[:REVIEWED]->(m:Movie) RETURN"
ALONE = "MATCH (c:Critic) WHERE NOT (c)-[:BELONGS_TO]->(:Club) RETURN c.full_name"
NEVER = "MATCH (p:Person)-[:DIRECTED]->(m:Movie) WHERE {} RETURN p.name"
NO_ROLE, NO_ROLES = "NOT (p)-[:ACTED_IN]->(m)", "NOT EXISTS((p)-[:ACTED_IN]->(m))"
MOST = "MATCH (m:Movie) RETURN m.title, count(*) AS n ORDER BY n DESC LIMIT 1"


@cases(
    (FOLLOWS.format("[:FOLLOWS]"), "Whom does Ada follow directly or not?", "[:FOLLOWS*1..]"),
    (FOLLOWS.format("[f:FOLLOWS]"), "Whom does Ada follow over 2 to 3 links?", "[f:FOLLOWS*2..3]"),
    (SKIPPED, "", "(s:Studio)-[:EMPLOYS]->(:Person)-[:FOLLOWS]->(p:Person)"),
    (OF_ADA, "Who follows Ada?", "<-[:FOLLOWS]-"),
    (TWO_LINKS, "Which studio has employed the most persons?", "(s:Studio)-[:EMPLOYS]->(p), "),
    (f"{REVIEWS} p.born, count(*)", "How often is each year of birth?", "(p:Person) RETURN"),
    (NEVER.format(NO_ROLE), "Which directors never acted?", "-[:ACTED_IN]->(:Movie)"),
    (NEVER.format(NO_ROLES), "Which directors never acted?", "-[:ACTED_IN]->(:Movie)"),
    (MOST, "Which movie is the most reviewed?", "(m)<-[counted:REVIEWED]-()"),
    (MOST, "Which movie is reviewed the most often?", "(m)<-[counted:REVIEWED]-()"),
)
def test_what_the_question_corrects(query: str, question: str, meant: str, films: Database) -> None:
    assert meant not in query
    done = films.corrected(query, question=question)
    assert meant in done.query
    assert "counted" not in meant or films.run(done.query).rows == (("Sea", 1),)


@cases(
    (FOLLOWS.format("[:FOLLOWS*2]"), "Whom does Ada follow over at most two links?"),
    (FOLLOWS.format("[:FOLLOWS]"), "Whom does Ada follow?"),
    (OF_ADA, "Whom does Ada follow?"),
    (OF_ADA, "Who is followed by Ada?"),
    (TWO_LINKS, "Which studio has the most persons who directed a movie?"),
    (TWO_LINKS, "Which studio has the most directors?"),
    (f"{REVIEWS} p.born, count(*)", "How many reviewed, by year of birth?"),
    (f"{REVIEWS} p.name, count(*)", "Who is the busiest?"),
    (f"{REVIEWS} count(DISTINCT p)", "How many persons wrote of something?"),  # not multiplied
    (NEVER.format(NO_ROLE), "Which directors did not act in their own movie?"),
    (NEVER.format(NO_ROLES), "Which directors did not act in their own movie?"),
    (ALONE, "Which clubs have a critic?"),
    (ALONE.replace("RETURN", "AND c.joined = 0 RETURN"), "Which clubs does no critic belong to?"),
)
def test_what_the_question_asks_for_stays(query: str, question: str, films: Database) -> None:
    assert films.corrected(query, question=question).query == query


@cases(
    ("MATCH (s:Studio) RETURN s.title, count(*) AS n", True),
    ("MATCH (s:Studio), (e:Event) RETURN s.title, count(e) AS n", True),
    ("MATCH (s:Studio)-[:EMPLOYS]->(p:Person) RETURN s.title, count(p) AS n", False),
    ("MATCH (m:Event) RETURN m.title, count(*) AS n", False),
    ("MATCH (s:Studio) RETURN s.title, count(s.fee) AS n", False),
)
def test_what_the_question_counts_is_added(query: str, counted: bool, films: Database) -> None:
    for said in ("most persons", "highest number of persons", "least number of persons"):
        done = films.corrected(query, question=f"Which studio has the {said}?")
        assert ("counts Person" in done.changes) is counted
    if counted:
        assert "-[:EMPLOYS]->(counted:Person)" in done.query
        assert films.run(done.query).rows == (("Hill's", 1),)


@cases("t", "c", "*")
def test_zero_counts_are_kept_where_the_question_asks(counted: str, films: Database) -> None:
    query = f"MATCH (c:Critic)-[:BELONGS_TO]->(t:Club) RETURN c.full_name, count({counted}) AS n"
    asked = "How many clubs has each critic?"
    done = films.corrected(query, question=f"{asked} Including critics without any.")
    assert sorted(films.run(done.query).rows) == [("Al Bek", 0), ("Bo Vey", 1)]
    assert films.corrected(query, question=asked).query == query


@cases(
    ("(c:Critic)", "Which clubs does no critic belong to?", ()),
    ("(c:Critic)", "Which critics belong to no club?", BEK),
    ("(c:Critic)-[:BELONGS_TO]->(d:Club)", "Who has never been in a club?", BEK),
    ("(c:Critic)-[:BELONGS_TO]->(d:Club)", "Which club is without a critic?", ()),
)
def test_missing_links_are_of_the_label_that_is_asked_for(
    pattern: str, question: str, rows: Rows, films: Database
) -> None:
    query = f"MATCH {pattern} WHERE NOT (c)-[:BELONGS_TO]->(:Club) RETURN c.full_name"
    assert tuple(row[:1] for row in rows_of(films, query, question)) == rows


@cases(
    ("MATCH (m:Movie) WHERE m.released > 1990 RETURN m", [("Sea", 1999)]),
    ("MATCH (m:Movie) RETURN m", [("Sea",)]),
    ("MATCH (p:Person)-[]->(m:Movie) RETURN p", [("Ada",)]),  # once, however often found
)
def test_names_are_shown_first(query: str, rows: list[tuple[object, ...]], films: Database) -> None:
    assert [row[: len(rows[0])] for row in rows_of(films, query)] == rows


@cases(
    "MATCH (s:Studio) RETURN s.title, count() AS n",
    "MATCH (p:Person)-[:DIRECTED]->(m:Movie)<-[:REVIEWED]->(m) RETURN p.name",
    "MATCH (s:Studio)-[:EMPLOYS]->(p:Person)-[:DIRECTED]->(m:Movie RETURN count(*)",
    "MATCH p:Person)-[:DIRECTED]->(m:Movie)-[:REVIEWED]->(p) RETURN count(*)",
)
def test_the_engine_rejects_malformed_queries(query: str, films: Database) -> None:
    asked = "Which studio with the most persons never reviewed a movie?"
    with pytest.raises(QueryFailed):
        films.run(films.corrected(query, question=asked).query)


def test_a_query_that_returns_nothing_is_doubted(films: Database) -> None:
    assert films.corrected("MATCH (p:Person)").doubts


def test_linked_values_are_cypher_literals(films: Database) -> None:
    line = films.linked("Who works for Hill's?")[0]
    value = line.removeprefix("Values in the data: Studio.title = ").removesuffix(".")
    assert films.run(f"RETURN {value}").rows == HILLS


def test_values_that_a_question_mentions(films: Database) -> None:
    assert films.linked("Who directed Sea?") == ["Values in the data: Movie.title = 'Sea'."]
    assert films.misspelt("Who directed Seea?") == ("Seea", "Sea")


@cases(
    ("MATCH (p:Person) RETURN p.shoe_size", "shoe_size"),
    ("MATCH (p:Person) WHERE p.name = 'shoe.size' RETURN p.name", ""),
    ("MATCH (p:Person) RETURN size(p.name) AS size ORDER BY size", ""),
)
def test_a_property_that_only_the_question_has(query: str, name: str, films: Database) -> None:
    assert films.invented(query, "What shoe size has each person?") == name
