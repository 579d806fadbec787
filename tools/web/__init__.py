"""The web: pages that a search engine finds."""

from planweave.tools.web.engine import KNOWN, Engine, open_engine
from planweave.tools.web.search import search_web

__all__ = ["KNOWN", "Engine", "open_engine", "search_web"]
