"""Every host sends to every other."""

from collections.abc import Iterable
from itertools import permutations
from typing import Annotated, Literal

from pydantic import Field

from rogue.workloads.traffic.greedy import Greedy


class AllToAll(Greedy):
    """Every host sends a transfer to every other at the same time: a shuffle."""

    kind: Literal["all_to_all"] = "all_to_all"
    hosts: Annotated[int, Field(ge=2, le=1024)]
    """How many hosts take part."""

    def hosts_min(self) -> int:
        """The hosts that take part."""
        return self.hosts

    def pairs_of(self, hosts: int) -> int:
        """Return the ordered pairs of the hosts that take part."""
        return self.hosts * (self.hosts - 1)

    def ends(self, hosts: tuple[str, ...], seed: int) -> Iterable[tuple[str, str]]:
        """By source."""
        return permutations(hosts[: self.hosts], 2)
