"""The studio's routes: the page, its files, and its own API."""

from functools import partial
from pathlib import Path

from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import RedirectResponse
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from planweave.apps.studio import methods, results
from planweave.apps.studio.access import ONE_PERSON, Access
from planweave.apps.studio.databases import Databases
from planweave.apps.studio.documents import Documents
from planweave.apps.studio.experience import Experiences
from planweave.apps.studio.guard import Guard
from planweave.apps.studio.models import Models
from planweave.apps.studio.uploads import Uploads

_STATIC = Path(__file__).parent / "static"


def routes(access: Access = ONE_PERSON) -> list[BaseRoute]:
    """The routes for a server's root; the server has to authenticate ``/studio/api``."""
    uploads, experience = Uploads(access), Experiences(access)
    documents, databases = Documents(access, uploads), Databases(access, uploads)
    method_routes = methods.Methods(access)
    inside = [
        Route("/api/methods", method_routes.listed),
        Route("/api/methods/choice", method_routes.choice, methods=["POST"]),
        Route("/api/methods/{name}/graph", methods.graph),
        Route("/api/documents", documents.listed, methods=["GET"]),
        Route("/api/documents", documents.upload, methods=["PUT"]),
        Route("/api/documents", documents.remove, methods=["DELETE"]),
        Route("/api/documents/sample", documents.sample, methods=["POST"]),
        Route("/api/documents/questions", documents.questions),
        Route("/api/documents/page", documents.page),
        Route("/api/databases", databases.listed, methods=["GET"]),
        Route("/api/databases", databases.upload, methods=["PUT"]),
        Route("/api/databases", databases.remove, methods=["DELETE"]),
        Route("/api/databases", databases.schema, methods=["POST"]),
        Route("/api/databases/sample", databases.sample, methods=["POST"]),
        Route("/api/databases/questions", databases.questions, methods=["POST"]),
        Route("/api/databases/query", databases.query, methods=["POST"]),
        Route("/api/models", Models(access).listed),
        Route("/api/experience", experience.paths, methods=["GET"]),
        Route("/api/experience", experience.add, methods=["PUT"]),
        Route("/api/experience", experience.judge, methods=["POST"]),
        Route("/api/experience", experience.remove, methods=["DELETE"]),
        Route("/api/experience/graph", experience.graph),
        Route("/api/results", partial(results.files, access)),
        Route("/api/results/report", results.report),
        Route("/api/results/record", results.record),
        Mount("/", StaticFiles(directory=_STATIC, html=True)),
    ]
    return [
        Route("/", _redirect_to_page),
        Route("/studio", _redirect_to_page),
        Mount("/studio", routes=inside, middleware=[Middleware(Guard, access=access)]),
    ]


def _redirect_to_page(_: Request) -> RedirectResponse:
    return RedirectResponse("/studio/")
