"""Opens databases by URL or file, and keeps the latest ones open."""

import os
import re
from collections import OrderedDict
from pathlib import Path
from threading import Lock
from weakref import WeakValueDictionary

from planweave import BadInput
from planweave.redact import without_passwords
from planweave.tools.database import Database, DatabaseUnavailable, RoleTooPowerful
from planweave.tools.files import ROWS

_GRAPH_SUFFIXES = (".cql", ".cypher")
_GRAPH_SCHEMES = ("bolt", "neo4j")
_VARIABLE = re.compile(r"\$\{(\w+)\}")
_KEEP_OPEN = 8

_open: OrderedDict[tuple[object, ...], Database] = OrderedDict()
_opening: WeakValueDictionary[str, Lock] = WeakValueDictionary()
_lock = Lock()  # of the two above


def open_database(url: str) -> Database:
    """Open a database, or return the one that is already open.

    Args:
        url: A SQLAlchemy URL, a ``bolt://`` or ``neo4j://`` URL, or the path of a SQLite file, a
            ``.sql`` script, a ``.cql`` script or a file of rows (CSV, Excel, Parquet). ``${NAME}``
            is an environment variable, except one that ends in ``_KEY``.

    Raises:
        DatabaseUnavailable: It is missing or does not answer, or a ``${NAME}`` is not set or is
            a key.
    """
    with _lock:
        if (opening := _opening.get(url)) is None:
            opening = _opening[url] = Lock()
    with opening:  # a server that does not answer must not delay the other databases
        key = (url, *_file_version(url))
        with _lock:
            if key in _open:
                _open.move_to_end(key)
                return _open[key]
        database = _open_safely(url)
        with _lock:
            _open[key] = database
            while len(_open) > _KEEP_OPEN:
                _open.popitem(last=False)
        return database


def open_filled(url: str) -> Database:
    """Open a database (:func:`open_database`), or raise ``BadInput`` if it is empty."""
    database = open_database(url)
    if not database.schema().entities:
        is_graph = database.kind == "graph"
        raise BadInput(
            "The graph has no nodes." if is_graph else "The database has no tables.",
            fix="Check its name, or fill it first.",
        )
    return database


def is_graph(url: str) -> bool:
    """Whether ``url`` names a graph database, which takes Cypher."""
    scheme = url.partition("://")[0].partition("+")[0] if "://" in url else ""
    return scheme in _GRAPH_SCHEMES or (not scheme and url.lower().endswith(_GRAPH_SUFFIXES))


def sort_by_kind(database: str | None, graph: str | None) -> dict[str, str | None]:
    """Return the settings ``database`` and ``graph``, swapped if each was given as the other."""
    if database and not graph and is_graph(database):
        database, graph = None, database
    elif graph and not database and not is_graph(graph):
        database, graph = graph, None
    return {"database": database or None, "graph": graph or None}


def _open_safely(url: str) -> Database:
    """Open a database; errors show neither values of variables nor passwords."""
    try:
        return _open_new(fill_variables(url))
    except RoleTooPowerful as error:
        shown = hide_values(error.problem, url)
        raise RoleTooPowerful(shown, fix=error.fix, remedy=error.remedy) from None
    except DatabaseUnavailable as error:
        shown = hide_values(error.problem, url)
        raise type(error)(shown, fix=error.fix) from None  # the cause may contain them
    except OSError as error:  # such as a name that is too long for a file
        raise DatabaseUnavailable(
            f"The database cannot be opened ({error.strerror}).",
            fix="Check its name and its permissions.",
        ) from None


def _open_new(url: str) -> Database:
    if not url:
        raise DatabaseUnavailable("No database is named.", fix="Give a URL or a file.")
    if is_graph(url):
        from planweave.tools.cypher import open_cypher

        return open_cypher(url)
    if "://" not in url and url.lower().endswith(ROWS):
        from planweave.tools.files.importing import open_rows

        return open_rows(Path(url))
    from planweave.tools.sql import open_sql

    return open_sql(url)


def _file_version(url: str) -> tuple[int, ...]:
    path = Path(url.removeprefix("sqlite:///"))
    try:
        stat = path.stat()
    except (OSError, ValueError):
        return ()
    return stat.st_mtime_ns, stat.st_size


def fill_variables(url: str) -> str:
    """Replace every ``${NAME}`` of a URL by the value of the environment variable."""
    return _VARIABLE.sub(_environment, url)


def hide_values(problem: str, url: str) -> str:
    """Replace the values of a URL's variables in a problem by ``${NAME}``, and remove passwords."""
    for name in _VARIABLE.findall(url):
        if value := os.environ.get(name):
            problem = problem.replace(value, f"${{{name}}}")
    return without_passwords(problem)


def _environment(match: re.Match[str]) -> str:
    if match[1].upper().endswith("_KEY"):  # it would be sent to any host that the URL names
        raise DatabaseUnavailable(
            f"The database URL names {match[1]}, but it must not contain keys.",
            fix="Keep the password of the database in a variable of its own.",
        )
    if (value := os.environ.get(match[1])) is None:
        raise DatabaseUnavailable(
            f"The database URL needs the environment variable {match[1]}, which is not set.",
            fix=f"Set {match[1]} and start again.",
        )
    return value
