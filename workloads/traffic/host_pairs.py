"""Transfers between pairs of hosts that follow a pattern, all at the same time."""

from abc import abstractmethod
from collections.abc import Iterable
from itertools import permutations
from typing import Annotated, Literal

from pydantic import Field

from rogue.workloads.specification import Size, Time
from rogue.workloads.streams import random_stream
from rogue.workloads.topologies.topology import HOSTS_MAX, Placement
from rogue.workloads.traffic.workload import Flow, Verb, Workload


class HostPairs(Workload):
    """Some hosts send to others as fast as they can, over one or more connections per pair."""

    size_bytes: Size
    """Payload of one transfer."""
    connections: Annotated[int, Field(ge=1, le=1024)] = 1
    """How many connections a host has to each of its destinations."""
    verb: Verb = "write"
    """How the bytes are moved."""
    repeat_for_ns: Time | None = None
    """Every connection repeats the transfer back to back for this time; by default it has one transfer."""

    @abstractmethod
    def ends(self, hosts: tuple[str, ...], seed: int) -> Iterable[tuple[str, str]]:
        """Return the pairs of source and destination."""

    @abstractmethod
    def pairs_of(self, hosts: int) -> int:
        """Return the number of pairs of source and destination."""

    def expected_connections(self, placement: Placement) -> float:
        return self.pairs_of(len(placement.hosts)) * self.connections

    def flows(self, placement: Placement, seed: int) -> tuple[Flow, ...]:
        return tuple(
            Flow(
                source=source,
                destination=destination,
                verb=self.verb,
                size_bytes=self.size_bytes,
                start_ns=0,
                count=1 if self.repeat_for_ns is None else None,
                repeat_until_ns=self.repeat_for_ns,
                number=number,
            ).with_start_jitter(seed)
            for source, destination in self.ends(placement.hosts, seed)
            for number in range(self.connections)
        )

    @property
    def duration_ns(self) -> int | None:
        return self.repeat_for_ns


class Permutation(HostPairs):
    """Every host sends to one other and receives from one other: a random assignment, or a shift.

    The traffic could fill every host's link in both directions, so all lost throughput is lost in between: to
    collisions of hashed paths, or to oversubscription.
    """

    kind: Literal["permutation"] = "permutation"
    shift: Annotated[int, Field(ge=1, lt=HOSTS_MAX)] | None = None
    """Each host sends to the host this many places later; by default the seed draws a permutation."""

    def hosts_min(self) -> int:
        return (self.shift or 1) + 1

    def pairs_of(self, hosts: int) -> int:
        return hosts

    @property
    def is_drawn(self) -> bool:
        return self.shift is None

    def ends(self, hosts: tuple[str, ...], seed: int) -> Iterable[tuple[str, str]]:
        """Return pairs by source; a drawn permutation is one cycle, so that no host sends to itself."""
        if self.shift is not None:
            return [(host, hosts[(index + self.shift) % len(hosts)]) for index, host in enumerate(hosts)]
        order = list(hosts)
        random_stream(seed, "permutation").shuffle(order)
        to = {host: order[(index + 1) % len(order)] for index, host in enumerate(order)}
        return [(host, to[host]) for host in hosts]


class AllToAll(HostPairs):
    """Every host sends a transfer to every other at the same time: a shuffle."""

    kind: Literal["all_to_all"] = "all_to_all"
    hosts: Annotated[int, Field(ge=2, le=1024)]
    """How many hosts take part."""

    def hosts_min(self) -> int:
        return self.hosts

    def pairs_of(self, hosts: int) -> int:
        return self.hosts * (self.hosts - 1)

    def ends(self, hosts: tuple[str, ...], seed: int) -> Iterable[tuple[str, str]]:
        return permutations(hosts[: self.hosts], 2)


class ClosPairs(HostPairs):
    """Each host of the first half and the one at its place in the second half send to each other.

    With hosts numbered rack by rack, all traffic of the i-th rack goes to the i-th rack of the other half:
    of another podset in `clos`, the other rack in `two_tier`. Published are eight connections per server.

    Source: Guo et al., "RDMA over commodity Ethernet at scale", SIGCOMM 2016, section 5, figures 7 and 8.
    """

    kind: Literal["clos_pairs"] = "clos_pairs"
    pairs: Annotated[int, Field(ge=1, le=HOSTS_MAX // 2)] | None = None
    """How many hosts of the first half have a partner; by default all."""

    def hosts_min(self) -> int:
        return 2 * (self.pairs or 1)

    def pairs_of(self, hosts: int) -> int:
        return 2 * min(hosts // 2, self.pairs or hosts)

    def ends(self, hosts: tuple[str, ...], seed: int) -> Iterable[tuple[str, str]]:
        half = (len(hosts) + 1) // 2
        pairs = list(zip(hosts[:half], hosts[half:], strict=False))[: self.pairs]
        return [ends for a, b in pairs for ends in ((a, b), (b, a))]
