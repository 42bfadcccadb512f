"""Over UC a message with a lost first, middle or last packet is lost, and nothing is repeated."""

from collections.abc import Iterator

from rogue.harness.conformance.check import Check, Reading, event, exactly
from rogue.harness.conformance.trace import Trace
from rogue.simulator import NicProfile

FIRST, MIDDLE, LAST = 0, 16 + 4, 32 + 15


def read(trace: Trace, nic: NicProfile | None) -> Iterator[Reading]:
    """Read replies, repetitions, and which messages arrived."""
    if trace.service != "uc":
        return
    yield Reading("ACKs and NAKs", len(trace.of_kind("ack", "nak")), exactly(0))
    yield Reading("packets sent again", sum(packet.transmission > 1 for packet in trace.data), exactly(0))
    if trace.statuses:
        expected = "dropped, dropped, dropped, ok"
        yield Reading("messages", ", ".join(trace.statuses), exactly(expected))


CHECK = Check(
    title="UC: first, middle and last packet lost",
    group="other services and sizes",
    requires="A message that lacks a packet is dropped whole, without a reply; the next message is received.",
    source="InfiniBand Architecture, volume 1, 9.8.3 (unreliable service)",
    settings={
        "transports": [{"name": "roce-uc"}],
        "workload": {"kind": "ping", "size": "16384B", "verb": "write", "count": 4},
        "faults": [event("drop", FIRST), event("drop", MIDDLE), event("drop", LAST)],
    },
    read=read,
)
