"""The last packet of a message is lost: nothing reveals it, so the timeout recovers."""

from collections.abc import Iterator

from rogue.harness.conformance.check import Check, Reading, about_ns, allowed_timeout, event, exactly
from rogue.harness.conformance.trace import Trace
from rogue.simulator import NicProfile

LAST = 15


def read(trace: Trace, nic: NicProfile | None) -> Iterator[Reading]:
    """Read the first recovery without a NAK."""
    if not trace.is_reliable_write:
        return
    lost = [packet for packet in trace.data if packet.is_lost and "last" in packet.flags]
    if trace.timeout_ns is not None and not lost:
        return
    rewinds = [rewind for rewind in trace.rewinds if lost or rewind.cause == "timeout"]
    if lost and not rewinds:
        yield Reading("recovery by", None, exactly("timeout"))
    for rewind in rewinds[:1]:
        yield Reading("recovery by", rewind.cause, exactly("timeout"))
        profile = about_ns(trace.timeout_ns) if trace.timeout_ns is not None and nic else None
        yield Reading("timeout", rewind.since_ns, allowed_timeout(trace), profile, "ns")


CHECK = Check(
    title="Last packet lost",
    group="timeout",
    requires="The requester sends again after its timeout: at least 4.096 us * 2^t, at most four times that.",
    source="InfiniBand Architecture, volume 1, 9.7.6.1.3",
    settings={"faults": [event("drop", LAST)]},
    read=read,
)
