from collections.abc import Callable
from pathlib import Path

import pytest
from ansible_collections.rogue.testbed.plugins.module_utils.kinds.kind import Value
from ansible_collections.rogue.testbed.plugins.module_utils.kinds.packages import Packages
from ansible_collections.rogue.testbed.plugins.module_utils.ledger import Ledger
from ansible_collections.rogue.testbed.plugins.module_utils.states import drift, establish, restore
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


def test_what_is_there_by_half_is_not_installed_and_is_taken_off_again(tmp_path: Path) -> None:
    """A script of the package failed: dpkg keeps its files, and those that came along."""
    node, wanted = FakeNode(tmp_path), {"packages": {"rdma": ["perftest"]}}
    node.failing_scripts.add("perftest")
    before = node.state()["packages"]
    with pytest.raises(StateError, match=r"perftest are missing and cannot be installed: .*dpkg returned"):
        establish(node, Ledger(node), "rdma", wanted, False)
    assert node.state()["packages"] == before
    assert not restore(node, Ledger(node), False).failures


def test_what_cannot_be_taken_off_again_is_said_and_not_forgotten(tmp_path: Path) -> None:
    node, wanted = FakeNode(tmp_path), {"packages": {"rdma": ["perftest"]}}
    node.failing_scripts.add("perftest")
    node.broken.add("purge")
    with pytest.raises(StateError, match=r"; what came with it could not be taken off again: .*purge"):
        establish(node, Ledger(node), "rdma", wanted, False)
    assert KIND.observe(node, "rdma")["perftest"] == "1.0 (half-configured)"
    node.broken.clear()
    assert "was cut off" in str(restore(node, Ledger(node), False).failures)
    node.failing_scripts.clear()
    establish(node, Ledger(node), "rdma", wanted, False)
    assert not restore(node, Ledger(node), False).failures
    assert "perftest" not in node.packages


def test_one_of_others_that_was_there_by_half_stays_as_it_is(tmp_path: Path) -> None:
    node = FakeNode(tmp_path)
    node.package_states["python3"] = "half-configured"
    before = KIND.observe(node, "rdma")
    KIND.establish(node, "rdma", ["perftest"])
    node.package_states.clear()
    KIND.undo(node, "rdma", before, KIND.observe(node, "rdma"))
    assert not any("python3=" in command for command in node.commands), "there is no such version"


def test_a_held_package_and_one_that_waits_for_triggers_are_there(tmp_path: Path) -> None:
    node = FakeNode(tmp_path)
    node.package_states["python3"] = "triggers-pending"
    assert KIND.is_met(KIND.observe(node, "rdma"), ["python3"])


def provisioned_twice(node: FakeNode, between: Callable[[], None]) -> None:
    establish(node, Ledger(node), "rdma", {"packages": {"rdma": ["perftest"]}}, False)
    between()
    establish(node, Ledger(node), "rdma", {"packages": {"rdma": ["perftest", "ethtool"]}}, False)


def test_what_others_changed_between_two_provisionings_is_theirs(tmp_path: Path) -> None:
    """Teardown would take off what they installed, and put back what they upgraded and removed."""
    node = FakeNode(tmp_path)
    node.mirrored |= {"iproute2=1.0", "python3=1.0"}

    def others_work() -> None:
        node.versions["iproute2"] = "2.0"
        node.packages.add("vim")
        node.packages.discard("python3")

    provisioned_twice(node, others_work)
    restore(node, Ledger(node), False)
    assert node.state()["packages"] == {"iproute2": "2.0", "vim": "1.0"}


def test_what_we_added_goes_although_others_upgraded_it_between_two_provisionings(tmp_path: Path) -> None:
    node = FakeNode(tmp_path)
    provisioned_twice(node, lambda: node.versions.update(perftest="2.0"))
    restore(node, Ledger(node), False)
    assert node.packages == {"iproute2", "python3"}


def test_a_second_provisioning_that_comes_to_nothing_takes_nothing_from_the_first(tmp_path: Path) -> None:
    node = FakeNode(tmp_path)
    node.failing_scripts.add("ethtool")
    with pytest.raises(StateError, match="ethtool are missing"):
        provisioned_twice(node, lambda: None)
    assert not restore(node, Ledger(node), False).failures
    assert node.packages == {"iproute2", "python3"}


def test_an_installation_that_was_cut_off_at_its_end_is_finished_by_the_next(tmp_path: Path) -> None:
    node, wanted = FakeNode(tmp_path), {"packages": {"rdma": ["perftest"]}}
    establish(node, Ledger(node), "rdma", wanted, False)
    ledger = Ledger(node)
    ledger.entries[0].after = None
    ledger.write(ledger.entries[0])
    assert drift(node, Ledger(node)) == ["packages rdma (never finished)"]
    assert not establish(node, Ledger(node), "rdma", wanted, False)
    assert drift(node, Ledger(node)) == []
    restore(node, Ledger(node), False)
    assert node.packages == {"iproute2", "python3"}
