"""The times between repetitions of a packet that is lost again and again."""

from collections.abc import Iterator
from itertools import pairwise

from rogue.harness.conformance.check import Check, Reading, about_ns, allowed_timeout, event
from rogue.harness.conformance.trace import Trace
from rogue.simulator import NicProfile

TRIES = 4


def read(trace: Trace, nic: NicProfile | None) -> Iterator[Reading]:
    """Read the time before each repetition of a packet that was lost at least twice."""
    times = [packet.t_ns for packet in trace.data if packet.psn == 0]
    if len(times) <= 2 or trace.gaps or any(rewind.cause == "NAK" for rewind in trace.rewinds):
        return
    allowed = allowed_timeout(trace)
    profile = about_ns(trace.timeout_ns) if trace.timeout_ns is not None and nic else None
    for number, (before, after) in enumerate(pairwise(times), start=1):
        yield Reading(f"before retry {number}", after - before, allowed, profile, "ns")


CHECK = Check(
    title="Ladder of timeouts",
    group="timeout",
    requires="Each repetition waits for the timeout: at least 4.096 us * 2^t, at most four times that.",
    source="InfiniBand Architecture, volume 1, 9.7.6.1.3",
    settings={
        "workload.size": "1024B",
        "faults": [event("drop", 0, transmission=number) for number in range(1, TRIES + 1)],
    },
    read=read,
)
