"""What the nodes of an inventory cannot do, said before the run."""

from collections.abc import Mapping
from typing import Final

from rogue.agent.core.transports import TRANSPORTS
from rogue.agent.node.messages import Capabilities
from rogue.harness.cell.carrier import PROBE_TRANSPORT
from rogue.harness.cell.cell import Cell
from rogue.harness.cell.marking import MARK_ABOVE
from rogue.harness.cell.parameters import as_written
from rogue.harness.experiment.choices import MeasureKind
from rogue.harness.provisioning.inventory import Inventory
from rogue.harness.testbeds.ends.roles import is_limited
from rogue.harness.testbeds.ends.support import simulators_traffic, too_fine
from rogue.harness.testbeds.ssh.card_features import is_of_cards, missing_features
from rogue.harness.testbeds.ssh.declared import unmarked
from rogue.harness.testbeds.ssh.declared_numbers import other_numbers
from rogue.harness.testbeds.ssh.limiters import missing_limiters
from rogue.harness.testbeds.ssh.packet_sizes import too_large_packets
from rogue.harness.testbeds.ssh.switch import unsupported_fault, unsupported_marking
from rogue.harness.testbeds.ssh.topology import too_slow, unsupported_topology
from rogue.workloads.transports import BASES, TransportName

NOT_MEASURED: Final[dict[MeasureKind, str]] = {
    "queues": "the switch's queues are read before and after a cell, not during: see its counters",
    "pauses": "the switch records no pauses",
}
NOT_OURS: Final[dict[MeasureKind, str]] = {
    measure: f"the switch is not ours: its {measure} are not read" for measure in NOT_MEASURED
}
NOT_HERE: Final[dict[MeasureKind, str]] = {"packets": "only the simulator records packets"}
KERNEL_TCPS: Final = tuple(name for name, base in BASES.items() if base.is_in_kernels)


def unsupported(cell: Cell, inventory: Inventory, nodes: Mapping[str, Capabilities]) -> str | None:
    """Why these nodes cannot run a cell, naming what they have; None if they can."""
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
        or missing_limiters(cell, inventory, nodes)
        or unsupported_fault(cell, inventory)
        or unsupported_marking(cell, inventory)
        or unmarked(cell, inventory)
        or missing_features(cell, inventory, used)
        or other_numbers(cell, inventory)
        or too_slow(cell, inventory, used)
    )


def used_hosts(cell: Cell) -> set[str]:
    """Hosts that take part, the probe's included."""
    flows = [flow for group in cell.groups for flow in group.flows]
    if cell.probe is not None and _has_probe(cell):
        flows.append(cell.probe.flow)
    return {host for flow in flows for host in (flow.source, flow.destination)}


def _has_probe(cell: Cell) -> bool:
    return cell.experiment.probe is not None and cell.experiment.measures("latency")


def may_carry(name: TransportName) -> bool:
    """Whether there are nodes that have a transport: the agent's own, and TCPs that a kernel offers."""
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
    """A parameter of a TCP, which a kernel has as it is; when switches mark is another thing."""
    for group in cell.groups:
        has_switches = inventory.switch is not None or inventory.hardware_switches
        is_marked = group.transport.wants_marks and has_switches
        of_switches = (as_written(MARK_ABOVE),) if is_marked else ()
        key = next((key for key in group.parameters if key not in of_switches), None)
        if group.transport.service == "tcp" and key is not None:
            return f"{group.transport} on nodes is the kernel's, which takes no {key}: leave it out"
    return None


def not_measured(cell: Cell, inventory: Inventory) -> dict[str, str]:
    """Measures that a cell asks for and will not get, with the reason."""
    reasons = NOT_MEASURED if inventory.switch is not None else NOT_OURS
    missing: dict[str, str] = {
        measure: reason
        for measure, reason in {**reasons, **NOT_HERE}.items()
        if cell.experiment.measures(measure)
    }
    line_rate_bps = cell.topology.host_rate_bps(cell.topology.host_names()[0])
    has_samples = any(is_limited(group, line_rate_bps) for group in cell.groups)
    if cell.experiment.measures("rtt") and not has_samples:
        missing["rtt"] = f"{cell.transport.name} estimates no round-trip times"
    if cell.experiment.measures("control") and not has_samples:
        missing["control"] = f"{cell.transport.name} has no control in its agent"
    return missing
