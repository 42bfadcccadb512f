from pathlib import Path

import pytest
from ansible_collections.rogue.testbed.plugins.module_utils.kinds.kind import Value
from ansible_collections.rogue.testbed.plugins.module_utils.kinds.packages import Packages
from ansible_collections.rogue.testbed.plugins.module_utils.ledger import Ledger
from ansible_collections.rogue.testbed.plugins.module_utils.states import drift, establish
from ansible_collections.rogue.testbed.plugins.module_utils.system import StateError
from helpers.fake_node import FakeNode

KIND = Packages()


def test_only_what_is_missing_is_installed(tmp_path: Path) -> None:
    node = FakeNode(tmp_path)
    KIND.establish(node, "rdma", ["iproute2", "perftest"])
    assert node.commands[-1] == "apt-get -qq --yes --no-install-recommends install perftest"


def test_what_would_be_installed_is_named(tmp_path: Path) -> None:
    """Somebody whose nodes reach no mirror learns at once what all roles lack."""
    node, wanted = FakeNode(tmp_path), {"packages": {"rdma": ["iproute2", "ethtool", "perftest"]}}
    assert list(establish(node, Ledger(node), "rdma", wanted, True).before) == [
        "packages rdma (ethtool, perftest)"
    ]


def test_what_somebody_installed_since_is_not_removed(tmp_path: Path) -> None:
    node = FakeNode(tmp_path)
    before = KIND.observe(node, "rdma")
    KIND.establish(node, "rdma", ["perftest"])
    after = KIND.observe(node, "rdma")
    node.packages.add("vim")
    KIND.undo(node, "rdma", before, after)
    assert node.packages == {"iproute2", "python3", "vim"}


def test_an_installation_that_never_finished_removes_nothing(tmp_path: Path) -> None:
    node = FakeNode(tmp_path)
    KIND.undo(node, "rdma", KIND.observe(node, "rdma"), None)
    assert not any("purge" in command for command in node.commands)
    before = KIND.observe(node, "rdma")
    node.packages.add("perftest")
    with pytest.raises(StateError, match=r"was cut off, .* provision again"):
        KIND.undo(node, "rdma", before, None)
    assert "perftest" in node.packages, "what others installed meanwhile is theirs"


def test_a_removed_package_whose_settings_are_left_is_missing(tmp_path: Path) -> None:
    assert "removed" not in KIND.observe(FakeNode(tmp_path), "rdma")


def test_a_node_without_a_mirror_says_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(
        StateError, match=r"packages nowhere are missing and cannot be installed: .*Unable to locate"
    ):
        KIND.establish(FakeNode(tmp_path), "rdma", ["nowhere"])


def test_a_node_without_a_mirror_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(
        StateError, match=r"by hand, or give this node a mirror: base_package_proxy or base_pack"
    ):
        KIND.establish(FakeNode(tmp_path), "rdma", ["nowhere"])


def test_a_node_that_has_everything_needs_no_mirror(tmp_path: Path) -> None:
    node, wanted = FakeNode(tmp_path), {"packages": {"base": ["iproute2", "python3"]}}
    assert not establish(node, Ledger(node), "base", wanted, False)
    assert not any(command.startswith("apt") for command in node.commands)


def upgraded(node: FakeNode) -> tuple[Value, Value]:
    """perftest was installed, for which iproute2 had to be a newer one, and python3 went."""
    before = KIND.observe(node, "rdma")
    KIND.establish(node, "rdma", ["perftest"])
    node.versions["iproute2"] = "2.0"
    node.packages.discard("python3")
    return before, KIND.observe(node, "rdma")


def test_versions_that_installing_changed_are_put_back(tmp_path: Path) -> None:
    node = FakeNode(tmp_path)
    before, after = upgraded(node)
    node.mirrored |= {"iproute2=1.0", "python3=1.0"}
    KIND.undo(node, "rdma", before, after)
    assert KIND.observe(node, "rdma") == before
    assert node.commands[-2].endswith(
        "--purge --allow-downgrades install iproute2=1.0 python3=1.0 libibumad3- perftest-"
    )


def test_what_somebody_upgraded_since_stays(tmp_path: Path) -> None:
    node = FakeNode(tmp_path)
    before, after = upgraded(node)
    node.packages.add("python3")
    node.versions |= {"iproute2": "3.0", "python3": "3.0"}
    KIND.undo(node, "rdma", before, after)
    assert node.state()["packages"] == {"iproute2": "3.0", "python3": "3.0"}


def test_versions_that_no_mirror_has_are_named_and_the_rest_is_put_back(tmp_path: Path) -> None:
    node = FakeNode(tmp_path)
    before, after = upgraded(node)
    node.mirrored.add("python3=1.0")
    with pytest.raises(StateError, match=r"the versions iproute2=1\.0 were here before and no mirror"):
        KIND.undo(node, "rdma", before, after)
    assert node.state()["packages"] == {"iproute2": "2.0", "python3": "1.0"}
    node.versions["iproute2"] = "1.1"
    KIND.undo(node, "rdma", before, after)


def test_packages_of_others_are_no_drift(tmp_path: Path) -> None:
    node = FakeNode(tmp_path)
    establish(node, Ledger(node), "rdma", {"packages": {"rdma": ["perftest"]}}, False)
    node.packages.add("vim")
    assert drift(node, Ledger(node)) == []
