"""Other marks than a cell asks for, where emulated machines need them: said in plan and report."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from rogue.harness.cell.cell import Cell
from rogue.harness.cell.marking import MARK_ABOVE
from rogue.harness.cell.parameters import as_written
from rogue.harness.provisioning.inventory import Inventory
from rogue.harness.provisioning.ports import PortSettings

EMULATED: Final = "virtual"
"""The kind of an inventory whose nodes are emulated."""
MARK_MIN_S: Final = 0.0024
MARK_MAX_S: Final = 0.0072
"""Marking begins when the queue is as long as the port sends in this time, and is certain at the second:
30 KB and 90 KB at 100 Mb/s.  Source: DCTCP (SIGCOMM'10), section 3.4: K > C * RTT / 7; RTT here 17 ms."""


def has_marks_of_its_own(cell: Cell, inventory: Inventory) -> bool:
    """Whether machines are emulated, and packets are marked by a K that no group of the cell states."""
    asking = [group for group in cell.groups if group.transport.wants_marks]
    is_stated = any(as_written(MARK_ABOVE) in group.parameters for group in asking)
    return inventory.kind == EMULATED and bool(asking) and not is_stated


def later_marks(ports: Mapping[str, PortSettings]) -> dict[str, PortSettings]:
    """The same ports, which mark as machines need it that take 17 ms for a round trip."""
    return {name: _later(port) for name, port in ports.items()}


def marks_differ(cell: Cell, inventory: Inventory) -> str | None:
    """The sentence that says so, with both numbers; None if ports mark as the cell asks."""
    if inventory.switch is None or not has_marks_of_its_own(cell, inventory):
        return None
    (asked,) = dict.fromkeys(cell.network.curves.values())
    return (
        f"emulated machines take 17 ms for a round trip, so ports mark from {1000 * MARK_MIN_S:g} to "
        f"{1000 * MARK_MAX_S:g} ms of their rate; the experiment asks for {asked.kmax_bytes} bytes: "
        f"state {as_written(MARK_ABOVE)} to have that"
    )


def _later(port: PortSettings) -> PortSettings:
    if port.rate_bps is None:
        return port
    least, most = (round(port.rate_bps / 8 * seconds) for seconds in (MARK_MIN_S, MARK_MAX_S))
    most = min(most, port.queue_bytes)
    return replace(port, red_min_bytes=min(least, most // 2), red_max_bytes=most)
