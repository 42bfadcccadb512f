"""Every host sends to one and receives from one."""

from collections.abc import Iterable
from typing import Annotated, Literal

from pydantic import Field

from rogue.workloads.streams import random_stream
from rogue.workloads.topologies.topology import HOSTS_MAX
from rogue.workloads.traffic.greedy import Greedy


class Permutation(Greedy):
    """Every host sends to one other and receives from one other: a random assignment, or a shift.

    Every host's link can be filled in both directions, so what is lost is lost in between: to collisions of
    hashed paths, or to oversubscription.
    """

    kind: Literal["permutation"] = "permutation"
    shift: Annotated[int, Field(ge=1, lt=HOSTS_MAX)] | None = None
    """Each host sends to the one so many places on; by default a permutation is drawn from the seed."""

    def hosts_min(self) -> int:
        """More than the shift."""
        return (self.shift or 1) + 1

    def pairs_of(self, hosts: int) -> int:
        """Return one pair for each host."""
        return hosts

    @property
    def is_drawn(self) -> bool:
        """Unless there is a shift."""
        return self.shift is None

    def ends(self, hosts: tuple[str, ...], seed: int) -> Iterable[tuple[str, str]]:
        """By source; drawn as one cycle through all hosts, so that no host sends to itself."""
        if self.shift is not None:
            return [(host, hosts[(index + self.shift) % len(hosts)]) for index, host in enumerate(hosts)]
        order = list(hosts)
        random_stream(seed, "permutation").shuffle(order)
        to = {host: order[(index + 1) % len(order)] for index, host in enumerate(order)}
        return [(host, to[host]) for host in hosts]
