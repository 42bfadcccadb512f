"""Check that after a lost READ response the rest is requested well before the timeout (implied NAK)."""

from collections.abc import Iterator

from rogue.harness.conformance.check import (
    Check,
    Reading,
    Required,
    about_ns,
    allowed_timeout,
    at_most,
    event,
    exactly,
)
from rogue.harness.conformance.trace import Trace
from rogue.simulator import NicProfile

LOST = 4


def _profile(trace: Trace, nic: NicProfile | None) -> Required | None:
    """Return the time that the profile has: its delay, or the timeout if it does not react to the gap."""
    if nic is None:
        return None
    if nic.retry_rules.waits_at_read_gap:
        return about_ns(trace.timeout_ns) if trace.timeout_ns is not None else None
    return about_ns(nic.resend_delay_ns)


def read(trace: Trace, nic: NicProfile | None) -> Iterator[Reading]:
    """Read the request that follows a gap among the responses."""
    requests = trace.of_kind("read_request")
    for gap in trace.gaps[:1] if requests else []:
        again = next((packet for packet in requests if packet.t_ns >= gap.revealed.t_ns), None)
        waited_ns = again.t_ns - gap.revealed.t_ns if again else None
        soon = None if trace.timeout_ns is None else at_most(trace.timeout_ns / 2, "ns")
        profile = _profile(trace, nic)
        yield Reading("new request after", waited_ns, soon, profile, "ns", allowed_timeout(trace))
        yield Reading("first packet requested", again.psn if again else None, exactly(gap.psn))


CHECK = Check(
    title="Lost READ response",
    group="READ",
    requires="A later response is an implied NAK: the requester asks for the rest before any timeout.",
    source="InfiniBand Architecture, volume 1, 9.7.6.1 (validating responses, implied NAK)",
    settings={"workload.verb": "read", "faults": [event("drop", LOST)]},
    read=read,
    profile_fields={"new request after": "waits_at_read_gap"},
)
