"""One state machine per method; each module reads like the figure in its paper."""

from planweave.graphs.registry import (
    ACTORS,
    AGENTS,
    DECIDERS,
    FOLLOWERS,
    METHODS,
    description,
    method,
)

__all__ = ["ACTORS", "AGENTS", "DECIDERS", "FOLLOWERS", "METHODS", "description", "method"]
