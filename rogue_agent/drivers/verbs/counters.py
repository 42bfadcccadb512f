"""Counters of an RDMA port, as the kernel shows them: they never go back to zero."""

import re
import shutil
import subprocess
from pathlib import Path

from rogue.agent.drivers.verbs.discovery import PortAddress

_DIRECTORIES = ("counters", "hw_counters")
_LIFESPAN = "lifespan"
COLUMNS = ("name", "before", "after")
_SOFTWARE = "software"
_PATIENCE_S = 5.0
_LINE = re.compile(r"^\s*(\w+): (\d+)$", re.MULTILINE)
_WANTED = re.compile(
    r"(rx|tx)_(prio_?\d_(packets|bytes|discards|buf_discard|cong_discard|marked)"
    r"|prio\d_pause\w*|pause\w*_prio_\d|global_pause\w*)"
    r"|rx_(out_of_buffer|discards_phy|dropped)|tx_(discards_phy|dropped)"
)
"""What tells pauses, marks and losses, by priority; a card has hundreds of others, of its queues.

Source: Linux, mlx4/en_ethtool.c (rx_prio_3_packets, rx_pause_prio_3) and mlx5/core/en_stats.c
(rx_prio3_packets, rx_prio3_pause, rx_prio3_marked).
"""


def read_counters(sysfs: Path, port: PortAddress) -> dict[str, int]:
    """Every counter that can be read now; a missing one is absent, not zero.

    Those of the interface, which `ethtool -S` shows, count the kernel's own packets as well, and begin with
    `ethtool_`. Some cards have counters of the whole device: `device_`.
    """
    place = sysfs / port.device / "ports" / str(port.port)
    found: dict[str, int] = {}
    for directory in _DIRECTORIES:
        found.update(_values(place / directory))
    own = _values(sysfs / port.device / "hw_counters")
    found.update({f"device_{name}": value for name, value in own.items()})
    if port.driver != _SOFTWARE and port.netdev:
        found.update({f"ethtool_{name}": value for name, value in ethtool_counters(port.netdev).items()})
    return found


def ethtool_counters(netdev: str) -> dict[str, int]:
    """Counters of a card's interface that tell pauses, marks and losses; none if they cannot be had.

    Memory may be registered while the program starts (docs/adr/0036-programs-beside-registered-memory.md).
    """
    if shutil.which("ethtool") is None:
        return {}
    try:
        done = subprocess.run(
            ["ethtool", "-S", netdev], capture_output=True, text=True, timeout=_PATIENCE_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return {}
    return {name: int(value) for name, value in _LINE.findall(done.stdout) if _WANTED.fullmatch(name)}


def _values(directory: Path) -> dict[str, int]:
    found = {}
    for path in sorted(directory.glob("*")):
        value = _value(path)
        if value is not None and path.name != _LIFESPAN:
            found[path.name] = value
    return found


def _value(path: Path) -> int | None:
    try:
        return int(path.read_text())
    except (OSError, ValueError):
        return None
