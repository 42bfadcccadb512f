"""What switches and the ports of NICs are made with, and what that does to packets."""

from pathlib import Path

import pytest
from helpers.experiments import cell_of

from rogue.harness.cell.cell import Cell
from rogue.harness.testbeds.simulator.features import marking
from rogue.harness.testbeds.simulator.network import NEVER, build_network, nic_parts, switch_parts

PLANES = """\
name: x
topology: {kind: multi_plane, planes: 4, leaves: 1, hosts_per_leaf: 4, spines: 0, rate: 40Gbps, nic: ideal}
workload: {kind: incast, senders: 3, size: 1MB}
transports: [roce]
"""
SPRAYED = "transports=[{name: irn+spray, paths: 1024, threshold_nacks: 64}]"


def planes(tmp_path: Path, *settings: str) -> Cell:
    return cell_of(tmp_path, *settings, text=PLANES)


def counted(cell: Cell, counter: str, until_ns: int = 2_000_000) -> dict[str, int]:
    """By port."""
    simulation = build_network(cell).simulation
    simulation.run_until(until_ns)
    return {port: int(value) for _, port, name, value in simulation.counters() if name == counter}


def leaving(sent: dict[str, int], splitter: str) -> list[int]:
    return [sent[port] for port in sent if port.startswith(f"{splitter}->s")]


def test_a_nic_has_the_classes_of_switches_and_marks_nothing(tmp_path: Path) -> None:
    cell = planes(tmp_path, "transports=[roce+dcqcn]")
    assert switch_parts(cell)["marking"] == marking(cell) != {}
    assert nic_parts(cell) == {"flow_control": None, "marking": {0: NEVER}, "weights": {}}
    assert nic_parts(planes(tmp_path))["marking"] == {}


def test_a_nic_pauses_where_the_experiment_says_or_as_a_slow_receiver_does(tmp_path: Path) -> None:
    usual = planes(tmp_path, "transports=[roce+pfc]")
    assert (switch_parts(usual)["flow_control"].xoff_bytes, nic_parts(usual)["flow_control"].xoff_bytes) == (
        None, 128_000,
    )  # fmt: skip
    stated = planes(tmp_path, "transports=[roce+pfc]", "topology.pause_xoff=50KB")
    assert nic_parts(stated)["flow_control"] == switch_parts(stated)["flow_control"]


@pytest.mark.parametrize("transport", ["roce+hpcc", "roce+rocc"])
def test_a_nic_tells_packets_nothing(tmp_path: Path, transport: str) -> None:
    cell = planes(tmp_path, f"transports=[{transport}]")
    parts = switch_parts(cell)
    assert parts["has_telemetry"] or parts["fair_rates"]
    assert {"has_telemetry", "fair_rates", "controls"}.isdisjoint(nic_parts(cell))


def test_a_plain_queue_pair_stays_in_one_plane(tmp_path: Path) -> None:
    sent = leaving(counted(planes(tmp_path), "tx_bytes"), "s0")
    assert len(sent) == 4
    assert sorted(sent)[:3] == [0, 0, 0] and max(sent) > 1_000_000


def test_a_sprayed_one_takes_all_planes_alike(tmp_path: Path) -> None:
    sent = leaving(counted(planes(tmp_path, SPRAYED), "tx_bytes"), "s0")
    assert len(sent) == 4
    assert max(sent) < 1.2 * min(sent)


def test_only_ports_of_leaves_mark(tmp_path: Path) -> None:
    """A NIC gets its megabyte four times as fast as its port sends it."""
    marks = "transports=[{name: roce+dcqcn, kmin: 1KB, kmax: 2KB, pmax: 1}]"
    marked = counted(planes(tmp_path, marks), "marked_packets")
    assert sum(marked.values()) > 100
    assert {port.partition("->")[0] for port, count in marked.items() if count} <= {"s4", "s5", "s6", "s7"}


def test_a_nic_drops_nothing_where_switches_hold_little(tmp_path: Path) -> None:
    drops = counted(planes(tmp_path, "topology.buffer=20KB"), "drops")
    assert sum(drops.values()) > 0
    assert not any(drops[port] for port in drops if port.partition("->")[0] in ("s0", "s1", "s2", "s3"))


def test_pauses_of_a_slow_receiver_pass_its_nic(tmp_path: Path) -> None:
    slow = "faults=[{kind: slow_receiver, target: h3, rate: 1Gbps}]"
    cell = planes(tmp_path, "transports=[roce+pfc]", slow)
    pauses, drops = counted(cell, "pause_frames"), counted(cell, "lossless_drops")
    assert pauses["s3->s4"] > 0 and pauses["s4->s0"] > 0
    assert not any(drops.values())
