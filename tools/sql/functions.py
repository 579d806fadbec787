"""The functions that a query may call, dialect by dialect.

This is a list of allowed functions, not of forbidden ones: servers have thousands of functions, and
each extension adds some that read files, sleep, write or run text as SQL. A missing function is
refused by name, so it is easy to add.
"""

_STANDARD = """
    abs acos asin atan atan2 avg cast ceil ceiling coalesce concat concat_ws cos count cume_dist
    current_date current_time current_timestamp date degrees dense_rank exp extract first_value
    floor greatest lag last_value lead least length ln log log10 lower lpad ltrim max min mod
    nth_value ntile nullif percent_rank pi position pow power radians rank replace round row_number
    rpad rtrim sign sin sqrt substr substring sum tan time trim upper values
"""
_SQLITE = """
    acosh asinh atanh bm25 char cosh datetime format glob group_concat hex highlight ifnull iif
    instr json json_array json_array_length json_each json_extract json_group_array
    json_group_object json_object json_quote json_tree json_type json_valid julianday like
    likelihood likely log2 match printf quote random sinh snippet soundex strftime string_agg tanh
    timediff total trunc typeof unicode unixepoch unlikely -> ->>
"""
_SERVERS = """
    ascii bit_and bit_length bit_or bit_xor char_length character_length chr cot left
    localtime localtimestamp md5 now nullif octet_length regexp_replace regexp_substr repeat reverse
    right sha1 stddev stddev_pop stddev_samp timestamp var_pop var_samp variance
"""
_POSTGRESQL = """
    age array array_agg array_append array_cat array_length array_lower array_ndims array_position
    array_positions array_prepend array_remove array_replace array_to_string array_upper bool_and
    bool_or btrim cardinality cbrt clock_timestamp corr covar_pop covar_samp date_bin date_part
    date_trunc daterange div every gcd generate_series grouping grouping_id initcap int4range
    int8range isempty isfinite json_agg json_array_elements json_array_elements_text
    json_array_length json_build_object json_each json_each_text json_object_agg json_object_keys
    json_typeof jsonb_agg jsonb_array_elements jsonb_array_elements_text jsonb_array_length
    jsonb_build_object jsonb_each jsonb_each_text jsonb_object_keys jsonb_typeof justify_days
    justify_hours justify_interval lcm log make_date make_interval make_timestamp mode num_nonnulls
    num_nulls numeric numrange overlaps overlay percentile_cont percentile_disc phraseto_tsquery
    plainto_tsquery random regexp_count regexp_like regexp_match regexp_matches
    regexp_split_to_array regexp_split_to_table regr_count regr_intercept regr_r2 regr_slope row
    row_to_json scale split_part starts_with statement_timestamp string_agg
    string_to_array strpos timezone to_char to_date to_json to_jsonb to_number to_timestamp
    to_tsquery to_tsvector translate trunc ts_rank tsrange tstzrange unnest
    websearch_to_tsquery width_bucket
"""
_MYSQL = """
    addtime adddate any_value bin bit_count conv convert convert_tz crc32 curdate curtime date_add
    date_format date_sub datediff day dayname dayofmonth dayofweek dayofyear elt field find_in_set
    format from_days from_unixtime get_format group_concat hex hour if ifnull inet_aton inet_ntoa
    insert instr interval isnull json_array json_arrayagg json_contains json_contains_path
    json_depth json_extract json_keys json_length json_object json_objectagg json_overlaps
    json_quote json_search json_type json_unquote json_valid json_value last_day lcase locate log2
    makedate maketime match median microsecond mid minute month monthname oct ord percentile_cont
    percentile_disc period_add period_diff quarter quote rand regexp_instr regexp_like sec_to_time
    second sha2 soundex std str_to_date strcmp subdate substring_index subtime sysdate time_format
    time_to_sec timediff timestampadd timestampdiff to_base64 to_days to_seconds truncate ucase
    unhex unix_timestamp utc_date utc_timestamp week weekday weekofyear year yearweek
"""

FUNCTIONS: dict[str, frozenset[str]] = {
    "sqlite": frozenset((_STANDARD + _SQLITE).split()),
    "postgres": frozenset((_STANDARD + _SERVERS + _POSTGRESQL).split()),
    "mysql": frozenset((_STANDARD + _SERVERS + _MYSQL).split()),
}
"""Names in lower case, by sqlglot's name of the dialect."""

# Words that can precede a parenthesis without being a function.
_GRAMMAR = """
    against all and any as between by case cross cube distinct else end escape except exists filter
    from full group grouping having ilike in index inner intersect interval is join lateral left
    like limit materialized minus natural not offset on only or order outer over partition qualify
    range recursive rlike regexp right rollup rows select sets similar some tablesample then to
    union using values when where window with within xor
"""
_TYPES = """
    bigint bit blob bool boolean bytea char character clob date datetime dec decimal double float
    int integer int2 int4 int8 float4 float8 nchar numeric nvarchar precision real signed smallint
    text time timestamp timestamptz tinyint unsigned varbinary varchar varying
"""
GRAMMAR: frozenset[str] = frozenset((_GRAMMAR + _TYPES).split())

_NAMES_OF_THE_SESSION = """
    current_catalog current_database current_role current_schema current_user session_user
    system_user user
"""
BARE: dict[str, frozenset[str]] = {
    "sqlite": frozenset(),
    "postgres": frozenset(_NAMES_OF_THE_SESSION.split()),
    "mysql": frozenset(("current_role", "current_user")),
}
"""Functions that are not allowed and need no parenthesis."""

_CASTS = """
    ARRAY BIGINT BIT BOOLEAN CHAR DATE DATERANGE DECIMAL DOUBLE FLOAT INET INT INT4RANGE INT8RANGE
    INTERVAL JSON JSONB MONEY NUMRANGE SMALLINT TEXT TIME TIMESTAMP TIMESTAMPTZ TIMETZ TSRANGE
    TSTZRANGE UUID VARBINARY VARCHAR
"""
TYPES: frozenset[str] = frozenset(_CASTS.split())
"""Types of PostgreSQL that a query may name, by sqlglot's names."""

INSTEAD: dict[str, dict[str, str]] = {
    "sqlite": {
        "year": "Write CAST(strftime('%Y', column) AS INTEGER).",
        "month": "Write CAST(strftime('%m', column) AS INTEGER).",
        "day": "Write CAST(strftime('%d', column) AS INTEGER).",
        "extract": "Write CAST(strftime('%Y', column) AS INTEGER), '%m' for the month.",
        "date_part": "Write CAST(strftime('%Y', column) AS INTEGER), '%m' for the month.",
        "date_format": "Write strftime('%Y-%m', column).",
        "to_char": "Write strftime('%Y-%m', date) or printf('%.2f', number).",
        "date_trunc": "Write strftime('%Y-%m-01', column).",
        "datediff": "Write julianday(later) - julianday(earlier).",
        "now": "Write datetime('now').",
        "curdate": "Write date('now').",
        "concat": "Write a || b.",
        "concat_ws": "Write a || ', ' || b.",
        "left": "Write substr(column, 1, n).",
        "right": "Write substr(column, -n).",
        "substring_index": "Write substr() with instr().",
        "greatest": "Write max(a, b), which takes several arguments.",
        "least": "Write min(a, b), which takes several arguments.",
        "isnull": "Write ifnull(a, b), or column IS NULL.",
        "nvl": "Write ifnull(a, b).",
        "if": "Write iif(condition, a, b) or CASE.",
        "string_agg": "Write group_concat(column, ', ').",
        "stddev": "Write sqrt(avg(x * x) - avg(x) * avg(x)).",
        "variance": "Write avg(x * x) - avg(x) * avg(x).",
        "len": "Write length(column).",
        "median": "Order by the column and take the middle row with LIMIT 1 OFFSET n.",
        "lpad": "Write printf('%05d', column).",
    },
    "postgres": {
        "year": "Write EXTRACT(YEAR FROM column).",
        "month": "Write EXTRACT(MONTH FROM column).",
        "day": "Write EXTRACT(DAY FROM column).",
        "strftime": "Write to_char(column, 'YYYY-MM').",
        "date_format": "Write to_char(column, 'YYYY-MM').",
        "julianday": "Subtract the two dates.",
        "datediff": "Subtract the two dates.",
        "ifnull": "Write COALESCE(a, b).",
        "isnull": "Write COALESCE(a, b), or column IS NULL.",
        "nvl": "Write COALESCE(a, b).",
        "if": "Write CASE WHEN condition THEN a ELSE b END.",
        "iif": "Write CASE WHEN condition THEN a ELSE b END.",
        "group_concat": "Write string_agg(column, ', ').",
        "total": "Write COALESCE(sum(column), 0).",
        "instr": "Write strpos(text, part).",
        "round": "ROUND with digits needs numeric: write ROUND((expression)::numeric, 2).",
        "curdate": "Write CURRENT_DATE.",
        "median": "Write percentile_cont(0.5) WITHIN GROUP (ORDER BY column).",
        "printf": "Write to_char(x, 'FM999999990.00').",
        "format": "Write to_char(x, 'FM999999990.00'), or a || b.",
        "len": "Write length(column).",
    },
    "mysql": {
        "strftime": "Write DATE_FORMAT(column, '%Y-%m').",
        "to_char": "Write DATE_FORMAT(column, '%Y-%m').",
        "date_trunc": "Write DATE_FORMAT(column, '%Y-%m-01').",
        "date_part": "Write YEAR(column) or EXTRACT(YEAR FROM column).",
        "julianday": "Write DATEDIFF(later, earlier).",
        "string_agg": "Write GROUP_CONCAT(column SEPARATOR ', ').",
        "iif": "Write IF(condition, a, b).",
        "nvl": "Write IFNULL(a, b).",
        "total": "Write COALESCE(SUM(column), 0).",
        "strpos": "Write INSTR(text, part).",
        "printf": "Write FORMAT(x, 2) or ROUND(x, 2).",
        "len": "Write LENGTH(column).",
    },
}
"""What to write instead of a function of another dialect, by dialect and name."""
