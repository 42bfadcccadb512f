"""A SEND without a posted receive draws an RNR NAK, after whose time it is repeated."""

from collections.abc import Iterator

from rogue.harness.conformance.check import Check, Reading, exactly
from rogue.harness.conformance.trace import Trace
from rogue.simulator import NicProfile


def read(trace: Trace, nic: NicProfile | None) -> Iterator[Reading]:
    """Read what follows the first RNR NAK that arrived."""
    for nak in [nak for nak in trace.arrived_of("nak") if "rnr" in nak.flags][:1]:
        again = next((packet for packet in trace.data if packet.t_ns >= nak.t_ns), None)
        yield Reading("first packet sent again", again.psn if again else None, exactly(nak.psn))
        yield Reading("RNR NAK to resend", again.t_ns - nak.t_ns if again else None, unit="ns")


CHECK = Check(
    title="SEND without a posted receive",
    group="other services and sizes",
    requires="The responder sends an RNR NAK with a time, after which the requester repeats the request.",
    source="InfiniBand Architecture, volume 1, 9.7.5.2.8 (RNR NAK)",
    settings={},
    read=read,
    unavailable="the agents post a receive for each SEND; a capture with RNR NAKs shows it",
)
