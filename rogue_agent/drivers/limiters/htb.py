"""Linux's token buckets as limiters: one class of the interface's `htb` per priority.

The classes, and what sends packets into them, are prepared beforehand; here rates are changed only.
"""

import subprocess
from collections import deque
from collections.abc import Sequence

from rogue.agent.core.clocks import HostNs
from rogue.agent.core.errors import LimiterError
from rogue.agent.drivers.limiters.base import BatchProgram, LimiterSlots, PacedInterface, RateLimiter
from rogue.agent.drivers.poller import Poller
from rogue.agent.drivers.recording import Table

COMMAND = ("tc", "-force", "-batch", "-")
_BITS_PER_BYTE = 8
_BURST_PER_S = 1_000
"""A burst is a millisecond's worth, but two packets at least: a timer may be so late."""
_LEAST_BURST_BYTES = 2 * 4_500
_QUANTUM_BYTES = 10_000
WIRE_OVERHEAD_BYTES = 24
"""Preamble, checksum and gap: the kernel does not count them, the core does; 1082 bytes take 1106 on a wire.

Source: IEEE 802.3, clauses 3.1 (preamble 8, checksum 4) and 4.4.2 (gap 12, shortest frame 64).
"""
MIN_WIRE_BYTES = 84


class HtbLimiter(RateLimiter):
    """Class 1:1k of an interface, for priority k.

    After each change the class is asked for: its reply says that the new rate acts. It begins at line
    rate, whatever a process that was killed has left.
    """

    kind = "htb"
    step_bps = _BITS_PER_BYTE
    is_behind_device = True

    def __init__(self, table: Table, poller: Poller, interface: PacedInterface) -> None:
        super().__init__(table)
        self._class = _class_of(interface.priority)
        self._is_lent = interface.is_lent
        self._netdev = interface.netdev
        self._line_rate_bps = interface.line_rate_bps
        self._burst_bytes = interface.burst_bytes
        self._asked: deque[tuple[HostNs, int, int]] = deque()
        held = () if interface.lender is None else (interface.lender,)
        self._program = BatchProgram(COMMAND, poller, self._on_line, held)
        if not self._is_lent:
            self._program.tell(self._change(self._line_rate_bps))

    def use(self, priority: int) -> None:
        """Pace the class of this priority from now on; every rate of the one before acts."""
        assert self.is_settled, f"class {self._class} is left with a rate on its way"
        self._class = _class_of(priority)

    @property
    def is_settled(self) -> bool:
        """Whether each change was confirmed."""
        return not self._asked

    def set_rate(self, rate_bps: int, now: HostNs) -> int:
        """Change the class's rate, exact to a byte per second."""
        wanted_bps = rate_bps or self._line_rate_bps
        effective_bps = -(-wanted_bps // self.step_bps) * self.step_bps
        self._asked.append((now, rate_bps, effective_bps))
        self._program.tell(
            self._change(effective_bps),
            f"class show dev {self._netdev} classid {self._class}",
        )
        return effective_bps

    def close(self) -> None:
        """Put the class back to the line rate, unless it was lent."""
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
    """Classes of an interface; nothing but this project changes them, so that none is locked."""

    def __init__(self, interface: PacedInterface, priorities: Sequence[int]) -> None:
        self._interface = interface
        self._priorities = priorities
        self._lift(priorities)

    def lift(self, priority: int) -> None:
        """Put the class back to the line rate."""
        self._lift([priority])

    def close(self) -> None:
        """Put all back."""
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
    """The words of `tc` for a rate in bytes on the wire. Without bursts it would choose its own.

    burst_bytes: None for a millisecond's worth. A class sends no more than that before the next one has its
    turn, or flows at once would take each other's bursts for queues in the network.
    Test: test_htb.py::test_a_change_names_rate_ceiling_and_both_bursts.
    """
    if burst_bytes is None:
        burst_bytes = max(_LEAST_BURST_BYTES, rate_bps // _BITS_PER_BYTE // _BURST_PER_S)
    return (
        f"class change dev {netdev} parent 1: classid {class_id} htb rate {rate_bps}bit ceil {rate_bps}bit "
        f"burst {burst_bytes}b cburst {burst_bytes}b quantum {min(_QUANTUM_BYTES, burst_bytes)} "
        f"overhead {WIRE_OVERHEAD_BYTES} mpu {MIN_WIRE_BYTES}"
    )
