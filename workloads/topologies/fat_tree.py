"""The k-ary fat tree."""

from typing import Annotated, Final, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from rogue.workloads.specification import Rate, mistake
from rogue.workloads.topologies.graph import Link
from rogue.workloads.topologies.topology import Topology, check_host_count, numbered

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
