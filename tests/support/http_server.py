"""A server of HTTP on loopback that answers as a test says."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Handler(BaseHTTPRequestHandler):
    """Answers each request, whether it gets or posts; writes no log."""

    def answer(self) -> None:
        """Answer the request."""
        raise NotImplementedError

    def reply(
        self, body: bytes = b"", status: int = 200, kind: str = "", location: str = ""
    ) -> None:
        """Send a whole reply; the client may have had enough before its end."""
        self.send_response(status)
        for name, value in (("content-type", kind), ("location", location)):
            if value:
                self.send_header(name, value)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        try:
            self.wfile.write(body)
        except OSError:
            self.close_connection = True

    def do_GET(self) -> None:
        """Answer it."""
        self.answer()

    def do_POST(self) -> None:
        """Answer it."""
        self.answer()

    def log_message(self, *_: object) -> None:
        """Write nothing."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: object) -> None:
        """Write nothing: a client has closed its socket."""


@contextmanager
def listening(handler: type[Handler]) -> Iterator[str]:
    """Serve while the block runs; gives the address."""
    with _Server(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
