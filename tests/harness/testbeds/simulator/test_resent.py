"""What flows have sent again, by interval."""

from pathlib import Path

import numpy as np
from helpers.experiments import cell_of

from rogue.harness.testbeds.simulator import SimulatorTestbed
from rogue.harness.testbeds.simulator.network import build_network
from rogue.harness.testbeds.simulator.resent import ResentBytes

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
    edges_ns = np.array([0, 10_000, 20_000])
    assert np.isnan(resent.within("main/h0->h3", edges_ns[:-1], edges_ns[1:])).all()
    assert resent.within("main/h0->h3", edges_ns[:1], edges_ns[2:]).tolist() == [0]
