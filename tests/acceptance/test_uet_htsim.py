"""Ultra Ethernet beside the committed results of uet-htsim: its two smallest cases, a seed."""

import pytest

from rogue.harness.experiment.load import load_experiment
from rogue.harness.plan.plan import plan_cells
from rogue.harness.testbeds.simulator.network import build_network
from rogue.workloads.shipped import shipped

TOLERANCE = 0.05
ALONE = 0.003
"""One sender meets nobody: whether it waits for credit shows in .7 % of its time."""
STARTS_APART = 0.12
"""Transfers start within some microseconds here and all at once there: the first round trip loses less."""


@pytest.mark.parametrize(
    ("nth", "senders", "longest_us", "again"),
    [
        pytest.param(0, 1, 176.2, 0, id="one connection"),
        pytest.param(0, 15, 2478.53, 811, id="15 to 1"),
        pytest.param(1, 1, 177.368, 0, id="one connection, NSCC and RCCC"),
        pytest.param(1, 15, 2462.92, 758, id="15 to 1, NSCC and RCCC"),
        pytest.param(2, 1, 177.368, 0, id="one connection, RCCC"),
        pytest.param(2, 15, 2464.44, 762, id="15 to 1, RCCC"),
    ],
)
def test_uet_htsim(nth: int, senders: int, longest_us: float, again: int) -> None:
    file = str(shipped("experiments") / ("uet-rccc.yaml" if nth else "uet-htsim.yaml"))
    cells = plan_cells(load_experiment(file, [f"factors={{workload.senders: [{senders}]}}"]))
    cell = cells[nth]
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
    assert max(took_us) == pytest.approx(longest_us, rel=TOLERANCE if senders > 1 else ALONE)
    counters = network.simulation.counters()
    repeated = sum(value for *_, name, value in counters if name.endswith("retransmitted_packets"))
    assert repeated == pytest.approx(again, rel=STARTS_APART if nth else TOLERANCE)
