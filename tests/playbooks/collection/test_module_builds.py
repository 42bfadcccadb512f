from pathlib import Path

import pytest
from ansible_collections.rogue.testbed.plugins.module_utils.module_builds import (
    check_built,
    check_headers,
    modules_directory,
    why_not_loaded,
)
from ansible_collections.rogue.testbed.plugins.module_utils.system import StateError
from helpers.fake_node import FakeNode

NOT_FOUND = (
    "`modprobe rdma_rxe` failed: modprobe: FATAL: Module rdma_rxe not found in directory /lib/modules/x"
)


def test_headers_are_those_of_the_kernel_that_runs(tmp_path: Path) -> None:
    node = FakeNode(tmp_path)
    node.write("/lib/modules/0.0.1-other/build/Makefile", "")
    with pytest.raises(StateError, match=r"kernel .*: its headers are missing, with which a driver builds"):
        check_headers(node, "a driver")
    node.write(f"{modules_directory()}/build/Makefile", "")
    check_headers(node, "a driver")


def test_a_module_of_the_kernel_s_own_tree_is_not_one_that_was_built(tmp_path: Path) -> None:
    node = FakeNode(tmp_path)
    node.write(f"{modules_directory()}/kernel/drivers/net/mlx5_core.ko", "")
    with pytest.raises(StateError, match=r"no mlx5_core was built for it; read make\.log below /logs"):
        check_built(node, "mlx5_core", "/logs")
    node.write(f"{modules_directory()}/updates/dkms/mlx5_core.ko.xz", "")
    check_built(node, "mlx5_core", "/logs")


def test_a_kernel_that_was_replaced_on_disk_needs_a_reboot(tmp_path: Path) -> None:
    node = FakeNode(tmp_path)
    assert why_not_loaded(node, "rdma_rxe", NOT_FOUND).endswith(" is gone: reboot this node")
    node.path(modules_directory()).mkdir(parents=True)
    assert "linux-modules-extra-" in why_not_loaded(node, "rdma_rxe", NOT_FOUND)


def test_other_words_of_modprobe_s_stay(tmp_path: Path) -> None:
    said = "`modprobe rdma_rxe` failed: could not insert 'rdma_rxe': Key was rejected by service"
    assert why_not_loaded(FakeNode(tmp_path), "rdma_rxe", said) == f"kernel module rdma_rxe: {said}"
