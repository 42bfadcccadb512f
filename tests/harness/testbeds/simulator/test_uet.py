"""Test Ultra Ethernet in a cell: values derived from the network, stated values and the engine."""

from pathlib import Path

import pytest
from helpers.experiments import cell_of

from rogue.harness.cell.marking import MarkingCurve
from rogue.harness.testbeds.simulator.features import feature_facts, unsupported_feature
from rogue.harness.testbeds.simulator.network import build_network
from rogue.harness.testbeds.simulator.nics import nic_facts, nic_settings, parameter_mistake
from rogue.harness.testbeds.simulator.testbed import SimulatorTestbed
from rogue.simulator import CONTROL_PRIORITY, Spraying

HTSIM = (
    "topology={kind: fat_tree, k: 4, rate: 100Gbps, delay: 1us, delay_spread: 0s, mtu: 4096, framing: uec, "
    "nic: ideal, buffer: unbounded, trim_above: 178450B}",
    "workload={kind: incast, senders: 15, size: 100KB}",
    "probe=null",
)
UET = "transports=[uet]"


def test_uet_parameters_follow_from_the_network(tmp_path: Path) -> None:
    """12 us, 4160 and 64 bytes over six links: 14 027.5 ns, three quarters of it; 15 us and six queues."""
    cell = cell_of(tmp_path, *HTSIM, UET)
    reliability = nic_settings(cell, cell.groups[0]).reliability
    assert reliability is not None
    assert reliability.acknowledgement_priority == CONTROL_PRIORITY
    assert reliability.parameters == {
        "base_rtt_ns": 14_028,
        "line_rate_bps": 100e9,
        "header_bytes": 64,
        "target_delay_ns": 10_521,
        "rto_ns": 15_000 + 85_656,
    }


def test_uet_without_trimming_has_the_long_timeout(tmp_path: Path) -> None:
    network = HTSIM[0].replace("unbounded, trim_above: 178450B", "1MB")
    cell = cell_of(tmp_path, network, *HTSIM[1:], UET)
    reliability = nic_settings(cell, cell.groups[0]).reliability
    assert reliability is not None
    assert reliability.parameters["target_delay_ns"] == 14_028
    assert reliability.parameters["rto_ns"] == 14_028 + 80_000


def test_uet_marks_between_a_fifth_and_four_fifths_of_a_round_trip(tmp_path: Path) -> None:
    """43 packets: 9 and 35 of them."""
    stated = "{name: uet, kmin: 37350B, kmax: 145250B}"
    usual, other = (cell_of(tmp_path, *HTSIM, f"transports=[{each}]") for each in ("uet", stated))
    assert usual.network.curves == {0: MarkingCurve(9 * 4160, 35 * 4160, 1.0)}
    assert other.network.curves == {0: MarkingCurve(37_350, 145_250, 1.0)}


def test_credits_spare_marks_at_hosts(tmp_path: Path) -> None:
    cell = cell_of(tmp_path, *HTSIM, "transports=[uet+rccc]")
    assert cell.network.curves == {0: MarkingCurve(9 * 4160, 35 * 4160, 1.0, spares_hosts=True)}


@pytest.mark.parametrize(("word", "number"), [("oblivious", 0), ("bitmap", 1), ("reps", 2), ("mixed", 3)])
def test_load_balancing_is_stated_as_a_word(tmp_path: Path, word: str, number: int) -> None:
    cell = cell_of(tmp_path, *HTSIM, f"transports=[{{name: uet, load_balancing: {word}, paths: 128}}]")
    assert parameter_mistake(cell) is None
    flow = build_network(cell).flows[0]
    assert flow.nics.spraying == Spraying(128)
    assert flow.nics.reliability is not None
    assert flow.nics.reliability.parameters["load_balancing"] == number
    assert nic_facts(cell)["load_balancing"] == number


def test_uet_incast_is_trimmed_and_complete(tmp_path: Path) -> None:
    cell = cell_of(tmp_path, *HTSIM, UET)
    assert SimulatorTestbed().unsupported(cell) is None
    simulation = build_network(cell).simulation
    simulation.run_until(1_000_000)
    simulation.check_invariants()
    trimmed = sum(value for *_, name, value in simulation.counters() if name == "trimmed_packets")
    assert trimmed > 100
    again = sum(value for *_, name, value in simulation.counters() if name.endswith("retransmitted_packets"))
    assert again == trimmed
    assert simulation.statistics()["packets_live"] == 0


def test_trimming_threshold_can_scale_with_the_rate(tmp_path: Path) -> None:
    """Two hosts send over a link with a tenth of their rate: its queue is cut at a tenth of the bytes."""
    network = "kind: two_tier, racks: 2, hosts_per_rack: 2, leaves: 1, rate: 100Gbps, uplink_rate: 10Gbps"
    own = "mtu: 4096, framing: uec, nic: ideal, buffer: unbounded, trim_above: 178450B"
    longest_bytes = []
    for thresholds in ("bytes", "rate"):
        topology = f"topology={{{network}, {own}, thresholds: {thresholds}}}"
        cell = cell_of(
            tmp_path, topology, "workload={kind: permutation, size: 2MB, shift: 2}", UET, "probe=null"
        )
        assert feature_facts(cell).get("thresholds") == (None if thresholds == "bytes" else "rate")
        simulation = build_network(cell).simulation
        simulation.sample_queues(5_000)
        simulation.run_until(4_000_000)
        table = simulation.queue_table()
        data = table["max_bytes"][(table["priority"] == 0) & (table["port"] == "s0->s2")]
        longest_bytes.append(int(data.max()))
    assert 178_450 - 4160 < longest_bytes[0] <= 178_450
    assert 17_845 - 4160 < longest_bytes[1] <= 17_845


def test_trim_without_trim_above_is_refused(tmp_path: Path) -> None:
    network = "kind: star, hosts: 4, rate: 10Gbps, trim: coin"
    reason = unsupported_feature(cell_of(tmp_path, f"topology={{{network}}}"))
    assert reason == "topology.trim: coin chooses what is trimmed, and there is no trim_above: leave it out"
    trimmed = f"topology={{{network}, trim_above: 20KB}}"
    cell = cell_of(tmp_path, trimmed, "transports=[uet]")
    assert unsupported_feature(cell) is None
    assert feature_facts(cell)["trim"] == "coin"
    assert "trim" not in feature_facts(cell_of(tmp_path, trimmed.replace(", trim: coin", "")))


def test_scaled_thresholds_without_marks_are_refused(tmp_path: Path) -> None:
    topology = "topology={kind: star, hosts: 4, rate: 10Gbps, thresholds: rate}"
    assert str(unsupported_feature(cell_of(tmp_path, topology, "transports=[roce]"))).startswith(
        "topology.thresholds: rate has no threshold to scale, for no transport here asks for marks"
    )
    assert unsupported_feature(cell_of(tmp_path, topology, "transports=[roce+dcqcn]")) is None


@pytest.mark.parametrize("other", ["uet", "dctcp", "roce+dcqcn"])
def test_scaled_thresholds_may_be_another_transports(tmp_path: Path, other: str) -> None:
    """The cell without marks is as one with thresholds in bytes."""
    results = []
    for thresholds in ("bytes", "rate"):
        topology = f"topology={{kind: star, hosts: 4, rate: 10Gbps, thresholds: {thresholds}}}"
        cell = cell_of(tmp_path, topology, f"transports=[roce, {other}]", "workload.size=100KB")
        assert str(cell.transport.name) == "roce"
        assert SimulatorTestbed().unsupported(cell) is None
        results.append(SimulatorTestbed().run(cell, lambda _fraction: None).facts["completions_digest"])
    assert results[0] == results[1]
