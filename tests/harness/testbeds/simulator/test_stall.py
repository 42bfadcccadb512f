"""Who waits for whom."""

from pathlib import Path

from helpers.experiments import cell_of

from rogue.harness.testbeds.simulator import SimulatorTestbed
from rogue.harness.testbeds.simulator.testbed import PATIENCE_NS
from rogue.workloads.records import FailureKind

RING = """\
name: ring
topology: {kind: ring, switch_count: 5, rate: 10Gbps, delay: 1us, nic: ideal, buffer: 200KB, alpha: 8}
workload: {kind: permutation, shift: 2, size: 4MB, connections: 2, repeat_for: 400ms}
transports: [roce+pfc]
measure: [pauses]
"""


def test_a_ring_under_flow_control_comes_to_a_stand_and_says_so(tmp_path: Path) -> None:
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


def test_up_and_down_a_tree_nobody_waits_for_ever(tmp_path: Path) -> None:
    tree = (
        "topology={kind: two_tier, racks: 2, hosts_per_rack: 3, leaves: 2, rate: 10Gbps, uplink_rate: 10Gbps,"
    )
    settings = (f"{tree} nic: ideal, buffer: 200KB, alpha: 8}}", "workload.repeat_for=250ms")
    result = SimulatorTestbed().run(cell_of(tmp_path, *settings, text=RING), lambda _fraction: None)
    assert result.failure is None
    assert result.facts["simulated_ns"] == 250_000_000 > PATIENCE_NS
    assert (result.facts["deadlock"], result.facts["deadlock_ports"]) == (None, 0)
