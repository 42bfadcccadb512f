"""Keeps a role's process on the processors that are near its card."""

import os
from pathlib import Path

from rogue.agent.drivers.verbs.discovery import PortAddress

_IN_SOFTWARE = ("", "software")


def stay_near(port: PortAddress, sysfs: Path) -> "str | None":
    """Bind this process to its processors on the card's NUMA node; which these are, such as `0,1,4`.

    None, and nothing is bound, for a device in software, and where the kernel names none that may be used.
    Linux gives memory from the node of whoever touches it first, so this comes before any is filled.
    Source: Linux, Documentation/ABI/testing/sysfs-bus-pci, local_cpulist.
    """
    if port.driver in _IN_SOFTWARE:
        return None
    try:
        near = _processors((sysfs / port.device / "device" / "local_cpulist").read_text())
    except (OSError, ValueError):
        return None
    near &= os.sched_getaffinity(0)
    if not near:
        return None
    os.sched_setaffinity(0, near)
    return ",".join(map(str, sorted(near)))


def _processors(text: str) -> "set[int]":
    """Of a list such as `0-1,4`."""
    found: set[int] = set()
    for part in text.strip().split(","):
        first, _, last = part.partition("-")
        found.update(range(int(first), int(last or first) + 1))
    return found
