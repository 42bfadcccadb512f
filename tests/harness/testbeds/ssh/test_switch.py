"""What a cell asks of the switch."""

from dataclasses import replace
from pathlib import Path

from helpers.experiments import cell_of
from helpers.fake_agents import fake_inventory

from rogue.harness.cell.cell import Cell
from rogue.harness.testbeds.ssh.switch_machine import (
    cell_ports,
    marking_facts,
    unsupported_fault,
    unsupported_marking,
)

SLOW = ("topology.rate=100Mbps", "topology.buffer=1MB")
TWO = """\
name: x
topology: {kind: star, hosts: 4, rate: 10Gbps}
traffic:
  - {name: one, parameters: {mark_above: 50KB}, workload: {kind: incast, senders: 1, size: 1MB}}
  - {name: two, workload: {kind: incast, senders: 1, size: 1MB}}
transports: [dctcp]
"""
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
    """K is 20 frames of 1518 bytes below 3 Gb/s; on emulated machines it is later."""
    asked = cell(tmp_path, "transports=[dctcp]")
    nodes, emulated = (
        cell_ports(asked, replace(fake_inventory(), kind=kind)) for kind in ("nodes", "virtual")
    )
    assert {(port.red_min_bytes, port.red_max_bytes) for port in nodes.values()} == {(30_359, 30_360)}
    assert {(port.red_min_bytes, port.red_max_bytes) for port in emulated.values()} == {(30_000, 90_000)}
    assert all(port.mistake() is None for port in (*nodes.values(), *emulated.values()))


def test_what_ports_mark_by_is_a_fact(tmp_path: Path) -> None:
    asked, nodes = cell(tmp_path, "transports=[dctcp]"), replace(fake_inventory(), kind="nodes")
    assert marking_facts(asked, nodes) == {"kmin_bytes": 30_360, "kmax_bytes": 30_360, "pmax": 1.0}
    assert list(marking_facts(asked, fake_inventory())) == ["marks_differ"]
    assert marking_facts(asked, replace(nodes, switch=None)) == {}
    assert marking_facts(cell(tmp_path), nodes) == {}


def test_groups_that_ask_for_different_marks_are_refused(tmp_path: Path) -> None:
    two = cell_of(tmp_path, text=TWO)
    assert "give all groups the same mark_above" in str(unsupported_marking(two, fake_inventory()))
    assert unsupported_marking(two, replace(fake_inventory(), switch=None)) is None


def test_losses_strike_what_comes_to_the_host(tmp_path: Path) -> None:
    ports = cell_ports(cell(tmp_path, LOSS % "probability: 0.01"), fake_inventory())
    assert {name: port.loss_probability for name, port in ports.items() if port.loss_probability} == {
        "s0->h2": 0.01
    }


def test_what_it_cannot(tmp_path: Path) -> None:
    asked = cell(tmp_path, LOSS % "one_in: 8")
    assert unsupported_fault(asked, fake_inventory()) is None
    without = replace(fake_inventory(), switch=None)
    assert str(unsupported_fault(asked, without)).startswith("no Loss: the inventory has no switch")
    bursts = cell(tmp_path, LOSS % "one_in: 8, model: burst")
    assert str(unsupported_fault(bursts, fake_inventory())).startswith("the switch loses packets")
