"""Go-back-0 delivers nothing when every message loses a packet; go-back-N does."""

from pathlib import Path

import pytest

from rogue.harness.experiment.load import load_experiment
from rogue.harness.plan.cells import plan_cells
from rogue.harness.testbeds.simulator import SimulatorTestbed

EXPERIMENT = Path(__file__).parents[2] / "experiments" / "sigcomm16-paper" / "livelock.yaml"


@pytest.mark.long
@pytest.mark.parametrize("one_in", [0, 256])
def test_one_packet_in_256_is_one_too_many_for_go_back_0(one_in: int) -> None:
    """200 ms at 40 Gb/s have room for 230 messages of 4 MB, .87 ms each.

    With go-back-N 15 packets of each are lost. Each costs a round trip, 4.5 us. Where its NAK or what is sent
    again first is lost as well, which is 2 in 256, the sender waits for its timer: a full buffer at the
    line rate and the round trip, 1.8 ms. That makes .87 + .07 + .21 = 1.15 ms, 174 messages and 21 timeouts;
    three standard deviations of these, 14 times 1.8 ms, are 22 messages.
    """
    experiment = load_experiment(str(EXPERIMENT), ["repetitions=1"])
    delivered = {}
    for cell in plan_cells(experiment):
        if cell.factors["faults[0].one_in"] == one_in:
            result = SimulatorTestbed().run(cell, lambda _fraction: None)
            assert result.failure is None
            statuses = list(result.tables["flows"]["status"])
            delivered[str(cell.transport.name)] = statuses.count("ok")
            counters = result.tables["counters"]
            sent = zip(counters["port"], counters["name"], counters["after"], strict=True)
            sent_bytes = sum(value for port, name, value in sent if (port, name) == ("h0->s0", "tx_bytes"))
            used = 0.15 if delivered[str(cell.transport.name)] == 0 else 0.8
            assert sent_bytes > used * 0.2 * 40e9 / 8
    assert (delivered["roce-go-back-0"] == 0) == (one_in == 256)
    assert delivered["roce-lossy"] == (230 if one_in == 0 else pytest.approx(174, abs=22))
