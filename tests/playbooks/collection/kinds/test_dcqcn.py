from pathlib import Path
from typing import Any

import pytest
from ansible_collections.rogue.testbed.plugins.module_utils.cards import dcqcn_state
from ansible_collections.rogue.testbed.plugins.module_utils.ledger import Ledger
from ansible_collections.rogue.testbed.plugins.module_utils.states import Wanted, drift, establish, restore
from ansible_collections.rogue.testbed.plugins.module_utils.system import StateError
from helpers.fake_card import PCI, FakeCardNode
from helpers.fake_node import FakeNode

PARAMETER = f"/sys/kernel/debug/mlx5/{PCI}/cc_params/rp_ai_rate"


def wanted(state: str, **parameters: Any) -> Wanted:
    return {"dcqcn": {"eth1": {"state": state, "parameters": parameters}}}


def test_ofed_switches_it_per_priority_at_both_points(tmp_path: Path) -> None:
    node = FakeCardNode(tmp_path, has_ofed=True)
    node.write("/sys/class/net/eth1/ecn/roce_rp/enable/5", "0\n")
    before = node.state()
    assert dcqcn_state(node, "eth1")["state"] == "on for some priorities"
    establish(node, Ledger(node), "dcqcn", wanted("disabled"), False)
    switches = sorted(node.path("/sys/class/net/eth1/ecn").rglob("enable/*"))
    assert [path.read_text() for path in switches] == ["0\n"] * 16
    assert dcqcn_state(node, "eth1") == {"state": "off", "by": "ofed", "reason": ""}
    assert not establish(node, Ledger(node), "dcqcn", wanted("disabled"), False)
    restore(node, Ledger(node), False)
    assert node.state() == before


def test_parameters_are_files_of_debugfs(tmp_path: Path) -> None:
    node = FakeCardNode(tmp_path)
    establish(node, Ledger(node), "dcqcn", wanted("kept", rp_ai_rate=20), False)
    assert node.read(PARAMETER) == "20\n"
    node.write(PARAMETER, "5\n")
    assert drift(node, Ledger(node)) == ["dcqcn eth1"]
    establish(node, Ledger(node), "dcqcn", wanted("kept", rp_ai_rate=20), False)
    debugfs = node.path("/sys/kernel/debug/mlx5")
    debugfs.rename(debugfs.with_name("hidden"))
    assert drift(node, Ledger(node)) == [], "the doctor is not root, and sees no debugfs"
    debugfs.with_name("hidden").rename(debugfs)
    restore(node, Ledger(node), False)
    assert node.read(PARAMETER) == "5\n"
    with pytest.raises(StateError, match="DCQCN has no parameter rp_speed; it has np_cnp_dscp, rp_ai_rate"):
        establish(node, Ledger(node), "dcqcn", wanted("kept", rp_speed=1), False)


@pytest.mark.parametrize("state", ["enabled", "disabled"])
def test_the_inbox_driver_has_no_switch(tmp_path: Path, state: str) -> None:
    node = FakeCardNode(tmp_path)
    with pytest.raises(
        StateError, match=f"DCQCN cannot be {state}: the inbox driver has no switch for it; the firmware's"
    ):
        establish(node, Ledger(node), "dcqcn", wanted(state), False)
    assert dcqcn_state(node, "eth1")["state"] == "unknown"


def test_connectx_3_has_none_so_it_is_off(tmp_path: Path) -> None:
    node = FakeCardNode(tmp_path, "mlx4_core")
    for state in ("kept", "disabled"):
        assert not establish(node, Ledger(node), "dcqcn", wanted(state), False)
    with pytest.raises(StateError, match="DCQCN cannot be enabled: ConnectX-3 has none"):
        establish(node, Ledger(node), "dcqcn", wanted("enabled"), False)
    assert dcqcn_state(FakeNode(tmp_path / "plain"), "eth1")["state"] == "none"


def test_nothing_is_written_down_where_nothing_is_wanted(tmp_path: Path) -> None:
    node = FakeCardNode(tmp_path, has_ofed=True)
    assert not establish(node, Ledger(node), "dcqcn", wanted("kept"), False)
    assert Ledger(node).entries == []
