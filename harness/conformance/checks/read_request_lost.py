"""A lost READ request is repeated with the same number after the timeout."""

from collections.abc import Iterator

from rogue.harness.conformance.check import Check, Reading, allowed_timeout, event, exactly
from rogue.harness.conformance.trace import Trace
from rogue.simulator import NicProfile


def read(trace: Trace, nic: NicProfile | None) -> Iterator[Reading]:
    """Read the repetition of the first lost request."""
    requests = trace.of_kind("read_request")
    for lost in [packet for packet in requests if packet.is_lost][:1]:
        again = next((packet for packet in requests if packet.t_ns > lost.t_ns), None)
        waited_ns = again.t_ns - lost.t_ns if again else None
        yield Reading("repetition after", waited_ns, allowed_timeout(trace), unit="ns")
        yield Reading("number of the repetition", again.psn if again else None, exactly(lost.psn))


CHECK = Check(
    title="Lost READ request",
    group="READ",
    requires="The requester repeats the request with the same number after its timeout.",
    source="InfiniBand Architecture, volume 1, 9.7.6.1.3",
    settings={"workload.verb": "read", "faults": [event("drop", 0, "read_request")]},
    read=read,
)
