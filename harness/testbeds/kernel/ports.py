"""How the ports of a cell's switches are set, as topology, transports and faults ask."""

from rogue.harness.cell.cell import Cell
from rogue.harness.cell.links_asked import OutageAsked
from rogue.harness.provisioning.ports import PortSettings
from rogue.harness.testbeds.ends import port_faults
from rogue.harness.testbeds.ends.port_marks import marking_ports
from rogue.harness.testbeds.kernel.network import port_settings


def cell_ports(cell: Cell) -> dict[str, PortSettings]:
    """Settings of each port of the switches, by name."""
    ports = marking_ports(cell, port_settings(cell.network.ports, cell.topology.host_names()))
    return port_faults.faulty_ports(cell, ports)


def outages(cell: Cell) -> list[tuple[list[str], OutageAsked]]:
    """When links carry nothing, each by its ports at switches."""
    return port_faults.outages(cell, cell.network.ports)
