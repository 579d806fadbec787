"""Statements by a grammar that leans towards what is forbidden, spelled in odd ways, by a seed."""
# ruff: noqa: E501 (lists of words)

import random
from collections.abc import Sequence

from guided import damaged, respelled

_TABLES = (
    *("node", "country", "presence", "inland", "secret", "node AS n", "country c", "presence p"),
)
_COLUMNS = (
    *("name", "home", "power", "note", "total_power", "inland", "founded", "country", "x", "f"),
)
_OF = {
    "node": ("name", "inland", "total_power"),
    "country": ("name", "home", "founded", "development", "note"),
    "presence": ("node", "country", "power"),
    "inland": ("name",),
}
_VALUES = ("1", "0", "-2", "1.5", "NULL", "'a'", "''", "'genoa'", "'/etc/hostname'", "TRUE")
_HARMLESS = ("count", "lower", "abs", "max", "coalesce", "length", "round", "sum", "min", "upper")
_SPACES = (" ", "  ", "\n", "\t", "/**/", "/* x */", " -- x\n", "/*/**/*/")
DANGEROUS: dict[str, tuple[str, ...]] = {
    "sqlite": (
        *("load_extension", "readfile", "writefile", "zeroblob", "randomblob", "fts3_tokenizer"),
        *("edit", "eval", "pragma_table_info", "sqlite_compileoption_get", "last_insert_rowid"),
    ),
    "postgres": (
        *("canary", "leak", "pg_read_file", "pg_ls_dir", "pg_sleep", "lo_import", "lo_export"),
        *("set_config", "nextval", "pg_advisory_lock", "pg_terminate_backend", "ts_stat"),
        *("query_to_xml", "pg_notify", "current_setting", "txid_current", "pg_backend_pid"),
        *("int4in", "textin", "pg_reload_conf", "pg_stat_file", "repeat", "format", "version"),
    ),
    "mysql": (
        *("sleep", "benchmark", "load_file", "get_lock", "release_lock", "canary"),
        *("master_pos_wait", "nextval", "user", "version", "database", "repeat", "space"),
        *("uuid", "sys_exec"),
    ),
}
_SYSTEM: dict[str, tuple[str, ...]] = {
    "sqlite": ("sqlite_master", "sqlite_schema", "pragma_table_list", "main.sqlite_master"),
    "postgres": ("pg_class", "pg_authid", "pg_catalog.pg_proc", "information_schema.tables"),
    "mysql": ("mysql.user", "information_schema.tables", "performance_schema.threads", "mysql.db"),
}
_TAILS: dict[str, tuple[str, ...]] = {
    "sqlite": ("INDEXED BY x", "NOT INDEXED", "RETURNING *", "ORDER BY (SELECT 1)", "LIMIT 1, 2"),
    "postgres": (
        *("FOR UPDATE", "FOR SHARE", "FOR KEY SHARE", "INTO t", "TABLESAMPLE canary (1)"),
        *("LIMIT ALL", "FETCH FIRST 1 ROW ONLY", "WINDOW w AS (ORDER BY 1)", "OFFSET 1 ROW"),
        "ORDER BY 1 USING <",
    ),
    "mysql": (
        *("FOR UPDATE", "LOCK IN SHARE MODE", "INTO @x", "INTO OUTFILE '/tmp/x'"),
        *("PROCEDURE ANALYSE()", "INTO DUMPFILE '/tmp/x'", "LIMIT 1, 2", "WITH ROLLUP"),
        *("LIMIT ROWS EXAMINED 1", "SKIP LOCKED"),
    ),
}
_TYPES = ("text", "int", "date", "numeric", "regclass", "regproc", "xml", "json", "node", "bytea")
_TOKENS = (*";)('\"`\\.,@", "--", "/*", "*/", "$$", "::", ":=", "/*!")


class Statements:
    """A source of statements of one dialect.

    Args:
        dialect: sqlglot's name of it.
        seed: What the statements follow from.
        known: Statements to take pieces from.
    """

    def __init__(self, dialect: str, seed: int, known: Sequence[str]) -> None:
        self._draw = random.Random(f"{dialect}{seed}")
        self._dialect = dialect
        self._hostile = 0.0
        self._columns: tuple[str, ...] = _COLUMNS
        self._known = [statement for statement in known if 0 < len(statement) < 400]

    def next(self) -> str:
        """Another statement."""
        self._hostile = self._draw.choice((0.0, 0.05, 0.3))
        kind = self._draw.random()
        text = self._draw.choice(self._known) if kind < 0.15 else self._select(3)
        if kind > 0.75 or kind < 0.15:
            text = damaged(text, self._draw, self._known, _TOKENS)
        return respelled(text, self._draw, _SPACES)

    def _pick(self, *choices: str) -> str:
        return self._draw.choice(choices)

    def _name(self, name: str) -> str:
        """The name in another spelling that the engine may take for the same."""
        quote = "`" if self._dialect == "mysql" else '"'
        spellings = [name] * 4 + [name.upper(), name.title(), f"{quote}{name}{quote}"]
        if self._dialect == "postgres":
            escaped = f'U&"\\{ord(name[0]):04x}{name[1:]}"'
            spellings += [f"pg_catalog.{name}", f"public.{name}", escaped]
        elif self._dialect == "sqlite":
            spellings += [f"[{name}]", f"`{name}`", f"'{name}'"]
        return self._draw.choice(spellings)

    def _function(self) -> str:
        dangerous = self._draw.random() < self._hostile
        return self._name(self._pick(*(DANGEROUS[self._dialect] if dangerous else _HARMLESS)))

    def _expression(self, depth: int) -> str:  # noqa: C901 (one line for each form)
        if depth <= 0:
            return self._pick(*_VALUES[:4], *self._columns * 3, self._name(self._pick(*_COLUMNS)))
        inner = self._expression(depth - 1)
        match self._draw.choice((0, 0, 3, 4, 4, 5, 6, 11, 7, 13, *range(14))):
            case 0 | 1 | 2:
                return f"{self._function()}({inner})"
            case 3:
                return f"({inner})"
            case 4:
                return f"{inner} {self._pick('+', '-', '||', '=', '<', 'LIKE', 'AND', '->')} " + (
                    self._expression(depth - 1)
                )
            case 5:
                return f"CASE WHEN {inner} IS NULL THEN {self._expression(depth - 1)} END"
            case 6:
                return f"({self._select(depth - 1)})"
            case 7:
                return f"CAST({inner} AS {self._pick(*_TYPES)})"
            case 8:
                return f"({inner}).{self._function()}"
            case 9:
                place = self._pick("n", "c", "p", "node", "x", "t")
                return f"{place}.{self._pick(*self._columns, self._function())}"
            case 10:
                return f"{inner}::{self._pick(*_TYPES)}"
            case 11:
                return f"EXISTS ({self._select(depth - 1)})"
            case 12:
                over = "OVER (ORDER BY 1)" if self._draw.random() < 0.5 else "FILTER (WHERE TRUE)"
                return f"{self._function()}({inner}) {over}"
        return f"{inner} {self._pick('IN', '= ANY', 'NOT IN')} ({self._expression(depth - 1)}, 1)"

    def _source(self, depth: int) -> str:
        match self._draw.randint(0, 9) if self._hostile else 9:
            case 0 if depth > 0:
                return f"({self._select(depth - 1)}) AS {self._pick('t', 'x', 'node', 'canary')}"
            case 1:
                return f"{self._function()}({self._expression(depth - 1)}) AS {self._pick('x', 't', 't(f)')}"
            case 2:
                return self._pick(*_SYSTEM[self._dialect])
            case 3:
                return f"LATERAL {self._function()}(n.name) AS x"
        return self._pick(*_TABLES)

    def _select(self, depth: int) -> str:
        draw = self._draw
        outer, source = self._columns, self._source(depth)
        self._columns = _OF.get(source.split(" ")[0], _COLUMNS)
        items = ", ".join(self._expression(depth - 1) for _ in range(draw.randint(1, 2)))
        text = f"SELECT {self._pick('', '', '', 'DISTINCT ')}{items}"
        if draw.random() < 0.85:
            text += f" FROM {source}"
            if draw.random() < 0.15:
                text += f"{self._pick(', ', ' CROSS JOIN ', ' NATURAL JOIN ')}{self._source(depth)}"
        if draw.random() < 0.3:
            text += f" WHERE {self._expression(depth - 1)}"
        if draw.random() < 0.15:
            text += f" GROUP BY {self._expression(0)} HAVING {self._expression(depth - 1)}"
        if draw.random() < 0.2:
            text += f" ORDER BY {self._expression(depth - 1)}"
        self._columns = outer
        if draw.random() < 0.1 * (self._hostile > 0):
            text += f" {self._pick(*_TAILS[self._dialect])}"
        if draw.random() < 0.1 and depth > 1:
            name = self._name(self._pick("t", "node", *DANGEROUS[self._dialect]))
            text = f"WITH {name}{self._pick('', '(f)')} AS ({self._select(depth - 2)}) {text}"
        if draw.random() < 0.06 and depth > 1:
            text += f" {self._pick('UNION', 'UNION ALL', 'EXCEPT')} {self._select(depth - 1)}"
        return text
