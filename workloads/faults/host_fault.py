"""Faults that strike a host."""

from abc import ABC
from typing import Annotated

from pydantic import Field

from workloads.faults.fault import Fault
from workloads.topologies.topology import Topology


class HostFault(Fault, ABC):
    """Something that goes wrong at a host."""

    target: Annotated[str, Field(pattern=r"^h[0-9]+$")]
    """The host, such as h1."""

    def expected_target(self, topology: Topology) -> str:
        """What a target may be."""
        return f"a host of the topology, such as {topology.host_names()[-1]}"
