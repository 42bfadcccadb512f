"""What an experiment's topology asks of the ports of a switch machine."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from rogue.harness.cell.network_asked import ports_asked
from rogue.harness.errors import UsageError
from rogue.harness.provisioning.inventory import Inventory
from rogue.harness.provisioning.ports import PortSettings
from rogue.harness.testbeds.ends.linux_ports import linux_ports
from rogue.workloads.topologies import Topology

SMALLEST_DELAY_NS: Final = 100_000
"""A Linux timer on a busy machine is no better than this; shorter delays are left to what is there."""


def ports_of(topology: Topology, inventory: Inventory) -> dict[str, PortSettings]:
    """Settings by port, for the ports of the topology; UsageError if the switch does not have one.

    Where the switch is not ours there are none to set; but a LAN is taken for one switch, unless the
    inventory says otherwise.
    """
    if inventory.switch is None:
        _check_wiring(topology, inventory)
        return {}
    there = {port.name for port in inventory.switch.variables.ports}
    asked = ports_asked(topology)
    ports = {
        name: port if asked[name].delay_ns >= SMALLEST_DELAY_NS else replace(port, delay_ns=0)
        for name, port in linux_ports(asked, topology.host_names()).items()
    }
    _check_names(ports, there, inventory)
    return ports


def _check_wiring(topology: Topology, inventory: Inventory) -> None:
    """A topology of several switches needs an inventory that says which port is which."""
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
