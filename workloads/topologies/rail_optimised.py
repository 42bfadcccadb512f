"""Servers with a NIC for each GPU, and a leaf for each rail: the NICs with the same place in servers."""

from functools import cached_property
from typing import Annotated, Final, Literal, Self

from pydantic import Field, model_validator

from rogue.workloads.specification import Rate, mistake, mistakes_at
from rogue.workloads.topologies.graph import Link
from rogue.workloads.topologies.shortest_paths import ShortestPaths
from rogue.workloads.topologies.topology import Topology, check_host_count, numbered

SWITCHES_MAX: Final = 1024
RAILS_MAX: Final = 64
APART: Final = (
    "two hosts of one rail, because only spines join rails; set topology.spines, or choose other hosts"
)


class RailOptimised(Topology):
    """Servers with a NIC per GPU; NIC r of all servers of a pod is joined to the pod's leaf of rail r.

    Each NIC is a host in this model: h(server * rails + rail), so h0 to h7 belong to the first server with 8
    rails. The leaves come first (s0, s1, ...), rail by rail and pod by pod, then the spines; every leaf is
    joined to all spines. Hosts of one rail and pod have one switch between them, all others have two leaves
    and a spine. By default leaves have as many uplinks as hosts.

    With `spines: 0` the network is rail-only: one pod, and traffic between two rails is refused because
    nothing joins them. The receiver of workloads with one destination, and the probe, are then in the last
    rail.

    The model has no link between the GPUs of a server (NVLink), because a host has one link: traffic between
    two NICs of a server crosses the network. No collective operation moves data to the right rail within a
    server first; choose traffic that stays in its rail, such as a permutation with a shift of `rails`, which
    goes to the next server.

    Source: Qian et al., "Alibaba HPN: A Data Center Network for Large Language Model Training", SIGCOMM
    2024, for rails of eight NICs, there with two leaves each (`multi_plane` has such NICs); Wang et al.,
    "Rail-only: A Low-Cost High-Performance Network for Training LLMs with Trillion Parameters", arXiv
    2307.12169, for networks without spines.
    """

    kind: Literal["rail_optimised"] = "rail_optimised"
    pods: Annotated[int, Field(ge=1, le=SWITCHES_MAX)] = 1
    """How many pods, which only spines join."""
    servers_per_pod: Annotated[int, Field(ge=2, le=SWITCHES_MAX)] = 8
    """How many servers each pod has, and hosts each leaf."""
    rails: Annotated[int, Field(ge=1, le=RAILS_MAX)] = 8
    """How many NICs each server has, and leaves each pod."""
    spines: Annotated[int, Field(ge=0, le=SWITCHES_MAX)] = 8
    """How many spines, and uplinks of a leaf; 0: rails are not joined."""
    rate_bps: Rate
    """Rate of every NIC's link."""
    uplink_rate_bps: Rate | None = None
    """Rate of each link between leaf and spine; by default that of the NICs."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        hosts = self._leaves * self.servers_per_pod
        check_host_count(hosts, "servers_per_pod", "take pods or servers away")
        if not self.spines and self.pods > 1:
            found = mistake("1 with spines: 0, because only spines join pods", "lower it", f"{self.pods}")
            raise mistakes_at({"pods": found})
        if not self.spines and self.uplink_rate_bps is not None:
            found = mistake("none with spines: 0, where leaves have no uplinks", "leave it out")
            raise mistakes_at({"uplink_rate": found})
        return self

    @property
    def _leaves(self) -> int:
        return self.pods * self.rails

    def host_names(self) -> tuple[str, ...]:
        return numbered("h", self._leaves * self.servers_per_pod)

    def switch_names(self) -> tuple[str, ...]:
        return numbered("s", self._leaves + self.spines)

    def receiving_hosts(self) -> tuple[str, ...]:
        """Return all hosts; without spines those of the last rail."""
        hosts = self.host_names()
        return hosts if self.spines else hosts[self.rails - 1 :: self.rails]

    def links(self) -> tuple[Link, ...]:
        """Return hosts' links, then uplinks leaf by leaf."""
        nics = [
            Link(host, f"s{self._leaf_of(index)}", self.rate_bps, self.delay_ns)
            for index, host in enumerate(self.host_names())
        ]
        uplink_bps = self.uplink_rate_bps or self.rate_bps
        uplinks = [
            Link(f"s{leaf}", f"s{self._leaves + spine}", uplink_bps, self.delay_ns)
            for leaf in range(self._leaves)
            for spine in range(self.spines)
        ]
        return (*nics, *uplinks)

    def _leaf_of(self, host: int) -> int:
        server, rail = divmod(host, self.rails)
        return server // self.servers_per_pod * self.rails + rail

    @cached_property
    def shortest_paths(self) -> ShortestPaths:
        """Return shortest paths, with an error message about rails if there are no spines."""
        return super().shortest_paths if self.spines else ShortestPaths(self.links_of, expected=APART)
