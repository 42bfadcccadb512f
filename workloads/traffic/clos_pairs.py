"""Each host and the one that stands in its place on the other side."""

from collections.abc import Iterable
from typing import Annotated, Literal

from pydantic import Field

from rogue.workloads.topologies.topology import HOSTS_MAX
from rogue.workloads.traffic.greedy import Greedy


class ClosPairs(Greedy):
    """Each host of the first half and the one at its place in the second half send to each other.

    With hosts that stand rack by rack, all traffic of the i-th rack goes to the i-th rack of the other half:
    of another podset in `clos`, the other rack in `two_tier`. Published are eight connections per server.

    Source: Guo et al., "RDMA over commodity Ethernet at scale", SIGCOMM 2016, section 5, figures 7 and 8.
    """

    kind: Literal["clos_pairs"] = "clos_pairs"
    pairs: Annotated[int, Field(ge=1, le=HOSTS_MAX // 2)] | None = None
    """How many hosts of the first half have a partner that they send to; by default all."""

    def hosts_min(self) -> int:
        """Two for each pair."""
        return 2 * (self.pairs or 1)

    def pairs_of(self, hosts: int) -> int:
        """Return two for each host that has a partner."""
        return 2 * min(hosts // 2, self.pairs or hosts)

    def ends(self, hosts: tuple[str, ...], seed: int) -> Iterable[tuple[str, str]]:
        """One way and the other."""
        half = (len(hosts) + 1) // 2
        pairs = list(zip(hosts[:half], hosts[half:], strict=False))[: self.pairs]
        return [ends for a, b in pairs for ends in ((a, b), (b, a))]
