import select
import socket
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.agent_roles import LIMIT_MS, Actor, Stage, play, results

from rogue.agent.baselines.tcp_flow import Header, encode_header
from rogue.agent.baselines.tcp_socket import BaselineUnavailable
from rogue.agent.core.errors import SettingsError
from rogue.agent.node.fields import MessageError
from rogue.agent.node.messages import Connect, Load, Prepare

needs_ipv6 = pytest.mark.skipif(not Path("/proc/net/if_inet6").exists(), reason="needs a kernel with IPv6")
PREPARE = Prepare("here", LIMIT_MS, "requester", "127.0.0.1", "reno", 300_000)


def half_connected(stage: Stage, address: str = "127.0.0.1") -> tuple[Actor, Actor]:
    """A requester, and a responder that accepts it from now on."""
    there = stage.enter(replace(PREPARE, role="there", end="responder", address=address))
    here = stage.enter(replace(PREPARE, fill_seed=3, address=address))
    there.role.handle(Connect("there", LIMIT_MS, here.introduction))
    return here, there


def check(here: Actor, there: Actor, count: int) -> None:
    """Move transfers from end to end."""
    play(here, there, Load("here", LIMIT_MS, 300_000, count=count), run_ns=60 * 10**9)
    sent, received = results(here, checksum=True), results(there, checksum=True)
    assert (sent.status, sent.transfers_ok, sent.sha256) == ("ok", count, received.sha256)
    assert (sent.moved_bytes, received.moved_bytes) == (count * 300_000, count * 300_000)
    assert sent.retransmitted_bytes is not None
    assert (sent.facts["congestion_control"], received.facts["transfers"]) == ("reno", count)


@pytest.mark.parametrize("address", ["127.0.0.1", pytest.param("::1", marks=needs_ipv6)])
def test_transfers_end_when_they_have_arrived(stage: Stage, address: str) -> None:
    here, there = half_connected(stage, address)
    here.role.handle(Connect("here", LIMIT_MS, there.introduction))
    check(here, there, 5)
    assert [row["status"] for row in here.rows("transfers")] == ["ok"] * 5
    names = [row["name"] for row in here.rows("counters")]
    assert names == ["tcp_retransmitted_packets", "tcp_sent_bytes", "tcp_retransmitted_bytes"]
    assert there.rows("throughput") is not None


def test_an_introduction_names_the_port_of_the_end_that_listens(stage: Stage) -> None:
    here = stage.enter(PREPARE).introduction
    there = stage.enter(replace(PREPARE, role="there", end="responder")).introduction
    assert (here.service, here.tcp_port) == ("tcp", None)
    assert there.tcp_port is not None
    assert (there.gid, there.qp_num) == (None, None)


def test_only_the_announced_peer_is_accepted(stage: Stage) -> None:
    there = stage.enter(replace(PREPARE, role="there", end="responder"))
    here = stage.enter(PREPARE)
    there.role.handle(Connect("there", LIMIT_MS, replace(here.introduction, address="192.0.2.7")))
    here.role.handle(Connect("here", LIMIT_MS, there.introduction))
    play(here, there, Load("here", LIMIT_MS, 5))
    assert results(here).status == "error"


def test_parameters_and_verbs_are_errors_over_tcp(stage: Stage) -> None:
    for changed in (replace(PREPARE, parameters={"retry_count": 3}), replace(PREPARE, verb="read")):
        with pytest.raises(SettingsError, match="TCP has no parameters and no verbs"):
            stage.enter(changed)
    with pytest.raises(BaselineUnavailable, match="cannot listen"):
        stage.enter(replace(PREPARE, end="responder", address="192.0.2.1"))


def test_ends_of_different_kinds_do_not_connect(stage: Stage) -> None:
    here = stage.enter(PREPARE)
    there = stage.enter(replace(PREPARE, role="there", end="responder"))
    rdma = replace(here.introduction, service="rc")
    with pytest.raises(MessageError, match="got rc, expected tcp"):
        there.role.handle(Connect("there", LIMIT_MS, rdma))
    with pytest.raises(SettingsError, match=r"peer\.tcp_port"):
        here.role.handle(Connect("here", LIMIT_MS, rdma))


def connected_as(there: Actor, first: bytes) -> socket.socket:
    """Connect from the peer's address before the peer does, and send this."""
    assert there.introduction.tcp_port is not None
    stranger = socket.create_connection(("127.0.0.1", there.introduction.tcp_port))
    stranger.sendall(first)
    return stranger


@pytest.mark.parametrize("first", [b"", b"x" * 7, encode_header(Header(1, 10)) + bytes(10)])
def test_a_connection_without_the_token_is_not_the_peer(stage: Stage, first: bytes) -> None:
    here, there = half_connected(stage)
    with connected_as(there, first):
        there.turn()
        here.role.handle(Connect("here", LIMIT_MS, there.introduction))
        check(here, there, 2)


@pytest.mark.parametrize("count", [64, 100])
def test_silent_connections_do_not_block_the_peer(stage: Stage, count: int) -> None:
    """Some connect before the peer, as many after it and before its first transfer."""
    here, there = half_connected(stage)
    with ExitStack() as stack:

        def crowd() -> None:
            for _ in range(count):
                stack.enter_context(connected_as(there, b""))
                there.turn()

        crowd()
        here.role.handle(Connect("here", LIMIT_MS, there.introduction))
        there.turn()
        crowd()
        check(here, there, 2)


def test_of_65_silent_connections_the_oldest_is_closed(stage: Stage) -> None:
    there = stage.enter(replace(PREPARE, role="there", end="responder"))
    there.role.handle(Connect("there", LIMIT_MS, stage.enter(PREPARE).introduction))
    with ExitStack() as stack:
        silent = []
        for _ in range(65):
            silent.append(stack.enter_context(connected_as(there, b"")))
            there.turn()
        silent[0].settimeout(60)
        assert silent[0].recv(1) == b"", "closed by the responder"
        assert select.select(silent[1:], [], [], 0) == ([], [], [])


def test_each_connection_has_its_own_token(stage: Stage) -> None:
    ends = [stage.enter(replace(PREPARE, role=f"there{number}", end="responder")) for number in range(2)]
    tokens = {end.introduction.tcp_token for end in ends}
    assert len(tokens) == 2 and None not in tokens
    assert stage.enter(PREPARE).introduction.tcp_token is None, "a requester needs none"


def test_a_responder_without_a_token_is_an_error(stage: Stage) -> None:
    there = stage.enter(replace(PREPARE, role="there", end="responder"))
    here = stage.enter(PREPARE)
    with pytest.raises(SettingsError, match=r"peer\.tcp_token"):
        here.role.handle(Connect("here", LIMIT_MS, replace(there.introduction, tcp_token=None)))
