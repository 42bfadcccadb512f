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


def with_a_kernel_beside(node: FakeRpmNode, before: str, after: str, name: str = "kernel-core") -> None:
    """Installing perftest brought a kernel, of which dnf keeps several side by side."""
    node.packages.add(name)
    node.versions[name] = before
    establish(node, Ledger(node), "rdma", WANTED, False)
    ledger = Ledger(node)
    ledger.entries[0].after[name] = node.versions[name] = after
    ledger.write(ledger.entries[0])


def test_a_kernel_that_came_beside_others_goes_alone(tmp_path: Path) -> None:
    node = FakeRpmNode(tmp_path)
    with_a_kernel_beside(node, "0:6.12-1.x86_64", "0:6.12-1.x86_64,0:6.12-2.x86_64")
    assert not restore(node, Ledger(node), False).failures
    assert node.commands[-1] == f"{WORDS} remove libibumad3 perftest kernel-core-0:6.12-2.x86_64"
    assert node.state()["packages"] == {"iproute": "1.0", "python3": "1.0", "kernel-core": "0:6.12-1.x86_64"}


def test_a_kernel_that_the_new_one_pushed_out_is_put_back_after_that_has_gone(tmp_path: Path) -> None:
    """dnf keeps three: with the new one still there it would push out another."""
    node = FakeRpmNode(tmp_path)
    with_a_kernel_beside(node, "0:6.12-1.x86_64,0:6.12-2.x86_64", "0:6.12-2.x86_64,0:6.12-3.x86_64")
    node.mirrored.add("kernel-core-0:6.12-1.x86_64")
    assert not restore(node, Ledger(node), False).failures
    words = [command.removeprefix(f"{WORDS} ") for command in node.commands]
    removed = words.index("remove kernel-core-0:6.12-3.x86_64")
    assert removed < words.index("--allowerasing install kernel-core-0:6.12-1.x86_64")
    assert node.versions["kernel-core"] == "0:6.12-1.x86_64,0:6.12-2.x86_64"


def test_the_kernel_that_runs_stays_and_is_named_and_the_rest_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"{Dnf.__module__}.running_release", lambda: "6.12-2.x86_64")
    node = FakeRpmNode(tmp_path)
    with_a_kernel_beside(node, "0:6.12-1.x86_64", "0:6.12-1.x86_64,0:6.12-2.x86_64")
    (failure,) = restore(node, Ledger(node), False).failures
    assert (
        "kernel-core-0:6.12-2.x86_64 came with packages rdma and is of the kernel that runs: boot" in failure
    )
    assert node.packages == {"iproute", "python3", "kernel-core"}
    assert node.versions["kernel-core"] == "0:6.12-1.x86_64,0:6.12-2.x86_64"


def test_modules_of_the_kernel_that_runs_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"{Dnf.__module__}.running_release", lambda: "6.12-2.x86_64")
    node = FakeRpmNode(tmp_path)
    extra, old, new = "kernel-modules-extra", "0:6.12-1.x86_64", "0:6.12-2.x86_64"
    with_a_kernel_beside(node, old, f"{old},{new}", name=extra)
    assert not restore(node, Ledger(node), False).failures
    assert node.versions[extra] == old


def test_a_kernel_that_others_left_alone_stays(tmp_path: Path) -> None:
    node = FakeRpmNode(tmp_path)
    with_a_kernel_beside(node, "0:6.12-1.x86_64", "0:6.12-1.x86_64,0:6.12-2.x86_64")
    node.versions["kernel-core"] = "0:6.12-2.x86_64"
    assert not restore(node, Ledger(node), False).failures
    assert node.versions["kernel-core"] == "0:6.12-2.x86_64"


def test_a_kernel_of_ours_stays_ours_when_others_add_one(tmp_path: Path) -> None:
    node = FakeRpmNode(tmp_path)
    with_a_kernel_beside(node, "0:6.12-1.x86_64", "0:6.12-1.x86_64,0:6.12-2.x86_64")
    node.versions["kernel-core"] += ",0:6.12-3.x86_64"
    more: Wanted = {"packages": {"rdma": {"rhel": ["iproute", "perftest", "ethtool"]}}}
    establish(node, Ledger(node), "rdma", more, False)
    assert not restore(node, Ledger(node), False).failures
    assert node.versions["kernel-core"] == "0:6.12-1.x86_64,0:6.12-3.x86_64"


def test_what_belongs_to_one_kernel_is_asked_for_with_its_version_and_found(tmp_path: Path) -> None:
    """As the sentence on a missing kernel module says: kernel-modules-extra of the kernel that runs."""
    wanted: Wanted = {"packages": {"rdma": {"rhel": ["kernel-modules-extra-6.12-2.x86_64"]}}}
    node = FakeRpmNode(tmp_path)
    node.packages.add("kernel-modules-extra")
    node.versions["kernel-modules-extra"] = "0:6.12-1.x86_64"
    assert establish(node, Ledger(node), "rdma", wanted, True)
    node.versions["kernel-modules-extra"] = "0:6.12-1.x86_64,0:6.12-2.x86_64"
    assert not establish(node, Ledger(node), "rdma", wanted, True)


def test_a_node_without_a_mirror_says_what_is_missing_and_what_to_do(tmp_path: Path) -> None:
    wanted: Wanted = {"packages": {"rdma": {"rhel": ["nowhere"]}}}
    node = FakeRpmNode(tmp_path)
    with pytest.raises(StateError, match=r"packages nowhere are missing .*find a match.*base_package_rep"):
        establish(node, Ledger(node), "rdma", wanted, False)
    assert not restore(node, Ledger(node), False).failures
