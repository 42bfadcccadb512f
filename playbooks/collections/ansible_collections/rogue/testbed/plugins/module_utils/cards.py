"""Which card is behind an interface, and what its driver can be told."""

from __future__ import annotations

from typing import NamedTuple

from .system import StateError, System

MLX4, MLX5 = "mlx4_core", "mlx5_core"
_PRIORITIES = range(8)


class Card(NamedTuple):
    """The device of an interface, as the kernel sees it."""

    driver: str
    """Empty for an interface without a driver of its own."""
    pci: str
    """Its address, such as 0000:03:00.0."""
    device: str
    """The RDMA device; empty if there is none."""
    port: str


def card_of(system: System, interface: str) -> Card:
    """What is behind an interface; StateError if there is no such interface."""
    directory = system.path(f"/sys/class/net/{interface}")
    if not directory.exists():
        raise StateError(f"interface {interface}: this node has none such; correct the inventory")
    driver, pci = directory / "device/driver", directory / "device"
    device, port = _rdma_port(system, interface)
    return Card(
        driver.resolve().name if driver.exists() else "",
        pci.resolve().name if pci.exists() else "",
        device,
        port,
    )


def _rdma_port(system: System, interface: str) -> tuple[str, str]:
    for path in sorted(system.path("/sys/class/infiniband").glob("*/ports/*/gid_attrs/ndevs/*")):
        try:
            if path.read_text().strip() == interface:
                return path.parents[4].name, path.parents[2].name
        except OSError:  # an empty slot of the table reads so
            continue
    return "", ""


def dcqcn_state(system: System, interface: str) -> dict[str, str]:
    """What can be said of DCQCN: `state` on, off, unknown or none, `by` what sets it, and `reason`.

    Source: MLNX_OFED, "Explicit Congestion Notification (ECN)" (sysfs, ConnectX-4 and later); Linux,
    drivers/infiniband/hw/mlx5/cong.c (debugfs, which has parameters and no switch).
    """
    card = card_of(system, interface)
    if card.driver != MLX5:
        what = "ConnectX-3" if card.driver == MLX4 else f"the driver {card.driver or 'of this device'}"
        return {"state": "none", "by": "", "reason": f"{what} has none"}
    switches = dcqcn_switches(system, interface)
    if not switches:
        reason = "the inbox driver has no switch for it; the firmware's default is on"
        return {"state": "unknown", "by": "inbox", "reason": reason}
    values = set(switches.values())
    state = "on" if values == {"1"} else "off" if values == {"0"} else "on for some priorities"
    return {"state": state, "by": "ofed", "reason": ""}


def dcqcn_switches(system: System, interface: str) -> dict[str, str]:
    """MLNX_OFED's switches by path, of notification and reaction point and each priority."""
    found = {}
    for point in ("roce_np", "roce_rp"):
        for priority in _PRIORITIES:
            path = f"/sys/class/net/{interface}/ecn/{point}/enable/{priority}"
            text = system.read(path)
            if text is not None:
                found[path] = text.strip()
    return found
