"""The studio: one page on which a person asks, watches, corrects and compares the methods.

The page uses the LangGraph server's protocol with the server that delivers it. Documents, databases
and result files, which that protocol does not have, are under ``/studio/api``.
"""

from planweave.apps.studio.access import Access, Quota
from planweave.apps.studio.routes import routes

__all__ = ["Access", "Quota", "routes"]
