"""Whether the packets that an experiment asks for fit into the nodes' experiment network."""

from collections.abc import Collection

from rogue.agent.core.transports import TRANSPORTS
from rogue.harness.cell.cell import Cell
from rogue.harness.provisioning.inventory import Inventory
from rogue.harness.provisioning.rdma_mtu import least_ip_mtu_bytes, payload_bytes


def too_large_packets(cell: Cell, inventory: Inventory, hosts: Collection[str]) -> str | None:
    """The sentence that RoCE's packets do not fit; None if they do, or if none are sent.

    hosts: those that take part.
    """
    asked_bytes = cell.topology.mtu_bytes
    if not any(group.transport.base in TRANSPORTS for group in cell.groups):
        return None
    least_bytes = least_ip_mtu_bytes(asked_bytes)
    of_hosts = {host.name: host.variables.experiment_mtu for host in inventory.hosts if host.name in hosts}
    small = [name for name, mtu_bytes in of_hosts.items() if mtu_bytes < least_bytes]
    if not small:
        return None
    mtu_bytes = min(of_hosts.values())
    return (
        f"packets of {asked_bytes} bytes (topology.mtu) need an MTU of {least_bytes} bytes, and the "
        f"experiment_mtu of {', '.join(small)} is {mtu_bytes}: raise it on hosts and switches, or set "
        f"topology.mtu={payload_bytes(mtu_bytes)}"
    )
