"""What a cell asks of the switch between the nodes: its ports, their marks and their losses."""

from rogue.harness.cell.cell import Cell
from rogue.harness.provisioning.inventory import Inventory
from rogue.harness.provisioning.ports import PortSettings
from rogue.harness.testbeds.base import Fact
from rogue.harness.testbeds.ends import port_faults, port_marks
from rogue.harness.testbeds.ends.port_marks import marking_ports
from rogue.harness.testbeds.ssh.slow_machines import has_marks_of_its_own, later_marks, marks_differ
from rogue.harness.testbeds.ssh.topology_ports import ports_of


def unsupported_fault(cell: Cell, inventory: Inventory) -> str | None:
    """The reason why the switch cannot carry out a fault; None if it can."""
    if inventory.switch is None and (kind := port_faults.first_fault(cell)):
        return f"no {kind}: the inventory has no switch that this project sets up; leave faults out"
    losses = (loss for link in cell.network.links for loss in link.losses)
    if any(loss.model == "identification" for loss in losses) and _is_over_ipv6(inventory):
        return "a Linux switch loses packets by the IP ID, which IPv6 has not; choose the model independent"
    return port_faults.unsupported_fault(cell)


def _is_over_ipv6(inventory: Inventory) -> bool:
    return any(host.variables.experiment_address.version == 6 for host in inventory.hosts)


def cell_ports(cell: Cell, inventory: Inventory) -> dict[str, PortSettings]:
    """How each port is set for a cell."""
    ports = ports_of(cell.topology, inventory)
    ports = later_marks(ports) if has_marks_of_its_own(cell, inventory) else marking_ports(cell, ports)
    return port_faults.faulty_ports(cell, ports)


def unsupported_marking(cell: Cell, inventory: Inventory) -> str | None:
    """The reason why the switch cannot mark as asked; None if it can, or is not ours."""
    return None if inventory.switch is None else port_marks.unsupported_marking(cell)


def marking_facts(cell: Cell, inventory: Inventory) -> dict[str, Fact]:
    """What ports mark by, if they are ours, and why that is not what the cell asks for."""
    if inventory.switch is None or not cell.network.curves:
        return {}
    differ = marks_differ(cell, inventory)
    if differ is not None:
        return {"marks_differ": differ}
    (curve,) = dict.fromkeys(cell.network.curves.values())
    return {"kmin_bytes": curve.kmin_bytes, "kmax_bytes": curve.kmax_bytes, "pmax": curve.pmax}
