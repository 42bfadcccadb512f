"""Serves a few pages to browsers on this computer, and nothing to anybody else.

It listens on 127.0.0.1 alone. A request whose `Host` is another name comes from a page of somebody else whose
name was made to lead here (DNS rebinding); it is refused. A path is looked up among the pages and never leads
to a file.
"""

from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Final, Protocol, Self

from rogue.harness.errors import UsageError

ADDRESS: Final = "127.0.0.1"
PATIENCE_SECONDS: Final = 10
"""For how long a browser may take over a request."""
HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}


class Pages(Protocol):
    """What is served."""

    def page(self, path: str) -> str | None:
        """Return the page of a path, None if there is none."""

    def on_sent(self, page: str) -> None:
        """A browser has this page."""


class LiveServer:
    """A context manager; port 0 takes one that is free."""

    def __init__(self, pages: Pages, port: int = 0) -> None:
        handler = type("Handler", (_Handler,), {"pages": pages})
        try:
            self._server = ThreadingHTTPServer((ADDRESS, port), handler)
        except OSError as error:
            expected = "a port that is free; leave it out to get one"
            raise UsageError(f"--port {port}: got {error.strerror!r}, expected {expected}.") from error
        self._server.daemon_threads = True
        self._thread = Thread(target=self._server.serve_forever, args=(0.1,), name="live page", daemon=True)

    @property
    def url(self) -> str:
        """Return where the page is."""
        return f"http://{ADDRESS}:{self._server.server_port}/"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Handler(BaseHTTPRequestHandler):
    """One request."""

    pages: Pages
    server_version = "rogue"
    sys_version = ""
    timeout = PATIENCE_SECONDS

    def parse_request(self) -> bool:
        """Refuse whatever is not a GET of one of our names, before anything looks at it."""
        if not super().parse_request():
            return False
        assert isinstance(self.server, ThreadingHTTPServer)
        port = self.server.server_port
        if self.headers.get_all("Host", []) not in ([f"{ADDRESS}:{port}"], [f"localhost:{port}"]):
            self._respond(HTTPStatus.MISDIRECTED_REQUEST, "This page is only for this computer.\n")
            return False
        if self.command != "GET":
            self._respond(HTTPStatus.METHOD_NOT_ALLOWED, "Only GET.\n", {"Allow": "GET"})
            return False
        return True

    def do_GET(self) -> None:
        """Respond with a page."""
        path = self.path.partition("?")[0]
        page = self.pages.page(path)
        if page is None:
            self._respond(HTTPStatus.NOT_FOUND, "There is no such page.\n")
        else:
            self._respond(HTTPStatus.OK, page, {"Content-Type": "text/html; charset=utf-8"})
            self.pages.on_sent(page)

    def _respond(self, status: HTTPStatus, text: str, more: dict[str, str] | None = None) -> None:
        content = text.encode("utf-8", "replace")
        headers = {"Content-Type": "text/plain; charset=utf-8", **HEADERS, **(more or {})}
        self.close_connection = True
        try:
            self.send_response(status)
            for name, value in {
                **headers,
                "Content-Length": str(len(content)),
                "Connection": "close",
            }.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)
        except (BrokenPipeError, ConnectionResetError, TimeoutError):  # the browser has gone
            pass

    def log_message(self, *_: object) -> None:
        """Say nothing: the terminal belongs to the run."""
