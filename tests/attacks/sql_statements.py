"""Statements that must do no harm, dialect by dialect; ``{folder}`` is one that must stay empty."""

ENDLESS = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r)"
CROSS = ", ".join(f"presence p{i}" for i in range(24))


def each(*statements: str) -> dict[str, str]:
    """Statements by themselves."""
    return {one: one for one in statements}


def called(*expressions: str) -> dict[str, str]:
    """Statements that show one expression each, by this expression."""
    return {one: f"SELECT {one}" for one in expressions}


EVERYWHERE = {
    "insert": "INSERT INTO node VALUES ('x', TRUE, 1)",
    "drop": "DROP TABLE presence",
    "two statements": "SELECT 1; DROP TABLE presence",
    "two reads": "SELECT 1; SELECT 2",
    "hidden by a comment": "SELECT 1 -- harmless\n; DELETE FROM presence",
    "hidden by a string": "SELECT ';'; DELETE FROM presence --'",
    "write in a CTE": "WITH x AS (DELETE FROM presence RETURNING *) SELECT * FROM x",
    "insert in a CTE": "WITH x AS (INSERT INTO node VALUES ('x', TRUE, 1) RETURNING *) SELECT 1",
    "CTE before a delete": "WITH x AS (SELECT 1) DELETE FROM presence",
    "CTE before an insert": "WITH x AS (SELECT 'x') INSERT INTO node (name) SELECT * FROM x",
    "into": "SELECT * INTO copy_of_node FROM node",
    "lock": "SELECT * FROM node FOR UPDATE",
    "commit": "COMMIT; DELETE FROM presence",
    "nested comment": "SELECT 1 /* a /* b */ */ ; DROP TABLE presence",
    "unclosed comment": "SELECT 1 /* ; DROP TABLE presence",
    "zero-width": "SELECT * FROM no\u200bde",
    "zero-width keyword": "DE\u200bLETE FROM presence",
    "homoglyph keyword": "\ua4e2ELECT * FROM node",
    "full-width keyword": "\uff24\uff25\uff2c\uff25\uff34\uff25 FROM presence",
    "full-width semicolon": "SELECT 1 \uff1b DROP TABLE presence",
    "right-to-left": "SELECT 1 \u202e FROM node",
    "lone surrogate": "SELECT '\ud800'",
    "null byte in a text": "SELECT 'a\x00'; DROP TABLE presence",
    "null byte": "SELECT 1\x00; DROP TABLE presence",
    "form feed": "SELECT 1;\x0cDROP TABLE presence",
    "fence": "```sql\nDROP TABLE presence;\n```",
    "two fences": "```sql\nSELECT 1\n```\n```sql\nDROP TABLE presence\n```",
    "words before": "Sure! SELECT * FROM node",
    "endless recursion": f"{ENDLESS} SELECT COUNT(*) FROM r",
    "endless recursion, wide": f"{ENDLESS} SELECT COUNT(*) FROM r a, r b, r c",
    "endless doubling": "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT a.n FROM r a, "
    "(SELECT 1 AS x UNION SELECT 2) b) SELECT COUNT(*) FROM r",
    "exploding join": f"SELECT COUNT(*) FROM {CROSS}",
    "exploding sort": f"SELECT p1.power FROM {CROSS} ORDER BY p1.power + p20.power, p3.node",
    "exploding aggregate": f"SELECT p1.node, SUM(p5.power) FROM {CROSS} GROUP BY p1.node",
    "deep parentheses": f"SELECT {'(' * 3000}1{')' * 3000}",
    "long query": f"SELECT {'1 + ' * 20_000}1",
    "empty": "",
    "only a comment": "-- SELECT 1",
    "bind parameter": "SELECT :x",
    "unknown table": "SELECT * FROM secrets",
}

SCOPES = {
    "outside of a subquery": "SELECT * FROM (WITH hidden AS (SELECT 1) SELECT 1) AS a, hidden",
    "in a sibling": "WITH a AS (WITH hidden AS (SELECT 1) SELECT * FROM hidden), "
    "b AS (SELECT * FROM hidden) SELECT * FROM b",
    "in another part of a union": "SELECT * FROM hidden UNION SELECT * FROM "
    "(WITH hidden AS (SELECT 1) SELECT * FROM hidden) AS a",
}
"""A table that the name of a CTE elsewhere would hide from the guard."""

SQLITE = {
    "catalogue in ORDER BY": "SELECT 1 UNION SELECT 2 ORDER BY (SELECT 1 FROM sqlite_master)",
    "catalogue behind IN": "SELECT 1 IN sqlite_master",
    "catalogue behind NOT IN": 'SELECT name FROM node WHERE name NOT IN main."sqlite_schema"',
    "catalogue behind a CTE": "WITH x AS (SELECT * FROM sqlite_master), sqlite_master AS "
    "(SELECT 1) SELECT * FROM x",
    "load_extension, as alias": "WITH load_extension(n) AS (SELECT 1) SELECT load_extension('x')",
    "huge printf": f"SELECT sum(length(printf('%.*c', 400000, p1.node))) FROM {CROSS}",
    "slow like": f"SELECT SUM(printf('%.*c', 400000, 'a') || p1.node LIKE '%a%a%ab') FROM {CROSS}",
    "huge concatenation": "WITH RECURSIVE r(s) AS (SELECT 'a' UNION ALL SELECT s || s FROM r) "
    "SELECT MAX(LENGTH(s)) FROM r",
}
SQLITE |= each(
    *("SELECT CAST(name AS `\n```", "PRAGMA query_only = OFF"),
    *("SELECT * FROM pragma_table_info('node')", "SELECT * FROM pragma_function_list"),
    *("SELECT sql FROM sqlite_master", "SELECT * FROM main.sqlite_schema"),
    *("ATTACH DATABASE '{folder}/new.db' AS n", "VACUUM INTO '{folder}/new.db'"),
    f"SELECT length(group_concat(p1.node)) FROM {CROSS}",
)
SQLITE |= called(
    *("length(zeroblob(2000000000))", "hex(randomblob(1000000000))"),
    "replace(printf('%.*c', 499000, 'a'), 'a', printf('%.*c', 499000, 'b'))",
    "trim(printf('%.*c', 240000, 'a'), printf('%.*c', 240000, 'b') || 'a')",
    *("load_extension('/tmp/evil.so')", "\"load_extension\"('/tmp/evil.so')"),
    *("load_extension/* */('/tmp/evil.so')", "readfile('/etc/passwd')"),
    *("writefile('{folder}/new.db', 'x')", "edit('x')", "fts3_tokenizer('x')"),
)

_FILE = "unnest(ARRAY['/etc/hostname'::text]) AS x"
ATTRIBUTES = {
    "any SELECT": "SELECT ('SELECT to_tsvector(note) FROM country'::text).ts_stat",
    "lock of a column": "SELECT x.pg_advisory_lock FROM generate_series(1::bigint, 2) AS x",
    "behind a CTE of the name": "WITH c AS (SELECT 1 AS pg_read_file) SELECT x.pg_read_file, "
    f"(SELECT x.pg_read_file FROM {_FILE}) FROM c AS x",
    "hidden by a sibling": "SELECT (SELECT y.a FROM (SELECT 1 AS pg_read_file) AS x, "
    f"(SELECT x.pg_read_file AS a) AS y) FROM {_FILE}",
    "hidden by a join": "SELECT (SELECT x.pg_read_file FROM ((SELECT 1 AS pg_read_file) AS x "
    f"CROSS JOIN node) AS j) FROM {_FILE}",
    "an alias of the name": "WITH repeat(n) AS (SELECT 1) SELECT LENGTH(REPEAT('x', 100000000))",
}
ATTRIBUTES |= each(
    *(f"SELECT x.pg_read_file FROM {_FILE}", f'SELECT x."pg_read_file" FROM {_FILE}'),
    f'SELECT x.U&"pg_read\\005ffile" FROM {_FILE}',
    *(f"SELECT x . /* */ pg_read_file FROM {_FILE}", "SELECT (n.name).pg_read_file FROM node n"),
    "SELECT n.name.pg_read_file FROM node n",
    "SELECT x.pg_read_file FROM (VALUES ('/etc/hostname')) AS x",
    *(f"SELECT MAX(x.pg_read_file) FROM {_FILE}", f"SELECT 1 FROM {_FILE} ORDER BY x.pg_read_file"),
    f"SELECT 1 FROM node n JOIN {_FILE} ON x.pg_read_file = n.name",
    "SELECT (x.a).lo_export FROM (SELECT 1 AS a) AS x",
    "SELECT x.pg_read_file FROM (SELECT 'pg_read_file') AS x",
)
ATTRIBUTES |= called(
    *("('/etc/hostname'::text).pg_read_file", "(ARRAY['/etc/hostname'::text])[1].pg_read_file"),
    "(SELECT '/etc/hostname'::text).pg_read_file",
    "(CASE WHEN TRUE THEN '/etc/hostname'::text END).pg_read_file",
    *("(1::bigint).pg_advisory_lock", "(1).pg_terminate_backend"),
    *("(60::double precision).pg_sleep", "('server_version'::text).current_setting"),
    *("('pg_authid'::regclass).pg_relation_filepath", "public.lower('A')"),
    "LENGTH(REPEAT(REPEAT('x', 1000), 1000))",
)

TYPES = called(
    *("'node'::regclass", "10::regrole", "ARRAY[10]::regrole[]", "regclass 'node'"),
    *("CAST('pg_read_file(text)' AS regprocedure)", "ARRAY['node']::regclass[][]", "'<a/>'::xml"),
    *("xml '<a/>'", "'x'::checked", "'x'::public.checked", "ROW('x', TRUE, 1)::node"),
    "NULL::pg_authid",
)
BARE = called("current_user", "CURRENT_CATALOG", "current_schema") | each(
    "SELECT user FROM node", "SELECT 1 FROM node GROUP BY current_role"
)
"""What needs no parenthesis to be called."""

POSTGRESQL = (
    ATTRIBUTES
    | TYPES
    | BARE
    | {
        "sleep, as alias": "WITH pg_sleep(n) AS (SELECT 1) SELECT pg_sleep(60)",
        "sleep in FROM": "SELECT * FROM pg_sleep(60)",
        "sleep in ROWS FROM": "SELECT * FROM ROWS FROM (pg_sleep(60)) AS t",
        "read binary file": "SELECT * FROM pg_read_binary_file('/etc/passwd')",
        "copy to program": "COPY (SELECT 1) TO PROGRAM 'touch {folder}/new.db'",
        "dblink": "SELECT * FROM dblink('dbname=shop', 'DROP TABLE presence') AS t(a int)",
        "terminate": "SELECT pg_terminate_backend(pid) FROM pg_stat_activity",
        "passwords": "SELECT rolname, rolpassword FROM pg_authid",
        "passwords, qualified": "SELECT * FROM pg_catalog.pg_shadow",
        "catalogue": "SELECT * FROM information_schema.tables",
        "huge repeat of two signs": "SELECT length(repeat('x', LEAST(- -1000000000, name::int)))",
        "table": "SELECT * FROM (TABLE pg_authid) AS x",
        "table alone": "TABLE pg_authid",
        "values alone": "VALUES (pg_sleep(60))",
        "values of a hidden table": "VALUES ((SELECT rolpassword FROM pg_authid LIMIT 1))",
        "table in a union": "SELECT name FROM node UNION TABLE pg_authid",
        "huge padding, qualified": "SELECT LENGTH(pg_catalog.lpad('x', 1000000000))",
        "endless series": "SELECT COUNT(*) FROM generate_series(1, 1000000000000)",
        "escape string, continued": "SELECT E'a'\n'\\'', pg_sleep(60) --'",
        "dollar quotes": "SELECT $a$ x $a$; DROP TABLE presence; --$a$",
        "table sample lock": "SELECT * FROM node FOR SHARE NOWAIT",
    }
    | called(
        *("pg_sleep(60)", "pg_catalog.pg_sleep(60)", '"pg_sleep"(60)', 'U&"pg\\005fsleep"(60)'),
        *('U&"\\0070g_sleep"(60)', "pg_sleep /* x */ (60)", "pg_read_file('/etc/passwd')"),
        *("pg_ls_dir('/')", "lo_import('/etc/passwd')", "lo_export(1, '{folder}/new.db')"),
        "query_to_xml('DELETE FROM presence', true, true, '')",
        *("set_config('transaction_read_only', 'off', false)", "nextval('s')"),
        "pg_advisory_lock(1)",
        *("pg_notify('a', 'b')", "length(repeat('x', 1000000000))"),
        *("length(pg_catalog.repeat('x', 1000000000))", "length(\"repeat\"('x', 1000000000))"),
        *("lpad('x', 1000000000)", "rpad('x', 1000 * 1000 * 1000)", "format('%1000000000s', 'x')"),
    )
)

MARIADB = {
    "executable comment": "SELECT 1 /*!50000 INTO OUTFILE '{folder}/new.db' */ FROM secrets",
    "current user": "SELECT CURRENT_USER",
    "current role": "SELECT CURRENT_ROLE",
    "bit string": r"SELECT 1 b'\'', SLEEP(60) -- '",
}
MARIADB |= each(
    *("/*!50000 DELETE FROM presence */", "SELECT secrets /*M! , SLEEP(60) */ FROM node"),
    "SELECT * FROM node INTO OUTFILE '{folder}/new.db'",
    *("SELECT 'x' INTO DUMPFILE '{folder}/new.db'", "SELECT 1 INTO @x"),
    *("LOAD DATA INFILE '/etc/passwd' INTO TABLE node", "SELECT * FROM mysql.user"),
    *("SELECT * FROM information_schema.tables", "SELECT s.nextval FROM node"),
    *("SELECT name FROM node UNION TABLE mysql.user", "SELECT * FROM node LOCK IN SHARE MODE"),
    *("SELECT 1--1; DROP TABLE presence", "SELECT 1 # x\n; DROP TABLE presence"),
    "SELECT * FROM node PROCEDURE ANALYSE()",
    "SELECT /*+ SET_VAR(max_execution_time = 0) */ SLEEP(60)",
    "SELECT COUNT(*) FROM seq_1_to_1000000000",
)
MARIADB |= called(
    *("SLEEP(60)", "`sleep`(60)", "BENCHMARK(10000000000, MD5('x'))", "LOAD_FILE('/etc/passwd')"),
    *("@@datadir", "@x := 1", "GET_LOCK('a', 60)", "LENGTH(REPEAT('x', 1000000000))"),
    *("LENGTH(SPACE(1000000000))", "LPAD('x', 1000000000, 'y')", "LPAD('x', - -1000000000, 'y')"),
    *("NEXT VALUE FOR s", "mysql.abs(1)", "{x SLEEP(60)}"),
)

GUARDED = {
    "sqlite": SCOPES
    | {
        "behind IN": SQLITE["catalogue behind IN"],
        "behind NOT IN": SQLITE["catalogue behind NOT IN"],
        "behind IN, in a text": "SELECT 1 IN 'sqlite_master'",
        "behind IN, in brackets": "SELECT 1 IN [sqlite_master]",
        "behind IN, a function": "SELECT 1 IN pragma_table_info('node')",
        "behind IN, no table": "SELECT name FROM node WHERE name IN hidden",
    },
    "postgres": SCOPES
    | TYPES
    | BARE
    | {
        "before its CTE": "WITH a AS (SELECT * FROM hidden), hidden AS (SELECT 1) SELECT * FROM a",
        "in its own CTE": "WITH hidden AS (SELECT * FROM hidden) SELECT * FROM hidden",
        "a word of the grammar as a function": "SELECT against('x')",
        "a column that a function has not": "SELECT x.value FROM generate_series(1, 2) AS x",
        "another, in FROM": "SELECT * FROM index('x')",
        "a function of an extension": "SELECT similarity(name, 'ab') FROM node",
        "wide, qualified": POSTGRESQL["huge padding, qualified"],
    },
    "mysql": SCOPES
    | {
        "in its own CTE": "WITH hidden AS (SELECT * FROM hidden) SELECT * FROM hidden",
        "another schema": "SELECT hidden.lower('A')",
        "routine by a function's name": "SELECT `max`(name) FROM node",
        "a word of the grammar as a routine": "SELECT against('x')",
        "another, in FROM": "SELECT * FROM index('x')",
        "current user": MARIADB["current user"],
        "current role": MARIADB["current role"],
    },
}
"""What the guard must refuse itself: an engine would answer some of it."""
