from pathlib import Path

import pytest
from ansible_collections.rogue.testbed.plugins.module_utils.kinds.card_rates import CardRates
from ansible_collections.rogue.testbed.plugins.module_utils.ledger import Ledger
from ansible_collections.rogue.testbed.plugins.module_utils.states import drift, establish, restore
from ansible_collections.rogue.testbed.plugins.module_utils.system import StateError
from helpers.fake_node import FakeNode

WANTED = {"card_rates": {"eth1": True}}
OWN = [0] * 7 + [2_500_000]
"""2.5 Gb/s in the last class."""


def node_with_a_card(root: Path) -> FakeNode:
    node = FakeNode(root)
    node.card_rates["eth1"] = list(OWN)
    return node


def test_what_an_agent_left_is_lifted_and_what_was_there_before_comes_back(tmp_path: Path) -> None:
    node = node_with_a_card(tmp_path)
    assert list(establish(node, Ledger(node), "card_limiters", WANTED, False).before) == ["card_rates eth1"]
    assert node.card_rates["eth1"] == [0] * 8
    assert not establish(node, Ledger(node), "card_limiters", WANTED, False), (
        "the second time nothing changes"
    )
    node.card_rates["eth1"][3] = 400_000
    assert drift(node, Ledger(node)) == []
    restore(node, Ledger(node), False)
    assert node.card_rates["eth1"] == OWN


def test_a_card_without_limiters_is_left_alone(tmp_path: Path) -> None:
    node = FakeNode(tmp_path)
    assert not establish(node, Ledger(node), "card_limiters", WANTED, False)
    assert not [command for command in node.commands if " set " in command]


def test_an_interface_that_is_not_there_is_the_inventorys_mistake(tmp_path: Path) -> None:
    with pytest.raises(StateError, match="interface eth9: this node has none such; correct the inventory"):
        CardRates().observe(FakeNode(tmp_path), "eth9")


@pytest.mark.parametrize("iproute2", ["5.15.0", "6.18.0"])
def test_rates_are_the_kernels_and_dcb_is_not_asked(tmp_path: Path, iproute2: str) -> None:
    """2.5 Gb/s are 2 500 000 kb/s; a dcb before 6.18 says 2 500 000 B/s, a mended one 312 500 000."""
    node = node_with_a_card(tmp_path)
    node.iproute2 = iproute2
    found = CardRates().observe(node, "eth1")
    assert found == {**dict.fromkeys("0123456", 0), "7": 2_500_000}
    node.card_rates["eth1"] = [0] * 8
    CardRates().undo(node, "eth1", found, None)
    assert (node.card_rates["eth1"], node.commands) == (OWN, [])


def test_text_that_an_older_version_noted_goes_back_to_dcb(tmp_path: Path) -> None:
    node = node_with_a_card(tmp_path)
    CardRates().undo(node, "eth1", {"3": "20Mbit"}, None)
    assert node.commands == ["dcb maxrate set dev eth1 tc-maxrate 3:20Mbit"]
