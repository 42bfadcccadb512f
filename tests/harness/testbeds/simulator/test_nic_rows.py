"""What tables have of the ports of NICs."""

from pathlib import Path

import pytest
from helpers.experiments import cell_of

from rogue.harness.results.cell_directory import to_arrow
from rogue.harness.testbeds.simulator import SimulatorTestbed

PLANES = """\
name: x
topology:
  {kind: multi_plane, planes: 2, leaves: 1, hosts_per_leaf: 4, spines: 0, rate: 20Gbps, nic: ideal,
   delay_spread: 0ns}
workload: {kind: incast, senders: 3, size: 1MB}
transports: [roce+pfc]
faults: [{kind: slow_receiver, target: h3, rate: 1Gbps}]
measure: [{kind: queues, interval: 10us}, pauses]
"""


def column(tmp_path: Path, table: str, name: str, *settings: str) -> list[str]:
    result = SimulatorTestbed().run(cell_of(tmp_path, *settings, text=PLANES), lambda _fraction: None)
    assert result.failure is None
    return [str(row[name]) for row in to_arrow(table, result.tables[table]).to_pylist()]


def test_queues_are_those_of_switches(tmp_path: Path) -> None:
    assert {*column(tmp_path, "queues", "node")} == {"s4", "s5"}


def test_pauses_are_those_of_links_between_nics_and_switches(tmp_path: Path) -> None:
    """The receiver's NIC pauses leaves, and these the senders' NICs."""
    ports = {*column(tmp_path, "pauses", "port")}
    assert {"s4->s3", "s0->s4"} <= ports
    assert not any("h" in port for port in ports)


@pytest.mark.parametrize("table", ["queues", "pauses"])
def test_elsewhere_nothing_is_missing(tmp_path: Path, table: str) -> None:
    ports = {*column(tmp_path, table, "port", "topology={kind: star, hosts: 4, rate: 20Gbps, nic: ideal}")}
    assert "s0->h3" in ports


def test_over_two_planes_a_sprayed_transfer_is_nearly_twice_as_fast(tmp_path: Path) -> None:
    """Ports have equal parts on average alone, and the slowest packet counts."""
    spray = "transports=[{name: irn+spray, paths: 1024, threshold_nacks: 64}]"
    alone = ("workload.senders=1", "faults=[]")
    (sprayed_ns,) = map(int, column(tmp_path, "flows", "fct_ns", *alone, spray))
    (plain_ns,) = map(int, column(tmp_path, "flows", "fct_ns", *alone))
    assert 1.5 < plain_ns / sprayed_ns < 2
    (slowdown,) = map(float, column(tmp_path, "flows", "slowdown", *alone, spray))
    assert 1 <= slowdown < 1.3
