"""Tests: messages as lines of JSON over streams and local sockets."""

import json
import socket
import stat
import tempfile
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rogue.agent.node.errors import MessageError
from rogue.agent.node.messages import Arrivals, Connect, Error, Hello, Message, Prepare, Prepared, Start
from rogue.agent.node.wire import (
    LINE_BYTES_MAX,
    REPLY_TYPES,
    REQUEST_TYPES,
    LineReader,
    accepted,
    decode,
    encode,
    listener_at,
)

PREPARE = Prepare(
    "mover", 1_000, "requester", "10.9.0.1", "rogue", 4_096, {"alpha_packets": 2.5}, fill_seed=7
)
PREPARED = Prepared("mover", "tcp", "10.9.0.1", 10**10, 1500, "host", "event", "none", tcp_port=40_000)
CONNECT = Connect("mover", 1_000, PREPARED)
ARRIVALS = Arrivals("mover", 1_000, [[0, 5], [100, 7]])


@pytest.mark.parametrize("message", [Hello(1), PREPARE, CONNECT, ARRIVALS, Start("mover", 1_000, 0, 5)])
def test_a_message_reads_back_as_written(message: Message) -> None:
    line = encode(message)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert decode(line, REQUEST_TYPES) == message


def test_what_has_a_default_may_be_left_out() -> None:
    line = json.dumps(
        {"type": "results", "role": "mover", "status": "idle", "start_ns": 1, "end_ns": 2}
    ).encode()
    assert decode(line, REPLY_TYPES).wire_type == "results"


def altered(**changes: object) -> bytes:
    values = json.loads(encode(PREPARE))
    values.update(changes)
    return json.dumps({name: value for name, value in values.items() if value != "LEFT OUT"}).encode()


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b"", "expected a JSON object"),
        (b"[]", r"got \[\], expected a JSON object"),
        (b"\xff\xfe", "expected UTF-8"),
        (b'{"type": "hello"', "expected a JSON object"),
        (b'{"type": "hello"}', "hello: missing fields 'protocol'"),
        (b'{"type": "hello", "protocol": 1, "protocol": 2}', "a name stands twice"),
        (b'{"type": "hello", "protocol": NaN}', "NaN is not a number"),
        (b'{"type": "hello", "protocol": 1e400}', "hello.protocol: got inf"),
        (b'{"type": "hello", "protocol": 1, "colour": 2}', "hello: unknown fields 'colour'"),
        (b'{"type": "shutdown"}', "type: got 'shutdown', expected one of after, arrivals, clock, connect"),
        (b'{"type": ["hello"]}', r"type: got \['hello'\]"),
        (b'{"protocol": 1}', "type: got None"),
        (b"[" * 60_000, "nested too deeply"),
        (b" " * (LINE_BYTES_MAX + 1), f"expected at most {LINE_BYTES_MAX}"),
        (altered(role="../x"), "prepare.role: got '../x'"),
        (altered(buffer_bytes=0), "prepare.buffer_bytes: got 0, expected an integer from 1"),
        (altered(buffer_bytes=10**400), "prepare.buffer_bytes"),
        (altered(time_limit_ms=True), "prepare.time_limit_ms: got True"),
        (altered(address="LEFT OUT"), "prepare: missing fields 'address'"),
        (altered(address="10.9.0.1; reboot"), "prepare.address"),
    ],
)
def test_anything_else_is_refused_in_one_clear_sentence(line: bytes, problem: str) -> None:
    with pytest.raises(MessageError, match=problem) as caught:
        decode(line, REQUEST_TYPES)
    assert len(str(caught.value)) < 500
    assert "\n" not in str(caught.value)


@settings(deadline=None)
@given(st.binary(max_size=200))
def test_no_bytes_cause_anything_but_a_message_or_a_refusal(line: bytes) -> None:
    try:
        decode(line, REQUEST_TYPES)
    except MessageError as error:
        encode(Error(None, "protocol", str(error)))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=10,
)


@settings(deadline=None)
@given(st.data())
def test_no_values_in_a_messages_fields_cause_anything_but_a_message_or_a_refusal(
    data: st.DataObject,
) -> None:
    """A message with the right names, some of whose values are anything."""
    values = cast(
        "dict[str, object]", json.loads(encode(data.draw(st.sampled_from([PREPARE, CONNECT, Hello(1)]))))
    )
    for name in data.draw(st.sets(st.sampled_from(sorted(values)))):
        values[name] = data.draw(JSON)
    line = json.dumps(values).encode()
    try:
        message = decode(line, REQUEST_TYPES)
    except MessageError as error:
        encode(Error(None, "protocol", str(error)))
    else:
        assert decode(encode(message), REQUEST_TYPES) == message


@settings(deadline=None)
@given(
    st.lists(st.binary(max_size=40).filter(lambda line: b"\n" not in line), max_size=6), st.integers(1, 50)
)
def test_lines_do_not_depend_on_how_the_stream_is_cut(lines: list[bytes], chunk_bytes: int) -> None:
    stream = b"".join(line + b"\n" for line in lines) + b"rest"
    reader = LineReader()
    found: list[bytes] = []
    for start in range(0, len(stream), chunk_bytes):
        found += reader.feed(stream[start : start + chunk_bytes])
    assert found == lines


def test_a_line_without_an_end_is_refused_before_it_fills_the_memory() -> None:
    reader = LineReader()
    with pytest.raises(MessageError, match=f"a line of more than {LINE_BYTES_MAX} bytes"):
        for _ in range(LINE_BYTES_MAX):
            reader.feed(b"xxxx")


@pytest.mark.parametrize("kind", [socket.SOCK_SEQPACKET, socket.SOCK_STREAM])
def test_a_listener_takes_the_place_of_an_old_one_and_only_its_owner_may_connect(
    kind: socket.SocketKind,
) -> None:
    with tempfile.TemporaryDirectory() as directory:
        place = Path(directory) / "door"
        place.touch()  # left over from somebody who was killed
        with listener_at(place, kind) as listener:
            assert stat.S_IMODE(place.stat().st_mode) == 0o600
            with socket.socket(socket.AF_UNIX, kind) as own:
                own.connect(str(place))
                peer = accepted(listener)
                assert not peer.getblocking()
                peer.close()
