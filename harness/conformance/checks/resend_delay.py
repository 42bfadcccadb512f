"""The time from the arrival of a NAK to the first packet that is sent again."""

from collections.abc import Iterator

from rogue.harness.conformance.check import Check, Reading, about_ns, event
from rogue.harness.conformance.trace import Trace
from rogue.simulator import NicProfile

LOST = 12
"""The sender has sent all 16 packets when the NAK arrives, so that no other packet is in the way."""


def read(trace: Trace, nic: NicProfile | None) -> Iterator[Reading]:
    """Read the delay after the first NAK."""
    for rewind in [each for each in trace.rewinds if each.cause == "NAK"][:1]:
        profile = about_ns(nic.resend_delay_ns) if nic else None
        yield Reading("NAK to first resend", rewind.since_ns, None, profile, "ns")


CHECK = Check(
    title="Time from NAK to the first resend",
    group="loss",
    requires="No specification has a bound; the profile has the NIC's delay.",
    source="NIC profile; method: Yu et al., SIGCOMM 2023 (Lumina), NACK reaction latency",
    settings={"faults": [event("drop", LOST)]},
    read=read,
    profile_fields={"NAK to first resend": "resend_delay_ns"},
)
