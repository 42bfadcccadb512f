"""A ring all-reduce over Linux's own stack beside the simulator, and one that loses a link.

Fixed before the first run: from the start of the last host that began to the last arrival both take equally
long, to 10 %. TCP has hosts of 1 Gb/s there, because one processor carries all of them (docs/explanation/testbeds.md).
"""

from pathlib import Path

import numpy as np
import pytest
from helpers.built_kernel import built_testbed
from helpers.experiments import cell_of

from rogue.harness.testbeds.base import Columns, Testbed
from rogue.harness.testbeds.simulator import SimulatorTestbed

TEXT = """\
name: ring
topology: {kind: star, hosts: 8, rate: 10Gbps, delay: 1us}
workload: {kind: collective, operation: all_reduce, hosts: 8, size: 8MB}
transports: [roce]
measure: [throughput]
"""
SLOW = ("topology.hosts=4", "topology.rate=1Gbps", "workload.hosts=4", "workload.size=4MB")


def flows(testbed: Testbed, place: Path, *settings: str) -> Columns:
    result = testbed.run(cell_of(place, *settings, text=TEXT), lambda _fraction: None)
    assert result.failure is None
    return result.tables["flows"]


def taken_ns(table: Columns) -> float:
    assert set(table["status"]) == {"ok"}
    is_first = np.asarray(table["transfer_id"]) == 1
    return float(max(table["arrived_ns"]) - max(np.asarray(table["start_ns"])[is_first]))


@pytest.mark.needs("kernel")
@pytest.mark.long
@pytest.mark.parametrize(
    ("transport", "settings"),
    [("rogue", ()), ("roce", ()), ("roce", ("workload.verb=send",)), ("cubic", SLOW)],
)
def test_a_ring_takes_as_long_as_on_the_simulator(
    transport: str, settings: tuple[str, ...], tmp_path: Path
) -> None:
    kernel = built_testbed()
    changed = (f"transports=[{transport}]", *settings)
    measured, simulated = (flows(each, tmp_path, *changed) for each in (kernel, SimulatorTestbed()))
    assert taken_ns(measured) == pytest.approx(taken_ns(simulated), rel=0.1)
    for each in (measured, simulated):
        waiting = np.asarray(each["transfer_id"]) > 1
        assert all(name is not None for name in np.asarray(each["waited_for_flow"])[waiting])


@pytest.mark.needs("kernel")
@pytest.mark.long
def test_what_waits_for_a_lost_flow_ends_long_before_the_time_limit(tmp_path: Path) -> None:
    """h2's link is cut for 9 of 10 s: its flows fail, and those that wait for them go on without."""
    settings = (
        "transports=[{name: roce, retry_count: 1}]",
        "topology.hosts=4",
        "workload.hosts=4",
        "faults=[{kind: link_cut, target: h2, at: 3ms, duration: 9s}]",
        "time_limit=10s",
    )
    table = flows(built_testbed(), tmp_path, *settings)
    status = dict(zip(zip(table["flow_id"], table["transfer_id"], strict=True), table["status"], strict=True))
    assert "error" in {how for (flow, _), how in status.items() if "h2" in flow}
    assert [status["main/h3->h0", number] for number in range(1, 7)] == ["ok"] * 6
    assert max(table["end_ns"]) < 10**9
