"""Limiters of a card: one maximum rate per traffic class, set by `dcb maxrate`.

This is how RoGUE's authors limited a ConnectX-3 Pro. Source: RoGUE, section 4.
"""

import re
import shutil
import subprocess
from collections.abc import Mapping

from rogue_agent.core.clocks import HostNs
from rogue_agent.drivers.limiters.base import LimiterError, PacedInterface, RateLimiter
from rogue_agent.drivers.limiters.batch_program import BatchProgram
from rogue_agent.drivers.poller import Poller
from rogue_agent.drivers.spool import Table

COMMAND = ("dcb", "--force", "--batch", "-")
"""dcb, unlike tc, takes long options with two dashes only."""
_STEP_BPS = 100_000_000
_COARSE_STEP_BPS = 1_000_000_000
_FINE_STEPS_BPS_MAX = 25_500_000_000
"""mlx5 counts up to 255 units of 100 Mb/s, and above that in units of 1 Gb/s. mlx4 has the small ones only.

Source: Linux, drivers/net/ethernet/mellanox/mlx5/core/en_dcbnl.c (mlx5e_dcbnl_ieee_setmaxrate) and
mlx4/en_dcb_nl.c (mlx4_en_dcbnl_ieee_setmaxrate).
"""
_MBIT = 1_000_000
_NO_LIMIT = 0
_PRIORITIES = 8
_PATIENCE_S = 5.0
_MAP = re.compile(r"prio-tc((?: +\d:\d)+)")


class DcbLimiter(RateLimiter):
    """The traffic class that an interface has for a priority.

    Nothing tells when a rate acts. There is no limit from the beginning, whatever a process that was killed
    has left.
    """

    kind = "dcb"

    def __init__(self, table: Table, poller: Poller, interface: PacedInterface) -> None:
        super().__init__(table)
        self._netdev = interface.netdev
        self._traffic_class = _class_of(interface)
        self._line_rate_bps = interface.line_rate_bps
        self.step_bps = step_bps(interface.driver, interface.line_rate_bps)
        self._program = BatchProgram(COMMAND, poller, lambda _now, _line: None)
        self._program.tell(self._command(_NO_LIMIT))

    def set_rate(self, rate_bps: int, now: HostNs) -> int:
        """Set the traffic class's maximum, in whole steps."""
        effective_bps = -(-rate_bps // self.step_bps) * self.step_bps
        self._program.tell(self._command(effective_bps))
        self._record(now, rate_bps, effective_bps, None)
        return effective_bps or self._line_rate_bps

    def close(self) -> None:
        """Lift the limit."""
        self._program.close(self._command(_NO_LIMIT))

    def _command(self, rate_bps: int) -> str:
        return f"maxrate set dev {self._netdev} tc-maxrate {self._traffic_class}:{rate_bps // _MBIT}mbit"


def step_bps(driver: str, line_rate_bps: int) -> int:
    """What a card's rates are whole multiples of.

    The core knows one step for all rates of a limiter, so where a card has two it is the larger one.
    """
    is_coarse = driver.startswith("mlx5") and line_rate_bps > _FINE_STEPS_BPS_MAX
    return _COARSE_STEP_BPS if is_coarse else _STEP_BPS


def traffic_classes(netdev: str) -> dict[int, int]:
    """Traffic class of each priority of an interface, as its driver says; empty if that cannot be had."""
    if shutil.which("dcb") is None:
        return {}
    command = ["dcb", "ets", "show", "dev", netdev, "prio-tc"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_PATIENCE_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return {}
    found = _MAP.search(done.stdout)
    pairs = [pair.split(":") for pair in found.group(1).split()] if found and done.returncode == 0 else []
    return {int(priority): int(traffic_class) for priority, traffic_class in pairs}


def are_apart(classes: Mapping[int, int]) -> bool:
    """Whether every priority has a traffic class, and a limit, of its own."""
    return len(classes) == len(set(classes.values())) == _PRIORITIES


def _class_of(interface: PacedInterface) -> int:
    classes = traffic_classes(interface.netdev)
    if not are_apart(classes):
        shared = " ".join(f"{priority}:{number}" for priority, number in classes.items()) or "nothing"
        apart = " ".join(f"{priority}:{priority}" for priority in range(_PRIORITIES))
        raise LimiterError(
            f"dcb: traffic classes of priorities on {interface.netdev}: got {shared}, expected one each; "
            f"set them: dcb ets set dev {interface.netdev} prio-tc {apart}"
        )
    return classes[interface.priority]
