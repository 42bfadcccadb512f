"""Who waits for whom."""

from pathlib import Path

import pytest
from helpers.experiments import cell_of

from harness.testbeds.simulator import SimulatorTestbed
from harness.testbeds.simulator.stall import PATIENCE_NS, find_circle, who_waits
from workloads.records import FailureKind

RING = """\
name: ring
topology: {kind: ring, switch_count: 5, rate: 10Gbps, delay: 1us, nic: ideal, buffer: 200KB, alpha: 8}
workload: {kind: permutation, shift: 2, size: 4MB, connections: 2, repeat_for: 400ms}
transports: [roce+pfc]
measure: [pauses]
"""


@pytest.mark.parametrize(
    ("ports", "circle"),
    [
        ([], set()),
        ([("h0", "s0"), ("s0", "s1")], set()),
        ([("s0", "s1"), ("s1", "s2"), ("s2", "s0")], {("s0", "s1"), ("s1", "s2"), ("s2", "s0")}),
        ([("h0", "s0"), ("s0", "s1"), ("s0", "s2"), ("s2", "s3"), ("s3", "s0")],
         {("s0", "s2"), ("s2", "s3"), ("s3", "s0")}),
        ([("s0", "s1"), ("s1", "s0")], {("s0", "s1"), ("s1", "s0")}),
        ([("s0", "s2"), ("s1", "s2"), ("s2", "s3")], set()),
    ],
)  # fmt: skip
def test_circles(ports: list[tuple[str, str]], circle: set[tuple[str, str]]) -> None:
    assert set(find_circle(ports)) == circle


def test_without_a_circle_those_are_named_that_waited_longest() -> None:
    stuck = {(f"h{n}", "s0"): (n + 1) * 100_000_000 for n in range(5)}
    assert who_waits(stuck) == (
        "h4 waits for s0 since 500 ms, h3 waits for s0 since 400 ms, h2 waits for s0 since 300 ms,"
        " and 2 more ports wait"
    )


def test_a_ring_under_flow_control_comes_to_a_stand_and_says_so(tmp_path: Path) -> None:
    """Every link carries two flows; one needs room behind the next link: all around."""
    result = SimulatorTestbed().run(cell_of(tmp_path, text=RING), lambda _fraction: None)
    assert result.failure is not None, "no deadlock"
    assert result.failure.kind == FailureKind.STALLED
    assert "a deadlock, for ports wait for each other in a circle" in result.failure.message
    assert result.facts["simulated_ns"] < 400_000_000
    assert len(result.tables["flows"]["flow_id"]) > 0


def test_up_and_down_a_tree_nobody_waits_for_ever(tmp_path: Path) -> None:
    tree = (
        "topology={kind: two_tier, racks: 2, hosts_per_rack: 3, leaves: 2, rate: 10Gbps, uplink_rate: 10Gbps,"
    )
    settings = (f"{tree} nic: ideal, buffer: 200KB, alpha: 8}}", "workload.repeat_for=250ms")
    result = SimulatorTestbed().run(cell_of(tmp_path, *settings, text=RING), lambda _fraction: None)
    assert result.failure is None
    assert result.facts["simulated_ns"] == 250_000_000 > PATIENCE_NS
