"""The studio: one page on which a person asks, watches, corrects and compares the methods.

The page speaks the LangGraph server's protocol to the server that delivers it; what that protocol
does not know (documents, databases, result files) it asks for under ``/studio/api``.
"""

from planweave.apps.studio.access import Access, Quota
from planweave.apps.studio.routes import routes

__all__ = ["Access", "Quota", "routes"]
