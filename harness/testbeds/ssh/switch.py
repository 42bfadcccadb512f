"""What a cell asks of the switch between the nodes: its ports, its losses, its cuts."""

from dataclasses import replace
from typing import Final

from harness.cell.cell import Cell
from harness.provisioning.inventory import Inventory
from harness.provisioning.ports import PortSettings
from harness.provisioning.topology_ports import ports_of
from workloads.faults import Fault, LinkCut, Loss
from workloads.topologies import Link

MARK_MIN_S: Final = 0.0024
MARK_MAX_S: Final = 0.0072
"""Marking begins when the queue is as long as the port sends in this time, and is certain at the second:
30 KB and 90 KB at 100 Mb/s.  Source: DCTCP (SIGCOMM'10), section 3.4: K > C * RTT / 7; RTT here 17 ms."""


def unsupported_fault(cell: Cell, inventory: Inventory) -> str | None:
    """Why the switch cannot do what is asked to go wrong; None if it can."""
    for fault in cell.experiment.faults:
        if inventory.switch is None:
            kind = type(fault).__name__
            return f"no {kind}: the inventory has no switch that this project sets up; leave faults out"
        if isinstance(fault, LinkCut):
            continue
        if not isinstance(fault, Loss):
            return f"a Linux switch has no {type(fault).__name__}"
        if fault.model == "burst":
            return "the switch loses packets independently or by IP ID; choose another model"
        if fault.from_ns or fault.until_ns is not None:
            return "the switch loses packets from beginning to end; leave from and until out"
    return None


def cell_ports(cell: Cell, inventory: Inventory) -> dict[str, PortSettings]:
    """How each port is set for a cell."""
    ports = ports_of(cell.topology, inventory)
    if any(group.transport.wants_marks for group in cell.groups):
        ports = {name: _marking(port) for name, port in ports.items()}
    for fault in cell.experiment.faults:
        if isinstance(fault, Loss) and fault.mean_probability > 0:
            for name in fault_ports(fault, cell, ports):
                ports[name] = _losing(ports[name], fault)
    return ports


def fault_ports(fault: Fault, cell: Cell, ports: dict[str, PortSettings]) -> list[str]:
    """Egress ports of the switches on the link that a fault strikes.

    Deviation: what a host sends is lost only behind the first switch, for a host's own egress is not the
    switch's; losses of a host's link strike what comes to it.
    """
    link = fault.link(cell.topology)
    assert link is not None, "an experiment with a fault that strikes no link"
    return [name for name in _directions(link) if name in ports]


def _directions(link: Link) -> tuple[str, str]:
    return f"{link.a}->{link.b}", f"{link.b}->{link.a}"


def _marking(port: PortSettings) -> PortSettings:
    if port.rate_bps is None:
        return port
    least, most = (round(port.rate_bps / 8 * seconds) for seconds in (MARK_MIN_S, MARK_MAX_S))
    most = min(most, port.queue_bytes)
    return replace(port, red_min_bytes=min(least, most // 2), red_max_bytes=most)


def _losing(port: PortSettings, fault: Loss) -> PortSettings:
    if fault.model == "identification":
        return replace(port, lost_ip_id_mask=round(1 / fault.mean_probability) - 1)
    return replace(port, loss_probability=fault.mean_probability)
