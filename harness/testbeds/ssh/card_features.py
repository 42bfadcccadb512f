"""Features of cards that a transport's name asks for: DCQCN and pauses, as hosts and switches have them."""

from collections.abc import Mapping
from typing import Final

from rogue.agent.core.transports import TRANSPORTS
from rogue.agent.node.messages import Capabilities
from rogue.harness.cell.cell import Cell
from rogue.harness.provisioning.inventory import Inventory
from rogue.harness.testbeds.ssh.declared import missing_on_switches
from rogue.workloads.transports import TransportName

FEATURES: Final = ("dcqcn", "pfc")
"""Native RoCE alone has these. A card that pauses by DSCP has no limiters for RoGUE's flows."""
_BASE: Final = "roce"
_ON: Final = "on"
_NOT_CONTROLLABLE: Final = "not controllable"


def is_of_cards(name: TransportName) -> bool:
    """Whether cards can have every feature in a transport's name."""
    return not name.features or (name.base == _BASE and set(name.features) <= set(FEATURES))


_BY_HAND: Final = (
    "with the inbox driver by hand: `mstconfig -d PCI set ROCE_CC_PRIO_MASK_P1={mask}`, "
    "which lasts, and a reboot"
)
"""Provisioning does not write into a card's firmware: on a node that is taken away nothing puts it back."""


def missing_features(cell: Cell, inventory: Inventory, nodes: Mapping[str, Capabilities]) -> str | None:
    """The first host or switch whose features differ from what a transport asks for; None if none."""
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
    """The reason why a card reacts to a switch's marks although the transport does not ask for it."""
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
    """A field of a node's first card that has it; empty if none has."""
    return next((str(port[key]) for port in node.ports if port.get(key) is not None), "")
