"""One state machine per method; each module reads like the figure in its paper."""

from graphs.registry import AGENTS, DECIDERS, METHODS, description, method

__all__ = ["AGENTS", "DECIDERS", "METHODS", "description", "method"]
