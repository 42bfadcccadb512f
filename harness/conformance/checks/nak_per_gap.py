"""A lost packet draws one NAK, which has the number of the lost packet."""

from collections.abc import Iterator

from rogue.harness.conformance.check import Check, Reading, event, exactly
from rogue.harness.conformance.trace import Trace
from rogue.simulator import NicProfile

LOST = 4


def read(trace: Trace, nic: NicProfile | None) -> Iterator[Reading]:
    """Read the NAKs of the first gap."""
    for gap in trace.gaps[:1] if trace.is_reliable_write else ():
        naks = trace.naks_of(gap)
        yield Reading("NAKs for the gap", len(naks), exactly(1))
        number = naks[0].psn if naks else None
        yield Reading("number in the NAK", number, exactly(gap.psn))


CHECK = Check(
    title="NAK for a lost packet",
    group="loss",
    requires="The responder sends one NAK (PSN sequence error) for a gap, with the number that it expects.",
    source="InfiniBand Architecture, volume 1, 9.7.5.2 (NAK) and 9.7.5.1",
    settings={"faults": [event("drop", LOST)]},
    read=read,
)
