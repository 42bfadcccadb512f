"""Which limiter an end of a flow uses, and whether the nodes have enough of them, said before the run."""

from collections.abc import Iterator, Mapping
from typing import Final

from rogue.agent.core.transports import TRANSPORTS
from rogue.agent.node.messages import Capabilities
from rogue.harness.cell.carrier import PlannedFlow
from rogue.harness.cell.cell import Cell
from rogue.harness.cell.mistakes import ParameterError
from rogue.harness.cell.parameters import agent_settings
from rogue.harness.provisioning.inventory import HostVariables, Inventory
from rogue.harness.testbeds.ends.limiter_classes import limiters_of, short_of
from rogue.harness.testbeds.ssh.node import Node

KINDS: Final = ("htb", "dcb")
"""Limiters that hold packets back. Provisioning prepares a node for one; its first one is taken."""
SOFTWARE: Final = "software"
"""What is left where there is none: the agent itself holds whole batches back."""
SOFTWARE_BATCH_NS_MIN: Final = 10_000_000
"""A batch leaves at line rate, and the agent may wake up a millisecond late: a tenth of this."""


def limiter_kind(node: Capabilities, interface: str) -> str:
    """The kind of limiter that a node offers on an interface."""
    return next((kind for kind in KINDS if f"{kind}:{interface}" in node.limiters), SOFTWARE)


def limiter_of(node: Node) -> str:
    """The kind of rate limiter that a node offers on its experiment interface."""
    return limiter_kind(node.capabilities, interface_of(node.capabilities, node.host.variables))


def interface_of(node: Capabilities, variables: HostVariables) -> str:
    """The experiment interface: as the inventory calls it, else that of the RDMA port with the address."""
    own = (port for port in node.ports if port.get("address") == str(variables.experiment_address))
    return variables.experiment_interface or next((str(port["netdev"]) for port in own), "")


def missing_limiters(cell: Cell, inventory: Inventory, nodes: Mapping[str, Capabilities]) -> str | None:
    """The first host that cannot pace what it sends, as a reason; None if every host can."""
    interfaces = {
        host.name: interface_of(nodes[host.name], host.variables)
        for host in inventory.hosts
        if host.name in nodes
    }
    paced: dict[str, list[PlannedFlow]] = {}
    for planned, batch_ns in _limited_flows(cell):
        flow, host = planned.flow, planned.flow.source
        if limiter_kind(nodes[host], interfaces[host]) != SOFTWARE:
            paced.setdefault(host, []).append(planned)
            continue
        lacks = f"{host} has neither htb nor dcb on {interfaces[host]}: provision it"
        if flow.verb == "read":
            return f"{lacks}; no software can hold back its responses to READs"
        if batch_ns < SOFTWARE_BATCH_NS_MIN:
            return (
                f"{lacks}; holding back whole batches is too coarse where one takes {batch_ns / 1e6:.2g} ms, "
                f"less than {SOFTWARE_BATCH_NS_MIN / 1e6:g} ms"
            )
    limiters = limiters_of(cell.topology)
    return next(
        (reason for host, flows in paced.items() if (reason := short_of(host, flows, limiters))), None
    )


def _limited_flows(cell: Cell) -> Iterator[tuple[PlannedFlow, int]]:
    """Flows that have rates, with the time of a batch at line rate; other checks report wrong parameters."""
    for group in cell.groups:
        for flow in group.flows if group.transport.base in TRANSPORTS else ():
            rate_bps = cell.topology.host_rate_bps(flow.source)
            try:
                settings = agent_settings(group.transport.base, rate_bps, group.parameters)
            except ParameterError:
                return
            if settings.estimator is not None:
                yield PlannedFlow(group, flow), settings.segment_bytes * 8 * 10**9 // rate_bps
