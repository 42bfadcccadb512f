from pathlib import Path

import pytest
from ansible_collections.rogue.testbed.plugins.module_utils.kinds.packages import Packages
from ansible_collections.rogue.testbed.plugins.module_utils.system import StateError
from helpers.fake_node import FakeNode

KIND = Packages()


def test_only_what_is_missing_is_installed(tmp_path: Path) -> None:
    node = FakeNode(tmp_path)
    KIND.establish(node, "rdma", ["iproute2", "perftest"])
    assert node.commands[-1] == "apt-get -qq --yes --no-install-recommends install perftest"


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


def test_a_removed_package_whose_settings_are_left_is_missing(tmp_path: Path) -> None:
    assert "removed" not in KIND.observe(FakeNode(tmp_path), "rdma")


def test_a_node_without_a_mirror_says_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(
        StateError, match=r"packages nowhere are missing and cannot be installed: .*Unable to locate"
    ):
        KIND.establish(FakeNode(tmp_path), "rdma", ["nowhere"])
