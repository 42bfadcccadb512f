"""Two queue pairs of the same hosts are marked at the same time: each of them draws a CNP."""

from collections.abc import Iterator

from rogue.harness.conformance.check import FLOW, Check, Reading, at_least, event, exactly
from rogue.harness.conformance.trace import DATA, Trace
from rogue.simulator import NicProfile

MARKED = 4


def read(trace: Trace, nic: NicProfile | None) -> Iterator[Reading]:
    """Read the CNPs of a flow with marks."""
    if not any(packet.is_marked for packet in trace.arrived_of(*DATA)):
        return
    shares = nic is not None and nic.cnp_scope != "per_qp"
    profile = exactly(0) if shares else None
    yield Reading("CNPs of each marked flow", len(trace.of_kind("cnp")), at_least(1), profile)


CHECK = Check(
    title="CNPs of two queue pairs",
    group="congestion",
    requires="The least time between CNPs is that of a flow: two marked flows of a host draw a CNP each.",
    source="Zhu et al., SIGCOMM 2015 (DCQCN), section 3.1; scopes of NICs: Yu et al., SIGCOMM 2023 (Lumina)",
    settings={
        "transports": [{"name": "roce+dcqcn"}],
        "workload.connections": 2,
        "faults": [event("mark", MARKED), {**event("mark", MARKED), "flow": f"{FLOW}#1"}],
    },
    read=read,
)
