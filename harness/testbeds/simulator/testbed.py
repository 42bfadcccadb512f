"""Run a cell in the simulator."""

import gc
import json
from dataclasses import asdict
from math import floor, log10
from typing import Final

from rogue.agent.core.errors import SettingsError
from rogue.harness.cell.cell import Cell, cell_facts
from rogue.harness.cell.demand import gc_paused
from rogue.harness.cell.timing import Timing, switch_ports
from rogue.harness.cell.transport import ParameterMistake
from rogue.harness.testbeds.base import CellResult, Fact, Failure, Progress, Testbed, TestbedError
from rogue.harness.testbeds.simulator import support
from rogue.harness.testbeds.simulator.estimate import estimate_seconds, expected_packet_hops
from rogue.harness.testbeds.simulator.features import control_facts, feature_facts
from rogue.harness.testbeds.simulator.flows import RunningFlow
from rogue.harness.testbeds.simulator.network import NO_CONTROL, SimulatedNetwork, build_network, packet_facts
from rogue.harness.testbeds.simulator.nics import nic_facts, parameter_mistake, profile_of
from rogue.harness.testbeds.simulator.packet_events import packet_event_facts
from rogue.harness.testbeds.simulator.support import is_same_for_every_seed
from rogue.harness.testbeds.simulator.tables import ResentBytes, collect_tables, has_estimator
from rogue.simulator import ControlError, Simulation, SimulationError, explained
from rogue.workloads.records import FailureKind
from rogue.workloads.units import TIME

SAMPLES_MIN: Final = 10
"""The least number of intervals in a cell's traffic; there are less than ten times as many."""


def unsampled_queues(cell: Cell) -> str:
    """Return why there is no sample of a queue: many ports are sampled rarely, for memory."""
    interval_ms, ports = cell.timing.queue_interval_ns / 1e6, switch_ports(cell.topology)
    return (
        f"the run was over before the first sample: {ports} ports of switches are sampled each "
        f"{interval_ms:g} ms; state a shorter interval"
    )


def unmeasured_throughput(network: SimulatedNetwork, timing: Timing) -> str | None:
    """Say why the samples tell no rate, with an interval that would; None if they do."""
    if not network.flows:
        return "there is no traffic but what measures latency"
    now_ns = network.simulation.now_ns
    end_ns = max(_end_ns(flow, now_ns) for flow in network.flows)
    if end_ns >= min(timing.throughput_interval_ns, now_ns):
        return None
    shorter_ns = max(1, 10 ** floor(log10(max(1, end_ns / SAMPLES_MIN))))
    return (
        f"the traffic was over before the first interval, of {TIME.format(timing.throughput_interval_ns)}; "
        f"state {{kind: throughput, interval: {TIME.format(shorter_ns)}}} in measure"
    )


def _end_ns(flow: RunningFlow, now_ns: int) -> int:
    """Return when its last transfer ended: the end of the run if one is unfinished."""
    ends_ns = (now_ns if record.end_ns is None else record.end_ns for record in flow.agent.transfers)
    return max(ends_ns, default=now_ns)


PATIENCE_NS: Final = 100_000_000
"""Longer than a timeout of the queue pairs, 67 ms, after which they have tried again."""


class StallWatch:
    """Detects paused ports while no packet reaches any host.

    Silence alone is no stall: a link may be cut, and queue pairs may wait before they try again.
    """

    def __init__(self, network: SimulatedNetwork) -> None:
        self._simulation = network.simulation
        self._verbs_done = -1
        self._since_ns = 0
        self._arrived_bytes = -1

    def failure(self) -> Failure | None:
        """Return the failure if no packet reached a host for `PATIENCE_NS` while ports were paused."""
        now_ns = self._simulation.now_ns
        verbs_done = self._simulation.statistics()["verbs_done"]
        if verbs_done != self._verbs_done:
            self._verbs_done, self._since_ns, self._arrived_bytes = verbs_done, now_ns, -1
        if now_ns - self._since_ns < PATIENCE_NS:
            return None
        before, self._arrived_bytes = self._arrived_bytes, _sum_arrived_bytes(self._simulation)
        self._since_ns = now_ns
        if before != self._arrived_bytes or not has_long_pauses(self._simulation):
            return None
        silence = f"no packet reached a host for {PATIENCE_NS // 1_000_000} ms"
        who = explained(self._simulation.waits(), self._simulation.deadlock())
        return Failure(FailureKind.STALLED, f"{silence}, at {now_ns / 1e9:g} simulated seconds: {who}")


def _sum_arrived_bytes(simulation: Simulation) -> int:
    sent = (row for row in simulation.counters() if row[2] == "tx_bytes")
    return sum(value for _, port, _, value in sent if port.partition("->")[2].startswith("h"))


def has_long_pauses(simulation: Simulation) -> bool:
    """True if a port with packets to send has been paused for `PATIENCE_NS` without an end."""
    waiting = {wait.port for wait in simulation.waits()}
    table, now_ns = simulation.pause_table(), simulation.now_ns
    rows = zip(table["port"], table["start_ns"].tolist(), table["duration_ns"].tolist(), strict=True)
    return any(
        port in waiting and start_ns + duration_ns >= now_ns and duration_ns >= PATIENCE_NS
        for port, start_ns, duration_ns in rows
    )


SLICES_MAX = 2_000
"""The most pieces of a run. Between pieces it reports progress and reads the NICs."""
FROZEN_OBJECTS_MIN: Final = 100_000
"""Fewer objects are not kept from the garbage collector. Doing so resets its counters, and in a process that
runs one small cell after the other it would never look at old objects."""


class SimulatorTestbed(Testbed):
    """Simulated NICs, links and switches under the same agent that runs on real ones."""

    @property
    def name(self) -> str:
        return "simulator"

    def unsupported(self, cell: Cell) -> str | None:
        return support.unsupported(cell)

    def is_same_for_every_seed(self, cell: Cell) -> bool:
        """Return True unless a hash or a few draws decide what the engine refuses."""
        return is_same_for_every_seed(cell)

    def parameter_mistake(self, cell: Cell) -> ParameterMistake | None:
        return parameter_mistake(cell)

    def estimate_seconds(self, cell: Cell) -> float:
        return estimate_seconds(cell)

    def estimate_events(self, cell: Cell) -> float:
        """Count one event for each packet on each link."""
        return expected_packet_hops(cell)

    def run(self, cell: Cell, progress: Progress) -> CellResult:
        """Simulate until the traffic is over, collect the tables, and release the simulation.

        The garbage collector does not look at the objects of a large network before the end.
        """
        try:
            with gc_paused():
                network = build_network(cell)
                if gc.get_count()[0] >= FROZEN_OBJECTS_MIN:
                    gc.freeze()
        except (SimulationError, SettingsError) as error:
            raise TestbedError(FailureKind.CONFIGURATION, str(error)) from error
        try:
            return self._run(cell, network, progress)
        finally:
            gc.unfreeze()
            network.simulation.close()

    @staticmethod
    def _run(cell: Cell, network: SimulatedNetwork, progress: Progress) -> CellResult:
        timing = cell.timing
        resent = ResentBytes(network, is_wanted=cell.experiment.measures("throughput"))
        try:
            failure = _simulate(network, timing, progress, resent)
        except ControlError as error:
            place = f"the plug-in raised at {error.place}: " if error.place else ""
            raise TestbedError(FailureKind.CONFIGURATION, f"{place}{error}; correct the line") from error
        network.simulation.check_invariants()
        for flow in (*network.flows, *network.probes):
            flow.agent.finish()
        not_measured = support.not_measured(cell)
        if cell.experiment.measures("throughput") and (reason := unmeasured_throughput(network, timing)):
            not_measured["throughput"] = reason
        if cell.experiment.measures("rtt") and not has_estimator(network):
            not_measured["rtt"] = f"{cell.transport.name} estimates no round-trip times"
        tables = collect_tables(cell, network, resent)
        if "queues" in tables and not len(tables["queues"]["t_ns"]):
            not_measured["queues"] = unsampled_queues(cell)
        if cell.experiment.measures("control") and "control" not in tables:
            not_measured["control"] = NO_CONTROL.format(transport=cell.transport.name)
        return CellResult(
            tables=tables,
            facts=_facts(cell, network),
            not_measured=not_measured,
            failure=failure,
            raw={"settings.json": _settings(network)},
        )


def _simulate(
    network: SimulatedNetwork, timing: Timing, progress: Progress, resent: ResentBytes
) -> Failure | None:
    """Advance the simulation to its end; say so if nothing gets on, or the traffic takes too long."""
    simulation, stall = network.simulation, StallWatch(network)
    interval_ns = timing.throughput_interval_ns
    step_ns = -(-timing.traffic_ns // SLICES_MAX // interval_ns) * interval_ns
    while simulation.now_ns < timing.limit_ns:
        simulation.run_until(min(simulation.now_ns + step_ns, timing.limit_ns))
        resent.read()
        progress(min(1.0, simulation.now_ns / timing.traffic_ns))
        if not timing.is_open_ended and all(_is_over(flow, simulation.now_ns) for flow in network.flows):
            return None
        if failure := stall.failure():
            return failure
    return None if timing.is_open_ended else _timeout(network, timing)


def _is_over(flow: RunningFlow, now_ns: int) -> bool:
    ends_ns = flow.flow.repeat_until_ns, flow.carrier.duration_ns
    return flow.is_done or any(end_ns is not None and now_ns >= end_ns for end_ns in ends_ns)


def _timeout(network: SimulatedNetwork, timing: Timing) -> Failure:
    late = sum(not _is_over(flow, timing.limit_ns) for flow in network.flows)
    late_of_all = f"{late} of {len(network.flows)} flows"
    text = f"{late_of_all} were not done after {timing.limit_ns / 1e9:g} simulated seconds"
    return Failure(FailureKind.TIMEOUT, f"{text}; raise time_limit if they need longer")


def _facts(cell: Cell, network: SimulatedNetwork) -> dict[str, Fact]:
    first = (*network.flows, *network.probes)[0]
    profile = profile_of(cell.topology, first.flow.source)
    statistics = network.simulation.statistics()
    deadlock = network.simulation.deadlock()
    failures = sum(len(probe.agent.failures) for probe in network.probes)
    return {
        "nic_is_hardware": False,
        "nic_profile": profile.name,
        "nic_profile_revision": profile.revision,
        **cell_facts(cell),
        "probe_host": cell.topology.probe_host() if cell.experiment.probe else None,
        "probe_failures": failures if network.probes else None,
        "base_rtt_floor_ns": getattr(first.settings.cc_parameters, "base_rtt_floor_ns", None),
        **feature_facts(cell),
        **nic_facts(cell),
        **control_facts(cell),
        "queue_interval_ns": cell.timing.queue_interval_ns,
        "simulated_ns": network.simulation.now_ns,
        "qp_failures": sum(bool(flow.agent.failures) for flow in network.flows),
        "deadlock": ", ".join(deadlock) or None,
        "deadlock_ports": len(deadlock),
        "packet_hops": statistics["packet_hops"],
        "events": statistics["events"],
        "completions_digest": network.simulation.digest(),
        **packet_facts(cell, network.simulation),
        **packet_event_facts(cell, network.simulation),
    }


def _settings(network: SimulatedNetwork) -> bytes:
    alike: dict[int, list[RunningFlow]] = {}
    for flow in network.flows:
        alike.setdefault(id(flow.settings), []).append(flow)
    listed = [
        {"settings": asdict(flows[0].settings), "flows": [flow.flow_id for flow in flows]}
        for flows in alike.values()
    ]
    return json.dumps(listed, indent=1, sort_keys=True).encode()
