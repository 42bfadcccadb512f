"""Agents at the ends of flows."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from helpers.experiments import cell_of

from rogue.agent.drivers.simulated import SimulatedFlow
from rogue.harness.testbeds.base import CellResult
from rogue.harness.testbeds.simulator import SimulatorTestbed
from rogue.harness.testbeds.simulator.network import build_network

ALONE = ("workload.senders=1", "workload.repeat_for=40ms")


def run(tmp_path: Path, *settings: str) -> CellResult:
    return SimulatorTestbed().run(cell_of(tmp_path, *settings), lambda _fraction: None)


def errors_ns(result: CellResult) -> np.ndarray:
    rtt = result.tables["rtt"]
    return np.asarray(rtt["rtt_ns"], float) - np.asarray(rtt["true_rtt_ns"], float)


def test_noise_is_added_to_the_samples(tmp_path: Path) -> None:
    """Uniform in 0 to 50 us: 25 us in the mean, never more than 50 us beside the exact samples' error."""
    exact, noisy = (
        errors_ns(run(tmp_path, *ALONE, f"transports=[{{name: rogue, rtt_noise: {noise}}}]"))
        for noise in ("0us", "50us")
    )
    assert len(noisy) > 50
    assert 20_000 < noisy.mean() - exact.mean() < 30_000
    assert noisy.max() <= 50_000 + exact.max()


def test_each_flow_has_noise_of_its_own(tmp_path: Path) -> None:
    result = run(tmp_path, "workload.repeat_for=10ms", "transports=[{name: rogue, rtt_noise: 50us}]")
    flow_ids, errors = np.asarray(result.tables["rtt"]["flow_id"]), errors_ns(result)
    first, second = (errors[flow_ids == flow_id][:12] for flow_id in ("main/h0->h3", "main/h1->h3"))
    assert np.abs(first - second).max() > 1_000


def test_a_flow_is_done_when_all_its_transfers_are(tmp_path: Path) -> None:
    cell = cell_of(tmp_path)
    network = build_network(cell)
    assert [flow.is_done for flow in network.flows] == [False, False]
    network.simulation.run_until(100_000)
    assert [flow.is_done for flow in network.flows] == [False, False]
    network.simulation.run_until(50_000_000)
    assert [flow.is_done for flow in network.flows] == [True, True]


def test_arrivals_do_not_wait_for_each_other(tmp_path: Path) -> None:
    """Three hosts at 90 % load: some transfers start while another of the same pair still runs."""
    many = "workload={kind: many_pairs, hosts: 3, load: 0.9, arrive_for: 20ms}"
    cell = cell_of(tmp_path, many, "transports=[roce]")
    result = SimulatorTestbed().run(cell, lambda _fraction: None)
    flows = result.tables["flows"]
    columns = [flows[name] for name in ("flow_id", "start_ns", "end_ns", "size_bytes", "status")]
    rows = sorted(zip(*columns, strict=True))  # type: ignore[type-var]
    planned = sorted(
        (f"main/{flow.source}->{flow.destination}", arrival.start_ns, arrival.size_bytes)
        for flow in cell.groups[0].flows
        for arrival in flow.arrivals
    )
    assert [(flow_id, start_ns, size) for flow_id, start_ns, _, size, _ in rows] == planned
    assert {status for *_, status in rows} == {"ok"}
    assert any(
        one[0] == other[0] and other[1] < one[2]  # type: ignore[operator]
        for one, other in pairwise(rows)
    )
    assert "ideal_goodput_bps" not in result.facts


def test_a_lost_connection_is_done_and_its_failure_an_event(tmp_path: Path) -> None:
    result = run(
        tmp_path,
        "workload.repeat_for=10ms",
        "transports=[{name: roce, retry_count: 0, timeout_exponent: 8}]",
        "faults=[{kind: loss, target: h1, probability: 0.999999}]",
    )
    events = result.tables["events"]
    rows = list(zip(events["flow_id"], events["event"], events["detail"], strict=True))
    assert rows == [("", "loss_begins", "h1"), ("main/h1->h3", "qp_failed", rows[1][2])]
    assert "RETRY_EXC_ERR" in str(rows[1][2])
    assert result.facts["qp_failures"] == 1


@pytest.mark.parametrize(
    ("transport", "verb", "is_served"),
    [
        ("roce", "write", False),
        ("roce", "read", True),
        ("roce", "send", True),
        ("rogue", "write", True),
        ("rogue-uc", "write", True),
    ],
)
def test_the_other_end_has_a_library_where_it_hears_of_something(
    tmp_path: Path, transport: str, verb: str, is_served: bool
) -> None:
    """Plain WRITEs over RC bring it nothing; a shadow brings it requests for a reset."""
    cell = cell_of(tmp_path, f"transports=[{transport}]", f"workload.verb={verb}", "probe=null")
    for flow in build_network(cell).flows:
        assert isinstance(flow.agent, SimulatedFlow)
        assert (flow.agent.library is not None) == is_served


def test_connections_of_alike_hosts_share_the_facts_of_their_ports(tmp_path: Path) -> None:
    first, second = build_network(cell_of(tmp_path, "transports=[roce]", "probe=null")).flows
    links = [flow.agent._connection._writes.feedback.link for flow in (first, second)]  # type: ignore[union-attr]
    assert links[0] is links[1]
