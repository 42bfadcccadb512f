"""A packet that comes twice is acknowledged again, and draws no NAK."""

from collections.abc import Iterator

from rogue.harness.conformance.check import Check, Reading, at_least, event, exactly
from rogue.harness.conformance.trace import Trace
from rogue.simulator import NicProfile

TWICE = 4


def read(trace: Trace, nic: NicProfile | None) -> Iterator[Reading]:
    """Read the replies to a packet that arrived twice, but was sent once."""
    sent = {packet.psn for packet in trace.data if packet.transmission > 1}
    twice = [packet for packet in trace.arrived_of("write", "send") if packet.transmission > 1]
    for packet in [packet for packet in twice if packet.psn not in sent][:1]:
        requested = {each.psn for each in trace.data if {"ack_request", "last"} & each.flags}
        acks = [ack for ack in trace.of_kind("ack") if ack.t_ns >= packet.t_ns and ack.psn not in requested]
        yield Reading("ACKs that only the duplicate draws", len(acks), at_least(1))
        yield Reading("NAKs", len(trace.of_kind("nak")), exactly(0))
        yield Reading("packets sent again", len(sent), exactly(0))


CHECK = Check(
    title="Duplicate packet",
    group="acknowledgements",
    requires="The responder discards a duplicate WRITE, acknowledges it again, and sends no NAK.",
    source="InfiniBand Architecture, volume 1, 9.7.5.1 (duplicate requests)",
    settings={"faults": [event("duplicate", TWICE)]},
    read=read,
)
