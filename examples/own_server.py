"""The endpoints in a web app of your own: python examples/own_server.py [PORT].

Your app decides who may call; this one answers only this machine.
"""

import os
import sys

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware

from planweave.apps.protocols import routes

os.environ.setdefault("PLANWEAVE_SERVICE", "examples/service.json")
own_names = Middleware(TrustedHostMiddleware, allowed_hosts=["127.0.0.1", "localhost"])
app = Starlette(routes=routes(), middleware=[own_names])  # /v1/…, /mcp and /a2a/METHOD

if __name__ == "__main__":
    uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]) if len(sys.argv) > 1 else 2024)
