"""Finds Linux's name of the network interface with a MAC."""

from __future__ import annotations

from .system import StateError, System

IFMAP = "/var/emulab/boot/ifmap"
"""CloudLab writes it at boot: a line for each experiment interface, `name address MAC`."""


def find_interface(system: System, mac: str) -> str | None:
    """The interface's name: as CloudLab's map has it, else of the card with that MAC; None if none has."""
    for line in (system.read(IFMAP) or "").splitlines():
        name, *others = line.split() or [""]
        if others and _digits(others[-1]) == _digits(mac) and _is_there(system, name):
            return name
    cards = [name for name, own in macs(system).items() if _digits(own) == _digits(mac)]
    return cards[0] if cards else None


def macs(system: System) -> dict[str, str]:
    """MAC by interface, of cards alone: bridges and VLANs borrow theirs."""
    found = {}
    for path in sorted(system.path("/sys/class/net").glob("*/device")):
        name = path.parent.name
        found[name] = (system.read(f"/sys/class/net/{name}/address") or "").strip()
    return found


def demand_interface(system: System, mac: str) -> str:
    """The interface's name; StateError says which MACs there are."""
    name = find_interface(system, mac)
    if name is None:
        there = ", ".join(f"{own} ({name})" for name, own in macs(system).items()) or "no card"
        raise StateError(
            f"no interface has MAC {mac}; there is {there}: correct experiment_mac in the inventory"
        )
    return name


def _is_there(system: System, name: str) -> bool:
    return system.path(f"/sys/class/net/{name}").is_dir()


def _digits(mac: str) -> str:
    return mac.replace(":", "").lower()
