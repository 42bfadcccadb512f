"""Over UC a message with a lost first, middle or last packet is lost, and nothing is repeated."""

from collections.abc import Iterator

from rogue.harness.conformance.check import Check, Reading, event, exactly
from rogue.harness.conformance.trace import Trace
from rogue.simulator import NicProfile

MESSAGE_BYTES = 16384
FIRST, MIDDLE, LAST = 0, 16 + 4, 32 + 15


def read(trace: Trace, nic: NicProfile | None) -> Iterator[Reading]:
    """Read replies, repetitions, and how many messages arrived."""
    if trace.service != "uc":
        return
    yield Reading("ACKs and NAKs", len(trace.of_kind("ack", "nak")), exactly(0))
    yield Reading("packets sent again", sum(packet.transmission > 1 for packet in trace.data), exactly(0))
    if trace.delivered_bytes is not None:
        yield Reading("delivered messages", trace.delivered_bytes / MESSAGE_BYTES, exactly(1))


CHECK = Check(
    title="UC: first, middle and last packet lost",
    group="other services and sizes",
    requires="A message that lacks a packet is dropped whole, without a reply; the next message is received.",
    source="InfiniBand Architecture, volume 1, 9.8.3 (unreliable service)",
    settings={
        "transports": [{"name": "roce-uc"}],
        "workload": {"kind": "ping", "size": f"{MESSAGE_BYTES}B", "verb": "write", "count": 4},
        "measure": ["packets", "throughput"],
        "faults": [event("drop", FIRST), event("drop", MIDDLE), event("drop", LAST)],
    },
    read=read,
)
