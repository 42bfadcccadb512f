"""A reboot: what is on disk stays, kernel and card forget. The doctor names it, and provisioning heals it."""

from pathlib import Path

import pytest
from ansible_collections.rogue.testbed.plugins.module_utils.kinds import KINDS
from ansible_collections.rogue.testbed.plugins.module_utils.ledger import Ledger
from ansible_collections.rogue.testbed.plugins.module_utils.states import Wanted, drift, establish, restore
from helpers.fake_card import FakeCardNode

ON_DISK = ("package_source", "packages", "ofed", "directories", "files", "unpacked")
"""Kinds of what a reboot leaves alone."""
MODULES = ("ib_uverbs", "rdma_rxe")
WANTED: Wanted = {
    "packages": {"rdma": ["perftest"]},
    "kernel_modules": dict.fromkeys(MODULES, True),
    "sysctls": {"net.ipv4.tcp_ecn": "1"},
    "mtu": {"eth1": 4300},
    "soft_roce": {"eth1": "rxe0"},
    "traffic_control": {"eth1": ["qdisc add dev eth1 root handle 1: htb default 10"]},
    "roce_mode": {"eth1": {"mode": "RoCE v2", "tos": "104"}},
    "card_priorities": {"eth1": {"trust": "dscp", "dscp": 26, "priority": 3, "paused": [3]}},
    "card_rates": {"eth1": True},
    "dcqcn": {"eth1": {"state": "kept", "parameters": {"rp_ai_rate": 20}}},
    "governor": {"all": "performance"},
    "card_interrupts": {"eth1": "local"},
    "directories": {"/opt/rogue": True},
}
FORGOTTEN = [
    "card_interrupts eth1",
    "card_priorities eth1",
    "dcqcn eth1",
    "governor all",
    "kernel_modules ib_uverbs",
    "kernel_modules rdma_rxe",
    "mtu eth1",
    "roce_mode eth1",
    "soft_roce eth1",
    "sysctls net.ipv4.tcp_ecn",
    "traffic_control eth1",
]
"""`card_rates` changed nothing here: no class had a rate before."""


class Rebooted(FakeCardNode):
    """A node that knows what its kernel says when it has just started."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.with_configfs()
        self._started = {path: path.read_text() for path in self._of_kernel()}

    def reboot(self) -> None:
        for path in self._of_kernel():
            if path not in self._started:
                path.unlink()
        for module in (*MODULES, "ib_core", "udp_tunnel", "crc32_generic"):
            if (directory := self.path(f"/sys/module/{module}")).is_dir():
                directory.rmdir()
        for path, text in self._started.items():
            path.write_text(text)
        self.rdma_links.clear()
        for interface in self.trees:
            self._tc(["tc", "qdisc", "del", "dev", interface, "root"], "")
        super().reboot()

    def _of_kernel(self) -> list[Path]:
        return [path for top in ("/sys", "/proc") for path in self.path(top).rglob("*") if path.is_file()]


@pytest.fixture
def node(tmp_path: Path) -> Rebooted:
    return Rebooted(tmp_path)


def provision(node: Rebooted) -> list[str]:
    return sorted(establish(node, Ledger(node), "roles", WANTED, False).before)


def test_every_kind_is_on_disk_or_named_after_a_reboot() -> None:
    named = {each.split()[0] for each in FORGOTTEN}
    assert named | set(ON_DISK) | {"card_rates"} == set(KINDS)


def test_what_is_forgotten_is_named_and_healed_by_provisioning_once(node: Rebooted) -> None:
    before = node.state()
    provision(node)
    assert drift(node, Ledger(node)) == []
    provisioned = node.state()
    node.reboot()
    assert sorted(drift(node, Ledger(node))) == FORGOTTEN
    assert provision(node) == FORGOTTEN
    assert (drift(node, Ledger(node)), provision(node)) == ([], [])
    assert node.state() == provisioned
    restore(node, Ledger(node), False)
    after = node.state()
    assert {key: after[key] for key in ("rdma", "roots", "trees", "card_rates", "packages")} == {
        key: before[key] for key in ("rdma", "roots", "trees", "card_rates", "packages")
    }
    assert not node.trusts_dscp


def test_teardown_after_a_reboot_has_nothing_of_the_kernels_left_to_put_back(node: Rebooted) -> None:
    before = node.state()
    provision(node)
    node.reboot()
    restore(node, Ledger(node), False)
    after = node.state()
    assert after["roots"] == before["roots"]
    assert "perftest" not in node.packages
    assert not node.path("/opt/rogue").exists()
