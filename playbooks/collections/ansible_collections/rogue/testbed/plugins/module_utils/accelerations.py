"""RoCE accelerations of a card: with them timeout and retry_count do not act as a queue pair asks for them.

Source: NVIDIA, "Adaptive Retransmission: Parameters Control" (18 August 2025), layout of ROCE_ACCL (a set
changes the fields whose `field_select` is 1) and sample usage (`mlxreg`, and the same by `mstreg`). No card
has run this.
"""

from __future__ import annotations

import re
from typing import Any

from .cards import MLX5, card_of
from .system import CommandError, System

TOOLS = ("mstreg", "mlxreg")
"""Of mstflint, and of NVIDIA's own package."""
FIELDS = {
    "roce_adp_retrans": "adaptive retransmission",
    "roce_tx_window": "transmission window",
    "roce_slow_restart": "slow restart",
    "roce_slow_restart_idle": "slow restart after idling",
}
_ABSENT = re.compile("is not installed|: command not found")
_FIELD = re.compile(r"^\s*(\w+)\s*\|\s*(0x[0-9a-fA-F]+)", re.MULTILINE)


def accelerations(system: System, interface: str) -> dict[str, Any] | None:
    """What is `on`, the command to `reset` it, and the `reason` why nobody knows; None if a card has none."""
    card = card_of(system, interface)
    if card.driver != MLX5:
        return None
    reason = "mstreg is not installed"
    for tool in TOOLS:
        command = [tool, "-d", card.pci, "--yes", "--reg_name", "ROCE_ACCL"]
        try:
            fields = dict(_FIELD.findall(_as_root(system, [*command, "--get"])))
        except CommandError as error:
            reason = reason if _ABSENT.search(error.words) else " ".join(error.words.split())
            continue
        there = [field for field in FIELDS if f"{field}_en" in fields]
        if there:
            return _said(command, [field for field in there if int(fields[f"{field}_en"], 16)])
        reason = f"{tool} shows no field of ROCE_ACCL"
    return {"on": [], "reset": "", "reason": reason}


def _said(command: list[str], on: list[str]) -> dict[str, Any]:
    values = ",".join(f"{field}_field_select=0x1,{field}_en=0x0" for field in on)
    reset = f'{" ".join(command)} --set "{values}"' if on else ""
    return {"on": [FIELDS[field] for field in on], "reset": reset, "reason": ""}


def _as_root(system: System, command: list[str]) -> str:
    """Registers are root's; where the user may not become root, sudo says so, and asks for nothing."""
    return system.run(command if system.is_root() else ["sudo", "-n", *command])
