"""The card behind an interface: its driver and DCQCN."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from .system import StateError, System

MLX4, MLX5 = "mlx4_core", "mlx5_core"


class Card(NamedTuple):
    """Device of an interface; a field is empty if the interface has no driver, bus address or RDMA device."""

    driver: str
    pci: str
    """PCI address such as 0000:03:00.0."""
    device: str
    """RDMA device."""
    port: str


def card_of(system: System, interface: str) -> Card:
    """Return the device of an interface; StateError if there is no such interface."""
    directory = system.path(f"/sys/class/net/{interface}")
    if not directory.exists():
        raise StateError(f"interface {interface}: not on this node; correct the inventory")
    links = (directory / "device/driver", directory / "device")
    driver, pci = (link.resolve().name if link.exists() else "" for link in links)
    ports = sorted(system.path("/sys/class/infiniband").glob("*/ports/*/gid_attrs/ndevs/*"))
    own = (path for path in ports if text_of(path) == interface)
    port = next(own, None)
    return Card(driver, pci, *((port.parents[4].name, port.parents[2].name) if port else ("", "")))


def text_of(path: Path) -> str:
    """Return the text of a file in sysfs; empty if it is absent or is an empty slot of a table."""
    try:
        return path.read_text().strip()
    except OSError:
        return ""


def dcqcn_of(system: System, interface: str, card: Card) -> dict[str, Any]:
    """Return DCQCN's `state` (on, off, unknown, none), `by`, `reason`, `switches` and `parameters` by path.

    Source: MLNX_OFED, "Explicit Congestion Notification (ECN)" (switches in sysfs, ConnectX-4 and later);
    Linux, drivers/infiniband/hw/mlx5/cong.c (parameters in debugfs, which only root reads, and no switch).
    """
    found: dict[str, Any] = {"state": "none", "by": "", "reason": "", "switches": {}, "parameters": {}}
    if card.driver != MLX5:
        name = "ConnectX-3" if card.driver == MLX4 else f"the driver {card.driver or 'of this device'}"
        return {**found, "reason": f"{name} has none"}
    flags = system.path(f"/sys/class/net/{interface}/ecn").glob("roce_[nr]p/enable/[0-7]")
    root = str(system.path("/")).rstrip("/")
    found["switches"] = {str(path).removeprefix(root): text_of(path) for path in sorted(flags)}
    directory = f"/sys/kernel/debug/mlx5/{card.pci}/cc_params"
    try:
        names = sorted(path.name for path in system.path(directory).iterdir())
    except OSError:
        names = []
    found["parameters"] = {f"{directory}/{name}": system.read(f"{directory}/{name}") for name in names}
    values = set(found["switches"].values())
    if not values:
        reason = "the inbox driver has no switch for it; the firmware's default is on"
        return {**found, "state": "unknown", "by": "inbox", "reason": reason}
    state = "on" if values == {"1"} else "off" if values == {"0"} else "on for some priorities"
    return {**found, "state": state, "by": "ofed"}
