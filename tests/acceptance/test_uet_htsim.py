"""Ultra Ethernet beside the committed results of uet-htsim: bounds of experiments/uet-htsim.yaml, a seed."""

import pytest

from rogue.harness.experiment.load import load_experiment
from rogue.harness.plan.cells import plan_cells
from rogue.harness.testbeds.simulator.network import build_network
from rogue.workloads.shipped import shipped

TOLERANCE = 0.05


@pytest.mark.parametrize(
    ("senders", "longest_us", "again"),
    [pytest.param(1, 176.2, 0, id="one connection"), pytest.param(15, 2478.53, 811, id="15 to 1")],
)
def test_uet_htsim(senders: int, longest_us: float, again: int) -> None:
    file = str(shipped("experiments") / "uet-htsim.yaml")
    [cell, *_] = plan_cells(load_experiment(file, [f"factors={{workload.senders: [{senders}]}}"]))
    network = build_network(cell)
    network.simulation.run_until(5_000_000)
    network.simulation.check_invariants()
    took_us = [
        (transfer.end_ns - transfer.start_ns) / 1_000
        for flow in network.flows
        for transfer in flow.transfers
        if transfer.end_ns is not None
    ]
    assert len(took_us) == senders
    assert max(took_us) == pytest.approx(longest_us, rel=TOLERANCE)
    counters = network.simulation.counters()
    repeated = sum(value for *_, name, value in counters if name.endswith("retransmitted_packets"))
    assert repeated == pytest.approx(again, rel=TOLERANCE)
