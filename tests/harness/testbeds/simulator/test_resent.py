"""What flows have sent again, by interval."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import numpy as np
from helpers.experiments import cell_of

from rogue.agent.drivers.simulated import SimulatedFlow
from rogue.harness.testbeds.simulator import SimulatorTestbed
from rogue.harness.testbeds.simulator.delivered import ResentBytes
from rogue.harness.testbeds.simulator.network import build_network

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
