"""A packet that never arrives: the queue pair fails after the retries that its attribute allows."""

from collections.abc import Iterator

from rogue.harness.conformance.check import Check, Reading, event, exactly
from rogue.harness.conformance.trace import Trace
from rogue.simulator import NicProfile

SENT = 20


def read(trace: Trace, nic: NicProfile | None) -> Iterator[Reading]:
    """Read how often the packet was sent, and the end of its transfer."""
    if "retry_exceeded" not in trace.statuses or trace.retry_count is None:
        return
    sent = sum(packet.psn == 0 for packet in trace.data)
    yield Reading("retries", sent - 1, exactly(trace.retry_count))
    yield Reading("status", trace.statuses[0], exactly("retry_exceeded"))


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
)
