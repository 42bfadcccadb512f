"""Linux's token buckets as limiters: one class of the interface's `htb` per priority.

Provisioning creates the classes and their filters; this module only changes rates.
"""

import subprocess
from collections import deque
from collections.abc import Sequence

from rogue.agent.core.clocks import HostNs
from rogue.agent.core.errors import LimiterError
from rogue.agent.drivers.limiters.base import (
    BatchProgram,
    LimiterSlots,
    PacedInterface,
    RateLimiter,
    WriteRow,
)
from rogue.agent.drivers.poller import Poller

COMMAND = ("tc", "-force", "-batch", "-")
_BITS_PER_BYTE = 8
_BURST_PER_S = 1_000
"""A burst is 1 ms of the rate, at least two packets, because timers can be 1 ms late."""
_LEAST_BURST_BYTES = 2 * 4_500
_QUANTUM_BYTES = 10_000
WIRE_OVERHEAD_BYTES = 24
"""Preamble, checksum and gap, which the core counts and the kernel does not: 1082 bytes take 1106 on a wire.

Source: IEEE 802.3, clauses 3.1 (preamble 8, checksum 4) and 4.4.2 (gap 12, shortest frame 64).
"""
MIN_WIRE_BYTES = 84


class HtbLimiter(RateLimiter):
    """Class 1:1k of an interface, for priority k.

    After each change the class is listed; the output confirms that the new rate is effective. The initial
    rate is the line rate, even if a killed process has left another.
    """

    kind = "htb"
    step_bps = _BITS_PER_BYTE
    is_behind_device = True

    def __init__(self, write_row: WriteRow, poller: Poller, interface: PacedInterface) -> None:
        super().__init__(write_row)
        self._class = _class_of(interface.priority)
        self._is_lent = interface.is_lent
        self._netdev = interface.netdev
        self._line_rate_bps = interface.line_rate_bps
        self._burst_bytes = interface.burst_bytes
        self._asked: deque[tuple[HostNs, int, int]] = deque()
        held = () if interface.lender is None else (interface.lender,)
        self._program = BatchProgram(COMMAND, poller, self._on_line, held)
        if not self._is_lent:
            self._program.send(self._change(self._line_rate_bps))

    def use(self, priority: int) -> None:
        """Use the class of this priority from now on; every rate of the previous one is effective."""
        assert self.is_settled, f"class {self._class} is left with an unconfirmed rate"
        self._class = _class_of(priority)

    @property
    def is_settled(self) -> bool:
        """True if each change was confirmed."""
        return not self._asked

    def set_rate(self, rate_bps: int, now: HostNs) -> int:
        """Change the rate of the class, in steps of 1 byte/s."""
        wanted_bps = rate_bps or self._line_rate_bps
        effective_bps = -(-wanted_bps // self.step_bps) * self.step_bps
        self._asked.append((now, rate_bps, effective_bps))
        self._program.send(
            self._change(effective_bps),
            f"class show dev {self._netdev} classid {self._class}",
        )
        return effective_bps

    def close(self) -> None:
        """Restore the line rate, unless the class was lent."""
        self._program.close(*(() if self._is_lent else (self._change(self._line_rate_bps),)))
        while self._asked:
            self._record(*self._asked.popleft(), None)

    def _change(self, rate_bps: int) -> str:
        return change_command(self._netdev, self._class, rate_bps, self._burst_bytes)

    def _on_line(self, now: HostNs, line: str) -> None:
        if self._asked and line.startswith(f"class htb {self._class} "):
            asked_ns, requested_bps, effective_bps = self._asked.popleft()
            self._record(asked_ns, requested_bps, effective_bps, now - asked_ns)


class HtbSlots(LimiterSlots):
    """Classes of an interface; they need no lock, because only this project changes them."""

    def __init__(self, interface: PacedInterface, priorities: Sequence[int]) -> None:
        self._interface = interface
        self._priorities = priorities
        self._lift(priorities)

    def lift(self, priority: int) -> None:
        """Restore the line rate of the class."""
        self._lift([priority])

    def close(self) -> None:
        """Restore all line rates."""
        self._lift(self._priorities)

    def _lift(self, priorities: Sequence[int]) -> None:
        of = self._interface
        lines = "".join(
            f"{change_command(of.netdev, _class_of(each), of.line_rate_bps, of.burst_bytes)}\n"
            for each in priorities
        )
        try:
            done = subprocess.run(COMMAND, input=lines, capture_output=True, text=True, check=False)
        except OSError as error:
            raise LimiterError(f"{COMMAND[0]} does not start: {error.strerror}") from error
        if complaint := done.stderr.strip():
            raise LimiterError(f"{COMMAND[0]}: {complaint}")


def _class_of(priority: int) -> str:
    return f"1:1{priority}"


def change_command(netdev: str, class_id: str, rate_bps: int, burst_bytes: int | None = None) -> str:
    """Return the `tc` command for a rate on the wire, with explicit bursts.

    burst_bytes: None for 1 ms of the rate. A class sends at most a burst before the next class; concurrent
    flows would take larger bursts of each other for queues in the network.
    Test: test_htb.py::test_a_change_names_rate_ceiling_and_both_bursts.
    """
    if burst_bytes is None:
        burst_bytes = max(_LEAST_BURST_BYTES, rate_bps // _BITS_PER_BYTE // _BURST_PER_S)
    return (
        f"class change dev {netdev} parent 1: classid {class_id} htb rate {rate_bps}bit ceil {rate_bps}bit "
        f"burst {burst_bytes}b cburst {burst_bytes}b quantum {min(_QUANTUM_BYTES, burst_bytes)} "
        f"overhead {WIRE_OVERHEAD_BYTES} mpu {MIN_WIRE_BYTES}"
    )
