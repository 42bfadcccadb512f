from pathlib import Path

import pytest
from ansible_collections.rogue.testbed.plugins.module_utils.ledger import Ledger
from ansible_collections.rogue.testbed.plugins.module_utils.states import establish, restore
from ansible_collections.rogue.testbed.plugins.module_utils.system import StateError
from helpers.fake_card import FakeCardNode
from helpers.fake_node import FakeNode

WANTED = {"roce_mode": {"eth1": {"mode": "RoCE v2", "tos": "104"}}}
PORT = "/sys/kernel/config/rdma_cm/mlx5_0/ports/1"


def test_what_rdma_cm_does_is_set_and_put_back(tmp_path: Path) -> None:
    node = FakeCardNode(tmp_path).with_configfs()
    assert establish(node, Ledger(node), "roce", WANTED, False)
    assert node.read(f"{PORT}/default_roce_mode") == "RoCE v2\n"
    assert node.read(f"{PORT}/default_roce_tos") == "104\n"
    assert not establish(node, Ledger(node), "roce", WANTED, False)
    restore(node, Ledger(node), False)
    assert node.read(f"{PORT}/default_roce_mode") == "IB/RoCE v1\n"


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    node = FakeCardNode(tmp_path / "card")
    with pytest.raises(StateError, match="rdma_cm is not there: load module rdma_cm, and mount configfs"):
        establish(node, Ledger(node), "roce", WANTED, False)
    plain = FakeNode(tmp_path / "plain")
    with pytest.raises(StateError, match="eth1: there is no RDMA device on it: load mlx4_ib or mlx5_ib"):
        establish(plain, Ledger(plain), "roce", WANTED, False)
