"""Ports of Linux switches, as a network asks for them."""

from pathlib import Path

import pytest
from helpers.experiments import cell_of

from rogue.harness.cell.network import PortAsked
from rogue.harness.testbeds.ends.switch_ports import linux_ports, uneven_delays

UNEVEN = """\
links:
  - {link: h0-s0, rate: 1Gbps, delay: 200us}
  - {link: h1-s0, rate: 1Gbps, delay: 200us}
  - {link: h2-s0, rate: 1Gbps, delay: 300us}
"""


@pytest.mark.parametrize(
    ("buffer_bytes", "alpha", "queue_bytes"),
    [(9_000_000, 1.0, 4_500_000), (9_000_000, 2.0, 6_000_000), (1, 0.5, 1), (None, 1.0, 10**9)],
)
def test_a_port_holds_what_it_could_hold_alone(
    buffer_bytes: int | None, alpha: float, queue_bytes: int
) -> None:
    """alpha / (1 + alpha) of the buffer: half of it with 1, two thirds with 2."""
    (port,) = linux_ports({"s0->h0": PortAsked(10**10, 1_000, buffer_bytes, alpha)}, ["h0"]).values()
    assert (port.rate_bps, port.queue_bytes, port.red_max_bytes) == (10**10, queue_bytes, None)


def test_a_way_is_as_long_as_its_cables(tmp_path: Path) -> None:
    """h0, s0, s1, h2: three cables of 200 us, and two ports."""
    dumbbell = (
        "topology={kind: dumbbell, hosts_per_side: 2, rate: 1Gbps, bottleneck_rate: 1Gbps, delay: 200us}"
    )
    cell = cell_of(tmp_path, dumbbell)
    ports = linux_ports(cell.network.ports, cell.topology.host_names())
    assert (ports["s0->s1"].delay_ns, ports["s1->h2"].delay_ns) == (200_000, 400_000)
    assert uneven_delays(cell) is None


def test_cables_of_hosts_must_be_alike(tmp_path: Path) -> None:
    (tmp_path / "net.yaml").write_text(UNEVEN)
    cell = cell_of(tmp_path, "topology={kind: links, file: net.yaml}", "probe=null")
    told = "a Linux switch gives the cables of all hosts one delay: give their links the same delay"
    assert uneven_delays(cell) == told
