"""IP sockets with a DSCP, TCP sockets with a congestion control, and the kernel's counters of them."""

import socket
import struct
from typing import NamedTuple


class BaselineUnavailable(RuntimeError):  # noqa: N818 - a condition of the node, reported as a sentence
    """The kernel lacks the congestion control, or the peer cannot be reached."""


_CONNECT_TIMEOUT_S = 30.0
_BACKLOG = 128
"""Connections that may wait, so that other hosts' do not keep the peer out."""
_INFO_BYTES = 232
_WORDS = struct.Struct("=8x24I")
_BYTES = struct.Struct("=QQ")
_BYTES_OFFSET = 200


class TcpInfo(NamedTuple):
    """Part of the kernel's `tcp_info`; bytes are payload."""

    cwnd_packets: int
    rtt_ns: int
    retransmitted_packets: int
    sent_bytes: int
    retransmitted_bytes: int


GAUGES = ("cwnd_packets", "rtt_ns")
"""Fields that are no counters."""


def ip_socket(address: str, kind: socket.SocketKind, tos: int) -> socket.socket:
    """Return a socket of the address's IP version, not yet bound or connected.

    tos: the TOS byte of IPv4 or traffic class of IPv6, which is DSCP and ECN. The kernel sets TCP's ECN.
    """
    is_ipv6 = ":" in address
    made = socket.socket(socket.AF_INET6 if is_ipv6 else socket.AF_INET, kind)
    if is_ipv6:
        made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_TCLASS, tos)
    else:
        made.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, tos)
    return made


def listen(
    address: str, congestion_control: str, interface: str | None = None, tos: int = 0
) -> socket.socket:
    """Return a socket that listens on a free port; accepted connections inherit its congestion control.

    interface: the only one on which it listens. tos: TOS byte of what it sends, mainly acknowledgements.
    """
    listener = _made(address, congestion_control, tos)
    try:
        _hold_to(listener, interface)
        listener.bind((address, 0))
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        raise BaselineUnavailable(f"TCP cannot listen on {address}: {error.strerror}") from error
    listener.setblocking(False)
    return listener


def connect(
    own: str, peer: tuple[str, int], congestion_control: str, tos: int, interface: str | None = None
) -> socket.socket:
    """Return a connection from our experiment address to the peer's.

    tos: see `ip_socket`. interface: the only one that it uses; None leaves this to the routes.
    """
    made = _made(own, congestion_control, tos)
    made.settimeout(_CONNECT_TIMEOUT_S)
    try:
        _hold_to(made, interface)
        made.bind((own, 0))
        made.connect(peer)
    except OSError as error:
        made.close()
        reason = error.strerror or str(error)
        raise BaselineUnavailable(f"TCP from {own} to {peer[0]} port {peer[1]}: {reason}") from error
    made.setblocking(False)
    return made


def _made(own: str, congestion_control: str, tos: int) -> socket.socket:
    made = ip_socket(own, socket.SOCK_STREAM, tos)
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    try:
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, congestion_control.encode())
    except OSError as error:
        made.close()
        raise BaselineUnavailable(
            f"this kernel has no TCP congestion control {congestion_control}: {error.strerror}"
        ) from error
    return made


def _hold_to(made: socket.socket, interface: str | None) -> None:
    """Use no other path to the peer, such as the loopback to another address of this kernel."""
    if interface is not None:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, interface.encode())


def info_of(connection: socket.socket) -> TcpInfo:
    """Read the kernel's counters of a connection."""
    raw = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _INFO_BYTES).ljust(_INFO_BYTES, b"\0")
    words = _WORDS.unpack_from(raw)
    sent_bytes, retransmitted_bytes = _BYTES.unpack_from(raw, _BYTES_OFFSET)
    return TcpInfo(
        cwnd_packets=words[18],
        rtt_ns=words[15] * 1000,
        retransmitted_packets=words[23],
        sent_bytes=sent_bytes,
        retransmitted_bytes=retransmitted_bytes,
    )
