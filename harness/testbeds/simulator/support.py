"""What the simulator cannot do, said before the run."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from rogue.harness.cell.carrier import Carrier, Group
from rogue.harness.cell.cell import Cell
from rogue.harness.cell.driver_options import CHOICES
from rogue.harness.cell.timing import switch_ports
from rogue.harness.experiment.choices import MeasureKind
from rogue.harness.testbeds.simulator.faults import unsupported_fault
from rogue.harness.testbeds.simulator.features import cell_transports, unsupported_feature
from rogue.harness.testbeds.simulator.headroom import missing_buffer
from rogue.harness.testbeds.simulator.limiters import missing_limiters
from rogue.harness.testbeds.simulator.packets import never_recorded
from rogue.harness.testbeds.simulator.receiver_controls import unsupported_receiver_control
from rogue.harness.testbeds.simulator.rehearsal import unbuildable
from rogue.harness.testbeds.simulator.switch_controls import unsupported_switch_control
from rogue.simulator import PROFILES
from rogue.workloads.traffic import Flow
from rogue.workloads.traffic.waiting import waits

SERVICES: Final = ("rc", "uc", "tcp")
VERBS: Final = ("write", "read", "send")
SAMPLES_MAX: Final = 50_000_000
CONTROL_SAMPLES_MAX: Final = 5_000_000
PROBES_MAX: Final = 5_000_000
"""A probe, and what a control believes, is an object in memory until the cell ends."""
CONNECTIONS_BYTES_MAX: Final = 15_500_000_000
CONNECTION_BYTES: Final = 12_500
LARGER_BYTES: Final[Mapping[str, int]] = {"rogue": 21_000, "rogue-uc": 19_000, "uet": 14_500}
"""What connections may take together until the cell ends, and one of them, by the base of its transport.

Others take what `roce+dcqcn+pfc` does. Measured with an all-to-all (benchmarks/README.md).
"""
TRANSFER_BYTES_MAX: Final = 2**40
"""The largest WRITE of the simulator's TCPs; agents cut transfers into segments."""
NOT_MEASURED: Final[dict[MeasureKind, str]] = {
    "cpu": "the simulator has no model of the hosts' processors",
}


def unsupported(cell: Cell) -> str | None:
    """Why the simulator cannot run a cell, naming what it has; None if it can."""
    if reason := unsupported_feature(cell) or _option_for_nodes(cell):
        return reason
    for name in cell_transports(cell):
        if name.service not in SERVICES:
            return f"the simulator has no service {name.service} for {name}; it has {', '.join(SERVICES)}"
    checks: Iterable[Callable[[Cell], str | None]] = (
        _unsupported_network,
        unsupported_switch_control,
        _unsupported_traffic,
        unsupported_fault,
        missing_limiters,
        _too_many_samples,
        never_recorded,
        unsupported_receiver_control,
        missing_buffer,
        unbuildable,
    )
    return next((reason for check in checks if (reason := check(cell))), None)


def _option_for_nodes(cell: Cell) -> str | None:
    asked = [key for key in CHOICES if any(key in group.parameters for group in cell.groups)]
    return f"{asked[0]} is about drivers on nodes; the simulator has none: leave it out" if asked else None


def _unsupported_network(cell: Cell) -> str | None:
    for host in cell.topology.host_names():
        profile = cell.topology.nic_of(host)
        if profile not in PROFILES:
            return f"the simulator has no NIC {profile}; it has {', '.join(PROFILES)}: set topology.nic"
    return None


def _unsupported_traffic(cell: Cell) -> str | None:
    if reason := _too_many_connections(cell) or cell.idleness:
        return reason
    for group in cell.groups:
        missing = sorted({flow.verb for flow in group.flows} - set(VERBS))
        if missing:
            return f"the simulator's NICs have no verb {missing[0]}; they have {', '.join(VERBS)}"
        if waits(group.flows) and (reason := _waits_in_vain(group)):
            return reason
        if group.transport.service == "tcp" and (reason := _too_large(group.flows)):
            return reason
    return None


def _too_many_connections(cell: Cell) -> str | None:
    """Return why the connections do not fit into memory; they are counted before millions are drawn."""
    placement = cell.experiment.placement
    expected = [(group, group.asked.workload.expected_connections(placement)) for group in cell.groups]
    return _beyond_memory(expected) or _beyond_memory([(group, len(group.flows)) for group in cell.groups])


def _beyond_memory(counted: Sequence[tuple[Group, float]]) -> str | None:
    held_bytes = sum(_connection_bytes(group) * connections for group, connections in counted)
    if held_bytes <= CONNECTIONS_BYTES_MAX:
        return None
    connections = round(sum(connections for _, connections in counted))
    asked = f"{connections} connections would take {held_bytes / 1e9:.1f} GB"
    most = f"expected at most {CONNECTIONS_BYTES_MAX / 1e9:g}"
    connection = {getattr(group.asked.workload, "connection", None) for group, _ in counted}
    shared = "set connection to per_pair, or " if "per_transfer" in connection else ""
    return f"{asked}, {most}: {shared}take connections, transfers or hosts away"


def _connection_bytes(carrier: Carrier) -> int:
    return LARGER_BYTES.get(carrier.transport.base, CONNECTION_BYTES)


def _waits_in_vain(group: Group) -> str | None:
    """Why some of a group's transfers might never start."""
    if group.demand.order.has_circle:
        return f"transfers of {group.name} wait for each other in a circle (after): let one start for itself"
    arrivals = (arrival for flow in group.flows for arrival in flow.arrivals)
    is_for_arrivals = any(each.moment == "arrival" for arrival in arrivals for each in arrival.after)
    if group.transport.service == "uc" and is_for_arrivals:
        waiting = f"{group.name} has transfers that wait for others to arrive"
        return f"{waiting}, and what UC loses never does: set transport to one over RC or TCP"
    return None


def _too_large(flows: Sequence[Flow]) -> str | None:
    sizes = ((flow.size_bytes, *flow.arrived_sizes_bytes) for flow in flows)
    largest_bytes = max(max(each) for each in sizes)
    if largest_bytes > TRANSFER_BYTES_MAX:
        most = f"expected at most {TRANSFER_BYTES_MAX} over TCP"
        return f"a transfer has {largest_bytes} bytes, {most}; lower its size"
    return None


def _too_many_samples(cell: Cell) -> str | None:
    """A sampler that would fill the memory before the first result."""
    experiment, timing, probe = cell.experiment, cell.timing, cell.experiment.probe
    flows = sum(len(group.flows) for group in cell.groups)
    wanted = {
        "throughput": (timing.throughput_interval_ns, flows, SAMPLES_MAX, "its interval"),
        "queues": (timing.queue_interval_ns, switch_ports(experiment.topology), SAMPLES_MAX, "its interval"),
        "control": (
            timing.throughput_interval_ns,
            flows * experiment.measures("control"),
            CONTROL_SAMPLES_MAX,
            "the interval of throughput",
        ),
        "latency": (
            probe.interval_ns if probe else timing.limit_ns,
            1,
            PROBES_MAX,
            "the probe's interval",
        ),
    }
    for what, (interval_ns, rows, samples_max, whose) in wanted.items():
        samples = timing.limit_ns // interval_ns * rows
        if samples > samples_max:
            return f"{what} would have {samples} samples, expected at most {samples_max}; raise {whose}"
    return None


def not_measured(cell: Cell) -> dict[str, str]:
    """Measures that a cell asks for and will not get, with the reason."""
    return {measure: reason for measure, reason in NOT_MEASURED.items() if cell.experiment.measures(measure)}
