"""Functions for plug-ins to add traffic, sizes and networks, called when their file is loaded."""

from rogue.workloads.flow_sizes import FLOW_SIZES, FlowSizes
from rogue.workloads.registration import add, check_class
from rogue.workloads.specification import Specification
from rogue.workloads.topologies import TOPOLOGIES, Topology
from rogue.workloads.traffic import WORKLOADS, Workload

__all__ = ["register_flow_sizes", "register_topology", "register_workload"]


def register_workload(workload: type[Workload]) -> None:
    """Let experiments name a workload by its `kind`."""
    check_class("workload", workload, Workload)
    add("workload", _kind_of("workload", workload), workload, WORKLOADS)


def register_topology(topology: type[Topology]) -> None:
    """Let experiments name a topology by its `kind`."""
    check_class("topology", topology, Topology)
    add("topology", _kind_of("topology", topology), topology, TOPOLOGIES)


def register_flow_sizes(name: str, sizes: FlowSizes) -> None:
    """Let `sizes` of a workload name a distribution."""
    if not isinstance(sizes, FlowSizes):
        raise ValueError(f"{sizes!r} as flow sizes, expected FlowSizes(meaning, source, points)")
    add("distribution", name, sizes, FLOW_SIZES)


def _kind_of(what: str, entry: type[Specification]) -> str:
    kind = entry.model_fields["kind"].default
    if not isinstance(kind, str):
        advice = 'expected kind: Literal["my-name"] = "my-name" in the class'
        raise ValueError(f"{entry.__name__}, a {what} without a kind, {advice}")
    return kind
