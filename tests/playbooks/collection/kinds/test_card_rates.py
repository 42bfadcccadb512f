from pathlib import Path

import pytest
from ansible_collections.rogue.testbed.plugins.module_utils.kinds.card_rates import CardRates
from ansible_collections.rogue.testbed.plugins.module_utils.ledger import Ledger
from ansible_collections.rogue.testbed.plugins.module_utils.states import drift, establish, restore
from ansible_collections.rogue.testbed.plugins.module_utils.system import StateError
from helpers.fake_node import FakeNode

WANTED = {"card_rates": {"eth1": True}}
OWN = {str(number): "0bit" for number in range(7)} | {"7": "2500Mbit"}


def node_with_a_card(root: Path) -> FakeNode:
    node = FakeNode(root)
    node.card_rates["eth1"] = dict(OWN)
    return node


def test_what_an_agent_left_is_lifted_and_what_was_there_before_comes_back(tmp_path: Path) -> None:
    node = node_with_a_card(tmp_path)
    assert list(establish(node, Ledger(node), "card_limiters", WANTED, False).before) == ["card_rates eth1"]
    assert set(node.card_rates["eth1"].values()) == {"0bit"}
    assert not establish(node, Ledger(node), "card_limiters", WANTED, False), (
        "the second time nothing changes"
    )
    node.card_rates["eth1"]["3"] = "400Mbit"
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
