"""Faults in the simulator."""

from pathlib import Path

import pytest
from helpers.experiments import cell_of

from harness.testbeds.simulator import SimulatorTestbed
from harness.testbeds.simulator.faults import link_loss, unsupported_fault
from simulator import BurstLoss, IdentificationLoss, IndependentLoss, Loss

CUT = "faults=[{kind: link_cut, at: 1ms, target: h1, duration: 2ms}]"
LOSS = "faults=[{kind: loss, target: s0-h1, %s}]"


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ("one_in: 0", None),
        ("one_in: 0, model: identification", None),
        ("probability: 0.01", IndependentLoss(0.01)),
        ("one_in: 4096, from: 1ms, until: 2ms", IndependentLoss(1 / 4096, from_ns=10**6, until_ns=2 * 10**6)),
        ("one_in: 65536, model: identification", IdentificationLoss(0xFFFF)),
        ("one_in: 4096, model: identification, from: 1us", IdentificationLoss(0x0FFF, from_ns=1_000)),
        (
            "one_in: 5, model: burst, burst_packets: 4, until: 1ms",
            BurstLoss(to_bad_probability=0.0625, to_good_probability=0.25, until_ns=10**6),
        ),
    ],
)
def test_only_the_link_that_is_meant_loses(tmp_path: Path, keys: str, expected: Loss | None) -> None:
    cell = cell_of(tmp_path, LOSS % keys)
    assert unsupported_fault(cell) is None
    links = cell.experiment.topology.links()
    assert [link_loss(cell, link) for link in links] == [None, expected, None, None]


def test_two_ways_of_losing_on_one_link(tmp_path: Path) -> None:
    told = unsupported_fault(cell_of(tmp_path, LOSS % "one_in: 8}, {kind: loss, target: h1, one_in: 2"))
    assert told == "the simulator's links lose packets in one way each; take a loss away"


def test_lost_packets_are_sent_again(tmp_path: Path) -> None:
    cell = cell_of(tmp_path, LOSS % "one_in: 100", "transports=[roce]")
    tables = SimulatorTestbed().run(cell, lambda _fraction: None).tables
    retransmitted = dict(zip(tables["flows"]["src"], tables["flows"]["retransmitted_bytes"], strict=True))
    assert retransmitted["h0"] == 0
    assert retransmitted["h1"] >= 1024


def test_a_cut_stops_a_sender_until_its_timer_notices(tmp_path: Path) -> None:
    """The link is down from 1 ms to 3 ms; the NIC sends again 4.19 ms after the last acknowledgement."""
    settings = (
        CUT.replace("h1", "h0"), "transports=[{name: roce, timeout_exponent: 10}]", "workload.senders=1",
        "workload.repeat_for=12ms", "measure=[{kind: throughput, interval: 500us}]",
    )  # fmt: skip
    table = SimulatorTestbed().run(cell_of(tmp_path, *settings), lambda _fraction: None).tables["throughput"]
    delivered = dict(zip(table["t_ns"], table["delivered_bytes"], strict=True))
    silent = [t_ns for t_ns, size_bytes in delivered.items() if size_bytes == 0]
    assert silent == list(range(2_000_000, 5_000_001, 500_000))
    assert delivered[12_000_000] > 500_000
