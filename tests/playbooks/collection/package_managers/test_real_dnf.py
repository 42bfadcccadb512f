"""dnf itself, in a folder of its own: Debian has it, too (`apt-get install dnf rpm createrepo-c`).

Passed with dnf 4.14.0 and rpm 4.18.0 on 25 November 2026.
"""

import subprocess
from pathlib import Path

import pytest
from ansible_collections.rogue.testbed.plugins.module_utils.kinds.package_source import PackageSource
from ansible_collections.rogue.testbed.plugins.module_utils.kinds.packages import Packages
from ansible_collections.rogue.testbed.plugins.module_utils.system import CommandError, StateError, System
from helpers.fake_rpm_node import ROCKY_10

pytestmark = pytest.mark.needs("dnf")
KIND = Packages()
FIRST = "0:1.0-1.noarch"
NEW = dict.fromkeys(("libibumad", "perftest"), FIRST)
SPECIFICATION = """\
Name: {name}
Version: {version}
Release: 1
Summary: A package of a test
License: none
BuildArch: noarch
{requires}
%description
A package of a test.
%files
"""
MIRROR = (
    ("iproute", "1.0", ""),
    ("kernel-core", "1.0", "Provides: installonlypkg(kernel)\n"),
    ("kernel-core", "2.0", "Provides: installonlypkg(kernel)\n"),
    ("iproute", "2.0", ""),
    ("libibumad", "1.0", ""),
    ("perftest", "1.0", "Requires: iproute >= 2.0, libibumad\n"),
    ("python3", "1.0", ""),
    ("rxe", "1.0", "Requires: kernel-core >= 2.0\n"),
)


class InstallRoot(System):
    """A node whose packages lie below a folder."""

    def __init__(self, root: Path) -> None:
        self._root = root / "node"
        self._options = [f"--installroot={self._root}", "--releasever=10", "--setopt=plugins=0"]
        self._options += [
            f"--setopt=reposdir={self.path('/etc/yum.repos.d')}",
            f"--setopt=cachedir={root / 'cache'}",
        ]
        for absolute, text in {"/etc/os-release": ROCKY_10, "/etc/dnf/dnf.conf": "[main]\n"}.items():
            self.path(absolute).parent.mkdir(parents=True)
            self.path(absolute).write_text(text)
        self.path("/etc/yum.repos.d").mkdir()

    def run(self, command: list[str], text: str = "") -> str:
        options = self._options if command[0] == "dnf" else [f"--root={self._root}"]
        done = subprocess.run(
            [command[0], *options, *command[1:]], capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            raise CommandError(command, done.stderr or done.stdout)
        return done.stdout

    def path(self, absolute: str) -> Path:
        return self._root / absolute.lstrip("/")


@pytest.fixture(scope="module")
def mirror(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("mirror")
    for name, version, requires in MIRROR:
        (root / "spec").write_text(SPECIFICATION.format(name=name, version=version, requires=requires))
        defined = [f"--define=_topdir {root / 'build'}", f"--define=_rpmdir {root / 'rpms'}"]
        subprocess.run(["rpmbuild", "--quiet", "-bb", *defined, str(root / "spec")], check=True)
    subprocess.run(["createrepo_c", "--quiet", str(root / "rpms")], check=True)
    return root / "rpms"


@pytest.fixture
def node(tmp_path: Path, mirror: Path) -> InstallRoot:
    found = InstallRoot(tmp_path)
    PackageSource().establish(found, "repository", f"baseurl=file://{mirror} gpgcheck=0")
    KIND.establish(found, "base", ["python3"])
    found.run(["dnf", "--assumeyes", "--quiet", "install", "iproute-1.0"])
    return found


def test_what_it_upgrades_and_brings_along_is_put_back(node: InstallRoot) -> None:
    before = KIND.observe(node, "rdma")
    KIND.establish(node, "rdma", ["perftest"])
    after = KIND.observe(node, "rdma")
    assert after == {**before, "iproute": "0:2.0-1.noarch"} | NEW
    KIND.undo(node, "rdma", before, after)
    assert KIND.observe(node, "rdma") == before == dict.fromkeys(("iproute", "python3"), FIRST)


def test_a_version_that_no_mirror_has_is_named_and_the_rest_is_put_back(node: InstallRoot) -> None:
    before = {**KIND.observe(node, "rdma"), "iproute": "0:0.9-1.noarch"}
    KIND.establish(node, "rdma", ["perftest"])
    with pytest.raises(StateError, match=r"versions iproute-0:0\.9-1\.noarch were here before"):
        KIND.undo(node, "rdma", before, KIND.observe(node, "rdma"))
    assert set(KIND.observe(node, "rdma")) == {"iproute", "python3"}


def test_what_nobody_has_is_said_and_changes_nothing(node: InstallRoot) -> None:
    before = KIND.observe(node, "rdma")
    with pytest.raises(
        StateError, match=r"packages nowhere, perftest are missing and cannot be installed: .*find a match"
    ):
        KIND.establish(node, "rdma", ["nowhere", "perftest"])
    assert KIND.observe(node, "rdma") == before


def test_a_kernel_that_came_beside_another_goes_alone(node: InstallRoot) -> None:
    node.run(["dnf", "--assumeyes", "--quiet", "install", "kernel-core-1.0"])
    before = KIND.observe(node, "rdma")
    KIND.establish(node, "rdma", ["rxe"])
    after = KIND.observe(node, "rdma")
    assert after["kernel-core"] == f"{FIRST},0:2.0-1.noarch"
    assert KIND.is_met(after, ["kernel-core-2.0-1.noarch"])
    KIND.undo(node, "rdma", before, after)
    assert KIND.observe(node, "rdma") == before
