"""Refuse what the nodes of an inventory cannot run, before the run."""

from collections.abc import Collection, Mapping
from typing import Final

from rogue.agent.core.transports import TRANSPORTS
from rogue.agent.node.messages import Capabilities
from rogue.harness.cell.cell import Cell
from rogue.harness.cell.demand import PROBE_TRANSPORT
from rogue.harness.cell.recorded_packets import never_recorded
from rogue.harness.errors import HarnessError
from rogue.harness.experiment.choices import MeasureKind
from rogue.harness.provisioning.cards import card_profile
from rogue.harness.provisioning.inventory import Inventory
from rogue.harness.provisioning.rdma_transfers import least_ip_mtu_bytes, payload_bytes
from rogue.harness.testbeds.ends.roles import is_limited
from rogue.harness.testbeds.ends.support import kernels_own, simulators_topology, simulators_traffic, too_fine
from rogue.harness.testbeds.ends.switch_ports import uneven_delays
from rogue.harness.testbeds.ssh.card_features import is_of_cards, missing_features, missing_limiters
from rogue.harness.testbeds.ssh.declared_switches import why_switches_mismatch, why_unmarked
from rogue.harness.testbeds.ssh.switch_machine import (
    SMALLEST_DELAY_NS,
    ports_of,
    unsupported_fault,
    unsupported_marking,
    watching_switch,
)
from rogue.workloads.transports import BASES, TransportName


def too_large_packets(cell: Cell, inventory: Inventory, hosts: Collection[str]) -> str | None:
    """Return a sentence if RoCE's packets do not fit; None if they do, or if none are sent.

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


def unsupported_topology(cell: Cell, inventory: Inventory, nodes: Mapping[str, Capabilities]) -> str | None:
    """Return why these nodes cannot be the topology; None if they can."""
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
    """Return a sentence about a card that is slower than its link should be; None if there is none."""
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


NOT_MEASURED: Final[dict[MeasureKind, str]] = {
    "queues": "the switch's queues are read before and after a cell, not during: see its counters",
    "pauses": "the switch records no pauses",
}
NOT_OURS: Final[dict[MeasureKind, str]] = {
    measure: f"the switch is not ours: its {measure} are not read" for measure in (*NOT_MEASURED, "packets")
}
KERNEL_TCPS: Final = tuple(name for name, base in BASES.items() if base.is_in_kernels)


def unsupported(cell: Cell, inventory: Inventory, nodes: Mapping[str, Capabilities]) -> str | None:
    """Return a sentence: why these nodes cannot run the cell, with what they offer or what to change.

    None if they can.
    """
    hosts = used_hosts(cell)
    for host in sorted(hosts):
        if host not in nodes:
            return f"the inventory has no {host}; it has {', '.join(nodes)}: bring up a testbed that has"
    used = {host: nodes[host] for host in sorted(hosts)}
    names = sorted({group.transport for group in cell.groups}, key=str)
    for name in [*names, *([PROBE_TRANSPORT] if _has_probe(cell) else [])]:
        if reason := _unsupported_transport(name, used):
            return reason
    return (
        _kernels_own(cell, inventory)
        or unsupported_topology(cell, inventory, used)
        or too_large_packets(cell, inventory, used)
        or simulators_traffic(cell)
        or too_fine(cell)
        or cell.idleness
        or cell.experiment.unmet_requirement(not_measured(cell, inventory))
        or missing_limiters(cell, inventory, nodes)
        or unsupported_fault(cell, inventory)
        or (never_recorded(cell) if inventory.switch is not None else None)
        or unsupported_marking(cell, inventory)
        or why_unmarked(cell, inventory)
        or missing_features(cell, inventory, used)
        or why_switches_mismatch(cell, inventory)
        or too_slow(cell, inventory, used)
    )


def used_hosts(cell: Cell) -> set[str]:
    """Return the hosts that take part, with the probe's."""
    flows = [flow for group in cell.groups for flow in group.flows]
    if cell.probe is not None and _has_probe(cell):
        flows.append(cell.probe.flow)
    return {host for flow in flows for host in (flow.source, flow.destination)}


def _has_probe(cell: Cell) -> bool:
    return cell.experiment.probe is not None and cell.experiment.measures("latency")


def may_carry(name: TransportName) -> bool:
    """Return True for the agent's transports and kernels' TCPs, without features that cards cannot have."""
    return is_of_cards(name) and (name.base in TRANSPORTS or name.base in KERNEL_TCPS)


def _unsupported_transport(name: TransportName, nodes: Mapping[str, Capabilities]) -> str | None:
    if not may_carry(name):
        return f"the nodes have no {name}; they have {', '.join((*TRANSPORTS, *KERNEL_TCPS))}"
    if name.service == "tcp":
        without = [host for host, node in nodes.items() if name.base not in node.congestion_controls]
        has = sorted(set.intersection(*(set(node.congestion_controls) for node in nodes.values())))
        return f"{without[0]} has no TCP {name}; all have {', '.join(has)}" if without else None
    for host, node in nodes.items():
        if node.pyverbs is None or not node.ports:
            what = "pyverbs" if node.pyverbs is None else "RoCE port"
            return f"{host} has no {what} for {name}; provision it, or choose another transport"
    return None


def _kernels_own(cell: Cell, inventory: Inventory) -> str | None:
    has_switches = inventory.switch is not None or bool(inventory.hardware_switches)
    for group in cell.groups:
        if key := kernels_own(group, are_marks_set=has_switches):
            return f"{group.transport} on nodes is the kernel's, which takes no {key}: leave it out"
    return None


def not_measured(cell: Cell, inventory: Inventory) -> dict[str, str]:
    """Return measures that a cell asks for and will not get, with the reason."""
    reasons = NOT_MEASURED if inventory.switch is not None else NOT_OURS
    missing: dict[str, str] = {
        measure: reason for measure, reason in reasons.items() if cell.experiment.measures(measure)
    }
    if cell.experiment.measures("packets") and not watching_switch(cell, inventory):
        missing.setdefault("packets", "the switch records IPv4 packets only")
    line_rate_bps = cell.topology.host_rate_bps(cell.topology.host_names()[0])
    has_samples = any(is_limited(group, line_rate_bps) for group in cell.groups)
    if cell.experiment.measures("rtt") and not has_samples:
        missing["rtt"] = f"{cell.transport.name} estimates no round-trip times"
    if cell.experiment.measures("control") and not has_samples:
        missing["control"] = f"{cell.transport.name} has no control in its agent"
    return missing
