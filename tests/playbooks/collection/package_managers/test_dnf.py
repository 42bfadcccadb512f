from pathlib import Path

import pytest
from ansible_collections.rogue.testbed.plugins.module_utils.ledger import Ledger
from ansible_collections.rogue.testbed.plugins.module_utils.package_managers.dnf import Dnf
from ansible_collections.rogue.testbed.plugins.module_utils.states import Wanted, establish, restore
from ansible_collections.rogue.testbed.plugins.module_utils.system import StateError
from helpers.fake_rpm_node import FakeRpmNode

WANTED: Wanted = {"packages": {"rdma": {"debian": ["ibverbs-utils"], "rhel": ["iproute", "perftest"]}}}
WORDS = "dnf --assumeyes --quiet --setopt=install_weak_deps=False --setopt=clean_requirements_on_remove=False"


def test_packages_of_its_own_family_are_installed_and_removed(tmp_path: Path) -> None:
    node = FakeRpmNode(tmp_path)
    before = node.state()["packages"]
    changes = establish(node, Ledger(node), "rdma", WANTED, False)
    assert list(changes.before) == ["packages rdma (perftest)"]
    assert f"{WORDS} --refresh install perftest" in node.commands
    assert {"perftest", "libibumad3"} <= node.packages
    assert not establish(node, Ledger(node), "rdma", WANTED, False)
    assert not restore(node, Ledger(node), False).failures
    assert node.commands[-1] == f"{WORDS} remove libibumad3 perftest"
    assert node.state()["packages"] == before


def test_versions_that_installing_changed_are_put_back_before_the_rest_goes(tmp_path: Path) -> None:
    node = FakeRpmNode(tmp_path)
    establish(node, Ledger(node), "rdma", WANTED, False)
    ledger = Ledger(node)
    ledger.entries[0].after["iproute"] = node.versions["iproute"] = "2.0"
    ledger.write(ledger.entries[0])
    node.mirrored.add("iproute-1.0")
    assert not restore(node, Ledger(node), False).failures
    assert node.state()["packages"] == {"iproute": "1.0", "python3": "1.0"}
    assert f"{WORDS} --allowerasing install iproute-1.0" in node.commands


def test_versions_that_no_mirror_has_are_named(tmp_path: Path) -> None:
    node = FakeRpmNode(tmp_path)
    establish(node, Ledger(node), "rdma", WANTED, False)
    ledger = Ledger(node)
    ledger.entries[0].after["iproute"] = node.versions["iproute"] = "2.0"
    ledger.write(ledger.entries[0])
    (failure,) = restore(node, Ledger(node), False).failures
    assert "the versions iproute-1.0 were here before and no mirror" in failure
    assert node.packages == {"iproute", "python3"}


def test_several_kernels_are_one_package_and_keys_are_none(tmp_path: Path) -> None:
    node = FakeRpmNode(tmp_path)
    node.packages.add("kernel-core")
    node.versions["kernel-core"] = "6.12-2,6.12-1"
    assert Dnf().present(node) == {"iproute": "1.0", "python3": "1.0", "kernel-core": "6.12-1,6.12-2"}


def test_a_node_without_a_mirror_says_what_is_missing_and_what_to_do(tmp_path: Path) -> None:
    wanted: Wanted = {"packages": {"rdma": {"rhel": ["nowhere"]}}}
    node = FakeRpmNode(tmp_path)
    with pytest.raises(StateError, match=r"packages nowhere are missing .*find a match.*base_package_rep"):
        establish(node, Ledger(node), "rdma", wanted, False)
    assert not restore(node, Ledger(node), False).failures
