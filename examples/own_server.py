"""The doors in a web app of your own: python examples/own_server.py [PORT].

Who may pass is for your app to say; this one listens to this machine alone.
"""

import os
import sys

import uvicorn
from starlette.applications import Starlette

from apps.embed import routes

os.environ.setdefault("PLANWEAVE_SERVICE", "examples/service.json")
app = Starlette(routes=routes())  # /v1/chat/completions, /mcp and /a2a/METHOD

if __name__ == "__main__":
    uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]) if len(sys.argv) > 1 else 2024)
