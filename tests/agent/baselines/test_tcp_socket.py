"""Tests: TCP sockets with a chosen congestion control, and what the kernel reports of them."""

import socket
from pathlib import Path

import pytest

from rogue.agent.baselines.tcp_socket import BaselineUnavailable, connect, info_of, listen

LOOPBACK = "127.0.0.1"
needs_ipv6 = pytest.mark.skipif(
    not Path("/proc/net/if_inet6").exists(), reason="needs a kernel whose loopback has IPv6"
)


def test_both_ends_have_the_congestion_control_and_the_byte_tos() -> None:
    with (
        listen(LOOPBACK, "reno", tos=104) as listener,
        connect(LOOPBACK, (LOOPBACK, listener.getsockname()[1]), "reno", 104) as made,
    ):
        listener.setblocking(True)
        accepted, _ = listener.accept()
        with accepted:
            for end in (made, accepted):
                name = end.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16)
                assert name.rstrip(b"\0") == b"reno"
                assert end.getsockopt(socket.IPPROTO_IP, socket.IP_TOS) == 104


@needs_ipv6
def test_an_address_of_ipv6_has_the_byte_as_its_traffic_class() -> None:
    with (
        listen("::1", "reno", tos=104) as listener,
        connect("::1", ("::1", listener.getsockname()[1]), "reno", 104) as made,
    ):
        for end in (listener, made):
            assert end.getsockopt(socket.IPPROTO_IPV6, socket.IPV6_TCLASS) == 104


def test_the_kernel_tells_what_was_sent() -> None:
    with (
        listen(LOOPBACK, "reno") as listener,
        connect(LOOPBACK, (LOOPBACK, listener.getsockname()[1]), "reno", 0) as made,
    ):
        made.send(b"x" * 1_000)
        info = info_of(made)
        assert info.sent_bytes == 1_000
        assert info.retransmitted_bytes == info.retransmitted_packets == 0
        assert 1 <= info.cwnd_packets < 1_000
        assert 0 < info.rtt_ns < 10**10


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ((LOOPBACK, "swift"), "no TCP congestion control swift"),
        (("192.0.2.1", "reno"), r"cannot listen on 192\.0\.2\.1"),
        ((LOOPBACK, "reno", "nowhere0"), "No such device"),
    ],
)
def test_a_socket_that_cannot_listen_is_an_error(arguments: tuple[str, ...], problem: str) -> None:
    with pytest.raises(BaselineUnavailable, match=problem):
        listen(*arguments)


def test_a_peer_that_does_not_listen_is_named() -> None:
    with listen(LOOPBACK, "reno") as listener:
        port = listener.getsockname()[1]
    with pytest.raises(BaselineUnavailable, match=f"TCP from {LOOPBACK} to {LOOPBACK} port {port}: "):
        connect(LOOPBACK, (LOOPBACK, port), "reno", 0)


def test_both_ends_can_be_held_to_an_interface() -> None:
    with (
        listen(LOOPBACK, "reno", "lo") as listener,
        connect(LOOPBACK, (LOOPBACK, listener.getsockname()[1]), "reno", 0, "lo") as made,
    ):
        for end in (listener, made):
            assert end.getsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, 16).rstrip(b"\0") == b"lo"
