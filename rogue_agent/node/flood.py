"""`rogue-agent.pyz flood`: one second of packets that a switch may mark, for the doctor's test of marks.

Nobody listens at the other end: its kernel counts what arrives before it looks for a socket.

Sources: ECN-capable transport, RFC 3168, section 5; port 9 is discard, RFC 863; `UDP_SEGMENT` lets one call
send many packets, Linux v4.18, include/uapi/linux/udp.h.
"""

import argparse
import errno
import json
import os
import socket
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from rogue.agent.drivers.ip_socket import ip_socket

DISCARD_PORT = 9
ECT_0 = 0b10
_ECN_BITS = 2
_UDP_SEGMENT = 103
_NO_CHECKSUMS = errno.EIO
"""Of a device that computes none itself. Source: Linux v6.1, net/ipv4/udp.c (udp_send_skb)."""
_NO_SEGMENTS = errno.ENOPROTOOPT
"""Of a kernel before them."""
_HEADERS_BYTES = {socket.AF_INET: 28, socket.AF_INET6: 48}
"""IPv4 20 or IPv6 40, UDP 8."""
_DATAGRAM_BYTES_MAX = 65_507
_SEGMENTS_MAX = 64
_BUFFER_BYTES = 131_072
"""Of a socket: so little waits on this host that its own queue has no reason to mark (CoDel: 5 ms)."""
_SENDERS_MAX = 4
_DSCP_MAX = 63
_MTU_BYTES_MIN, _MTU_BYTES_MAX = 576, 65_535


def open_socket(address: str, dscp: int) -> socket.socket:
    """A UDP socket to an address of IPv4 or IPv6 whose packets have this DSCP and may be marked."""
    made = ip_socket(address, socket.SOCK_DGRAM, dscp << _ECN_BITS | ECT_0)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _BUFFER_BYTES)
    return made


def send_until(address: "tuple[str, int]", dscp: int, mtu_bytes: int, end_ns: int) -> "tuple[int, int]":
    """Send packets as large as fit until the clock says so, once at least; packets, and their bytes."""
    with open_socket(address[0], dscp) as opened:
        payload_bytes = mtu_bytes - _HEADERS_BYTES[opened.family]
        segments = _first(opened, address, payload_bytes)
        content = bytes(payload_bytes * segments)
        packets = segments
        while time.monotonic_ns() < end_ns:
            opened.sendto(content, address)
            packets += segments
    return packets, packets * mtu_bytes


def _first(opened: socket.socket, address: "tuple[str, int]", payload_bytes: int) -> int:
    """Send many packets by one call, or one where kernel or device cannot; how many."""
    segments = min(_SEGMENTS_MAX, _DATAGRAM_BYTES_MAX // payload_bytes)
    try:
        opened.setsockopt(socket.IPPROTO_UDP, _UDP_SEGMENT, payload_bytes)
        opened.sendto(bytes(payload_bytes * segments), address)
    except OSError as error:
        if error.errno == _NO_CHECKSUMS:
            opened.setsockopt(socket.IPPROTO_UDP, _UDP_SEGMENT, 0)
        elif error.errno != _NO_SEGMENTS:
            raise
        opened.sendto(bytes(payload_bytes), address)
        return 1
    return segments


def flood(arguments: Sequence[str]) -> int:
    """Send, and print a line of JSON: packets, bytes, seconds."""
    asked = _parse(arguments)
    senders = min(_SENDERS_MAX, len(os.sched_getaffinity(0)))
    begin_ns = time.monotonic_ns()
    end_ns = begin_ns + int(asked.seconds * 1e9)
    with ThreadPoolExecutor(senders) as pool:
        sent = [
            pool.submit(send_until, (asked.address, DISCARD_PORT), asked.dscp, asked.mtu, end_ns)
            for _ in range(senders)
        ]
        packets, size_bytes = (sum(values) for values in zip(*(each.result() for each in sent)))  # noqa: B905
    took_s = (time.monotonic_ns() - begin_ns) / 1e9
    sys.stdout.write(json.dumps({"packets": packets, "bytes": size_bytes, "seconds": took_s}) + "\n")
    return 0


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser("rogue-agent.pyz flood")
    parser.add_argument("address")
    parser.add_argument("--dscp", type=_between(0, _DSCP_MAX), required=True)
    parser.add_argument(
        "--mtu", type=_between(_MTU_BYTES_MIN, _MTU_BYTES_MAX), required=True, metavar="BYTES"
    )
    parser.add_argument("--seconds", type=float, default=1.0)
    return parser.parse_args(arguments)


def _between(least: int, most: int) -> "Callable[[str], int]":
    def checked(word: str) -> int:
        if not (word.isascii() and word.isdigit() and least <= int(word[:10]) <= most):
            raise argparse.ArgumentTypeError(f"got {word[:20]}, expected {least} to {most}")
        return int(word)

    return checked
