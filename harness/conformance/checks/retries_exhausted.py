"""A packet that never arrives: the queue pair fails after the retries that its attribute allows."""

from collections.abc import Iterator

from rogue.harness.conformance.check import Check, Reading, at_least, event, exactly
from rogue.harness.conformance.trace import Trace
from rogue.simulator import NicProfile

SENT = 20
FAILED = "IBV_WC_RETRY_EXC_ERR"
ENDLESS = 7
"""Retry count that some NICs take for no limit (`retry_rules` of a NIC profile)."""


def read(trace: Trace, nic: NicProfile | None) -> Iterator[Reading]:
    """Read how often the packet was sent, and the end of its transfer."""
    sent = [packet for packet in trace.data if packet.psn == 0]
    if trace.retry_count is None or not any(packet.is_lost for packet in sent):
        return
    is_endless = nic is not None and nic.retry_rules.is_endless_at_seven and trace.retry_count == ENDLESS
    profile = at_least(SENT) if is_endless else None
    retries = len(sent) - 1
    yield Reading("retries", retries, exactly(trace.retry_count), profile, ruled=at_least(SENT))
    status = trace.statuses[0] if trace.statuses else None
    yield Reading("completion", status, exactly(FAILED), exactly("ok") if is_endless else None)


CHECK = Check(
    title="Retries until the queue pair fails",
    group="timeout",
    requires="The requester repeats a packet as often as the retry count says; then the queue pair fails.",
    source="InfiniBand Architecture, volume 1, 9.9.2 (requester errors) and 9.7.6.1.3",
    settings={
        "workload.size": "1024B",
        "faults": [event("drop", 0, transmission=number) for number in range(1, SENT + 1)],
    },
    read=read,
    profile_fields={"retries": "is_endless_at_seven"},
)
