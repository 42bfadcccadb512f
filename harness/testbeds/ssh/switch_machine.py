"""Ports of the switch between nodes: marks, losses and what a topology needs."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from rogue.harness.cell.cell import Cell
from rogue.harness.cell.marking import MARK_ABOVE
from rogue.harness.cell.network import egress_ports
from rogue.harness.cell.transport import as_written
from rogue.harness.errors import UsageError
from rogue.harness.provisioning.inventory import Inventory
from rogue.harness.provisioning.linux_switch import PortSettings
from rogue.harness.testbeds.base import Fact
from rogue.harness.testbeds.ends import switch_ports
from rogue.harness.testbeds.ends.switch_ports import linux_ports, marking_ports
from rogue.harness.testbeds.ssh.declared_switches import unsupported_losses
from rogue.workloads.topologies import Topology

EMULATED: Final = "virtual"
"""The kind of an inventory whose nodes are emulated."""
MARK_MIN_S: Final = 0.0024
MARK_MAX_S: Final = 0.0072
"""Marking begins when the queue is as long as the port sends in this time, and is certain at the second:
30 KB and 90 KB at 100 Mb/s.  Source: DCTCP (SIGCOMM'10), section 3.4: K > C * RTT / 7; RTT here 17 ms."""


def has_own_marks(cell: Cell, inventory: Inventory) -> bool:
    """Return True for emulated machines if no group of the cell states its marking threshold K."""
    asking = [group for group in cell.groups if group.transport.wants_marks]
    is_stated = any(as_written(MARK_ABOVE) in group.parameters for group in asking)
    return inventory.kind == EMULATED and bool(asking) and not is_stated


def later_marks(ports: Mapping[str, PortSettings]) -> dict[str, PortSettings]:
    """Return ports that mark later, for machines whose round trip is 17 ms."""
    return {name: _later(port) for name, port in ports.items()}


def marks_differ(cell: Cell, inventory: Inventory) -> str | None:
    """Return a sentence with both thresholds; None if ports mark as requested."""
    if inventory.switch is None or not has_own_marks(cell, inventory):
        return None
    (requested,) = dict.fromkeys(cell.network.curves.values())
    return (
        f"emulated machines take 17 ms for a round trip, so ports mark from {1000 * MARK_MIN_S:g} to "
        f"{1000 * MARK_MAX_S:g} ms of their rate; the experiment asks for {requested.kmax_bytes} bytes: "
        f"state {as_written(MARK_ABOVE)} to have that"
    )


def _later(port: PortSettings) -> PortSettings:
    if port.rate_bps is None:
        return port
    least, most = (round(port.rate_bps / 8 * seconds) for seconds in (MARK_MIN_S, MARK_MAX_S))
    most = min(most, port.queue_bytes)
    return replace(port, red_min_bytes=min(least, most // 2), red_max_bytes=most)


SMALLEST_DELAY_NS: Final = 100_000
"""A Linux timer on a busy machine is no better than this; shorter delays are left to what is there."""


def ports_of(topology: Topology, inventory: Inventory) -> dict[str, PortSettings]:
    """Return settings of the topology's ports; UsageError if the switch lacks one.

    Where the switch is not ours there are none to set; but a LAN is taken for one switch, unless the
    inventory says otherwise.
    """
    if inventory.switch is None:
        _check_wiring(topology, inventory)
        return {}
    there = {port.name for port in inventory.switch.variables.ports}
    requested = egress_ports(topology)
    ports = {
        name: port if requested[name].link.delay_ns >= SMALLEST_DELAY_NS else replace(port, delay_ns=0)
        for name, port in linux_ports(requested, topology.host_names()).items()
    }
    _check_names(ports, there, inventory)
    return ports


def _check_wiring(topology: Topology, inventory: Inventory) -> None:
    switches = topology.switch_names()
    named = {port.name for switch in inventory.hardware_switches for port in switch.variables.switch_ports}
    if len(switches) == 1:
        return
    missing = sorted(
        {f"{switch}->{peer}" for switch in switches for peer in topology.links_of[switch]} - named
    )
    if missing:
        raise UsageError(
            f"inventory {inventory.path}: got a LAN, which is one switch, expected the {len(switches)} "
            f"switches of the topology; name the ports {', '.join(missing)} in switch_ports of "
            "hardware_switches, or choose a star."
        )


def _check_names(ports: Mapping[str, PortSettings], there: set[str], inventory: Inventory) -> None:
    missing = sorted(set(ports) - there)
    if missing:
        raise UsageError(
            f"inventory {inventory.path}: got no ports {', '.join(missing)}, expected those of "
            "the experiment's topology; bring up a testbed of that topology, or choose another experiment."
        )


def unsupported_fault(cell: Cell, inventory: Inventory) -> str | None:
    """Return why the switch cannot carry out a fault; None if it can."""
    losses = (loss for losses in cell.network.losses.values() for loss in losses)
    if any(loss.model == "identification" for loss in losses) and _is_over_ipv6(inventory):
        return "a switch loses packets by the IP ID, which IPv6 has not; choose the model independent"
    if inventory.switch is not None:
        if cell.network.packet_events and _is_over_ipv6(inventory):
            return "packet_event: a Linux switch finds IPv4 packets only; leave the fault out, or use IPv4"
        return switch_ports.unsupported_fault(cell)
    if cell.network.packet_events and inventory.hardware_switches:
        names = ", ".join(
            f"{each.name} ({each.variables.platform_name})" for each in inventory.hardware_switches
        )
        return f"packet_event: {names} cannot choose single packets; put a Linux machine between the hosts"
    kind = switch_ports.first_fault(cell, with_losses=not inventory.hardware_switches)
    if kind is not None:
        return f"no {kind}: the inventory has no switch that this project sets up; leave faults out"
    return unsupported_losses(cell, inventory)


def watching_switch(cell: Cell, inventory: Inventory) -> set[str]:
    """Return the switch machine's name if it must record packets or carry out packet events; else nothing."""
    is_needed = cell.experiment.measures("packets") or bool(cell.network.packet_events)
    if inventory.switch is None or not is_needed or _is_over_ipv6(inventory):
        return set()
    return {inventory.switch.name}


def _is_over_ipv6(inventory: Inventory) -> bool:
    return any(host.variables.experiment_address.version == 6 for host in inventory.hosts)


def cell_ports(cell: Cell, inventory: Inventory) -> dict[str, PortSettings]:
    """Return the settings of each port for a cell."""
    ports = ports_of(cell.topology, inventory)
    ports = later_marks(ports) if has_own_marks(cell, inventory) else marking_ports(cell, ports)
    return switch_ports.faulty_ports(cell, ports)


def unsupported_marking(cell: Cell, inventory: Inventory) -> str | None:
    """Return why the switch cannot mark as asked; None if it can, or is not ours."""
    return None if inventory.switch is None else switch_ports.unsupported_marking(cell)


def marking_facts(cell: Cell, inventory: Inventory) -> dict[str, Fact]:
    """Return the marking thresholds of our ports, and why they differ from the request."""
    if inventory.switch is None or not cell.network.curves:
        return {}
    differ = marks_differ(cell, inventory)
    if differ is not None:
        return {"marks_differ": differ}
    (curve,) = dict.fromkeys(cell.network.curves.values())
    return {"kmin_bytes": curve.kmin_bytes, "kmax_bytes": curve.kmax_bytes, "pmax": curve.pmax}
