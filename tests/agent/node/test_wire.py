"""Messages as lines of JSON, and the harness's end of the conversation."""

import json
import socket
from collections.abc import Iterator
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rogue.agent.node.fields import AgentError, ErrorKind, MessageError
from rogue.agent.node.messages import (
    PROTOCOL,
    Alive,
    Arrivals,
    Capabilities,
    Connect,
    Error,
    Heartbeat,
    Hello,
    Message,
    Prepare,
    Prepared,
    Start,
    Started,
    Stopped,
)
from rogue.agent.node.wire import (
    LINE_BYTES_MAX,
    REPLY_TYPES,
    REQUEST_TYPES,
    AgentClient,
    LineReader,
    decode,
    encode,
)

PREPARE = Prepare(
    "mover", 1_000, "requester", "10.9.0.1", "rogue", 4_096, {"alpha_packets": 2.5}, fill_seed=7
)
PREPARED = Prepared("mover", "tcp", "10.9.0.1", 10**10, 1500, "host", "event", "none", tcp_port=40_000)
CONNECT = Connect("mover", 1_000, PREPARED)
ARRIVALS = Arrivals("mover", 1_000, [[0, 5], [100, 7]])


@pytest.mark.parametrize("message", [Hello(1), PREPARE, CONNECT, ARRIVALS, Start("mover", 1_000, 0, 5)])
def test_a_message_is_decoded_as_encoded(message: Message) -> None:
    line = encode(message)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert decode(line, REQUEST_TYPES) == message


def test_fields_with_a_default_are_optional() -> None:
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
        (b'{"type": "hello", "protocol": 1, "protocol": 2}', "a name occurs twice"),
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
def test_an_invalid_line_is_an_error_of_one_line(line: bytes, problem: str) -> None:
    with pytest.raises(MessageError, match=problem) as caught:
        decode(line, REQUEST_TYPES)
    assert len(str(caught.value)) < 500
    assert "\n" not in str(caught.value)


@settings(deadline=None)
@given(st.binary(max_size=200))
def test_random_bytes_are_a_message_or_an_error(line: bytes) -> None:
    try:
        message: object = decode(line, REQUEST_TYPES)
    except MessageError as error:
        message = Error(None, "protocol", str(error))
        assert encode(message).count(b"\n") == 1, "an error of one line"
    assert isinstance(message, (*REQUEST_TYPES.values(), Error))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=10,
)


@settings(deadline=None)
@given(st.data())
def test_random_field_values_are_a_message_or_an_error(data: st.DataObject) -> None:
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


def test_a_line_without_an_end_is_an_error() -> None:
    reader = LineReader()
    with pytest.raises(MessageError, match=f"a line of more than {LINE_BYTES_MAX} bytes"):
        for _ in range(LINE_BYTES_MAX):
            reader.feed(b"xxxx")


CAPABILITIES = encode(Capabilities(2, "h1", "6.1", "3.11", None, 4, 1 << 30, ["cubic"], [], ["software"]))


Ends = tuple[socket.socket, AgentClient]


@pytest.fixture
def agent_and_client() -> Iterator[Ends]:
    """The agent's end of a connection, and a client at the other."""
    agent, harness = socket.socketpair()
    with agent, harness:
        harness.settimeout(0.05)
        yield agent, AgentClient(harness)


def test_replies_that_arrive_together_are_separated(agent_and_client: Ends) -> None:
    agent, client = agent_and_client
    agent.sendall(CAPABILITIES + encode(Started("mover")) + encode(Stopped()))
    assert client.open().limiters == ["software"]
    assert agent.recv(1_000) == encode(Hello(PROTOCOL))
    assert client.request(Start("mover", 1_000, 5, 6), Started) == Started("mover")
    client.close()


def test_replies_may_be_waited_for_later(agent_and_client: Ends) -> None:
    """Two requests are under way; whichever is replied to first is heard first."""
    agent, client = agent_and_client
    for role in ("one", "other"):
        client.send(Start(role, 1_000, 5, 6))
    assert not client.has_heard
    agent.sendall(encode(Started("other")) + encode(Started("one")))
    assert client.receive(Started, "start").role == "other"
    assert client.has_heard
    assert client.receive(Started, "start").role == "one"
    assert not client.has_heard


@pytest.mark.parametrize(
    ("reply", "kind", "problem"),
    [
        (
            b"Segmentation fault\n",
            ErrorKind.PROTOCOL,
            "the agent's reply to hello: got .*expected a JSON object",
        ),
        (encode(Stopped()), ErrorKind.PROTOCOL, "the agent replied to hello with stopped"),
        (b"", ErrorKind.TIMEOUT, "the agent did not reply to hello in time"),
        (encode(Error("mover", "verbs", "no RDMA device", "hello")), ErrorKind.VERBS, "no RDMA device"),
    ],
)
def test_an_invalid_reply_is_an_error(
    agent_and_client: Ends, reply: bytes, kind: ErrorKind, problem: str
) -> None:
    agent, client = agent_and_client
    agent.sendall(reply)
    with pytest.raises(AgentError, match=problem) as caught:
        client.open()
    assert caught.value.kind is kind


def test_a_lost_agent_is_an_error(agent_and_client: Ends) -> None:
    agent, client = agent_and_client
    agent.shutdown(socket.SHUT_WR)
    with pytest.raises(AgentError, match="ended without a reply"):
        client.open()
    agent.close()
    with pytest.raises(AgentError, match="the connection broke at hello"):
        client.open()


def test_an_error_without_request_is_raised_by_the_next_request_for_its_role(agent_and_client: Ends) -> None:
    agent, client = agent_and_client
    agent.sendall(encode(Error("other", "bug", "it failed", is_gone=True)) + encode(Started("mover")))
    assert client.request(Start("mover", 1_000, 5, 6), Started) == Started("mover")
    with pytest.raises(AgentError, match="it failed") as caught:
        client.request(Heartbeat("other", 1_000), Alive)
    assert (caught.value.kind, caught.value.role) == (ErrorKind.BUG, "other")


def test_the_first_error_of_a_lost_role_is_raised(agent_and_client: Ends) -> None:
    """It died between two heartbeats: the second one was on its way when the news came."""
    agent, client = agent_and_client
    refusal = Error("mover", "protocol", "has not been prepared, or has ended", "heartbeat", is_gone=True)
    agent.sendall(encode(Error("mover", "bug", "it failed", is_gone=True)) + encode(refusal))
    with pytest.raises(AgentError, match="it failed") as caught:
        client.request(Heartbeat("mover", 1_000), Alive)
    assert caught.value.kind is ErrorKind.BUG


def test_a_lost_role_may_be_prepared_again(agent_and_client: Ends) -> None:
    agent, client = agent_and_client
    prepared = Prepared("mover", "tcp", "10.9.0.1", 10**10, 1500, "host", "event", "none")
    start = Start("mover", 1_000, 5, 6)
    client.gone["mover"] = AgentError(ErrorKind.BUG, "it failed before")
    with pytest.raises(AgentError, match="it failed before"):
        client.request(start, Started)
    agent.sendall(encode(prepared) + encode(Started("mover")))
    prepare = Prepare("mover", 1_000, "requester", "10.9.0.1", "reno", 4_096)
    assert client.request(prepare, Prepared) == prepared
    assert client.request(start, Started) == Started("mover")
