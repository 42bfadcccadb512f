from pathlib import Path

import pytest
from ansible_collections.rogue.testbed.plugins.module_utils.interfaces import (
    IFMAP,
    demand_interface,
    find_interface,
)
from ansible_collections.rogue.testbed.plugins.module_utils.system import StateError
from helpers.fake_node import FakeNode

MAC = "0c:42:a1:00:00:8a"


@pytest.fixture
def node(tmp_path: Path) -> FakeNode:
    return FakeNode(tmp_path, ("eno1", "enp65s0f0np0"))


def test_cloudlabs_map_is_believed_first(node: FakeNode) -> None:
    node.write(IFMAP, "\nenp65s0f0np0 10.10.1.1 0c42a100008a\neno1 10.10.2.1 0c42a100008b\n")
    assert find_interface(node, MAC) == "enp65s0f0np0"
    assert find_interface(node, "0C:42:A1:00:00:8B") == "eno1"


def test_an_interface_of_the_map_that_is_not_there_is_passed_over(node: FakeNode) -> None:
    node.write(IFMAP, f"eth9 10.10.1.1 {MAC}\n")
    node.write("/sys/class/net/eno1/address", f"{MAC}\n")
    assert find_interface(node, MAC) == "eno1"


def test_without_a_map_it_is_the_card_and_not_a_bridge_that_borrows_its_mac(node: FakeNode) -> None:
    node.write("/sys/class/net/br0/address", f"{MAC}\n")
    assert find_interface(node, MAC) is None
    node.write("/sys/class/net/enp65s0f0np0/address", f"{MAC.upper()}\n")
    assert find_interface(node, MAC) == "enp65s0f0np0"


def test_a_mac_that_nothing_has_is_a_sentence(node: FakeNode) -> None:
    with pytest.raises(StateError) as missing:
        demand_interface(node, MAC)
    assert str(missing.value) == (
        f"no interface has MAC {MAC}; there is 52:54:00:00:00:00 (eno1), 52:54:00:00:00:01 (enp65s0f0np0): "
        "correct experiment_mac in the inventory"
    )
