"""One state machine per method; each module reads like the figure in its paper."""

from graphs.registry import METHODS, description, method

__all__ = ["METHODS", "description", "method"]
