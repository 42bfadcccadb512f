from pathlib import Path

from ansible_collections.rogue.testbed.plugins.module_utils.package_managers.apt import Apt
from helpers.fake_node import FakeNode


def test_what_is_there_by_half_has_its_state_behind_the_version(tmp_path: Path) -> None:
    node = FakeNode(tmp_path)
    node.package_states |= {"python3": "half-configured", "iproute2": "triggers-pending"}
    assert Apt().present(node) == {"python3": "1.0 (half-configured)", "iproute2": "1.0"}


def test_a_version_that_no_mirror_has_is_no_failure(tmp_path: Path) -> None:
    node = FakeNode(tmp_path)
    node.mirrored.add("iproute2=1.0")
    assert Apt().is_offered(node, Apt().exact("iproute2", "1.0"))
    assert not Apt().is_offered(node, Apt().exact("iproute2", "0.9"))
