"""A chain of three switches that all traffic leaves at its end."""

from typing import Final, Literal

from rogue.workloads.specification import Rate
from rogue.workloads.topologies.link import Link
from rogue.workloads.topologies.topology import Topology

SWITCH_OF_HOST: Final = ("s0", "s0", "s1", "s2", "s2", "s2")
"""Two senders, then one, then one with the prober and the receiver beside it."""
CHAIN: Final = (("s0", "s1"), ("s1", "s2"))


class ParkingLot(Topology):
    """Three switches in a row with hosts h0, h1 on the first, h2 on the second, h3, h4, h5 on the third.

    Four senders h0 to h3 meet on their way to h5: the flows cross three, two or one congested links.
    The probing host h4 is a neighbour of the receiver.

    Source: RoGUE, figure 13 and section 5.5; the paper gives the number of congested links only.
    """

    kind: Literal["parking_lot"] = "parking_lot"
    rate_bps: Rate
    """Rate of every link, between switches too."""

    def host_names(self) -> tuple[str, ...]:
        """h0 to h5."""
        return tuple(f"h{index}" for index in range(len(SWITCH_OF_HOST)))

    def switch_names(self) -> tuple[str, ...]:
        """s0, s1, s2."""
        return ("s0", "s1", "s2")

    def links(self) -> tuple[Link, ...]:
        """One link per host, and the two of the chain."""
        ends = (*zip(self.host_names(), SWITCH_OF_HOST, strict=True), *CHAIN)
        return tuple(Link(a, b, self.rate_bps, self.delay_ns) for a, b in ends)
