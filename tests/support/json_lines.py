"""Files of JSON lines, as data sets are published."""

import gzip
import json
from pathlib import Path


def write_lines(path: Path, *rows: object) -> Path:
    """Write rows into a file, its folder made if need be; packed if its name ends in ``.gz``."""
    path.parent.mkdir(parents=True, exist_ok=True)
    content = "".join(f"{json.dumps(row)}\n" for row in rows).encode()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path
