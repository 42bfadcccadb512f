"""Serve a few pages to the user's browser on this computer.

The server listens on 127.0.0.1, which other users of this computer reach. Every path begins with a random
key, and a request without it gets no page. The key is no cookie, because browsers send cookies of 127.0.0.1
to every port. A request with another `Host` is refused (DNS rebinding). Pages are looked up by name, never in
files.
"""

import hmac
import secrets
import socket
import sys
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Final, Protocol, Self

from rogue.harness.errors import UsageError
from rogue.reports.templates.environment import script_source

ADDRESS: Final = "127.0.0.1"
PATIENCE_SECONDS: Final = 10
"""Time limit of each read from a connection and of sending the response."""
KEY_BYTES: Final = 16
HEADERS: Final = {
    "Content-Security-Policy": (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src {script_source()}; "
        "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}


WITHOUT_KEY: Final = (
    "This page is only for the user who started `rogue`, and this address lacks its key. Open the whole "
    "address: `rogue run --live` printed it behind `live:`, `rogue watch` as its first line.\n"
)

Connection = socket.socket | tuple[bytes, socket.socket]
"""As `socketserver` types it."""


class Pages(Protocol):
    """The pages of a server."""

    def page(self, path: str) -> str | None:
        """Return the page of a path, None if there is none."""

    def on_sent(self, page: str) -> None:
        """Note that a browser has this page."""


class LiveServer:
    """A context manager; port 0 takes one that is free."""

    def __init__(self, pages: Pages, port: int = 0) -> None:
        self._key = secrets.token_urlsafe(KEY_BYTES)
        handler = type("Handler", (_Handler,), {"pages": pages, "key": self._key})
        try:
            self._server = _Server((ADDRESS, port), handler)
        except OSError as error:
            expected = "a port that is free; leave it out to get one"
            raise UsageError(f"--port {port}: got {error.strerror!r}, expected {expected}.") from error
        self._thread = Thread(target=self._server.serve_forever, args=(0.1,), name="live page", daemon=True)

    @property
    def url(self) -> str:
        """Return the address of the page, which only the user who started it may know."""
        return f"http://{ADDRESS}:{self._server.server_port}/{self._key}/"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 32
    """With the default of five, Linux drops connections that come at once, and browsers retry later."""

    def handle_error(self, request: Connection, client_address: object) -> None:
        """Print nothing when a connection breaks, because the terminal belongs to the run."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    """One request."""

    pages: Pages
    key: str
    server_version = "rogue"
    sys_version = ""
    timeout = PATIENCE_SECONDS

    def parse_request(self) -> bool:
        """Refuse every request but a GET of one of our names, before it is handled."""
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
        """Respond with a page to a client that has the key."""
        key, *rest = self.path.partition("?")[0].removeprefix("/").split("/", 1)
        if not hmac.compare_digest(key.encode(), self.key.encode()):
            self._respond(HTTPStatus.FORBIDDEN, WITHOUT_KEY)
            return
        page = self.pages.page(f"/{rest[0]}") if rest else None
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
