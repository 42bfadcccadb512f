"""What of a topology nodes and the switch between them are not, said before the run."""

from collections.abc import Mapping

from rogue.agent.node.messages import Capabilities
from rogue.harness.cell.cell import Cell
from rogue.harness.errors import HarnessError
from rogue.harness.provisioning.cards import card_profile
from rogue.harness.provisioning.inventory import Inventory
from rogue.harness.testbeds.ends.linux_ports import uneven_delays
from rogue.harness.testbeds.ends.support import simulators_topology
from rogue.harness.testbeds.ssh.topology_ports import SMALLEST_DELAY_NS, ports_of


def unsupported_topology(cell: Cell, inventory: Inventory, nodes: Mapping[str, Capabilities]) -> str | None:
    """Why these nodes are not the topology's; None if they are, or can be made so."""
    if (reason := simulators_topology(cell)) is not None:
        return reason
    try:
        ports_of(cell.topology, inventory)
    except HarnessError as error:
        return str(error)
    return _other_card(cell, nodes) or _other_delays(cell, inventory)


def _other_card(cell: Cell, nodes: Mapping[str, Capabilities]) -> str | None:
    wanted = cell.topology.nic
    if wanted is None:
        return None
    for name, node in nodes.items():
        if wanted not in {_profile(port) for port in node.ports}:
            return f"{name} has no {wanted}: leave topology.nic out, for nodes have their own cards"
    return None


def _profile(port: Mapping[str, object]) -> str | None:
    is_software = port.get("driver") == "software"
    return "soft_roce" if is_software else card_profile(str(port.get("hca_type")))


def _other_delays(cell: Cell, inventory: Inventory) -> str | None:
    """Too short ones, and those of hosts that differ; the default asks for nothing."""
    usual_ns = type(cell.topology).model_fields["delay_ns"].default
    delays_ns = {cell.topology.delay_ns, *(link.delay_ns for link in cell.network.links)} - {0, usual_ns}
    short_ns = [delay_ns for delay_ns in delays_ns if delay_ns < SMALLEST_DELAY_NS]
    if inventory.switch is None:
        return None
    if not short_ns:
        return uneven_delays(cell)
    least = f"a Linux switch delays packets by {SMALLEST_DELAY_NS / 1000:g} us or more"
    return f"topology.delay is {min(short_ns) / 1000:g} us, and {least}: raise it, or leave it out"


def too_slow(cell: Cell, inventory: Inventory, nodes: Mapping[str, Capabilities]) -> str | None:
    """A card that is slower than its link should be; a switch of ours would make it no faster."""
    addresses = {host.name: str(host.variables.experiment_address) for host in inventory.hosts}
    for name, node in nodes.items():
        wanted_bps = cell.topology.host_rate_bps(name)
        own = (port for port in node.ports if port.get("address") == addresses[name])
        for port in own:
            is_card, rate_bps = port.get("driver", "software") != "software", port.get("rate_bps")
            if is_card and isinstance(rate_bps, int) and 0 < rate_bps < wanted_bps:
                rates = f"{rate_bps / 1e9:g} Gb/s, its link of the topology {wanted_bps / 1e9:g} Gb/s"
                return f"{name}'s port does {rates}; set the topology's rate"
    return None
