"""Faults in the simulator."""

from pathlib import Path

import pytest
from helpers.experiments import cell_of

from harness.testbeds.simulator import SimulatorTestbed
from harness.testbeds.simulator.faults import fault_events, loss_probability, unsupported_fault

CUT = "faults=[{kind: link_cut, at: 1ms, target: h1, duration: 2ms}]"
LOSS = "faults=[{kind: loss, target: s0-h1, %s}]"


@pytest.mark.parametrize("keys", ["one_in: 0", "one_in: 4096", "probability: 0.01"])
def test_what_it_can(tmp_path: Path, keys: str) -> None:
    assert unsupported_fault(cell_of(tmp_path, LOSS % keys)) is None


@pytest.mark.parametrize(
    ("keys", "reason"),
    [
        ("one_in: 8, from: 1ms", "the simulator's links lose packets from beginning to end"),
        (
            "one_in: 8}, {kind: loss, target: h1, one_in: 2",
            "the simulator's links lose packets in one way each",
        ),
    ],
)
def test_what_it_cannot(tmp_path: Path, keys: str, reason: str) -> None:
    told = unsupported_fault(cell_of(tmp_path, LOSS % keys))
    assert told is not None
    assert told.startswith(reason)


def test_only_the_link_that_is_meant_loses(tmp_path: Path) -> None:
    cell = cell_of(tmp_path, LOSS % "one_in: 4096")
    links = cell.experiment.topology.links()
    assert [loss_probability(cell, link) for link in links] == [0.0, 1 / 4096, 0.0, 0.0]


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


def test_changes_of_links_by_time(tmp_path: Path) -> None:
    assert fault_events(cell_of(tmp_path, CUT), 10**9) == [
        ("", 1_000_000, "link_cut", "h1"),
        ("", 3_000_000, "link_restored", "h1"),
    ]
    assert [row[2] for row in fault_events(cell_of(tmp_path, CUT), 2_000_000)] == ["link_cut"]
    losses = cell_of(tmp_path, LOSS % "one_in: 8, from: 1ms, until: 2ms")
    assert fault_events(losses, 10**9) == [
        ("", 1_000_000, "loss_begins", "s0-h1"),
        ("", 2_000_000, "loss_ends", "s0-h1"),
    ]
    assert fault_events(cell_of(tmp_path, LOSS % "one_in: 0"), 10**9) == []
