"""Tests: run a cell in the simulator."""

import gc
import json
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.experiments import FLOWS, SMALL, cell_of, simulated
from helpers.networks import reference_engine

from rogue.harness.cell.cell import Cell
from rogue.harness.cell.demand import gc_paused
from rogue.harness.results.tables import encode
from rogue.harness.testbeds.base import CellResult, TestbedError
from rogue.harness.testbeds.simulator import SimulatorTestbed, testbed
from rogue.harness.testbeds.simulator.estimate import expected_packet_hops
from rogue.harness.testbeds.simulator.network import SimulatedNetwork, build_network
from rogue.harness.testbeds.simulator.testbed import PATIENCE_NS, unmeasured_throughput
from rogue.simulator import PROFILES, Simulation, SimulationError
from rogue.simulator._core import Engine
from rogue.workloads.records import FailureKind
from rogue.workloads.traffic import WORKLOADS
from rogue.workloads.transports import BASES

SLOW = "topology={kind: star, hosts: 4, rate: 1Mbps}"
DRAINING = [kind for kind, workload in WORKLOADS.items() if "drain_for_ns" in workload.model_fields]
DRAINING_KEYS = {
    "many_pairs": ("hosts: 4, size: 1KB, load: 1, arrive_for: 30ms", 30_000_000),
    "poisson": ("size: 1KB, load: 1, arrive_for: 30ms", 30_000_000),
    "trace": (f"file: {FLOWS}", 1_000_001),
}
"""Keys of each with which a slow network is far from done when the last transfer starts, and that instant."""
TRANSPORTS = [*BASES, *(f"{name}+{word}" for name, base in BASES.items() for word in base.features)]
EVERYTHING = (
    "measure=[{kind: throughput, interval: 50us}, latency, {kind: queues, interval: 50us}, rtt, control]"
)


def run(tmp_path: Path, *settings: str) -> CellResult:
    """Return the result of a cell that may fail."""
    return SimulatorTestbed().run(cell_of(tmp_path, *settings), lambda _fraction: None)


def test_same_seed_same_bytes(tmp_path: Path) -> None:
    first, second = (run(tmp_path, "workload.repeat_for=5ms") for _ in range(2))
    assert encode(first.tables) == encode(second.tables)
    assert first.facts == second.facts


def test_another_seed_another_run(tmp_path: Path) -> None:
    first, second = (run(tmp_path, f"seed={seed}") for seed in (1, 2))
    assert first.facts["completions_digest"] != second.facts["completions_digest"]


def test_facts(tmp_path: Path) -> None:
    facts = run(tmp_path).facts
    assert facts["nic_profile"] == "cx3pro"
    assert facts["nic_profile_revision"] == PROFILES["cx3pro"].revision
    assert facts["bottleneck_port"] == "s0->h3"
    assert facts["probe_host"] == "h2"
    assert facts["base_rtt_floor_ns"] == 50_000
    assert facts["qp_failures"] == 0
    assert facts["ideal_goodput_bps"] == 10e9 * 1024 / 1106


def test_the_bottleneck_is_the_slowest_link_that_all_share(tmp_path: Path) -> None:
    bottleneck = "topology={kind: dumbbell, hosts_per_side: 4, rate: 10Gbps, bottleneck_rate: 4Gbps}"
    facts = run(tmp_path, bottleneck).facts
    assert facts["bottleneck_port"] == "s0->s1"
    assert facts["ideal_goodput_bps"] == 4e9 * 1024 / 1106


@pytest.mark.parametrize(("transport", "knows"), [("roce", True), ("cubic", True), ("roce-uc", False)])
def test_arrivals_are_recorded_for_operations_without_waits(
    tmp_path: Path, transport: str, knows: bool
) -> None:
    exchange = "workload={kind: collective, operation: all_to_all, hosts: 3, size: 1MB}"
    flows = run(tmp_path, exchange, f"transports=[{transport}]").tables["flows"]
    assert [arrived_ns is not None for arrived_ns in flows["arrived_ns"]] == [knows] * 6


def test_settings_are_kept_with_their_defaults(tmp_path: Path) -> None:
    [alike] = json.loads(run(tmp_path).raw["settings.json"])
    assert alike["settings"]["cc_parameters"]["alpha_packets"] == 2
    assert alike["flows"] == ["main/h0->h3", "main/h1->h3"]


def test_unsampled_measures_have_reasons(tmp_path: Path) -> None:
    never = run(tmp_path, "measure=[throughput, {kind: queues, interval: 9s}]").not_measured
    assert sorted(never) == ["queues", "throughput"]
    assert "over before the first sample" in never["queues"]
    assert "over before the first interval" in never["throughput"]
    assert run(tmp_path, "measure=[{kind: throughput, interval: 100us}, queues]").not_measured == {}


def test_built_objects_are_frozen_until_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(testbed, "FROZEN_OBJECTS_MIN", 0)
    counts: list[int] = []
    SimulatorTestbed().run(
        cell_of(tmp_path, text=SMALL), lambda _fraction: counts.append(gc.get_freeze_count())
    )
    assert min(counts) > 0
    assert gc.get_freeze_count() == 0 and gc.isenabled()


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_both_engines_give_the_same_tables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, transport: str
) -> None:
    settings = ("workload.size=200KB", EVERYTHING, f"transports=[{transport}]")
    lazy = run(tmp_path, *settings)
    monkeypatch.setattr(Simulation, "_engine_type", reference_engine())
    eager = run(tmp_path, *settings)
    assert lazy.tables.keys() == eager.tables.keys()
    for name, table in encode(lazy.tables).items():
        assert table == encode(eager.tables)[name], name


COLLECTIVE = "workload={kind: collective, operation: all_reduce, hosts: 3, size: 100KB}"


@pytest.mark.parametrize(
    "settings",
    [
        *([f"transports=[{transport}]"] for transport in TRANSPORTS),
        ["transports=[{name: rogue, estimator: nic_tx_stamp}]"],
        ["workload.verb=read"],
        ["workload.verb=send", "transports=[rogue-uc]"],
        [COLLECTIVE],
        [COLLECTIVE, "transports=[dctcp]"],
        ["topology.nic_limiters=2"],
        ["faults=[{kind: link_cut, target: h0, at: 10us, duration: 400ms}]"],
        ["time_limit=10us"],
        ["topology.nic_limiters=2", COLLECTIVE],
    ],
    ids=" ".join,
)
def test_engine_is_released_after_the_cell(tmp_path: Path, settings: list[str]) -> None:
    cell = cell_of(tmp_path, "workload.size=100KB", *settings, text=SMALL)
    with gc_paused():
        before = _engines()
        with suppress(TestbedError):
            SimulatorTestbed().run(cell, lambda _fraction: None)
        assert _engines() == before


def _engines() -> int:
    return sum(type(each) is Engine for each in gc.get_objects())


def test_cell_ends_with_its_transfers(tmp_path: Path) -> None:
    simulated_ns = run(tmp_path).facts["simulated_ns"]
    assert isinstance(simulated_ns, int)
    assert simulated_ns < 20_000_000


def test_repeating_cell_lasts_exactly_its_time(tmp_path: Path) -> None:
    assert run(tmp_path, "workload.repeat_for=3333us").facts["simulated_ns"] == 3_333_000


def test_late_cell_is_a_timeout_with_tables(tmp_path: Path) -> None:
    result = run(tmp_path, "time_limit=500us")
    assert result.failure is not None
    assert result.failure.kind is FailureKind.TIMEOUT
    assert result.failure.message == (
        "2 of 2 flows were not done after 0.0005 simulated seconds; raise time_limit if they need longer"
    )
    assert set(encode(result.tables)) >= {"flows.parquet", "throughput.parquet"}


def test_flows_that_repeat_until_their_time_is_over_are_not_late(tmp_path: Path) -> None:
    """Two flows that repeat for 100 us and one of 1 MB: at 500 us only that one is late."""
    groups = (
        "{name: short, workload: {kind: incast, senders: 2, size: 1MB, repeat_for: 100us}},"
        "{name: long, workload: {kind: incast, senders: 1, size: 1MB}}"
    )
    text = SMALL.replace("workload: {kind: incast, senders: 2, size: 1MB}", f"traffic: [{groups}]")
    cell = cell_of(tmp_path, "time_limit=500us", text=text)
    failure = SimulatorTestbed().run(cell, lambda _fraction: None).failure
    assert failure is not None
    assert failure.message.startswith("1 of 3 flows were not done after 0.0005 simulated seconds")


def test_refusal_of_the_engine_is_a_configuration_failure(tmp_path: Path) -> None:
    with pytest.raises(TestbedError, match="expected a timeout above the delay of the round trip") as caught:
        run(tmp_path, "transports=[{name: roce, timeout_exponent: 1}]", "topology.delay=1ms")
    assert caught.value.kind is FailureKind.CONFIGURATION


def test_other_engine_errors_are_bugs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def raising(*_: object) -> None:
        raise SimulationError("run_until: expected a time not before now")

    monkeypatch.setattr(Simulation, "run_until", raising)
    with pytest.raises(SimulationError, match="not before now"):
        run(tmp_path)


def test_pings_alone_have_no_throughput(tmp_path: Path) -> None:
    pings = "workload={kind: pingmesh, run_for: 1ms, places: [1]}"
    result = simulated(tmp_path, pings, "probe=null", "measure=[throughput, latency]")
    assert "throughput" in result.not_measured
    assert "throughput" not in result.tables
    assert len(result.tables["latency"]["rtt_ns"]) > 0


def draining_run(tmp_path: Path, kind: str, beside: str = "") -> tuple[Cell, CellResult, int]:
    """A cell with a workload that drains for 10 us, its result, and when the workload ends."""
    keys, arriving_ns = DRAINING_KEYS[kind]
    groups = f"{{name: drains, workload: {{kind: {kind}, {keys}, drain_for: 10us}}}}{beside}"
    often = "measure=[{kind: throughput, interval: 100us}]"
    network = (SLOW, "probe=null", "transports=[roce]", often)
    cell = cell_of(tmp_path, *network, "workload=null", f"traffic=[{groups}]")
    return cell, SimulatorTestbed().run(cell, lambda _fraction: None), arriving_ns + 10_000


@pytest.mark.parametrize("kind", DRAINING)
def test_draining_traffic_ends_at_its_time(tmp_path: Path, kind: str) -> None:
    """However much is unfinished; and the plan counts no more packets than links can carry until then."""
    cell, result, end_ns = draining_run(tmp_path, kind)
    assert (result.facts["simulated_ns"], result.failure) == (end_ns, None)
    assert "unfinished" in result.tables["flows"]["status"]
    packets = 4 * end_ns * 1e6 / 8e9 / 1024 + len(cell.groups[0].flows)
    assert expected_packet_hops(cell) <= 2 * 2 * packets


@pytest.mark.parametrize("kind", DRAINING)
def test_draining_traffic_does_not_delay_finite_traffic(tmp_path: Path, kind: str) -> None:
    beside = ", {name: finite, workload: {kind: incast, senders: 1, size: 1B}}"
    _, result, end_ns = draining_run(tmp_path, kind, beside)
    assert result.failure is None
    assert end_ns <= result.facts["simulated_ns"] < 2 * end_ns + 10_000_000


RING = """\
name: ring
topology: {kind: ring, switch_count: 5, rate: 10Gbps, delay: 1us, nic: ideal, buffer: 200KB, alpha: 8}
workload: {kind: permutation, shift: 2, size: 4MB, connections: 2, repeat_for: 400ms}
transports: [roce+pfc]
measure: [pauses]
"""


def test_deadlock_of_a_ring_is_a_stall(tmp_path: Path) -> None:
    """Every link carries two flows; one needs room behind the next link: all around."""
    result = SimulatorTestbed().run(cell_of(tmp_path, text=RING), lambda _fraction: None)
    assert result.failure is not None, "no deadlock"
    assert result.failure.kind == FailureKind.STALLED
    assert "a deadlock, for ports wait for each other in a loop: s" in result.failure.message
    for switch in range(5):
        here, there, next_one = (f"s{(switch + hop) % 5}" for hop in range(3))
        assert f"{here}->{there} waits for {there}->{next_one}" in result.failure.message
    assert result.facts["simulated_ns"] < 400_000_000
    assert result.facts["deadlock_ports"] == 5
    assert len(result.tables["flows"]["flow_id"]) > 0


def test_tree_under_flow_control_has_no_deadlock(tmp_path: Path) -> None:
    tree = (
        "topology={kind: two_tier, racks: 2, hosts_per_rack: 3, leaves: 2, rate: 10Gbps, uplink_rate: 10Gbps,"
    )
    settings = (f"{tree} nic: ideal, buffer: 200KB, alpha: 8}}", "workload.repeat_for=250ms")
    result = simulated(tmp_path, *settings, text=RING)
    assert result.facts["simulated_ns"] == 250_000_000 > PATIENCE_NS
    assert (result.facts["deadlock"], result.facts["deadlock_ports"]) == (None, 0)


TEN_MS = (
    "the traffic was over before the first interval, of 10ms; "
    "state {kind: throughput, interval: %s} in measure"
)


def ended(directory: Path, until_ns: int, *settings: str) -> SimulatedNetwork:
    network = build_network(cell_of(directory, *settings, text=SMALL, index=1))
    network.simulation.run_until(until_ns)
    for flow in network.flows:
        flow.agent.finish()
    return network


@pytest.mark.parametrize(
    ("settings", "until_ns", "interval"),
    [
        (("workload.size=100KB",), 10_000_000, "10us"),  # 180 us, of a run of 10 ms
        (("workload.size=1MB",), 10_000_000, "100us"),  # 1.8 ms
    ],
)
def test_too_long_interval_is_reported_with_a_shorter_one(
    tmp_path: Path, settings: tuple[str, ...], until_ns: int, interval: str
) -> None:
    timing = cell_of(tmp_path, *settings, text=SMALL).timing
    assert unmeasured_throughput(ended(tmp_path, until_ns, *settings), timing) == TEN_MS % interval


@pytest.mark.parametrize(
    ("setting", "until_ns"),
    [
        ("workload.repeat_for=10ms", 20_000_000),
        ("workload.size=10MB", 20_000_000),
        ("workload.repeat_for=5ms", 5_000_000),  # the only sample covers the whole run of 5 ms
    ],
)
def test_traffic_of_one_sample_is_measured(tmp_path: Path, setting: str, until_ns: int) -> None:
    timing = cell_of(tmp_path, setting, text=SMALL).timing
    assert unmeasured_throughput(ended(tmp_path, until_ns, setting), timing) is None


def test_missing_traffic_has_a_reason(tmp_path: Path) -> None:
    network = replace(ended(tmp_path, 1_000), flows=[])
    timing = cell_of(tmp_path, text=SMALL).timing
    assert unmeasured_throughput(network, timing) == "there is no traffic but what measures latency"
