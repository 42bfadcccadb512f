"""The number of packets for which a responder sends one ACK within a message."""

from collections.abc import Iterator
from itertools import pairwise
from statistics import median

from rogue.harness.conformance.check import Check, Reading, at_least, exactly
from rogue.harness.conformance.trace import Trace
from rogue.simulator import NicProfile

PACKETS = 256


def read(trace: Trace, nic: NicProfile | None) -> Iterator[Reading]:
    """Read the distances between ACKs of a long message without losses."""
    acks = [ack.psn for ack in trace.of_kind("ack")]
    data = trace.arrived_of("write", "send")
    highest = max((packet.psn for packet in data if "last" in packet.flags), default=-1)
    if highest + 1 < PACKETS or trace.gaps or not acks:
        return
    distances = [after - before for before, after in pairwise([-1, *acks])]
    profile = exactly(nic.ack_every_packets) if nic else None
    yield Reading("packets for an ACK", median(distances[:-1] or distances), None, profile)
    yield Reading("last packet acknowledged", max(acks), at_least(highest))


CHECK = Check(
    title="Coalesced ACKs",
    group="acknowledgements",
    requires="The last packet is acknowledged; how many packets share an ACK before is the NIC's choice.",
    source="InfiniBand Architecture, volume 1, 9.7.5.1.2 (coalesced acknowledge messages)",
    settings={"workload.size": f"{PACKETS * 1024}B"},
    read=read,
    profile_fields={"packets for an ACK": "ack_every_packets"},
)
