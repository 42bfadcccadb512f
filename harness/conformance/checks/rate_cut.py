"""The first CNP halves the rate, which then recovers."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import median

from rogue.harness.conformance.check import Check, Reading, between, event
from rogue.harness.conformance.trace import Seen, Trace
from rogue.simulator import NicProfile

MARKED = 40
AVERAGED = 8
"""Packets over which a rate is averaged."""
RECOVERED = 0.95
PERIODS_NS = (4 * 45_000, 4 * 65_000)
"""Four increases half-way to the target bring half of the rate to 97 % of it. The timer has 55 us.

Source: Zhu et al., SIGCOMM 2015, section 3.1 (RP) and section 5 (timer).
"""


def _spacing_ns(packets: Sequence[Seen]) -> float:
    return median(after.t_ns - before.t_ns for before, after in pairwise(packets))


def read(trace: Trace, nic: NicProfile | None) -> Iterator[Reading]:
    """Read the rate before and after the first CNP."""
    cnps = trace.arrived_of("cnp")
    if len(cnps) != 1:
        return
    cut_ns = cnps[0].t_ns
    before = [packet for packet in trace.data if packet.t_ns < cut_ns][-AVERAGED:]
    after = [packet for packet in trace.data if packet.t_ns > cut_ns][1:]
    if min(len(before), len(after)) < AVERAGED:
        return
    usual_ns = _spacing_ns(before)
    yield Reading(
        "rate after over before", round(usual_ns / _spacing_ns(after[:AVERAGED]), 3), between(0.45, 0.55)
    )
    windows = (after[at : at + AVERAGED] for at in range(len(after) - AVERAGED))
    back = next((own[0].t_ns for own in windows if _spacing_ns(own) * RECOVERED <= usual_ns), None)
    waited_ns = None if back is None else back - cut_ns
    yield Reading("time to 95 % of the rate", waited_ns, between(*PERIODS_NS, "ns"), unit="ns")


CHECK = Check(
    title="CNP to rate cut",
    group="congestion",
    requires="The first CNP halves the rate (alpha is 1); fast recovery brings it back half-way each period.",
    source="Zhu et al., SIGCOMM 2015 (DCQCN), section 3.1",
    settings={
        "transports": [{"name": "roce+dcqcn"}],
        "workload.size": "1048576B",
        "faults": [event("mark", MARKED)],
    },
    read=read,
)
