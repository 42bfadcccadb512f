import socket
from collections.abc import Iterator

import pytest

from rogue.agent.node.client import AgentClient
from rogue.agent.node.errors import AgentError, ErrorKind
from rogue.agent.node.messages import (
    PROTOCOL,
    Alive,
    Capabilities,
    Error,
    Heartbeat,
    Hello,
    Prepare,
    Prepared,
    Start,
    Started,
    Stopped,
)
from rogue.agent.node.wire import encode

CAPABILITIES = encode(Capabilities(2, "h1", "6.1", "3.11", None, 4, 1 << 30, ["cubic"], [], ["software"]))


@pytest.fixture
def wire() -> Iterator[tuple[socket.socket, AgentClient]]:
    """The agent's end of a connection, and a client at the other."""
    agent, harness = socket.socketpair()
    with agent, harness:
        harness.settimeout(0.05)
        yield agent, AgentClient(harness)


def test_a_request_gets_its_reply(wire: tuple[socket.socket, AgentClient]) -> None:
    agent, client = wire
    agent.sendall(CAPABILITIES)
    assert client.open().limiters == ["software"]
    assert agent.recv(1_000) == encode(Hello(PROTOCOL))


def test_replies_that_arrive_together_are_taken_one_by_one(wire: tuple[socket.socket, AgentClient]) -> None:
    agent, client = wire
    agent.sendall(CAPABILITIES + encode(Started("mover")) + encode(Stopped()))
    client.open()
    assert client.request(Start("mover", 1_000, 5, 6), Started) == Started("mover")
    client.close()


def test_replies_may_be_waited_for_later(wire: tuple[socket.socket, AgentClient]) -> None:
    """Two requests are under way; whichever is replied to first is heard first."""
    agent, client = wire
    for role in ("one", "other"):
        client.send(Start(role, 1_000, 5, 6))
    assert not client.has_heard
    agent.sendall(encode(Started("other")) + encode(Started("one")))
    assert client.receive(Started, "start").role == "other"
    assert client.has_heard
    assert client.receive(Started, "start").role == "one"
    assert not client.has_heard


def test_what_is_sent_to_nobody_is_an_error(wire: tuple[socket.socket, AgentClient]) -> None:
    agent, client = wire
    agent.close()
    with pytest.raises(AgentError, match="the connection broke at start"):
        client.send(Start("mover", 1_000, 5, 6))


def test_an_error_reply_is_raised_with_its_kind(wire: tuple[socket.socket, AgentClient]) -> None:
    agent, client = wire
    agent.sendall(encode(Error("mover", "verbs", "no RDMA device", "hello")))
    with pytest.raises(AgentError, match="no RDMA device") as caught:
        client.open()
    assert caught.value.kind is ErrorKind.VERBS


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
    ],
)
def test_an_agent_that_misbehaves_is_reported(
    wire: tuple[socket.socket, AgentClient], reply: bytes, kind: ErrorKind, problem: str
) -> None:
    agent, client = wire
    agent.sendall(reply)
    with pytest.raises(AgentError, match=problem) as caught:
        client.open()
    assert caught.value.kind is kind


def test_an_agent_that_is_gone_is_reported(wire: tuple[socket.socket, AgentClient]) -> None:
    agent, client = wire
    agent.shutdown(socket.SHUT_WR)
    with pytest.raises(AgentError, match="ended without a reply"):
        client.open()


def test_a_broken_connection_is_reported(wire: tuple[socket.socket, AgentClient]) -> None:
    agent, client = wire
    agent.close()
    with pytest.raises(AgentError, match="the connection broke at hello"):
        client.open()


def test_what_is_said_unasked_waits_for_the_next_request_for_that_role(
    wire: tuple[socket.socket, AgentClient],
) -> None:
    agent, client = wire
    agent.sendall(encode(Error("other", "bug", "it died", is_gone=True)) + encode(Started("mover")))
    assert client.request(Start("mover", 1_000, 5, 6), Started) == Started("mover")
    with pytest.raises(AgentError, match="it died") as caught:
        client.request(Heartbeat("other", 1_000), Alive)
    assert (caught.value.kind, caught.value.role) == (ErrorKind.BUG, "other")


def test_why_a_role_is_gone_is_told_even_if_it_is_heard_together_with_a_refusal(
    wire: tuple[socket.socket, AgentClient],
) -> None:
    """It died between two heartbeats: the second one was on its way when the news came."""
    agent, client = wire
    refusal = Error("mover", "protocol", "has not been prepared, or has ended", "heartbeat", is_gone=True)
    agent.sendall(encode(Error("mover", "bug", "it died", is_gone=True)) + encode(refusal))
    with pytest.raises(AgentError, match="it died") as caught:
        client.request(Heartbeat("mover", 1_000), Alive)
    assert caught.value.kind is ErrorKind.BUG


def test_a_role_that_is_gone_may_be_prepared_anew(wire: tuple[socket.socket, AgentClient]) -> None:
    agent, client = wire
    prepared = Prepared("mover", "tcp", "10.9.0.1", 10**10, 1500, "host", "event", "none")
    start = Start("mover", 1_000, 5, 6)
    client.gone["mover"] = AgentError(ErrorKind.BUG, "it died before")
    with pytest.raises(AgentError, match="it died before"):
        client.request(start, Started)
    agent.sendall(encode(prepared) + encode(Started("mover")))
    prepare = Prepare("mover", 1_000, "requester", "10.9.0.1", "reno", 4_096)
    assert client.request(prepare, Prepared) == prepared
    assert client.request(start, Started) == Started("mover")
