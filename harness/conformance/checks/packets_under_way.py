"""The number of packets that a requester sends before it waits for an ACK."""

from collections.abc import Iterator

from rogue.harness.conformance.check import Check, Reading, exactly
from rogue.harness.conformance.trace import Trace
from rogue.simulator import NicProfile

PACKETS = 512
"""They take 0.46 ms at 10 Gb/s, and the first ACK comes after 0.86 ms."""


def read(trace: Trace, nic: NicProfile | None) -> Iterator[Reading]:
    """Read how many packets leave before the first ACK; 0 if the message ends before a limit shows."""
    acks = trace.arrived_of("ack")
    if not trace.is_reliable_write or trace.gaps or not acks:
        return
    before = [packet for packet in trace.data if packet.t_ns < acks[0].t_ns]
    if not before or 2 * (acks[0].t_ns - before[-1].t_ns) < before[-1].t_ns - before[0].t_ns:
        return  # the ACK came while packets were leaving
    if len(before) == len(trace.data) and len(before) < PACKETS:
        return
    limit = 0 if len(before) == len(trace.data) else len(before)
    yield Reading("limit", limit, None, exactly(nic.unacknowledged_packets_max) if nic else None)


CHECK = Check(
    title="Packets under way",
    group="acknowledgements",
    requires="A NIC may limit the packets that wait for an ACK; 0 stands for none within 512 packets.",
    source="InfiniBand Architecture, volume 1, 9.7.2 (at most 2^23 outstanding PSNs)",
    settings={"workload.size": f"{PACKETS * 1024}B", "topology.delay": "200us"},
    read=read,
    profile_fields={"limit": "unacknowledged_packets_max"},
)
