"""The file of queue samples, in which what stays the same is written once."""

from collections.abc import Mapping

from rogue.agent.node.queues import QueueReading

COLUMNS = ("port", "t_ns", "bytes", "drops", "marks", "repeats")
"""repeats: so many more samples, an interval apart, found all ports as this one did."""


class Samples:
    """Samples of all ports, one line for each port."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._last: tuple[int, Mapping[str, QueueReading]] | None = None
        self._repeats = 0

    def add(self, t_ns: int, readings: Mapping[str, QueueReading]) -> None:
        """Note what was found."""
        self._write_last()
        self._last = t_ns, readings

    def repeat(self, count: int) -> None:
        """So many samples after the last one would have found the same."""
        self._repeats += count

    def text(self) -> str:
        """The file."""
        self._write_last()
        return "".join(f"{line}\n" for line in (",".join(COLUMNS), *self._lines))

    def _write_last(self) -> None:
        if self._last is not None:
            t_ns, readings = self._last
            for port, each in readings.items():
                values = port, t_ns, each.waiting_bytes, each.dropped_packets, each.marked_packets
                self._lines.append(",".join(map(str, (*values, self._repeats))))
        self._last, self._repeats = None, 0
