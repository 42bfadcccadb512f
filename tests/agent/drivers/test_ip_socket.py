"""Sockets of both versions of IP, as the kernel has them."""

import socket
from pathlib import Path

import pytest

from rogue.agent.baselines.tcp_socket import ip_socket

HAS_IPV6 = Path("/proc/net/if_inet6").exists()


@pytest.mark.parametrize("kind", [socket.SOCK_STREAM, socket.SOCK_DGRAM])
def test_a_socket_of_ipv4_has_its_tos(kind: socket.SocketKind) -> None:
    with ip_socket("10.9.0.10", kind, 104) as made:
        assert (made.family, made.type) == (socket.AF_INET, kind)
        assert made.getsockopt(socket.IPPROTO_IP, socket.IP_TOS) == 104


@pytest.mark.skipif(not HAS_IPV6, reason="needs a kernel with IPv6")
@pytest.mark.parametrize("kind", [socket.SOCK_STREAM, socket.SOCK_DGRAM])
def test_a_socket_of_ipv6_has_its_traffic_class(kind: socket.SocketKind) -> None:
    with ip_socket("fd00::10", kind, 104) as made:
        assert (made.family, made.type) == (socket.AF_INET6, kind)
        assert made.getsockopt(socket.IPPROTO_IPV6, socket.IPV6_TCLASS) == 104
