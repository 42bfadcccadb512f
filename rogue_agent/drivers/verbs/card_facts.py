"""What a card is besides its model: firmware, PCIe, and switches of its firmware that a run depends on.

Only what is read without changing anything, and without opening the device. Source: Linux, Documentation/ABI,
testing/sysfs-bus-pci (current_link_speed, current_link_width) and stable/sysfs-class-infiniband (fw_ver);
NVIDIA, "Adaptive Retransmission: Parameters Control", layout of ROCE_ACCL and sample usage; NVIDIA,
"DCQCN CC Parameters" (ROCE_CC_PRIO_MASK).
"""

import re
from collections.abc import Callable, Sequence
from pathlib import Path

from rogue.agent.drivers.verbs.discovery import SYSFS

Ask = Callable[[list[str]], str]
"""Runs a program; its output, or nothing where it is absent or fails."""
ACCELERATIONS = {
    "roce_adp_retrans_en": "adaptive retransmission",
    "roce_tx_window_en": "transmission window",
    "roce_slow_restart_en": "slow restart",
    "roce_slow_restart_idle_en": "slow restart after idling",
}
"""Fields of the register ROCE_ACCL, and what a reader calls them; provisioning resets the same."""
_FIELD = re.compile(r"^\s*(\w+)\s*\|\s*(0x[0-9a-fA-F]+)", re.MULTILINE)
_MASK = re.compile(r"(ROCE_CC_PRIO_MASK_P\d)[ \t]+(\S+)(?:[ \t]+(\S+)[ \t]+\S+)?")
"""Its name and one value, which is that of the next boot; or three, default, current and next boot's."""
NEXT_BOOT = " from the next boot on"
_REGISTERS = ("mstreg", "mlxreg")
_SETTINGS = ("mstconfig", "mlxconfig")


def card_facts(device: str, driver: str, ask: Ask, sysfs: Path = SYSFS) -> dict[str, object]:
    """In words; a device in software has none. What nobody can say is `unknown`."""
    if driver in {"", "software"}:
        return {}
    pci = sysfs / device / "device"
    speed, width = _read(pci / "current_link_speed"), _read(pci / "current_link_width")
    facts: dict[str, object] = {
        "firmware": _read(sysfs / device / "fw_ver") or "unknown",
        "pcie": f"{speed} x{width}" if speed and width else "unknown",
    }
    if driver.startswith("mlx5"):
        address = pci.resolve().name
        facts["accelerations"] = _accelerations(address, ask)
        facts["dcqcn_mask"] = _mask(address, ask)
    return facts


def _accelerations(address: str, ask: Ask) -> str:
    command = ["-d", address, "--yes", "--reg_name", "ROCE_ACCL", "--get"]
    fields = dict(_FIELD.findall(_first(_REGISTERS, command, ask)))
    if not set(fields) & set(ACCELERATIONS):
        return "unknown"
    on = [words for field, words in ACCELERATIONS.items() if int(fields.get(field, "0"), 16)]
    return ", ".join(on) or "none"


def _mask(address: str, ask: Ask) -> str:
    """Priorities for which the firmware reacts to marks, per port; of old tools' words the next boot's.

    Source: mstflint, mlxconfig (`-e`, which adds the current values).
    """
    for words in (["-e", "query"], ["query"]):
        listed = _first(_SETTINGS, ["-d", address, *words], ask)
        found = [
            f"{name} {current}" if current else f"{name} {first}{NEXT_BOOT}"
            for name, first, current in _MASK.findall(listed)
        ]
        if found:
            return ", ".join(found)
    return "unknown"


def _first(tools: Sequence[str], arguments: list[str], ask: Ask) -> str:
    return next((said for tool in tools if (said := ask([tool, *arguments]))), "")


def _read(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""
