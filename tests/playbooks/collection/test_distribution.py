from pathlib import Path

import pytest
from ansible_collections.rogue.testbed.plugins.module_utils.distribution import (
    name_of,
    of_this_system,
    refusal,
)
from ansible_collections.rogue.testbed.plugins.module_utils.ledger import Ledger
from ansible_collections.rogue.testbed.plugins.module_utils.states import establish
from ansible_collections.rogue.testbed.plugins.module_utils.system import StateError
from helpers.fake_node import FakeNode
from helpers.fake_rpm_node import ROCKY_10

OS_RELEASE = "/etc/os-release"
UBUNTU = 'PRETTY_NAME="Ubuntu 22.04.4 LTS"\nID=ubuntu\nID_LIKE=debian\n'
DOCA_IMAGE = 'PRETTY_NAME="Something of a vendor"\nID=vendor\nID_LIKE="ubuntu debian"\n'
ROCKY = (
    'NAME="Rocky Linux"\nVERSION_ID="9.4"\nID="rocky"\nID_LIKE="rhel centos fedora"\n'
    'PRETTY_NAME="Rocky Linux 9.4 (Blue Onyx)"\n'
)


def node_with(tmp_path: Path, text: str) -> FakeNode:
    node = FakeNode(tmp_path)
    node.write(OS_RELEASE, text)
    return node


@pytest.mark.parametrize("text", ["ID=debian\n", UBUNTU, DOCA_IMAGE, ROCKY_10])
def test_debian_rhel_10_and_what_is_made_from_them(tmp_path: Path, text: str) -> None:
    assert refusal(node_with(tmp_path, text)) is None


def test_of_lists_by_family_a_node_takes_its_own(tmp_path: Path) -> None:
    lists = {"debian": ["iproute2"], "rhel": ["iproute"]}
    assert of_this_system(FakeNode(tmp_path / "a"), lists) == ["iproute2"]
    assert of_this_system(node_with(tmp_path / "b", ROCKY_10), lists) == ["iproute"]
    assert of_this_system(node_with(tmp_path / "c", ROCKY_10), ["vim"]) == ["vim"]


@pytest.mark.parametrize("is_check", [False, True])
def test_what_does_not_do_is_refused_by_name_before_anything_is_changed(
    tmp_path: Path, is_check: bool
) -> None:
    node = node_with(tmp_path, ROCKY)
    before = node.state()
    with pytest.raises(
        StateError,
        match=r"system: got Rocky Linux 9\.4 \(Blue Onyx\), expected Debian, Ubuntu, RHEL or Rocky from "
        r"release 10.*the agent needs Python 3\.10, and RHEL 9 has 3\.9; install",
    ):
        establish(node, Ledger(node), "base", {"packages": {"base": ["perftest"]}}, is_check)
    assert (node.state(), node.commands) == (before, [])


def test_another_family_is_refused(tmp_path: Path) -> None:
    suse = node_with(
        tmp_path, 'PRETTY_NAME="openSUSE Leap 15.6"\nID=opensuse-leap\nID_LIKE="suse opensuse"\n'
    )
    assert "names are known for these alone" in str(refusal(suse))


def test_a_system_that_says_nothing(tmp_path: Path) -> None:
    node = node_with(tmp_path, "")
    assert name_of(node) == "an unknown system"
    assert "got an unknown system" in str(refusal(node))
