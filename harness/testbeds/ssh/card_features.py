"""Features and limiters of cards that a transport needs."""

from collections.abc import Iterator, Mapping
from typing import Final

from rogue.agent.core.transports import TRANSPORTS
from rogue.agent.node.messages import Capabilities
from rogue.harness.cell.cell import Cell
from rogue.harness.cell.demand import PlannedFlow
from rogue.harness.provisioning.inventory import HostVariables, Inventory
from rogue.harness.testbeds.ends.roles import limiters_of, short_of_limiters
from rogue.harness.testbeds.ssh.declared_switches import missing_on_switches
from rogue.harness.testbeds.ssh.nodes import Node
from rogue.workloads.transports import TransportName

FEATURES: Final = ("dcqcn", "pfc")
"""Native RoCE alone has these. A card that pauses by DSCP has no limiters for RoGUE's flows."""
_BASE: Final = "roce"
_ON: Final = "on"
_NOT_CONTROLLABLE: Final = "not controllable"


def is_of_cards(name: TransportName) -> bool:
    """Return True if cards can have every feature in a transport's name."""
    return not name.features or (name.base == _BASE and set(name.features) <= set(FEATURES))


_BY_HAND: Final = (
    "with the inbox driver by hand: `mstconfig -d PCI set ROCE_CC_PRIO_MASK_P1={mask}`, "
    "which lasts, and a reboot"
)
"""Provisioning does not write into a card's firmware: on a node that is taken away nothing puts it back."""


def missing_features(cell: Cell, inventory: Inventory, nodes: Mapping[str, Capabilities]) -> str | None:
    """Return the first host or switch whose features differ from what a transport asks for; None if none."""
    for name in sorted({group.transport for group in cell.groups}, key=str):
        if name.base not in TRANSPORTS:
            continue
        for feature, of_hosts, of_switches in (
            ("dcqcn", _without_dcqcn, "marks"),
            ("pfc", _without_pauses, "pauses"),
        ):
            if feature in name.features:
                reason = of_hosts(name, nodes) or _missing_on_switches(cell, inventory, name, of_switches)
                if reason:
                    return reason
        if "dcqcn" not in name.features and (reason := _unwanted_dcqcn(name, inventory, nodes)):
            return reason
    return None


def _without_dcqcn(name: TransportName, nodes: Mapping[str, Capabilities]) -> str | None:
    for host, node in nodes.items():
        state = _state(node, "dcqcn")
        if state != _ON and not state.startswith(_NOT_CONTROLLABLE):
            return (
                f"{name}: DCQCN on {host}: got {state or 'nothing'}, expected on; provision with "
                f"dcqcn_state: enabled ({_BY_HAND.format(mask=255)}), or leave it out"
            )
    return None


def _without_pauses(name: TransportName, nodes: Mapping[str, Capabilities]) -> str | None:
    for host, node in nodes.items():
        if not _state(node, "paused"):
            return (
                f"{name}: {host} pauses no priority: provision with card_priorities_trust: dscp and "
                "card_priorities_paused: [3], or leave it out"
            )
    return None


def _unwanted_dcqcn(
    name: TransportName, inventory: Inventory, nodes: Mapping[str, Capabilities]
) -> str | None:
    """Return why a card reacts to a switch's marks although the transport does not ask for it."""
    switches = inventory.hardware_switches
    if not any(switch.variables.marking for switch in switches):
        return None
    for host, node in nodes.items():
        state = _state(node, "dcqcn")
        if state == _ON or state.startswith(_NOT_CONTROLLABLE):
            return (
                f"the switch marks, and the card of {host} reacts to it by itself (DCQCN is {state}), so "
                f"this would not be {name}: provision with dcqcn_state: disabled "
                f"({_BY_HAND.format(mask=0)}), or let no switch mark"
            )
    return None


def _missing_on_switches(cell: Cell, inventory: Inventory, name: TransportName, what: str) -> str | None:
    if inventory.switch is not None:
        return f"{name}: a Linux switch {what} for no card's feature: leave it out"
    return missing_on_switches(cell, inventory, str(name), what)


def _state(node: Capabilities, key: str) -> str:
    return next((str(port[key]) for port in node.ports if port.get(key) is not None), "")


KINDS: Final = ("htb", "dcb")
"""Limiters that hold packets back. Provisioning prepares a node for one; its first one is taken."""
SOFTWARE: Final = "software"
"""What is left where there is none: the agent itself holds whole batches back."""
SOFTWARE_BATCH_NS_MIN: Final = 10_000_000
"""A batch leaves at line rate, and the agent may wake up a millisecond late: a tenth of this."""


def limiter_kind(node: Capabilities, interface: str) -> str:
    """Return the kind of limiter that a node offers on an interface."""
    return next((kind for kind in KINDS if f"{kind}:{interface}" in node.limiters), SOFTWARE)


def limiter_of(node: Node) -> str:
    """Return the kind of rate limiter that a node offers on its experiment interface."""
    return limiter_kind(node.capabilities, interface_of(node.capabilities, node.variables))


def interface_of(node: Capabilities, variables: HostVariables) -> str:
    """Return the experiment interface: by the inventory, else that of the RDMA port with the address."""
    own = (port for port in node.ports if port.get("address") == str(variables.experiment_address))
    return variables.experiment_interface or next((str(port["netdev"]) for port in own), "")


def missing_limiters(cell: Cell, inventory: Inventory, nodes: Mapping[str, Capabilities]) -> str | None:
    """Return the first host that cannot pace what it sends, as a reason; None if every host can."""
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
    return short_of_limiters(paced, limiters_of(cell.topology))


def _limited_flows(cell: Cell) -> Iterator[tuple[PlannedFlow, int]]:
    """Yield flows that have rates, with the time of a batch at line rate."""
    for group in cell.groups:
        for flow in group.flows:
            rate_bps = cell.topology.host_rate_bps(flow.source)
            settings = group.settings.of_host(rate_bps)
            if settings.estimator is not None:
                yield PlannedFlow(group, flow), settings.segment_bytes * 8 * 10**9 // rate_bps
