"""What can be said of DCQCN in a card, without asking it."""

from pathlib import Path

NETDEVS = Path("/sys/class/net")
_POINTS = ("roce_np", "roce_rp")
_ON, _OFF = "1", "0"
_NOT_CONTROLLABLE = "not controllable"
_ALL, _NONE = "255", "0"


def dcqcn_state(netdev: str, driver: str, netdevs: Path = NETDEVS) -> str:
    """`on`, `off`, `on for some priorities`, or the reason why it is not known.

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
    """The same, but of the inbox driver what the firmware's own mask of priorities says, where that is read.

    mask: such as `ROCE_CC_PRIO_MASK_P1 255`; of ports that differ, and of the next boot, it says nothing.
    Source: NVIDIA, "DCQCN CC Parameters" (a bit for each priority, 255 by default).
    """
    if not state.startswith(_NOT_CONTROLLABLE):
        return state
    values = {found.split(" ", 1)[-1] for found in mask.split(", ")}
    return "on" if values == {_ALL} else "off" if values == {_NONE} else state
