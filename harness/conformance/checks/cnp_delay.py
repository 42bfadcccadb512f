"""A marked packet draws one CNP, after the NIC's delay."""

from collections.abc import Iterator

from rogue.harness.conformance.check import Check, Reading, about_ns, event, exactly
from rogue.harness.conformance.trace import Trace
from rogue.simulator import NicProfile


def read(trace: Trace, nic: NicProfile | None) -> Iterator[Reading]:
    """Read the CNPs after a single mark."""
    marked = [packet for packet in trace.arrived_of("write", "send", "read_response") if packet.is_marked]
    if len(marked) != 1:
        return
    cnps = [cnp for cnp in trace.of_kind("cnp") if cnp.t_ns >= marked[0].t_ns]
    yield Reading("CNPs for one mark", len(cnps), exactly(1))
    profile = about_ns(nic.cnp_delay_ns) if nic else None
    yield Reading("mark to CNP", cnps[0].t_ns - marked[0].t_ns if cnps else None, None, profile, "ns")


CHECK = Check(
    title="Mark to CNP",
    group="congestion",
    requires="The receiver of a packet with congestion experienced sends a CNP; the profile has its delay.",
    source="annex A17, 17.9 (RoCEv2 congestion management); Zhu et al., SIGCOMM 2015, section 3.1 (NP)",
    settings={"transports": [{"name": "roce+dcqcn"}], "faults": [event("mark", 4)]},
    read=read,
    profile_fields={"mark to CNP": "cnp_delay_ns"},
)
