"""Topologies that nodes are not."""

from dataclasses import replace
from pathlib import Path

import pytest
from helpers.experiments import cell_of
from helpers.fake_agents import CAPABILITIES, fake_inventory

from rogue.agent.node.messages import Capabilities
from rogue.harness.testbeds.ssh.support import too_slow, unsupported_topology

CARD = {"device": "mlx4_0", "driver": "mlx4", "hca_type": "MT4103", "address": "10.9.0.10", "rate_bps": 10**9}


def nodes(node: Capabilities = CAPABILITIES) -> dict[str, Capabilities]:
    return {f"h{index}": node for index in range(4)}


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("framing=ns3", "topology.framing is for the simulator"),
        ("nic=cx3pro", "h0 has no cx3pro: leave topology.nic out"),
        ("nic=soft_roce", None),
        ("delay=50us", "topology.delay is 50 us, and a Linux switch delays packets by 100 us or more"),
        ("switch=voq", "topology.switch is for the simulator"),
        ("framing=rocev2", None),
        ("delay=1us", None),
        ("delay=100us", None),
    ],
)
def test_what_only_the_simulator_can_be_told(tmp_path: Path, setting: str, words: str | None) -> None:
    reason = unsupported_topology(cell_of(tmp_path, f"topology.{setting}"), fake_inventory(), nodes())
    assert reason is None if words is None else words in str(reason)


def test_cards_that_are_the_ones_asked_for(tmp_path: Path) -> None:
    has_cards = nodes(replace(CAPABILITIES, ports=[CARD]))
    for nic, is_refused in (("cx3pro", False), ("cx4", True)):
        reason = unsupported_topology(cell_of(tmp_path, f"topology.nic={nic}"), fake_inventory(), has_cards)
        assert (reason is not None) is is_refused


def test_cables_of_a_network_that_is_not_ours_are_as_long_as_they_are(tmp_path: Path) -> None:
    inventory = replace(fake_inventory(), switch=None)
    assert unsupported_topology(cell_of(tmp_path, "topology.delay=50us"), inventory, nodes()) is None


def test_a_cable_of_a_file_may_be_too_short(tmp_path: Path) -> None:
    links = "".join(
        f"- {{link: h{index}-s0, rate: 1Gbps, delay: {5 if index == 2 else 0}us}}\n" for index in range(4)
    )
    (tmp_path / "net.yaml").write_text(f"links:\n{links}")
    cell = cell_of(tmp_path, "topology={kind: links, file: net.yaml}")
    assert "topology.delay is 5 us" in str(unsupported_topology(cell, fake_inventory(), nodes()))


def test_a_card_that_is_slower_than_its_link(tmp_path: Path) -> None:
    has_cards = nodes(replace(CAPABILITIES, ports=[CARD]))
    assert str(too_slow(cell_of(tmp_path), fake_inventory(), has_cards)).startswith("h0's port does 1 Gb/s")
    assert too_slow(cell_of(tmp_path, "topology.rate=1Gbps"), fake_inventory(), has_cards) is None
