"""A packet that comes behind a later one counts as lost."""

from collections.abc import Iterator

from rogue.harness.conformance.check import Check, Reading, event, exactly
from rogue.harness.conformance.trace import Trace
from rogue.simulator import NicProfile

LATE, OVERTAKEN_BY = 4, 8
"""The packet comes late enough for a NAK that takes some microseconds."""


def read(trace: Trace, nic: NicProfile | None) -> Iterator[Reading]:
    """Read the reply to a gap whose packet was late, and not lost."""
    if not trace.is_reliable_write:
        return
    firsts = {packet.psn for packet in trace.data if packet.transmission == 1 and not packet.is_lost}
    corrupt = {packet.psn for packet in trace.discarded}
    for gap in [gap for gap in trace.gaps if gap.psn in firsts - corrupt][:1]:
        yield Reading("NAKs for the gap", len(trace.naks_of(gap)), exactly(1))
        rewind = next((each for each in trace.rewinds if each.cause == "NAK"), None)
        yield Reading("first packet sent again", rewind.packet.psn if rewind else None, exactly(gap.psn))


CHECK = Check(
    title="Reordered packet",
    group="loss",
    requires="A responder accepts packets in order only: a late packet counts as lost, and draws a NAK.",
    source="InfiniBand Architecture, volume 1, 9.7.4 (responder: receiving requests) and 9.7.5.2",
    settings={"faults": [{**event("reorder", LATE), "amount": OVERTAKEN_BY}]},
    read=read,
)
