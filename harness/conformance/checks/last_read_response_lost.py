"""The last response to a READ is lost: only the timeout is left, and only the rest is requested."""

from collections.abc import Iterator

from rogue.harness.conformance.check import Check, Reading, allowed_timeout, event, exactly
from rogue.harness.conformance.trace import Trace
from rogue.simulator import NicProfile

LAST = 15


def read(trace: Trace, nic: NicProfile | None) -> Iterator[Reading]:
    """Read the request after a lost last response."""
    lost = [packet for packet in trace.of_kind("read_response") if packet.is_lost and "last" in packet.flags]
    for packet in lost[:1]:
        again = next((each for each in trace.of_kind("read_request") if each.t_ns > packet.t_ns), None)
        arrived = [each.t_ns for each in trace.arrived_of("read_response") if each.t_ns < packet.t_ns]
        waited_ns = again.t_ns - max(arrived, default=packet.t_ns) if again else None
        yield Reading("new request after", waited_ns, allowed_timeout(trace), unit="ns")
        yield Reading("first packet requested", again.psn if again else None, exactly(packet.psn))


CHECK = Check(
    title="Last READ response lost",
    group="READ",
    requires="The requester asks for the missing rest after its timeout.",
    source="InfiniBand Architecture, volume 1, 9.7.6.1.3",
    settings={"workload.verb": "read", "faults": [event("drop", LAST)]},
    read=read,
)
