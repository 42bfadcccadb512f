from pathlib import Path

import pytest
from ansible_collections.rogue.testbed.plugins.module_utils.kinds.kernel import KernelModule, Sysctl
from ansible_collections.rogue.testbed.plugins.module_utils.module_builds import modules_directory
from ansible_collections.rogue.testbed.plugins.module_utils.system import StateError
from helpers.fake_node import FakeNode


def loaded(node: FakeNode) -> list[str]:
    return sorted(path.name for path in node.path("/sys/module").glob("*"))


def test_what_a_module_brought_along_goes_with_it_unless_somebody_uses_it(tmp_path: Path) -> None:
    node, kind = FakeNode(tmp_path), KernelModule()
    before = kind.observe(node, "rdma_rxe")
    kind.establish(node, "rdma_rxe", True)
    after = kind.observe(node, "rdma_rxe")
    assert loaded(node) == ["ib_core", "rdma_rxe", "udp_tunnel"]
    node.write("/sys/module/ib_core/refcnt", "1\n")
    kind.undo(node, "rdma_rxe", before, after)
    assert loaded(node) == ["ib_core"]


def test_a_module_that_was_loaded_stays(tmp_path: Path) -> None:
    node, kind = FakeNode(tmp_path), KernelModule()
    kind.establish(node, "ib_uverbs", True)
    before = kind.observe(node, "ib_uverbs")
    assert kind.is_met(before, True)
    kind.undo(node, "ib_uverbs", before, before)
    assert "ib_uverbs" in loaded(node)


def test_a_kernel_without_the_module_says_so(tmp_path: Path) -> None:
    node = FakeNode(tmp_path)
    node.path(modules_directory()).mkdir(parents=True)
    with pytest.raises(
        StateError, match=r"kernel module none_such: kernel .* has none such: install the pack"
    ):
        KernelModule().establish(node, "none_such", True)


def test_a_sysctl_of_several_words_compares_by_its_words(tmp_path: Path) -> None:
    assert Sysctl().observe(FakeNode(tmp_path), "net.ipv4.tcp_rmem") == "4096 131072 6291456"


def test_a_sysctl_that_this_kernel_lacks_is_told(tmp_path: Path) -> None:
    with pytest.raises(StateError, match=r"sysctl net\.ipv4\.none: this kernel has none such"):
        Sysctl().observe(FakeNode(tmp_path), "net.ipv4.none")
