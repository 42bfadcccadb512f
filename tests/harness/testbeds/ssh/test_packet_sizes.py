"""RoCE's packets beside the MTU of the experiment network."""

from dataclasses import replace
from pathlib import Path

import pytest
from helpers.experiments import cell_of
from helpers.fake_agents import CAPABILITIES, fake_inventory

from rogue.harness.provisioning.inventory import Inventory
from rogue.harness.testbeds.ssh.support import too_large_packets, unsupported

HOSTS = ("h0", "h1", "h2", "h3")


def network(*mtus_bytes: int) -> Inventory:
    """Hosts with these MTUs."""
    plain = fake_inventory(len(mtus_bytes))
    of_hosts = [
        replace(host, variables=host.variables.model_copy(update={"experiment_mtu": mtu_bytes}))
        for host, mtu_bytes in zip(plain.hosts, mtus_bytes, strict=True)
    ]
    return replace(plain, hosts=tuple(of_hosts))


@pytest.mark.parametrize(
    ("payload_bytes", "mtu_bytes", "is_refused"),
    [(1024, 1500, False), (2048, 1500, True), (2048, 2200, False), (4096, 4150, True), (4096, 4200, False)],
)
def test_a_payload_needs_its_headers_too(
    tmp_path: Path, payload_bytes: int, mtu_bytes: int, is_refused: bool
) -> None:
    cell = cell_of(tmp_path, f"topology.mtu={payload_bytes}")
    assert (too_large_packets(cell, network(*[mtu_bytes] * 4), HOSTS) is not None) is is_refused


def test_the_plan_says_what_to_do(tmp_path: Path) -> None:
    cell = cell_of(tmp_path, "topology.mtu=2048", "topology.rate=100Mbps")
    nodes = dict.fromkeys(HOSTS, CAPABILITIES)
    assert unsupported(cell, network(9000, 1500, 1500, 9000), nodes) == (
        "packets of 2048 bytes (topology.mtu) need an MTU of 2144 bytes, and the experiment_mtu of h1, h2 is "
        "1500: raise it on hosts and switches, or set topology.mtu=1024"
    )
    assert unsupported(cell, network(9000, 9000, 9000, 9000), nodes) is None


def test_hosts_that_take_no_part_and_tcp_ask_for_nothing(tmp_path: Path) -> None:
    small = network(9000, 9000, 9000, 1500)
    assert too_large_packets(cell_of(tmp_path, "topology.mtu=4096"), small, HOSTS[:3]) is None
    tcp = cell_of(tmp_path, "topology.mtu=4096", "transports=[dctcp]")
    assert too_large_packets(tcp, small, HOSTS) is None
