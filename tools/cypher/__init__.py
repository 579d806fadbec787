"""Graph databases queried in Cypher: a script in an embedded engine, or a server over Bolt."""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from planweave.tools.database import Database

_SCHEMES = ("bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc")


def open_cypher(source: str | Path) -> "Database":
    """Open a graph database for reading.

    Args:
        source: The path of a ``.cql`` or ``.cypher`` script, or a ``bolt://``, ``neo4j://`` or
            ``neo4j+s://`` URL, which may contain ``user:password@``.

    Raises:
        DatabaseUnavailable: The script is missing or faulty, or the server does not answer.
    """
    if isinstance(source, str) and source.partition("://")[0] in _SCHEMES:
        from planweave.tools.cypher.bolt import BoltCypher

        return BoltCypher(source)
    from planweave.tools.cypher.embedded import EmbeddedCypher

    return EmbeddedCypher(Path(source))


__all__ = ["open_cypher"]
