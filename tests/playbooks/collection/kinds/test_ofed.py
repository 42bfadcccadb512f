import hashlib
from pathlib import Path

import pytest
from ansible_collections.rogue.testbed.plugins.module_utils.kinds.ofed import _refuse_what_cannot_work
from ansible_collections.rogue.testbed.plugins.module_utils.ledger import Ledger
from ansible_collections.rogue.testbed.plugins.module_utils.states import Wanted, establish, restore
from ansible_collections.rogue.testbed.plugins.module_utils.system import StateError
from helpers.fake_card import MODULES, FakeCardNode
from helpers.fake_rpm_node import ROCKY_10

CONTENT = b"a package\n"
SHA256 = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture
def url(tmp_path: Path) -> str:
    package = tmp_path / "doca-host_2.9.1_amd64.deb"
    package.write_bytes(CONTENT)
    return package.as_uri()


def wanted(url: str, changes: dict[str, str] | None = None) -> Wanted:
    return {"ofed": {"eth1": {"version": "2.9.1", "url": url, "sha256": SHA256} | (changes or {})}}


def node_with(tmp_path: Path, hca_type: str, driver: str = "mlx5_core") -> FakeCardNode:
    node = FakeCardNode(tmp_path / "node", driver)
    node.write("/sys/class/infiniband/mlx5_0/hca_type", f"{hca_type}\n")
    node.write(f"{MODULES}/build/Makefile", "")
    return node


def test_what_was_installed_is_removed_and_nothing_else(tmp_path: Path, url: str) -> None:
    node = node_with(tmp_path, "MT4117")
    before = set(node.packages)
    establish(node, Ledger(node), "ofed", wanted(url), False)
    assert {"doca-host", "doca-ofed"} <= node.packages
    steps = [command for command in node.commands if command.startswith("apt-get")]
    assert steps[0].startswith("apt-get -qq --yes install /")
    assert steps[1:] == ["apt-get -qq update", "apt-get -qq --yes --no-install-recommends install doca-ofed"]
    assert not establish(node, Ledger(node), "ofed", wanted(url), False)
    restore(node, Ledger(node), False)
    assert node.packages == before


def test_libraries_that_it_replaced_get_their_versions_back(tmp_path: Path, url: str) -> None:
    node = node_with(tmp_path, "MT4119")
    node.packages |= {"libibverbs1", "rdma-core"}
    node.versions |= {"libibverbs1": "50.0-2", "rdma-core": "50.0-2"}
    node.mirrored |= {"libibverbs1=50.0-2", "rdma-core=50.0-2"}
    before = node.state()["packages"]
    establish(node, Ledger(node), "ofed", wanted(url), False)
    assert node.versions["libibverbs1"] == "2410mlnx54"
    restore(node, Ledger(node), False)
    assert node.state()["packages"] == before


def test_without_headers_dkms_would_build_nothing(tmp_path: Path, url: str) -> None:
    node = node_with(tmp_path, "MT4119")
    node.path(f"{MODULES}/build/Makefile").unlink()
    with pytest.raises(StateError, match=r"its headers are missing, .*: install linux-headers-"):
        establish(node, Ledger(node), "ofed", wanted(url), False)
    assert not any(command.startswith("apt-get") for command in node.commands)


def test_modules_that_were_not_built_are_an_error_and_nothing_stays(tmp_path: Path, url: str) -> None:
    node = node_with(tmp_path, "MT4119")
    node.builds_modules = False
    before = node.state()["packages"]
    with pytest.raises(
        StateError, match=r"was taken off again: kernel .*: no mlx5_core was built for it; read"
    ):
        establish(node, Ledger(node), "ofed", wanted(url), False)
    assert node.state()["packages"] == before


def test_a_package_whose_script_failed_does_not_stay(tmp_path: Path, url: str) -> None:
    node = node_with(tmp_path, "MT4119")
    node.failing_scripts.add("doca-ofed")
    before = node.state()["packages"]
    with pytest.raises(StateError, match=r"cannot be installed, and was taken off again: .*dpkg returned an"):
        establish(node, Ledger(node), "ofed", wanted(url), False)
    assert node.state()["packages"] == before


def test_what_is_there_by_half_after_a_cut_off_is_installed_once_more(tmp_path: Path, url: str) -> None:
    node = node_with(tmp_path, "MT4119")
    before = node.state()["packages"]
    establish(node, Ledger(node), "ofed", wanted(url), False)
    ledger = Ledger(node)
    ledger.entries[0].after = None
    ledger.write(ledger.entries[0])
    node.package_states["doca-ofed"] = "half-configured"
    assert list(establish(node, Ledger(node), "ofed", wanted(url), False).before) == ["ofed eth1"]
    assert not node.package_states
    assert not restore(node, Ledger(node), False).failures
    assert node.state()["packages"] == before


@pytest.mark.parametrize(
    ("hca_type", "version", "is_refused"),
    [
        ("MT4115", "2.9.2", False),
        ("MT4117", "2.10.0", True),
        ("MT4117", "3.0.0", True),
        ("MT4119", "3.0.0", False),
    ],
)
def test_connectx_4_ends_with_2_9(
    tmp_path: Path, url: str, hca_type: str, version: str, is_refused: bool
) -> None:
    node = node_with(tmp_path, hca_type)
    if is_refused:
        with pytest.raises(StateError, match=rf"{version} has no driver for ConnectX-4 .* is 2\.9"):
            establish(node, Ledger(node), "ofed", wanted(url, {"version": version}), False)
        assert not any(command.startswith("apt-get") for command in node.commands)
    else:
        establish(node, Ledger(node), "ofed", wanted(url, {"version": version}), False)


def test_connectx_3_has_none_that_is_kept_up(tmp_path: Path, url: str) -> None:
    node = node_with(tmp_path, "MT4103", "mlx4_core")
    with pytest.raises(StateError, match=r"no driver for ConnectX-3, and MLNX_OFED 4\.9, .* is obsolete"):
        establish(node, Ledger(node), "ofed", wanted(url), False)


def test_rpms_of_it_are_refused_by_name(tmp_path: Path, url: str) -> None:
    node = node_with(tmp_path, "MT4119")
    node.write("/etc/os-release", ROCKY_10)
    with pytest.raises(StateError, match=r"got 2\.9\.1 for Rocky Linux 10\.1 .*; install it by hand"):
        _refuse_what_cannot_work(node, "eth1", "2.9.1")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"sha256": "00" * 32}, f"got SHA-256 {SHA256}, expected 0000"),
        ({"url": "file:///nowhere/doca.deb"}, "cannot be fetched: .*name a mirror that this node reaches"),
        ({"url": "ftp://mirror/doca.deb"}, "expected one that begins with file, http, https"),
        ({"version": "latest"}, r"ofed_version: got 'latest', expected one such as 2\.9\.1"),
    ],
)
def test_nothing_is_installed_that_is_not_what_was_asked_for(
    tmp_path: Path, url: str, changes: dict[str, str], words: str
) -> None:
    node = node_with(tmp_path, "MT4119")
    with pytest.raises(StateError, match=words):
        establish(node, Ledger(node), "ofed", wanted(url, changes), False)
    assert not any(command.startswith("apt-get") for command in node.commands)
