"""SQLite statements whose single steps, memory or temporary files have no end of their own."""

_A = "printf('%.*c', 499000, 'a')"
_B = "printf('%.*c', 240000, 'a') || 'b'"
_ROWS = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r LIMIT 1000)"
_ENDLESS = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r)"
_TEXTS = f"t(a) AS MATERIALIZED (SELECT {_A}), s(b) AS MATERIALIZED (SELECT {_B})"
_LONG = f"WITH {_TEXTS}"
_NESTED = "printf('%.*c', 1000, '[') || printf('%.*c', 1000, ']')"
_LIST = "'[' || replace(printf('%.*c', 100000, 'a'), 'a', '1,') || '1]'"

SLOW_STEPS = {
    "instr": f"{_ROWS}, {_TEXTS} SELECT sum(instr(t.a, s.b || n)) FROM t, s, r",
    "instr, many columns": f"{_LONG} SELECT "
    + ", ".join(f"instr(a, b || {n})" for n in range(90))
    + " FROM t, s",
    "instr in ORDER BY": f"{_ROWS}, {_TEXTS} SELECT n FROM t, s, r ORDER BY instr(t.a, s.b || n)",
    "instr in a constant": "SELECT " + " + ".join(f"instr({_A}, {_B} || {n})" for n in range(90)),
    "replace": f"{_LONG} SELECT "
    + " + ".join(f"length(replace(a, b || {n}, ''))" for n in range(90))
    + " FROM t, s",
    "like": f"{_ENDLESS}, t(a) AS MATERIALIZED (SELECT {_A}) "
    f"SELECT sum(a LIKE '{'%a' * 80}b' || n) FROM t, r",
    "glob with sets": f"{_ENDLESS}, t(a) AS MATERIALIZED (SELECT {_A}) "
    f"SELECT sum(a GLOB '{'*[a-z]' * 30}B' || n) FROM t, r",
    "json, flat": f"{_ENDLESS}, t(a) AS MATERIALIZED (SELECT {_LIST}) "
    "SELECT sum(json_extract(t.a, '$[' || (99000 + n % 1000) || ']')) FROM t, r",
    "json, joined": f"WITH t(a) AS MATERIALIZED (SELECT {_LIST}) SELECT count(*) "
    "FROM t, json_each(t.a) x, json_each(t.a) y, json_each(t.a) z",
    "json, nested": f"{_ENDLESS} SELECT count(json({_NESTED} || substr(n, 1, 0))) FROM r",
    "json, tree": f"WITH t(a) AS (SELECT {_LIST}) SELECT count(x.fullkey || y.path) "
    "FROM t, json_tree(t.a) x, json_tree(t.a) y",
    "hex": f"{_ENDLESS} SELECT sum(length(hex(printf('%.*c', 240000, n)))) FROM r",
    "soundex": f"{_ENDLESS} SELECT count(soundex(printf('%.*c', 490000, 'a'))) FROM r",
    "date": f"{_ENDLESS} SELECT count(strftime('%Y %j %W', n, '+1 day', '+1 month')) FROM r",
    "number": f"{_ENDLESS} SELECT count(printf('%.400000f', n)) FROM r",
    "compare": f"{_ENDLESS}, {_TEXTS} SELECT count(*) FROM t, r WHERE a || n = a || (n + 1)",
    "join without a key": f"{_ENDLESS} SELECT count(*) FROM r a JOIN r b ON a.n = -b.n",
    "never a row": f"{_ENDLESS} SELECT n FROM r WHERE n < 0",
    "rows, then none": f"{_ENDLESS} SELECT n FROM r WHERE n < 40",
}
MEMORY = {
    "sort": f"{_ENDLESS} SELECT n FROM r ORDER BY -n",
    "sort of long rows": f"{_ENDLESS} SELECT printf('%.*c', 400000, n) FROM r ORDER BY 1",
    "distinct": f"{_ENDLESS} SELECT DISTINCT printf('%.*c', 400000, 'a') || n FROM r "
    "WHERE n % 2 < 2 ORDER BY 1",
    "group by": f"{_ENDLESS} SELECT count(*) FROM r GROUP BY n",
    "union": f"{_ENDLESS} SELECT n FROM r UNION SELECT -n FROM r",
    "except": f"{_ENDLESS} SELECT n FROM r EXCEPT SELECT -n FROM r",
    "recursion without repetition": "WITH RECURSIVE r(n) AS "
    "(SELECT 1 UNION SELECT n + 1 FROM r) SELECT max(n) FROM r",
    "wide queue": "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r UNION ALL "
    "SELECT n + 2 FROM r) SELECT max(n) FROM r",
    "materialized": f"{_ENDLESS}, m AS MATERIALIZED (SELECT n, printf('%.*c', 4000, 'a') t FROM r) "
    "SELECT count(*) FROM m",
    "automatic index": f"{_ENDLESS}, m AS MATERIALIZED (SELECT n FROM r) "
    "SELECT count(*) FROM m a JOIN m b ON a.n = b.n + 1",
    "window": f"{_ENDLESS} SELECT sum(n) OVER (ORDER BY n ROWS BETWEEN UNBOUNDED PRECEDING "
    "AND UNBOUNDED FOLLOWING) FROM r",
    "group_concat": f"{_ENDLESS} SELECT n % 1000000 k, group_concat(printf('%.*c', 4000, 'a')) "
    "FROM r GROUP BY k",
    "json_group_array": f"{_ENDLESS} SELECT n % 100000 k, json_group_array(n) FROM r GROUP BY k",
    "count distinct": f"{_ENDLESS} SELECT count(DISTINCT n) FROM r",
    "in": f"{_ENDLESS} SELECT 1 WHERE 0 IN (SELECT n FROM r)",
}
