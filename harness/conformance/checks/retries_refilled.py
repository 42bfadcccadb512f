"""A NAK that acknowledges packets may refill the retries, or only one that ends a message."""

from collections.abc import Iterator

from rogue.harness.conformance.check import Check, Reading, event, exactly
from rogue.harness.conformance.checks.retries_exhausted import FAILED
from rogue.harness.conformance.trace import Trace
from rogue.simulator import NicProfile

LOST, LOST_THEN = 4, 8


def read(trace: Trace, nic: NicProfile | None) -> Iterator[Reading]:
    """Read whether a message with two losses and one retry completes."""
    lost = {packet.psn for packet in trace.data if packet.is_lost}
    if trace.is_reliable_write and trace.statuses and lost == {LOST, LOST_THEN}:
        profile = None
        if nic is not None:
            profile = exactly(FAILED if nic.retry_rules.refills_per_verb else "ok")
        yield Reading("completion", trace.statuses[0], None, profile, ruled=exactly(FAILED))


CHECK = Check(
    title="Two packets lost with one retry",
    group="timeout",
    requires="The retries are refilled when a request is acknowledged: a packet, or a whole message.",
    source="InfiniBand Architecture, volume 1, 9.9.2.1.1 and 9.7.5.1.2",
    settings={
        "faults": [event("drop", LOST), event("drop", LOST_THEN, transmission=2)],
        "transports": [{"name": "roce", "label": "roce", "timeout_exponent": 14, "retry_count": 1}],
    },
    read=read,
    profile_fields={"completion": "refills_per_verb"},
)
