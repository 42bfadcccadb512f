"""Named random streams: turning one mechanism on or off never re-randomises another."""

import hashlib
import random
from typing import Final

START_JITTER_NS: Final = 10_000


def random_stream(seed: int, name: str) -> random.Random:
    """The stream of one purpose; the same seed and name give the same numbers on every machine."""
    digest = hashlib.sha256(f"{seed}/{name}".encode()).digest()
    return random.Random(int.from_bytes(digest))


def start_jitter_ns(seed: int, flow_id: str) -> int:
    """When a flow starts, uniform in 0 to 10 us; without it phase effects dominate window schemes."""
    return random_stream(seed, f"start/{flow_id}").randint(0, START_JITTER_NS)
