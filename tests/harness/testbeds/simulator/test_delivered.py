"""Delivered payload per flow and interval: each byte counts once, whichever queue pair brings it."""

from pathlib import Path

import numpy as np
import pytest
from helpers.experiments import SMALL, cell_of

from rogue.agent.drivers.simulated import Carriage
from rogue.harness.testbeds.simulator import SimulatorTestbed
from rogue.harness.testbeds.simulator.delivered import new_bytes

MAIN, SHADOW = 7, 9


def new(rows: list[tuple[int, int, int]], *carriages: Carriage) -> list[int]:
    """Of rows of queue pair, time and delivered bytes."""
    qp_num, t_ns, delivered_bytes = np.array(rows, np.int64).T
    table = {"qp_num": qp_num, "t_ns": t_ns, "delivered_bytes": delivered_bytes}
    bytes_per_interval: list[int] = new_bytes(table, carriages, np.unique(t_ns)).tolist()
    return bytes_per_interval


def test_what_the_shadow_repeats_counts_once() -> None:
    """300 bytes were there and 100 completed, so that the shadow's first 200 bytes are known."""
    rows = [(MAIN, 10, 300), (MAIN, 20, 0), (SHADOW, 20, 150), (SHADOW, 30, 150), (SHADOW, 40, 100)]
    first, second = Carriage(MAIN, 0, 0), Carriage(SHADOW, 100, 0)
    assert new(rows, first, second) == [300, 0, 100, 100]


def test_what_was_on_its_way_when_a_queue_pair_was_lost_counts_when_it_comes() -> None:
    """The main queue pair brings 50 bytes more after the switch: the shadow's first 150 are known."""
    rows = [(MAIN, 10, 200), (SHADOW, 20, 100), (MAIN, 20, 50), (SHADOW, 30, 100)]
    assert new(rows, Carriage(MAIN, 0, 0), Carriage(SHADOW, 100, 0)) == [200, 50, 50]


def test_a_queue_pair_that_is_back_goes_on_behind_what_it_had_delivered() -> None:
    """The main one delivered 100 of 300 bytes, the shadow 50 from 80 on, and then the main one from 120."""
    rows = [(MAIN, 10, 100), (SHADOW, 20, 50), (MAIN, 30, 60), (MAIN, 40, 120)]
    carriages = Carriage(MAIN, 0, 0), Carriage(SHADOW, 80, 0), Carriage(MAIN, 120, 100)
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
