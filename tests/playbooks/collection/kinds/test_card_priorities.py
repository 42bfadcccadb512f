from pathlib import Path

import pytest
from ansible_collections.rogue.testbed.plugins.module_utils.ledger import Ledger
from ansible_collections.rogue.testbed.plugins.module_utils.states import Wanted, drift, establish, restore
from ansible_collections.rogue.testbed.plugins.module_utils.system import StateError
from helpers.fake_card import FakeCardNode
from helpers.fake_node import FakeNode

SHARES = "0:13 1:13 2:13 3:13 4:12 5:12 6:12 7:12"
ONE_TO_ONE = "0:0 1:1 2:2 3:3 4:4 5:5 6:6 7:7"
ETS = "0:ets 1:ets 2:ets 3:ets 4:ets 5:ets 6:ets 7:ets"
SET_ETS = f"dcb ets set dev eth1 tc-tsa {ETS} tc-bw {SHARES} prio-tc {ONE_TO_ONE}"
SET_PFC = "dcb pfc set dev eth1 prio-pfc 0:off 1:off 2:off 3:on 4:off 5:off 6:off 7:off"


def wanted(trust: str = "pcp", *paused: int) -> Wanted:
    own = {"trust": trust, "dscp": 26, "priority": 3, "paused": list(paused)}
    return {"card_priorities": {"eth1": own}}


def commands(node: FakeNode) -> list[str]:
    return [command for command in node.commands if " show " not in command]


@pytest.mark.parametrize(
    ("driver", "trust", "paused", "golden"),
    [
        ("mlx4_core", "pcp", (), [SET_ETS]),
        ("mlx4_core", "pcp", (3,), [SET_ETS, SET_PFC]),
        ("mlx5_core", "pcp", (), [SET_ETS]),
        ("mlx5_core", "dscp", (3,), [SET_ETS, SET_PFC, "dcb app add dev eth1 dscp-prio 26:3"]),
    ],
)
def test_what_each_driver_is_told(
    tmp_path: Path, driver: str, trust: str, paused: tuple[int, ...], golden: list[str]
) -> None:
    node = FakeCardNode(tmp_path, driver)
    establish(node, Ledger(node), "card_priorities", wanted(trust, *paused), False)
    assert commands(node) == golden
    assert node.trusts_dscp is (trust == "dscp")


def test_once_is_enough_and_teardown_is_exact(tmp_path: Path) -> None:
    """mlx5 reports 100 % of each class, which dcb takes for too much: only zeros put that back."""
    node = FakeCardNode(tmp_path)
    before = node.state()
    assert establish(node, Ledger(node), "card_priorities", wanted("dscp", 3), True), "it would change"
    assert node.state() == before
    assert establish(node, Ledger(node), "card_priorities", wanted("dscp", 3), False)
    assert not establish(node, Ledger(node), "card_priorities", wanted("dscp", 3), False)
    assert node.link_toggles == 1
    restore(node, Ledger(node), False)
    assert node.state()["dcb"] == before["dcb"]
    assert not node.trusts_dscp


def test_what_a_driver_reports_already_is_set_all_the_same(tmp_path: Path) -> None:
    node = FakeCardNode(tmp_path)
    node.objects["ets"] = {"tc-tsa": ETS, "tc-bw": SHARES, "prio-tc": ONE_TO_ONE}
    establish(node, Ledger(node), "card_priorities", wanted(), False)
    assert commands(node) == [SET_ETS]
    assert node.link_toggles == 0, "pauses are what they should be, and the link stays up"


def test_a_reboot_is_named_and_healed_by_provisioning_once(tmp_path: Path) -> None:
    node = FakeCardNode(tmp_path)
    establish(node, Ledger(node), "card_priorities", wanted("dscp", 3), False)
    assert drift(node, Ledger(node)) == []
    left = {name: dict(words) for name, words in node.objects.items()}
    node.reboot()
    assert drift(node, Ledger(node)) == ["card_priorities eth1"]
    establish(node, Ledger(node), "card_priorities", wanted("dscp", 3), False)
    assert node.objects == left
    assert drift(node, Ledger(node)) == []


def test_a_table_that_was_there_comes_back(tmp_path: Path) -> None:
    node = FakeCardNode(tmp_path)
    node.objects["app"]["dscp-prio"] = "24:2 48:6"
    establish(node, Ledger(node), "card_priorities", wanted("dscp"), False)
    assert node.objects["app"]["dscp-prio"] == "26:3"
    restore(node, Ledger(node), False)
    assert node.objects["app"]["dscp-prio"] == "24:2 48:6"


def test_what_a_card_cannot_do_is_refused(tmp_path: Path) -> None:
    node = FakeCardNode(tmp_path / "mlx4", "mlx4_core")
    with pytest.raises(StateError, match="mlx4_core does not look at the DSCP, although the kernel takes"):
        establish(node, Ledger(node), "card_priorities", wanted("dscp"), False)
    assert commands(node) == []
    plain = FakeNode(tmp_path / "plain")
    establish(plain, Ledger(plain), "card_priorities", wanted(), False)
    assert commands(plain) == [], "nothing is asked for that only a card with priorities can do"
    with pytest.raises(StateError, match="interface eth1: its driver has no priorities"):
        establish(plain, Ledger(plain), "card_priorities", wanted("pcp", 3), False)
