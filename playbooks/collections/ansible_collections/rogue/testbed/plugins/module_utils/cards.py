"""The card behind an interface: its driver, DCQCN and RoCE accelerations."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from .system import CommandError, StateError, System

MLX4, MLX5 = "mlx4_core", "mlx5_core"
FIELDS = {
    "roce_adp_retrans": "adaptive retransmission",
    "roce_tx_window": "transmission window",
    "roce_slow_restart": "slow restart",
    "roce_slow_restart_idle": "slow restart after idling",
}
"""Fields of the register ROCE_ACCL."""
_TOOLS = ("mstreg", "mlxreg")
"""Programs of mstflint and of NVIDIA's own package."""
_ABSENT = re.compile("is not installed|: command not found")
_FIELD = re.compile(r"^\s*(\w+)\s*\|\s*(0x[0-9a-fA-F]+)", re.MULTILINE)


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
        except OSError:  # an empty slot of the table
            continue
    return "", ""


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
    texts = ((path, path.read_text().strip()) for path in sorted(flags))
    root = str(system.path("/")).rstrip("/")
    found["switches"] = {str(path).removeprefix(root): text for path, text in texts}
    directory = f"/sys/kernel/debug/mlx5/{card.pci}/cc_params"
    try:
        names = sorted(path.name for path in system.path(directory).iterdir())
    except OSError:
        names = []
    found["parameters"] = {f"{directory}/{name}": system.read(f"{directory}/{name}") or "" for name in names}
    values = set(found["switches"].values())
    if not values:
        reason = "the inbox driver has no switch for it; the firmware's default is on"
        return {**found, "state": "unknown", "by": "inbox", "reason": reason}
    state = "on" if values == {"1"} else "off" if values == {"0"} else "on for some priorities"
    return {**found, "state": state, "by": "ofed"}


def accelerations(system: System, card: Card) -> dict[str, Any] | None:
    """Return the accelerations that are `on`, the command to `reset` them, or the `reason` why none is known.

    With them a queue pair's timeout and retry_count do not act as set. None if the card has none.
    Source: NVIDIA, "Adaptive Retransmission: Parameters Control" (18 August 2025): layout of ROCE_ACCL (a set
    changes the fields whose `field_select` is 1) and use of `mlxreg`. No card has run this.
    """
    if card.driver != MLX5:
        return None
    reason = "mstreg is not installed"
    for tool in _TOOLS:
        command = [tool, "-d", card.pci, "--yes", "--reg_name", "ROCE_ACCL"]
        get = [*([] if system.is_root() else ["sudo", "-n"]), *command, "--get"]
        try:
            fields = dict(_FIELD.findall(system.run(get)))
        except CommandError as error:
            reason = reason if _ABSENT.search(error.stderr) else " ".join(error.stderr.split())
            continue
        known = [field for field in FIELDS if f"{field}_en" in fields]
        if known:
            on = [field for field in known if int(fields[f"{field}_en"], 16)]
            values = ",".join(f"{field}_field_select=0x1,{field}_en=0x0" for field in on)
            reset = f'{" ".join(command)} --set "{values}"' if on else ""
            return {"on": [FIELDS[field] for field in on], "reset": reset, "reason": ""}
        reason = f"{tool} shows no field of ROCE_ACCL"
    return {"on": [], "reset": "", "reason": reason}
