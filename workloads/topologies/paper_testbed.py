"""The testbed of the RoGUE paper: two racks behind a core."""

from typing import Final, Literal

from rogue.workloads.specification import Rate
from rogue.workloads.topologies.link import Link
from rogue.workloads.topologies.topology import Topology

HOSTS_PER_RACK: Final = 16
RACKS: Final = ("s0", "s1")
CORE: Final = "s2"


class PaperTestbed(Topology):
    """Two racks of 16 hosts, each rack switch (s0, s1) with one uplink to the core (s2).

    Receiver and prober stand in the first rack, and senders are taken from it first: the published incasts
    stay within one rack as long as they fit.

    Source: RoGUE, section 4.
    """

    kind: Literal["paper_testbed"] = "paper_testbed"
    rate_bps: Rate = 10_000_000_000
    """Rate of every host's link."""
    uplink_rate_bps: Rate = 40_000_000_000
    """Rate of each rack's link to the core."""

    def host_names(self) -> tuple[str, ...]:
        """h0 to h15 in the first rack, h16 to h31 in the second."""
        return tuple(f"h{index}" for index in range(HOSTS_PER_RACK * len(RACKS)))

    def receiving_hosts(self) -> tuple[str, ...]:
        """The first rack."""
        return self.host_names()[:HOSTS_PER_RACK]

    def switch_names(self) -> tuple[str, ...]:
        """The racks' switches and the core."""
        return (*RACKS, CORE)

    def links(self) -> tuple[Link, ...]:
        """One link per host, and the two uplinks."""
        hosts = [
            Link(host, RACKS[index // HOSTS_PER_RACK], self.rate_bps, self.delay_ns)
            for index, host in enumerate(self.host_names())
        ]
        return (*hosts, *(Link(rack, CORE, self.uplink_rate_bps, self.delay_ns) for rack in RACKS))
