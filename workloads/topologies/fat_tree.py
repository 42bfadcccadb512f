"""The k-ary fat tree: full bisection from equal switches."""

from typing import Annotated, Final, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from rogue.workloads.specification import Rate, mistake, mistakes_at
from rogue.workloads.topologies.link import Link
from rogue.workloads.topologies.topology import HOSTS_MAX, Topology

K_MAX: Final = 64
"""65 536 hosts."""


def _even(k: int) -> int:
    if k % 2:
        raise mistake("an even number of ports", f"write {k - 1 or 2} or {k + 1}")
    return k


class FatTree(Topology):
    """Switches of k ports in k pods: k/2 edge and k/2 aggregation switches each, (k/2)^2 cores, k^3/4 hosts.

    Hosts h0, h1, ... stand k/2 by k/2 under the edge switches s0, s1, ...; the aggregation
    switches follow, pod by pod, then the cores. The i-th aggregation switch of each pod is joined to the i-th
    k/2 cores. Between pods there are (k/2)^2 shortest paths of six links. With more hosts per edge than k/2
    the uplinks of edges are oversubscribed, and edges have more ports than k.

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
        if hosts > HOSTS_MAX:
            found = mistake(f"at most {HOSTS_MAX} hosts", "lower it, or k", f"{hosts} hosts")
            raise mistakes_at({"hosts_per_edge": found})
        return self

    @property
    def half(self) -> int:
        """Uplinks of an edge switch, and switches of each kind in a pod."""
        return self.k // 2

    @property
    def hosts_of_an_edge(self) -> int:
        """As many as uplinks, unless the network is oversubscribed."""
        return self.hosts_per_edge or self.half

    def host_names(self) -> tuple[str, ...]:
        """Edge by edge."""
        return tuple(f"h{index}" for index in range(self.k * self.half * self.hosts_of_an_edge))

    def switch_names(self) -> tuple[str, ...]:
        """Edges, aggregation switches, cores."""
        return tuple(f"s{index}" for index in range(2 * self.k * self.half + self.half**2))

    def links(self) -> tuple[Link, ...]:
        """Hosts' links, then those of each pod, then those to the cores."""
        half, edges = self.half, self.k * self.half
        below = self.hosts_of_an_edge
        ends = [(host, f"s{index // below}") for index, host in enumerate(self.host_names())]
        ends += [
            (f"s{edge}", f"s{edges + edge // half * half + way}")
            for edge in range(edges)
            for way in range(half)
        ]
        ends += [
            (f"s{edges + switch}", f"s{2 * edges + switch % half * half + way}")
            for switch in range(edges)
            for way in range(half)
        ]
        return tuple(Link(a, b, self.rate_bps, self.delay_ns) for a, b in ends)
