"""Tests: IRN's claims and constants, and livelock without it."""

from pathlib import Path

import pytest
from helpers.experiments import cell_of

from rogue.harness.experiment.load import load_experiment
from rogue.harness.plan.plan import plan_cells
from rogue.harness.testbeds.simulator import SimulatorTestbed
from rogue.harness.testbeds.simulator.recovery import empty_round_trip
from rogue.reports.claims.claim import read_claims
from rogue.reports.claims.conditions import is_same_parameter
from rogue.workloads.topologies import TOPOLOGIES

DIRECTORY = Path(__file__).parents[2] / "experiments"
EXPERIMENTS = {
    "irn-paper/figures-1-6": ("I-1", "I-2", "I-3", "I-4", "I-5", "I-6", "I-7"),
    "irn-paper/figure-7": ("I-8",),
}


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_parameter_of_a_transport_is_spoken_of(name: str) -> None:
    stated = {
        str(choice.name): choice.parameters
        for choice in load_experiment(str(DIRECTORY / f"{name}.yaml")).experiment.transports
    }
    claims = [claim for claim in read_claims() if claim.id[:3] in EXPERIMENTS[name]]
    assert {claim.id[:3] for claim in claims} == set(EXPERIMENTS[name])
    for claim in claims:
        spoken_of = [condition.parameter for condition in claim.conditions]
        for key in stated[claim.transport]:
            assert any(is_same_parameter(f"transport.{key}", each) for each in spoken_of), (claim.id, key)


TREE = TOPOLOGIES["fat_tree"].model_validate({"k": 6, "rate": "40Gbps", "delay": "2us"})

DEFAULT_CASE = """\
name: x
topology: {kind: fat_tree, k: 6, rate: 40Gbps, delay: 2us, delay_spread: 0ns, switch: voq, buffer: 240KB}
workload: {kind: poisson, load: 0.7, sizes: irn, arrive_for: 1ms}
transports: [irn]
"""


def test_round_trip_and_bandwidth_delay_product() -> None:
    """Six links of 2 us each way; 40 Gb/s of 24 us are 120 KB, which are 110 frames of 1086 bytes."""
    rtt_ns = 2 * sum(link.delay_ns for link in TREE.path("h0", "h53"))
    bdp_bytes = 40 * rtt_ns // 8
    assert (rtt_ns, bdp_bytes, bdp_bytes // 1086) == (24_000, 120_000, 110)


def test_the_long_timeout(tmp_path: Path) -> None:
    """The round trip and six full input buffers of 240 KB that leave over one port: about 320 us.

    Ours counts packets' own times too: 115 packets and 313 us, for the paper's 110 and 320.
    """
    way = empty_round_trip(cell_of(tmp_path, text=DEFAULT_CASE))
    assert (way.packets, way.full_buffer_ns) == (115, 288_000)
    assert way.round_trip_ns + 288_000 == pytest.approx(320_000, rel=0.03)


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
