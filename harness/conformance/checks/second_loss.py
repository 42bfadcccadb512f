"""Two packets are lost before an ACK: the requester answers the second NAK like the first."""

from collections.abc import Iterator

from rogue.harness.conformance.check import Check, Reading, about_ns, allowed_timeout, at_most, event
from rogue.harness.conformance.trace import Trace
from rogue.simulator import NicProfile

LOST, LOST_THEN = 4, 8


def read(trace: Trace, nic: NicProfile | None) -> Iterator[Reading]:
    """Read how long the requester waits after the second of two NAKs without an ACK between them."""
    naks = [nak for gap in trace.gaps for nak in trace.naks_of(gap)][:2] if trace.is_reliable_write else []
    if len(naks) < 2 or naks[0].psn >= naks[1].psn or trace.timeout_ns is None:
        return
    acked = any(naks[0].t_ns <= ack.t_ns <= naks[1].t_ns for ack in trace.of_kind("ack"))
    again = [packet for packet in trace.data if packet.psn == naks[1].psn and packet.t_ns > naks[1].t_ns]
    if acked or not again:
        return
    waits = nic is not None and nic.retry_rules.ignores_naks
    profile = about_ns(trace.timeout_ns) if waits else None
    waited_ns = again[0].t_ns - naks[1].t_ns
    soon, timeout = at_most(trace.timeout_ns / 2, "ns"), allowed_timeout(trace)
    yield Reading("resend after the second NAK", waited_ns, soon, profile, "ns", ruled=timeout)


CHECK = Check(
    title="Two packets lost before an ACK",
    group="loss",
    requires="The requester goes back to the packet in each NAK, also before an ACK follows the first one.",
    source="InfiniBand Architecture, volume 1, 9.7.6 (requester: receiving responses)",
    settings={"faults": [event("drop", LOST), event("drop", LOST_THEN, transmission=2)]},
    read=read,
    profile_fields={"resend after the second NAK": "ignores_naks"},
)
