"""Named random streams: switching one mechanism on or off does not change the numbers of another."""

import hashlib
import random
from typing import Final

START_JITTER_NS: Final = 10_000
SOURCE_PORTS: Final = range(0xC000, 0x10000)
"""UDP source ports of RoCEv2. Source: InfiniBand Architecture, annex A17; rdma_get_udp_sport of Linux."""


def random_stream(seed: int, name: str) -> random.Random:
    """Return the stream of one purpose; the same seed and name give the same numbers on every machine."""
    digest = hashlib.sha256(f"{seed}/{name}".encode()).digest()
    return random.Random(int.from_bytes(digest))


def start_jitter_ns(seed: int, flow_id: str, most_ns: int = START_JITTER_NS) -> int:
    """Return the start of a flow, uniform from 0; without it phase effects dominate window schemes."""
    return random_stream(seed, f"start/{flow_id}").randint(0, most_ns)


def source_port(seed: int, flow_id: str) -> int:
    """Return the UDP source port of a flow's queue pair, by which hashes distinguish flows of two hosts."""
    digest = hashlib.sha256(f"{seed}/source_port/{flow_id}".encode()).digest()
    return SOURCE_PORTS[int.from_bytes(digest[:8]) % len(SOURCE_PORTS)]
