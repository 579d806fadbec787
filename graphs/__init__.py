"""One state machine per method; each module reads like the figure in its paper."""

from graphs.registry import ACTORS, AGENTS, DECIDERS, METHODS, description, method

__all__ = ["ACTORS", "AGENTS", "DECIDERS", "METHODS", "description", "method"]
