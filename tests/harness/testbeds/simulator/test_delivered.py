"""Tests: count payload delivered and sent again by each flow over time."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest
from helpers.experiments import SMALL, cell_of

from rogue.agent.drivers.simulated import QueuePairProgress, SimulatedFlow
from rogue.harness.testbeds.simulator import SimulatorTestbed
from rogue.harness.testbeds.simulator.network import build_network
from rogue.harness.testbeds.simulator.tables import ResentBytes, new_bytes

MAIN, SHADOW = 7, 9


def new(rows: list[tuple[int, int, int]], *carriages: QueuePairProgress) -> list[int]:
    """Of rows of queue pair, time and delivered bytes."""
    qp_num, t_ns, delivered_bytes = np.array(rows, np.int64).T
    table = {"qp_num": qp_num, "t_ns": t_ns, "delivered_bytes": delivered_bytes}
    bytes_per_interval: list[int] = new_bytes(table, carriages, np.unique(t_ns)).tolist()
    return bytes_per_interval


def test_what_the_shadow_repeats_counts_once() -> None:
    """300 bytes were there and 100 completed, so that the shadow's first 200 bytes are known."""
    rows = [(MAIN, 10, 300), (MAIN, 20, 0), (SHADOW, 20, 150), (SHADOW, 30, 150), (SHADOW, 40, 100)]
    first, second = QueuePairProgress(MAIN, 0, 0), QueuePairProgress(SHADOW, 100, 0)
    assert new(rows, first, second) == [300, 0, 100, 100]


def test_what_was_on_its_way_when_a_queue_pair_was_lost_counts_when_it_comes() -> None:
    """The main queue pair brings 50 bytes more after the switch: the shadow's first 150 are known."""
    rows = [(MAIN, 10, 200), (SHADOW, 20, 100), (MAIN, 20, 50), (SHADOW, 30, 100)]
    assert new(rows, QueuePairProgress(MAIN, 0, 0), QueuePairProgress(SHADOW, 100, 0)) == [200, 50, 50]


def test_a_queue_pair_that_is_back_goes_on_behind_what_it_had_delivered() -> None:
    """The main one delivered 100 of 300 bytes, the shadow 50 from 80 on, and then the main one from 120."""
    rows = [(MAIN, 10, 100), (SHADOW, 20, 50), (MAIN, 30, 60), (MAIN, 40, 120)]
    carriages = (
        QueuePairProgress(MAIN, 0, 0),
        QueuePairProgress(SHADOW, 80, 0),
        QueuePairProgress(MAIN, 120, 100),
    )
    assert new(rows, *carriages) == [100, 30, 50, 120]


@pytest.mark.parametrize("verb", ["write", "send", "read"])
def test_a_flow_that_lost_queue_pairs_delivers_what_its_transfers_have(tmp_path: Path, verb: str) -> None:
    settings = (
        "transports=[{name: rogue, retry_count: 1, timeout_exponent: 4}]",
        "topology.buffer=30KB",
        "workload.size=4MB",
        f"workload.verb={verb}",
        "measure=[{kind: throughput, interval: 100us}]",
    )
    result = SimulatorTestbed().run(cell_of(tmp_path, *settings, text=SMALL), lambda _fraction: None)
    assert result.failure is None
    assert set(result.tables["flows"]["status"]) == {"ok"}
    throughput = result.tables["throughput"]
    assert result.facts["qp_failures"] > 0
    for flow_id in set(throughput["flow_id"]):
        own = throughput["flow_id"] == flow_id
        assert throughput["delivered_bytes"][own].sum() == 4_000_000
        assert throughput["delivered_bytes"][own].min() >= 0


LOSSY = "faults=[{kind: loss, target: h1, one_in: 20, from: 1ms}]"


def test_intervals_add_up_to_what_the_transfers_say(tmp_path: Path) -> None:
    cell = cell_of(tmp_path, LOSSY, "transports=[roce]", "measure=[{kind: throughput, interval: 100us}]")
    tables = SimulatorTestbed().run(cell, lambda _fraction: None).tables
    rows = {
        name: np.asarray(tables["throughput"][name]) for name in ("flow_id", "t_ns", "retransmitted_bytes")
    }
    of_h1 = rows["flow_id"] == "main/h1->h3"
    assert rows["retransmitted_bytes"][~of_h1].sum() == 0
    assert rows["retransmitted_bytes"][of_h1 & (rows["t_ns"] <= 1_000_000)].sum() == 0
    by_transfer = dict(zip(tables["flows"]["src"], tables["flows"]["retransmitted_bytes"], strict=True))
    assert rows["retransmitted_bytes"][of_h1].sum() == by_transfer["h1"]
    assert by_transfer["h1"] >= 1024  # type: ignore[operator]


def test_an_interval_whose_ends_were_not_read_is_unknown(tmp_path: Path) -> None:
    cell = cell_of(tmp_path)
    network = build_network(cell)
    resent = ResentBytes(network)
    network.simulation.run_until(20_000)
    resent.read()
    edges_ns, first = np.array([0, 10_000, 20_000]), np.array([0])
    assert np.isnan(resent.within(first.repeat(2), edges_ns[:-1], edges_ns[1:])).all()
    assert resent.within(first, edges_ns[:1], edges_ns[2:]).tolist() == [0]


def test_each_flow_has_its_own_bytes_and_what_did_not_change_is_kept_once(tmp_path: Path) -> None:
    network = build_network(cell_of(tmp_path))
    agents = [SimpleNamespace(retransmitted_bytes=0) for _ in range(2)]
    flows = zip(network.flows, agents, strict=True)
    resent = ResentBytes(
        replace(
            network, flows=tuple(replace(flow, agent=cast("SimulatedFlow", agent)) for flow, agent in flows)
        )
    )
    for t_ns, so_far in ((10_000, 0), (20_000, 7), (30_000, 7)):
        agents[1].retransmitted_bytes = so_far
        network.simulation.run_until(t_ns)
        resent.read()
    starts_ns = np.array([0, 10_000, 20_000])
    for number, expected in ((0, [0, 0, 0]), (1, [0, 7, 0])):
        of_flow = np.full(3, number)
        assert resent.within(of_flow, starts_ns, starts_ns + 10_000).tolist() == expected
    assert len(resent._totals) == 2
