"""What a host's NIC is like in a cell."""

from dataclasses import replace

from rogue.simulator import PROFILES, NicProfile
from rogue.workloads.topologies import Topology


def profile_of(topology: Topology, host: str) -> NicProfile:
    """The profile that the topology names, with as many limiters for flows as it states.

    One more is never programmed: it serves what has no rate, as priority 0 does on nodes.
    """
    profile = PROFILES[topology.nic_of(host)]
    if topology.nic_limiters is None:
        return profile
    return replace(profile, limiter_scope="per_priority", limiters=topology.nic_limiters + 1)
