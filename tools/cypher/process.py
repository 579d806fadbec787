"""The parent's side of the process that holds the embedded graph."""

from pathlib import Path

from planweave.tools.database import DatabaseUnavailable
from planweave.tools.process import HelperProcess, ProcessEnded

_LOADING = 120.0  # seconds


class Worker(HelperProcess):
    """A process that holds one graph and answers one query at a time."""

    def __init__(self, path: Path) -> None:
        super().__init__("planweave.tools.cypher.worker", {"RUST_BACKTRACE": "0"}, bare=True)
        try:
            self.found = self.ask({"path": str(path)}, _LOADING)
        except ProcessEnded as error:
            reason = "takes too long" if error.late else "needs too much memory"
            raise DatabaseUnavailable(
                f"Loading {path.name} {reason}.", fix="Load it into a Neo4j server instead."
            ) from error
        if "error" in self.found:
            self.stop()
            raise DatabaseUnavailable(
                str(self.found["message"]), fix=str(self.found.get("fix", ""))
            )
