"""What every fault says: which link it strikes."""

from abc import ABC
from typing import Annotated

from pydantic import Field

from workloads.specification import Specification
from workloads.topologies.link import Link
from workloads.topologies.topology import Topology


class Fault(Specification, ABC):
    """Something that goes wrong on purpose."""

    target: Annotated[str, Field(pattern=r"^[hs][0-9]+(-[hs][0-9]+)?$")]
    """A link, both directions of it: a host, such as h1, for its link, or two neighbours, such as s0-s1."""

    def link(self, topology: Topology) -> Link | None:
        """The link that is meant; None if the topology has none such."""
        first, _, second = self.target.partition("-")
        neighbours = topology.links_of.get(first, {})
        if second:
            return neighbours.get(second)
        return next(iter(neighbours.values())) if first in topology.host_names() else None

    def is_there(self, topology: Topology) -> bool:
        """Whether the topology has what is meant."""
        return self.link(topology) is not None

    def expected_target(self, topology: Topology) -> str:
        """What a target may be."""
        last = topology.links()[-1]
        return f"a host or two neighbours of the topology, such as {last.a}-{last.b}"
