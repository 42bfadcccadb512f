"""Facts and counters of an RDMA card."""

import re
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from rogue.agent.drivers.verbs.discovery import SYSFS, PortAddress

_DIRECTORIES = ("counters", "hw_counters")
_LIFESPAN = "lifespan"
COLUMNS = ("name", "before", "after")
_SOFTWARE = "software"
_TIMEOUT_S = 5.0
_LINE = re.compile(r"^\s*(\w+): (\d+)$", re.MULTILINE)
_WANTED = re.compile(
    r"(rx|tx)_(prio_?\d_(packets|bytes|discards|buf_discard|cong_discard|marked)"
    r"|prio\d_pause\w*|pause\w*_prio_\d|global_pause\w*)"
    r"|rx_(out_of_buffer|discards_phy|dropped)|tx_(discards_phy|dropped)"
)
"""Counters of pauses, marks and losses by priority; a card has hundreds of others.

Source: Linux, mlx4/en_ethtool.c (rx_prio_3_packets, rx_pause_prio_3) and mlx5/core/en_stats.c
(rx_prio3_packets, rx_prio3_pause, rx_prio3_marked).
"""


def read_counters(sysfs: Path, port: PortAddress) -> dict[str, int]:
    """Read every available counter; a missing one is absent, not zero.

    Counters of the interface, from `ethtool -S`, include the kernel's own packets and start with `ethtool_`.
    Counters of the whole device start with `device_`.
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
    """Read an interface's counters of pauses, marks and losses; none if they are not available.

    Memory may be registered while the program starts.
    """
    output = output_of(["ethtool", "-S", netdev])
    return {name: int(value) for name, value in _LINE.findall(output) if _WANTED.fullmatch(name)}


def output_of(command: list[str], timeout_s: float = _TIMEOUT_S) -> str:
    """Run a program; return its output, or "" if it is missing, fails or exceeds the timeout."""
    try:
        done = subprocess.run(command, capture_output=True, timeout=timeout_s, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.decode(errors="replace") if done.returncode == 0 else ""


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


NETDEVS = Path("/sys/class/net")
_POINTS = ("roce_np", "roce_rp")
_ON, _OFF = "1", "0"
_NOT_CONTROLLABLE = "not controllable"
_ALL, _NONE = "255", "0"


def dcqcn_state(netdev: str, driver: str, netdevs: Path = NETDEVS) -> str:
    """Return `on`, `off`, `on for some priorities`, or the reason why the state is unknown.

    Source: MLNX_OFED, "Explicit Congestion Notification (ECN)": switches per priority in sysfs; Linux,
    hw/mlx5/cong.c has none; ConnectX-3 and soft-RoCE do not react to marks.
    """
    if not driver.startswith("mlx5"):
        return f"none: {driver} does not react to marks" if driver else "none: the interface has no driver"
    files = [
        path for point in _POINTS for path in (netdevs / netdev / "ecn" / point / "enable").glob("[0-7]")
    ]
    values = {path.read_text().strip() for path in files}
    if not values:
        return f"{_NOT_CONTROLLABLE}: the inbox driver has no switch, and the firmware's default is on"
    return "on" if values == {_ON} else "off" if values == {_OFF} else "on for some priorities"


def by_firmware(state: str, mask: str) -> str:
    """Return the state, which for the inbox driver comes from the firmware's mask of priorities if known.

    mask: such as `ROCE_CC_PRIO_MASK_P1 255`; one that differs by port, or of the next boot, does not count.
    Source: NVIDIA, "DCQCN CC Parameters" (a bit for each priority, 255 by default).
    """
    if not state.startswith(_NOT_CONTROLLABLE):
        return state
    values = {found.split(" ", 1)[-1] for found in mask.split(", ")}
    return "on" if values == {_ALL} else "off" if values == {_NONE} else state


Ask = Callable[[list[str]], str]
"""Runs a program, and returns its output, or "" if it is missing or fails."""
ACCELERATIONS = {
    "roce_adp_retrans_en": "adaptive retransmission",
    "roce_tx_window_en": "transmission window",
    "roce_slow_restart_en": "slow restart",
    "roce_slow_restart_idle_en": "slow restart after idling",
}
"""Fields of the register ROCE_ACCL, which provisioning also resets, and their names in reports."""
_FIELD = re.compile(r"^\s*(\w+)\s*\|\s*(0x[0-9a-fA-F]+)", re.MULTILINE)
_MASK = re.compile(r"(ROCE_CC_PRIO_MASK_P\d)[ \t]+(\S+)(?:[ \t]+(\S+)[ \t]+\S+)?")
"""Name and value of the next boot; or default, current and next boot's value."""
NEXT_BOOT = " from the next boot on"
_REGISTERS = ("mstreg", "mlxreg")
_SETTINGS = ("mstconfig", "mlxconfig")


def card_facts(device: str, driver: str, ask: Ask, sysfs: Path = SYSFS) -> dict[str, object]:
    """Return a card's facts as text, `unknown` if not available; a software device has none."""
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
    """Return the mask of priorities with DCQCN per port; old tools report that of the next boot.

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
    return next((output for tool in tools if (output := ask([tool, *arguments]))), "")


def _read(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""
