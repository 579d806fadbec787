"""One state machine per method; each module reads like the figure in its paper."""

from planweave.graphs.support.registry import METHODS, Family, Method, method, of_family

__all__ = ["METHODS", "Family", "Method", "method", "of_family"]
