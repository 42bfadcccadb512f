"""What a cell asks of the switch between the nodes: its ports and their losses."""

from dataclasses import replace
from typing import Final

from rogue.harness.cell.cell import Cell
from rogue.harness.provisioning.inventory import Inventory
from rogue.harness.provisioning.ports import PortSettings
from rogue.harness.provisioning.topology_ports import ports_of
from rogue.harness.testbeds.ends import port_faults

MARK_MIN_S: Final = 0.0024
MARK_MAX_S: Final = 0.0072
"""Marking begins when the queue is as long as the port sends in this time, and is certain at the second:
30 KB and 90 KB at 100 Mb/s.  Source: DCTCP (SIGCOMM'10), section 3.4: K > C * RTT / 7; RTT here 17 ms."""


def unsupported_fault(cell: Cell, inventory: Inventory) -> str | None:
    """The reason why the switch cannot carry out a fault; None if it can."""
    if cell.experiment.faults and inventory.switch is None:
        kind = type(cell.experiment.faults[0]).__name__
        return f"no {kind}: the inventory has no switch that this project sets up; leave faults out"
    return port_faults.unsupported_fault(cell)


def cell_ports(cell: Cell, inventory: Inventory) -> dict[str, PortSettings]:
    """How each port is set for a cell."""
    ports = ports_of(cell.topology, inventory)
    if any(group.transport.wants_marks for group in cell.groups):
        ports = {name: _marking(port) for name, port in ports.items()}
    return port_faults.faulty_ports(cell, ports)


def _marking(port: PortSettings) -> PortSettings:
    if port.rate_bps is None:
        return port
    least, most = (round(port.rate_bps / 8 * seconds) for seconds in (MARK_MIN_S, MARK_MAX_S))
    most = min(most, port.queue_bytes)
    return replace(port, red_min_bytes=min(least, most // 2), red_max_bytes=most)
