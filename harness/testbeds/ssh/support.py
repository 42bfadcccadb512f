"""What the nodes of an inventory cannot do, said before the run."""

from collections.abc import Mapping
from typing import Final

from harness.errors import HarnessError
from harness.experiment.choices import MeasureKind
from harness.plan.cells import Cell
from harness.provisioning.inventory import Inventory
from harness.provisioning.topology_ports import ports_of
from harness.testbeds.ssh.limiters import lacking_limiters
from harness.testbeds.ssh.roles import PROBE_TRANSPORT
from harness.testbeds.ssh.switch import unsupported_fault
from harness.testbeds.traffic import cell_flows, group_transport
from rogue_agent.control.messages import KERNEL_TCPS, Capabilities
from rogue_agent.core.transports import TRANSPORTS
from workloads.transports import parse_transport

NOT_MEASURED: Final[dict[MeasureKind, str]] = {
    "queues": "the switch's queues are read before and after a cell, not during: see its counters",
    "pauses": "the switch records no pauses",
}
NOT_OURS: Final[dict[MeasureKind, str]] = {
    measure: f"the switch is not ours: nobody reads its {measure}" for measure in NOT_MEASURED
}


def unsupported(cell: Cell, inventory: Inventory, nodes: Mapping[str, Capabilities]) -> str | None:
    """Why these nodes cannot run a cell, naming what they have; None if they can."""
    hosts = used_hosts(cell)
    for host in sorted(hosts):
        if host not in nodes:
            return f"the inventory has no {host}; it has {', '.join(nodes)}: bring up a testbed that has"
    names = sorted({group_transport(cell, group) for group in cell.experiment.groups})
    for name in [*names, *([PROBE_TRANSPORT] if _has_probe(cell) else [])]:
        if reason := _unsupported_transport(name, {host: nodes[host] for host in hosts}):
            return reason
    try:
        ports_of(cell.experiment.topology, inventory)
    except HarnessError as error:
        return str(error)
    return (
        _unsupported_traffic(cell)
        or lacking_limiters(cell, inventory, nodes)
        or unsupported_fault(cell, inventory)
        or _too_slow(cell, inventory, {host: nodes[host] for host in sorted(hosts)})
    )


def _too_slow(cell: Cell, inventory: Inventory, nodes: Mapping[str, Capabilities]) -> str | None:
    """A card that is slower than its link should be; a switch of ours would make it no faster."""
    addresses = {host.name: str(host.variables.experiment_address) for host in inventory.hosts}
    for name, node in nodes.items():
        wanted_bps = cell.experiment.topology.host_rate_bps(name)
        own = (port for port in node.ports if port.get("address") == addresses[name])
        for port in own:
            is_card, rate_bps = port.get("driver", "software") != "software", port.get("rate_bps")
            if is_card and isinstance(rate_bps, int) and 0 < rate_bps < wanted_bps:
                rates = f"{rate_bps / 1e9:g} Gb/s, its link of the topology {wanted_bps / 1e9:g} Gb/s"
                return f"{name}'s port does {rates}; set the topology's rate"
    return None


def used_hosts(cell: Cell) -> set[str]:
    """Hosts that take part, the probe's included."""
    flows = [flow for group in cell_flows(cell).values() for flow in group]
    hosts = {host for flow in flows for host in (flow.source, flow.destination)}
    experiment = cell.experiment
    if experiment.probe is not None and _has_probe(cell):
        hosts |= {
            experiment.topology.probe_host(),
            *([experiment.probe.target] if experiment.probe.target else []),
        }
    return hosts


def _has_probe(cell: Cell) -> bool:
    return cell.experiment.probe is not None and cell.experiment.measures("latency")


def may_carry(name: str) -> bool:
    """Whether there are nodes that have a transport: the agent's own, and TCPs that a kernel offers."""
    return name in TRANSPORTS or name in KERNEL_TCPS


def _unsupported_transport(name: str, nodes: Mapping[str, Capabilities]) -> str | None:
    if not may_carry(name):
        return f"the nodes have no {name}; they have {', '.join((*TRANSPORTS, *KERNEL_TCPS))}"
    parsed = parse_transport(name)
    if parsed.service == "tcp":
        lacking = [host for host, node in nodes.items() if parsed.base not in node.congestion_controls]
        has = sorted(set.intersection(*(set(node.congestion_controls) for node in nodes.values())))
        return f"{lacking[0]} has no TCP {name}; all have {', '.join(has)}" if lacking else None
    for host, node in nodes.items():
        if node.pyverbs is None or not node.ports:
            what = "pyverbs" if node.pyverbs is None else "RoCE port"
            return f"{host} has no {what} for {name}; provision it, or choose another transport"
    return None


def _unsupported_traffic(cell: Cell) -> str | None:
    for group in cell.experiment.groups:
        if group.priority != 0:
            return "the switch has one traffic class; set priority to 0"
        if group.workload.is_probing:
            return f"{group.name} measures latency between many hosts, which only the simulator does"
    for name, flows in cell_flows(cell).items():
        if not flows:
            return (
                f"nothing happens in {name}: its first transfer would come after its end; let it run longer"
            )
    return None


def not_measured(cell: Cell, inventory: Inventory) -> dict[str, str]:
    """Measures that a cell asks for and will not get, with the reason."""
    reasons = NOT_MEASURED if inventory.switch is not None else NOT_OURS
    missing: dict[str, str] = {
        measure: reason for measure, reason in reasons.items() if cell.experiment.measures(measure)
    }
    parsed = {parse_transport(group_transport(cell, group)).base for group in cell.experiment.groups}
    if cell.experiment.measures("rtt") and not parsed & {"rogue", "rogue-uc"}:
        missing["rtt"] = f"{cell.transport.name} estimates no round-trip times"
    return missing
