"""A lost ACK that a later one covers: nothing is sent again."""

from collections.abc import Iterator

from rogue.harness.conformance.check import Check, Reading, event, exactly
from rogue.harness.conformance.trace import Trace
from rogue.simulator import NicProfile


def read(trace: Trace, nic: NicProfile | None) -> Iterator[Reading]:
    """Read what is sent again after a lost ACK, where a later one arrived."""
    lost = [ack for ack in trace.of_kind("ack") if ack.is_lost]
    if not lost or trace.gaps or not any(ack.psn > lost[0].psn for ack in trace.arrived_of("ack")):
        return
    yield Reading("packets sent again", sum(packet.transmission > 1 for packet in trace.data), exactly(0))


CHECK = Check(
    title="Lost ACK before another one",
    group="acknowledgements",
    requires="An ACK acknowledges all earlier packets, so a later one replaces the lost one.",
    source="InfiniBand Architecture, volume 1, 9.7.5.1.2 (coalesced acknowledge messages)",
    settings={
        "workload.size": "32768B",
        "workload.verb_size": "16384B",
        "faults": [event("drop", 15, "ack")],
    },
    read=read,
)
