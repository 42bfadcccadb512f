"""Datagrams in another's name, as packets of RoCEv2 made by hand: run as root on a node, orders on its input.

Their addresses, queue pairs and keys are the true ones of a side channel, or whatever an order says. Sources:
InfiniBand Architecture Specification, volume 1, 9.2, 9.3.2, 7.8.1 (BTH, DETH, ICRC); annex A17 (RoCEv2).
"""

import json
import socket
import struct
import sys
import time
import zlib
from typing import Any

PORT = 4791
UD_SEND_ONLY = 0x64
PAUSE_S = 0.02
"""A side channel has 48 receives, which an emulated node takes its time to post again."""
_PKEY = 0xFFFF
_MASK = b"\xff"


def packet(order: dict[str, Any], number: int) -> bytes:
    """One datagram with all its headers."""
    payload = bytes.fromhex(order["payload"])
    pad = -len(payload) % 4
    transport = struct.pack("!BBHI", UD_SEND_ONLY, pad << 4, _PKEY, order["to_qp_num"])
    transport += struct.pack("!I", number) + struct.pack("!II", order["qkey"], order["from_qp_num"])
    body = transport + payload + bytes(pad)
    length = 8 + len(body) + 4
    udp = struct.pack("!HHHH", 0xC000 + number % 1000, PORT, length, 0)
    addresses = socket.inet_aton(order["source"]) + socket.inet_aton(order["destination"])
    header = struct.pack("!BBHHHBBH", 0x45, 0, 20 + length, 1 + number, 0x4000, 64, socket.IPPROTO_UDP, 0)
    return header + addresses + udp + body + icrc(header + addresses, udp, body)


def icrc(header: bytes, udp: bytes, body: bytes) -> bytes:
    """Checksum of what no router changes: what one may change counts as ones."""
    fixed_header = header[:1] + _MASK + header[2:8] + _MASK + header[9:10] + 2 * _MASK + header[12:]
    fixed_body = body[:4] + _MASK + body[5:]
    return struct.pack("<I", zlib.crc32(8 * _MASK + fixed_header + udp[:6] + 2 * _MASK + fixed_body))


def main() -> None:
    """Send everything that is ordered."""
    with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW) as raw:
        for number, order in enumerate(json.loads(sys.argv[1])):
            raw.sendto(packet(order, number), (order["destination"], 0))
            time.sleep(PAUSE_S)
    sys.stdout.write("sent\n")


if __name__ == "__main__":
    main()
