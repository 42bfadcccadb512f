"""A lost NAK: the responder does not repeat it, so only the timeout is left."""

from collections.abc import Iterator

from rogue.harness.conformance.check import Check, Reading, event, exactly
from rogue.harness.conformance.trace import Trace
from rogue.simulator import NicProfile

LOST = 4


def read(trace: Trace, nic: NicProfile | None) -> Iterator[Reading]:
    """Read the NAKs of a gap whose NAK was lost, and what ended it."""
    for gap in trace.gaps[:1]:
        naks = trace.naks_of(gap)
        rewind = next((each for each in trace.rewinds if gap.psn in each.resent), None)
        if naks and naks[0].is_lost:
            yield Reading("NAKs for the gap", len(naks), exactly(1))
            yield Reading("recovery by", rewind.cause if rewind else None, exactly("timeout"))


CHECK = Check(
    title="Lost NAK",
    group="loss",
    requires="The responder does not repeat a NAK for the same gap: the timeout of the requester recovers.",
    source="InfiniBand Architecture, volume 1, 9.7.5.2 and 9.7.6.1.3",
    settings={"faults": [event("drop", LOST), event("drop", LOST, "nak")]},
    read=read,
)
