"""The least time between CNPs of a flow whose packets are all marked."""

from collections.abc import Iterator
from itertools import pairwise

from rogue.harness.conformance.check import Check, Reading, at_least, between, event
from rogue.harness.conformance.trace import Trace
from rogue.simulator import NicProfile

MARKED = 60
INTERVAL_NS = 50_000
"""Source: Zhu et al., SIGCOMM 2015, section 3.1 (NP): at most one CNP of a flow in 50 us."""

PACKETS_NS = 5_000
"""A CNP waits for the next marked packet."""


def read(trace: Trace, nic: NicProfile | None) -> Iterator[Reading]:
    """Read the shortest time between two CNPs."""
    times = [cnp.t_ns for cnp in trace.of_kind("cnp")]
    if len(times) < 2:
        return
    shortest_ns = min(after - before for before, after in pairwise(times))
    interval_ns = nic.cnp_interval_ns if nic else None
    profile = between(interval_ns, interval_ns + PACKETS_NS, "ns") if interval_ns is not None else None
    yield Reading("shortest CNP interval", shortest_ns, at_least(INTERVAL_NS, "ns"), profile, "ns")


CHECK = Check(
    title="Least time between CNPs",
    group="congestion",
    requires="The receiver sends at most one CNP of a flow in 50 us.",
    source="Zhu et al., SIGCOMM 2015 (DCQCN), section 3.1",
    settings={
        "transports": [{"name": "roce+dcqcn"}],
        "workload.size": "262144B",
        "faults": [event("mark", psn) for psn in range(MARKED)],
    },
    read=read,
    profile_fields={"shortest CNP interval": "cnp_interval_ns"},
)
