from pathlib import Path

import pytest
from ansible_collections.rogue.testbed.plugins.module_utils.kinds.traffic_control import TrafficControl
from ansible_collections.rogue.testbed.plugins.module_utils.system import StateError
from helpers.fake_node import FakeNode

KIND = TrafficControl()


@pytest.mark.parametrize(
    "ours",
    [
        "qdisc noqueue 0: root refcnt 2 ",
        "qdisc fq_codel 0: root refcnt 2 limit 10240p",
        "qdisc mq 0: root \nqdisc fq_codel 0: parent :1 limit 10240p",
    ],
)
def test_what_the_kernel_made_by_itself_may_go(ours: str) -> None:
    assert KIND.refusal("eth1", ours) is None


@pytest.mark.parametrize(
    "somebodys", ["qdisc htb 1: root refcnt 2 r2q 10", "qdisc fq_codel 8001: root limit 9p"]
)
def test_what_somebody_set_up_may_not(somebodys: str) -> None:
    refusal = KIND.refusal("eth1", f"{somebodys} default 0x10\n") or ""
    assert " ".join(somebodys.split()[:4]) in refusal
    assert refusal.endswith("tc qdisc del dev eth1 root")


def test_what_changes_by_itself_is_not_part_of_the_state(tmp_path: Path) -> None:
    node = FakeNode(tmp_path)
    KIND.establish(node, "eth1", ["qdisc add dev eth1 root handle 1: htb default 10"])
    assert "direct_packets_stat" in node.roots["eth1"]
    assert KIND.observe(node, "eth1") == "qdisc htb 1: root\n"


def test_an_interface_that_is_not_there_is_the_inventorys_mistake(tmp_path: Path) -> None:
    with pytest.raises(StateError, match="interface eth9: this node has none such; correct the inventory"):
        KIND.observe(FakeNode(tmp_path), "eth9")


def test_a_limiters_rate_may_change_but_not_the_tree() -> None:
    rest = "class htb 1:10 root prio 0\n"
    left = f"class htb 1:11 root prio 0 rate 10Gbit overhead 24 ceil 10Gbit burst 1Mb cburst 1Mb \n{rest}"
    later = f"{rest}class htb 1:11 root prio 0 rate 20Mbit overhead 24 ceil 20Mbit burst 9b cburst 9b \n"
    assert not KIND.has_drifted(later, left)
    assert KIND.has_drifted("class htb 1:10 root prio 0\n", left)
    assert KIND.has_drifted(None, left)


def test_undoing_twice_does_no_harm(tmp_path: Path) -> None:
    node = FakeNode(tmp_path)
    before = KIND.observe(node, "eth1")
    KIND.establish(node, "eth1", ["qdisc add dev eth1 root handle 1: htb default 10"])
    for _ in range(2):
        KIND.undo(node, "eth1", before, None)
    assert KIND.observe(node, "eth1") == before
