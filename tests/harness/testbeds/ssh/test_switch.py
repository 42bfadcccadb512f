"""What a cell asks of the switch."""

from pathlib import Path

import pytest
from helpers.experiments import cell_of
from helpers.fake_agents import fake_inventory

from harness.cell.cell import Cell
from harness.testbeds.ssh.switch import cell_ports, fault_ports, unsupported_fault

SLOW = ("topology.rate=100Mbps", "topology.buffer=1MB")
LOSS = "faults=[{kind: loss, target: h2, %s}]"


def cell(tmp_path: Path, *settings: str) -> Cell:
    return cell_of(tmp_path, *SLOW, *settings)


def test_every_port_has_the_rate_of_its_link(tmp_path: Path) -> None:
    ports = cell_ports(cell(tmp_path), fake_inventory())
    assert sorted(ports) == ["s0->h0", "s0->h1", "s0->h2", "s0->h3"]
    assert {port.rate_bps for port in ports.values()} == {100_000_000}
    assert {port.queue_bytes for port in ports.values()} == {500_000}
    assert {port.red_min_bytes for port in ports.values()} == {None}


def test_marks_for_those_who_heed_them(tmp_path: Path) -> None:
    ports = cell_ports(cell(tmp_path, "transports=[dctcp]"), fake_inventory())
    assert {(port.red_min_bytes, port.red_max_bytes) for port in ports.values()} == {(30_000, 90_000)}
    small = cell_ports(cell(tmp_path, "transports=[dctcp]", "topology.buffer=100KB"), fake_inventory())
    assert {(port.red_min_bytes, port.red_max_bytes) for port in small.values()} == {(25_000, 50_000)}
    assert all(port.mistake() is None for port in (*ports.values(), *small.values()))


@pytest.mark.parametrize(
    ("keys", "probability", "mask"),
    [
        ("probability: 0.01", 0.01, None),
        ("one_in: 1024, model: identification", 0.0, 1023),
        ("one_in: 0", 0.0, None),
    ],
)
def test_losses_strike_what_comes_to_the_host(
    tmp_path: Path, keys: str, probability: float, mask: int | None
) -> None:
    ports = cell_ports(cell(tmp_path, LOSS % keys), fake_inventory())
    struck = ports.pop("s0->h2")
    assert (struck.loss_probability, struck.lost_ip_id_mask) == (probability, mask)
    assert {(port.loss_probability, port.lost_ip_id_mask) for port in ports.values()} == {(0.0, None)}


def test_a_cut_between_switches_has_two_ports(tmp_path: Path) -> None:
    cut = cell_of(
        tmp_path,
        "topology={kind: dumbbell, hosts_per_side: 2, rate: 100Mbps, bottleneck_rate: 50Mbps}",
        "faults=[{kind: link_cut, target: s0-s1, at: 1s, duration: 2s}]",
    )
    names = ["s0->h0", "s0->h1", "s0->s1", "s1->s0", "s1->h2", "s1->h3"]
    inventory = fake_inventory(4, {name: f"eth{index}" for index, name in enumerate(names)})
    ports = cell_ports(cut, inventory)
    assert fault_ports(cut.experiment.faults[0], cut, ports) == ["s0->s1", "s1->s0"]


@pytest.mark.parametrize(
    ("keys", "reason"),
    [
        ("one_in: 8, model: burst", "the switch loses packets independently or by IP ID"),
        ("one_in: 8, from: 1ms", "the switch loses packets from beginning to end"),
        ("one_in: 8, until: 1ms", "the switch loses packets from beginning to end"),
    ],
)
def test_what_it_cannot(tmp_path: Path, keys: str, reason: str) -> None:
    assert str(unsupported_fault(cell(tmp_path, LOSS % keys), fake_inventory())).startswith(reason)
    assert unsupported_fault(cell(tmp_path, LOSS % "one_in: 8"), fake_inventory()) is None
