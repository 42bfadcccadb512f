"""What an experiment's topology asks of the ports of a switch machine."""

from collections.abc import Mapping
from typing import Final

from rogue.harness.errors import UsageError
from rogue.harness.provisioning.inventory import Inventory
from rogue.harness.provisioning.ports import PortSettings
from rogue.workloads.topologies import Topology

SMALLEST_DELAY_NS: Final = 100_000
"""A Linux timer on a busy machine is no better than this; shorter delays are left to what is there."""
_UNBOUNDED_BYTES: Final = 1_000_000_000


def ports_of(topology: Topology, inventory: Inventory) -> dict[str, PortSettings]:
    """Settings by port, for the ports of the topology; UsageError if the switch does not have one.

    Where the switch is not ours there are none to set; but a LAN is taken for one switch, unless the
    inventory says otherwise.

    UsageError too if its switches should be input-queued, which a Linux switch is not.

    Deviation: a Linux switch has no buffer that its ports share. Each port gets what it could hold alone,
    alpha / (1 + alpha) of the buffer, which is where a single congested port settles.
    """
    if topology.switch == "voq":
        raise UsageError(
            f"inventory {inventory.path}: got topology.switch voq, expected shared, "
            "as only the simulator has input-queued switches; leave topology.switch out."
        )
    if inventory.switch is None:
        _check_wiring(topology, inventory)
        return {}
    there = {port.name for port in inventory.switch.variables.ports}
    ports = {
        f"{switch}->{peer}": PortSettings(
            rate_bps=link.rate_bps,
            queue_bytes=queue_bytes(topology),
            delay_ns=link.delay_ns if link.delay_ns >= SMALLEST_DELAY_NS else 0,
        )
        for switch in topology.switch_names()
        for peer, link in topology.links_of[switch].items()
    }
    _check_names(ports, there, inventory)
    return ports


def queue_bytes(topology: Topology) -> int:
    """What one port holds."""
    if topology.buffer_bytes is None:
        return _UNBOUNDED_BYTES
    return max(1, int(topology.buffer_bytes * topology.alpha / (1 + topology.alpha)))


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
