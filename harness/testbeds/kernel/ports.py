"""How the ports of a cell's switches are set, as topology, transports and faults ask."""

from dataclasses import replace

from rogue.harness.cell.cell import Cell
from rogue.harness.cell.marking import marked_above_bytes
from rogue.harness.provisioning.ports import PortSettings
from rogue.harness.testbeds.ends import port_faults
from rogue.harness.testbeds.kernel.network import port_settings


def cell_ports(cell: Cell) -> dict[str, PortSettings]:
    """Settings of each port of the switches, by name."""
    ports = port_settings(cell.topology)
    for above_bytes in thresholds_bytes(cell):
        ports = {name: _marking(port, above_bytes) for name, port in ports.items()}
    return port_faults.faulty_ports(cell, ports)


def outages(cell: Cell) -> list[tuple[list[str], port_faults.Outage]]:
    """When links carry nothing, each by its ports at switches."""
    ports = port_settings(cell.topology)
    found = ((fault, port_faults.port_change(fault).outage) for fault in cell.experiment.faults)
    return [
        (port_faults.fault_ports(fault, cell.topology, ports), outage)
        for fault, outage in found
        if outage is not None
    ]


def thresholds_bytes(cell: Cell) -> set[int]:
    """Above which queues the cell's transports want packets marked."""
    asking = (group for group in cell.groups if group.transport.wants_marks)
    return {marked_above_bytes(cell.topology, group) for group in asking}


def _marking(port: PortSettings, above_bytes: int) -> PortSettings:
    """Every packet is marked that finds more than K waiting.

    Deviation: RED's mean is of the queue as the last packets found it, half of it the last one's. A port
    that holds less than K never marks; there the last byte that it holds marks, and what comes is dropped.
    """
    most_bytes = min(above_bytes, port.queue_bytes)
    return replace(port, red_min_bytes=most_bytes - 1, red_max_bytes=most_bytes, red_is_prompt=True)
