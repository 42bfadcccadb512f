"""The time from the packet that reveals a loss to the NAK."""

from collections.abc import Iterator

from rogue.harness.conformance.check import Check, Reading, about_ns, event
from rogue.harness.conformance.trace import Trace
from rogue.simulator import NicProfile


def read(trace: Trace, nic: NicProfile | None) -> Iterator[Reading]:
    """Read the delay of the first NAK."""
    for gap in trace.gaps[:1]:
        for nak in trace.naks_of(gap)[:1]:
            profile = about_ns(nic.nak_delay_ns) if nic else None
            yield Reading("time to NAK", nak.t_ns - gap.revealed.t_ns, None, profile, "ns")


CHECK = Check(
    title="Time to NAK",
    group="loss",
    requires="No specification has a bound; the profile has the NIC's delay.",
    source="NIC profile; method: Yu et al., SIGCOMM 2023 (Lumina), NACK generation latency",
    settings={"faults": [event("drop", 4)]},
    read=read,
    profile_fields={"time to NAK": "nak_delay_ns"},
)
