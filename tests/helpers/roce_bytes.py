"""RoCEv2 frames built byte by byte."""

import struct

from rogue.agent.node.roce_frames import icrc

UDP_PORT, ROCE_PORT = 50_000, 4791
ETHERNET = bytes.fromhex("020000000002020000000001")
IPV6_ADDRESSES = bytes.fromhex("fd00" + "00" * 13 + "01" + "fd00" + "00" * 13 + "02")


def transport(
    opcode: int, *, psn: int = 7, extension: bytes = b"", payload: bytes = b"", ack_request: bool = False
) -> bytes:
    """Return BTH, further headers and padded payload, without the ICRC."""
    padding = -len(payload) % 4
    bth = struct.pack(">BBHII", opcode, padding << 4, 0xFFFF, 17, ack_request << 31 | psn)
    return bth + extension + payload + bytes(padding)


def ipv4(
    content: bytes, *, tos: int = 0, options: bytes = b"", port: int = ROCE_PORT, fragment: int = 0
) -> bytes:
    """Return an IPv4 packet with its ICRC."""
    length = 20 + len(options) + 8 + len(content) + 4
    head = struct.pack(">BBHHHBBH", 0x45 + len(options) // 4, tos, length, 1, fragment, 64, 17, 0)
    udp = struct.pack(">HHHH", UDP_PORT, port, length - 20 - len(options), 0)
    packet = head + bytes((10, 0, 0, 1, 10, 0, 0, 2)) + options + udp + content
    return packet + icrc(packet, 20 + len(options))


def ipv6(content: bytes, *, traffic_class: int = 0, following: int = 17, options: bytes = b"") -> bytes:
    """Return an IPv6 packet with its ICRC."""
    length = len(options) + 8 + len(content) + 4
    head = struct.pack(">IHBB", 6 << 28 | traffic_class << 20 | 0x12345, length, following, 64)
    udp = struct.pack(">HHHH", UDP_PORT, ROCE_PORT, length - len(options), 0)
    packet = head + IPV6_ADDRESSES + options + udp + content
    return packet + icrc(packet, 40 + len(options))


def frame_of(packet: bytes, tags: bytes = b"") -> bytes:
    """Return the Ethernet frame of an IP packet."""
    kind = 0x0800 if packet[0] >> 4 == 4 else 0x86DD
    return ETHERNET + tags + kind.to_bytes(2, "big") + packet


RETH = struct.pack(">QII", 0x1000, 99, 100_000)
WRITE = transport(0x06, psn=0xFFFFFF, extension=RETH, payload=bytes(1024), ack_request=True)


def aeth(syndrome: int) -> bytes:
    """Return the header of an acknowledgement."""
    return struct.pack(">I", syndrome << 24 | 5)
