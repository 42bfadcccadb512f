"""Features of cards that a transport's name asks for: DCQCN and pauses, as hosts and switches have them."""

from collections.abc import Mapping
from typing import Final

from rogue.agent.core.transports import TRANSPORTS
from rogue.agent.node.messages import Capabilities
from rogue.harness.cell.cell import Cell
from rogue.harness.provisioning.inventory import Inventory
from rogue.harness.testbeds.ssh.declared import lacking
from rogue.workloads.transports import TransportName

FEATURES: Final = ("dcqcn", "pfc")
"""Of native RoCE. RoGUE's flows have limiters of their own, which a card that pauses by DSCP has not."""
_BASE: Final = "roce"
_ON: Final = "on"
_NOT_CONTROLLABLE: Final = "not controllable"


def is_of_cards(name: TransportName) -> bool:
    """Whether cards may have all that a transport's name asks for."""
    return not name.features or (name.base == _BASE and set(name.features) <= set(FEATURES))


def lacking_features(cell: Cell, inventory: Inventory, nodes: Mapping[str, Capabilities]) -> str | None:
    """Which host or switch lacks what a transport asks for, or has what it does not ask for; None if none."""
    for name in sorted({group.transport for group in cell.groups}, key=str):
        if name.base not in TRANSPORTS:
            continue
        for feature, of_hosts, of_switches in (
            ("dcqcn", _without_dcqcn, "marks"),
            ("pfc", _without_pauses, "pauses"),
        ):
            if feature in name.features:
                reason = of_hosts(name, nodes) or _lacking(cell, inventory, name, of_switches)
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
                "dcqcn_state: enabled, or leave it out"
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
    """A card that reacts to a switch's marks by itself, below a transport that is not said to."""
    switches = inventory.hardware_switches
    if not any(switch.variables.marking for switch in switches):
        return None
    for host, node in nodes.items():
        state = _state(node, "dcqcn")
        if state == _ON or state.startswith(_NOT_CONTROLLABLE):
            return (
                f"the switch marks, and the card of {host} reacts to it by itself (DCQCN is {state}), so "
                f"this would not be {name}: provision with dcqcn_state: disabled, or let no switch mark"
            )
    return None


def _lacking(cell: Cell, inventory: Inventory, name: TransportName, what: str) -> str | None:
    if inventory.switch is not None:
        return f"{name}: a Linux switch {what} for no card's feature: leave it out"
    return lacking(cell, inventory, str(name), what)


def _state(node: Capabilities, key: str) -> str:
    """What a node's card says; empty where it has none."""
    return next((str(port[key]) for port in node.ports if port.get(key) is not None), "")
