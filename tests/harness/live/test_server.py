"""The server responds only to browsers on this computer, and only with its pages."""

import socket
from collections.abc import Iterator
from http.client import HTTPConnection, HTTPResponse
from queue import Queue
from urllib.parse import urlsplit

import pytest

from rogue.harness.errors import UsageError
from rogue.harness.live.server import LiveServer

PATIENCE_SECONDS = 60


class Book:
    """Two pages; remembers what was asked for and what was sent."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.sent: Queue[str] = Queue()

    def page(self, path: str) -> str | None:
        self.asked.append(path)
        return {"/": "<p>µ</p>", "/report": "<p>report</p>"}.get(path)

    def on_sent(self, page: str) -> None:
        self.sent.put(page)


@pytest.fixture
def book() -> Book:
    return Book()


@pytest.fixture
def url(book: Book) -> Iterator[str]:
    with LiveServer(book) as server:
        yield server.url


@pytest.fixture
def port(url: str) -> int:
    return urlsplit(url).port or 0


@pytest.fixture
def key(url: str) -> str:
    """The key as a path begins with it."""
    return urlsplit(url).path.rstrip("/")


def ask(port: int, path: str, method: str = "GET", host: str | None = None) -> tuple[HTTPResponse, bytes]:
    connection = HTTPConnection("127.0.0.1", port, timeout=PATIENCE_SECONDS)
    connection.putrequest(method, path, skip_host=True)
    connection.putheader("Host", host if host is not None else f"127.0.0.1:{port}")
    connection.endheaders()
    response = connection.getresponse()
    content = response.read()
    connection.close()
    return response, content


def raw(port: int, request: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_SECONDS) as connection:
        connection.sendall(request)
        parts = []
        while part := connection.recv(65_536):
            parts.append(part)
    return b"".join(parts)


def test_a_page(port: int, key: str, book: Book) -> None:
    response, content = ask(port, f"{key}/")
    assert (response.status, content.decode()) == (200, "<p>µ</p>")
    assert response.headers["Content-Type"] == "text/html; charset=utf-8"
    assert "default-src 'none'" in response.headers["Content-Security-Policy"]
    assert "frame-ancestors 'none'" in response.headers["Content-Security-Policy"]
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert response.headers["Cache-Control"] == "no-store"
    assert response.headers["Referrer-Policy"] == "no-referrer"
    assert "Python" not in str(response.headers)
    assert ask(port, f"{key}/report?x=1", host=f"localhost:{port}")[1] == b"<p>report</p>"
    assert {book.sent.get(timeout=PATIENCE_SECONDS) for _ in range(2)} == {
        "<p>µ</p>", "<p>report</p>",
    }  # fmt: skip


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "", "127.0.0.1:{port}.evil.example"],
)
def test_request_with_another_host_is_refused(port: int, key: str, book: Book, host: str) -> None:
    response, content = ask(port, f"{key}/", host=host.format(port=port))
    assert (response.status, content) == (421, b"This page is only for this computer.\n")
    assert book.asked == []


def test_request_without_one_host_header_is_refused(port: int, key: str, book: Book) -> None:
    two = f"GET {key}/ HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nHost: evil.example\r\n\r\n".encode()
    assert raw(port, two).startswith(b"HTTP/1.0 421")
    assert raw(port, f"GET {key}/ HTTP/1.0\r\n\r\n".encode()).startswith(b"HTTP/1.0 421")
    assert b"<p>" not in raw(port, f"GET {key}/\r\n\r\n".encode())
    elsewhere = f"GET http://evil.example{key}/ HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode()
    assert raw(port, elsewhere).startswith(b"HTTP/1.0 403")
    assert book.sent.empty()


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "HEAD", "OPTIONS", "X"])
def test_only_get(port: int, key: str, book: Book, method: str) -> None:
    response, _ = ask(port, f"{key}/", method=method)
    assert (response.status, response.headers["Allow"], book.asked) == (405, "GET", [])


@pytest.mark.parametrize(
    "path",
    ["", "/../", "/../../etc/passwd", "/manifest.json", "/%2e%2e/", "//etc/passwd", "/cells/", "/report/"],
)
def test_no_path_leads_to_a_file(port: int, key: str, path: str) -> None:
    response, content = ask(port, f"{key}{path}")
    assert (response.status, content) == (404, b"There is no such page.\n")


@pytest.mark.parametrize(
    "path",
    ["/", "/report", "*", "//", "/?{key}", "/{wrong}/", "/{short}/", "/{key}x/", "//{upper}/", "/\xe9/"],
)
def test_request_without_the_key_is_refused(port: int, key: str, book: Book, path: str) -> None:
    words = {"key": key[1:], "wrong": "x" * len(key[1:]), "short": key[1:-1], "upper": key[1:].swapcase()}
    request = f"GET {path.format(**words)} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode("latin-1")
    response = raw(port, request)
    assert response.startswith(b"HTTP/1.0 403")
    assert b"`rogue run --live` printed it" in response
    assert key.encode() not in response
    assert book.asked == []


def test_each_server_has_its_own_key(url: str, book: Book) -> None:
    with LiveServer(book) as other:
        assert urlsplit(other.url).path != urlsplit(url).path
        assert len(urlsplit(url).path) > 20


def test_broken_connection_prints_nothing(book: Book, capsys: pytest.CaptureFixture[str]) -> None:
    with LiveServer(book) as server, socket.socket() as broken:
        try:
            raise ConnectionResetError("by the peer")
        except ConnectionResetError:
            server._server.handle_error(broken, ("127.0.0.1", 1))
    assert capsys.readouterr() == ("", "")


def test_server_listens_on_the_loopback_only(port: int) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.2", port))  # an error if the server listened on every address
        assert other.getsockname() == ("127.0.0.2", port)


def test_used_port_is_an_error(port: int, book: Book) -> None:
    with pytest.raises(UsageError, match=f"--port {port}: got 'Address already in use', expected a port"):
        LiveServer(book, port)
