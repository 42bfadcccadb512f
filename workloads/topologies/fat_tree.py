"""The k-ary fat tree, whole or with missing and slow links."""

from collections import Counter
from functools import cached_property
from typing import Annotated, Final, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from rogue.workloads.specification import Rate, mistake, mistakes_at
from rogue.workloads.streams import random_stream
from rogue.workloads.topologies.graph import JoinedParts, Link
from rogue.workloads.topologies.topology import Topology, check_host_count, numbered
from rogue.workloads.units import RATE

K_MAX: Final = 64
"""65 536 hosts."""


def _even(k: int) -> int:
    if k % 2:
        raise mistake("an even number of ports", f"write {k - 1 or 2} or {k + 1}")
    return k


class FatTree(Topology):
    """Switches of k ports in k pods: k/2 edge and k/2 aggregation switches each, (k/2)^2 cores, k^3/4 hosts.

    Each edge switch s0, s1, ... has k/2 hosts, numbered edge by edge. The aggregation switches follow, pod by
    pod, then the cores. The i-th aggregation switch of each pod is joined to the i-th k/2 cores. Between pods
    there are (k/2)^2 shortest paths of six links. With more than k/2 hosts per edge, the uplinks of edges are
    oversubscribed, and edges have more ports than k.

    Source: Al-Fares, Loukissas and Vahdat, SIGCOMM 2008, section 3; k = 6 in IRN, section 4.1.
    """

    kind: Literal["fat_tree"] = "fat_tree"
    k: Annotated[int, Field(ge=2, le=K_MAX), AfterValidator(_even)]
    """Ports of a switch, an even number."""
    rate_bps: Rate
    """Rate of every link."""
    hosts_per_edge: Annotated[int, Field(ge=1, le=4 * K_MAX)] | None = None
    """Hosts of an edge switch, by default k/2; twice as many share its k/2 uplinks 2:1."""

    @model_validator(mode="after")
    def _check_hosts(self) -> Self:
        hosts = self.k * self.half * self.hosts_of_an_edge
        check_host_count(hosts, "hosts_per_edge", "lower it, or k")
        return self

    @property
    def half(self) -> int:
        """Return the uplinks of an edge switch, and the switches of each kind in a pod."""
        return self.k // 2

    @property
    def hosts_of_an_edge(self) -> int:
        """Return the hosts of an edge switch."""
        return self.hosts_per_edge or self.half

    def host_names(self) -> tuple[str, ...]:
        return numbered("h", self.k * self.half * self.hosts_of_an_edge)

    def switch_names(self) -> tuple[str, ...]:
        return numbered("s", 2 * self.k * self.half + self.half**2)

    def links(self) -> tuple[Link, ...]:
        """Return hosts' links, then those of each pod, then those to the cores."""
        half, edges = self.half, self.k * self.half
        ends = [(edge, edges + edge // half * half + up) for edge in range(edges) for up in range(half)]
        ends += [(edges + n, 2 * edges + n % half * half + up) for n in range(edges) for up in range(half)]
        uplinks = (Link(f"s{a}", f"s{b}", self.rate_bps, self.delay_ns) for a, b in ends)
        return (*self.host_links(self.hosts_of_an_edge, self.rate_bps), *uplinks)


LINKS_MAX: Final = K_MAX**3 // 2
"""Links between the switches of the largest fat tree."""


class DegradedFatTree(FatTree):
    """A fat tree in which some links between switches are missing, and others slow, drawn from a seed.

    Switches know the missing links and take shortest paths over the others; rates do not influence their
    choice among equal paths. Where a pod has no path of six links left, paths may go down and up again; with
    +pfc ports can then wait for each other in a loop. The topology has its own seed, so all repetitions have
    the same network. No switch loses its last link upwards or downwards.
    """

    kind: Literal["degraded_fat_tree"] = "degraded_fat_tree"  # type: ignore[assignment]
    missing_links: Annotated[int, Field(ge=0, le=LINKS_MAX)] = 0
    """How many links between switches are missing."""
    slow_links: Annotated[int, Field(ge=0, le=LINKS_MAX)] = 0
    """How many of the remaining links are slow."""
    slow_rate_bps: Rate | None = None
    """Rate of the slow ones, at most `rate`; by default a quarter of it."""
    links_seed: Annotated[int, Field(ge=0, lt=2**63)] = 1
    """Seed that draws these links."""

    @model_validator(mode="after")
    def _check_links(self) -> Self:
        between = self.k * self.half * self.half * 2
        if self.missing_links > between:
            found = mistake(f"at most {between} links, as there are between switches", "lower it")
            raise mistakes_at({"missing_links": found})
        if self.slow_links > between - self.missing_links:
            found = mistake(f"at most {between - self.missing_links} links, as are not missing", "lower it")
            raise mistakes_at({"slow_links": found})
        if self.slow_rate_bps is not None and self.slow_rate_bps > self.rate_bps:
            found = mistake(f"at most {RATE.format(self.rate_bps)}, the rate of the others", "lower it")
            raise mistakes_at({"slow_rate": found})
        missing = len(self._undegraded) - len(self._links)
        if missing < self.missing_links or not self._is_joined():
            found = mistake("links that join all switches", "lower it, or change links_seed")
            raise mistakes_at({"missing_links": found})
        return self

    def links(self) -> tuple[Link, ...]:
        return self._links

    @cached_property
    def _undegraded(self) -> tuple[Link, ...]:
        return super().links()

    @cached_property
    def _links(self) -> tuple[Link, ...]:
        whole = self._undegraded
        drawn = list(range(len(self.host_names()), len(whole)))
        random_stream(self.links_seed, "degraded links").shuffle(drawn)
        missing = self._missing(whole, drawn)
        slow = set([number for number in drawn if number not in missing][: self.slow_links])
        slow_bps = self.slow_rate_bps or max(1, self.rate_bps // 4)
        return tuple(
            Link(link.a, link.b, slow_bps, link.delay_ns) if number in slow else link
            for number, link in enumerate(whole)
            if number not in missing
        )

    def _missing(self, whole: tuple[Link, ...], drawn: list[int]) -> set[int]:
        """Return the first drawn links, but no switch's last uplink and no core's last link."""
        left = Counter(end for number in drawn for end in _counted(whole[number]))
        missing: set[int] = set()
        for number in drawn:
            if len(missing) == self.missing_links:
                break
            ends = _counted(whole[number])
            if min(left[end] for end in ends) > 1:
                left.subtract(ends)
                missing.add(number)
        return missing

    def _is_joined(self) -> bool:
        parts = JoinedParts(self._links)
        return len({parts.root(node) for node in self.nodes()}) == 1


def _counted(link: Link) -> tuple[str, str]:
    """Return the ends that must keep a link: the lower one upwards, and the upper one downwards."""
    return f"{link.a} up", f"{link.b} down"
