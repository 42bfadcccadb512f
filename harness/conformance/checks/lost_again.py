"""A packet that is lost twice: no second NAK for the same gap, so only the timeout is left."""

from collections.abc import Iterator

from rogue.harness.conformance.check import Check, Reading, event, exactly
from rogue.harness.conformance.trace import Trace
from rogue.simulator import NicProfile

LOST = 4


def read(trace: Trace, nic: NicProfile | None) -> Iterator[Reading]:
    """Read the NAKs of a gap whose packet was lost again, and what ended it."""
    for gap in trace.gaps[:1] if trace.is_reliable_write else ():
        again = [rewind for rewind in trace.rewinds if gap.psn in rewind.resent]
        if len(again) > 1:
            yield Reading("NAKs for the gap", len(trace.naks_of(gap)), exactly(1))
            yield Reading("second recovery by", again[1].cause, exactly("timeout"))


CHECK = Check(
    title="The same packet lost twice",
    group="loss",
    requires="The responder sends no other NAK until the missing packet arrives: the timeout recovers.",
    source="InfiniBand Architecture, volume 1, 9.7.5.2 (no further NAK until the expected PSN arrives)",
    settings={"faults": [event("drop", LOST), event("drop", LOST, transmission=2)]},
    read=read,
)
