"""Tests: the role `packages` and the repository of the role `base` with dnf itself, below a directory.

Debian has dnf, too: `apt-get install dnf rpm createrepo-c`.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import jinja2
import pytest
import yaml
from ansible_collections.rogue.testbed.plugins.module_utils.snapshot import packages
from ansible_collections.rogue.testbed.plugins.module_utils.system import CommandError, System

PLAYBOOKS = Path(__file__).parents[2] / "playbooks"
pytestmark = [
    pytest.mark.needs("dnf"),
    pytest.mark.skipif(os.geteuid() != 0, reason="only root can install with dnf"),
]
SPECIFICATION = """\
Name: {name}
Version: 1.0
Release: 1
Summary: A package of a test
License: none
BuildArch: noarch
{requires}
%description
A package of a test.
%files
"""
REPOSITORY = {"iproute": "", "libibumad": "", "perftest": "Requires: iproute\nRecommends: libibumad\n"}
PLAY = """\
- name: Packages
  hosts: all
  gather_facts: false
  module_defaults:
    ansible.builtin.dnf:
      use_backend: dnf4 # Debian's, which Ansible does not look for
      installroot: "{{ root }}"
      releasever: "10"
      conf_file: "{{ root }}/etc/dnf/dnf.conf"
  vars:
    node: {facts: {family: rhel}}
  roles:
    - role: packages
"""


class Below(System):
    """A node of RHEL's family whose packages lie below a directory."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def run(self, command: list[str], text: str = "") -> str:
        if command[0] != "rpm":
            raise CommandError(command, f"{command[0]} is not installed")
        return super().run(["rpm", f"--root={self._root}", *command[1:]], text)


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a directory with packages and their index."""
    root = tmp_path_factory.mktemp("repository")
    for name, requires in REPOSITORY.items():
        (root / "spec").write_text(SPECIFICATION.format(name=name, requires=requires))
        defined = [f"--define=_topdir {root / 'build'}", f"--define=_rpmdir {root / 'rpms'}"]
        subprocess.run(["rpmbuild", "--quiet", "-bb", *defined, str(root / "spec")], check=True)
    subprocess.run(["createrepo_c", "--quiet", str(root / "rpms")], check=True)
    return root / "rpms"


@pytest.fixture
def root(tmp_path: Path, repository: Path) -> Path:
    """Return a directory with the repository file of the role `base`."""
    tasks = yaml.safe_load((PLAYBOOKS / "roles/base/tasks/main.yml").read_text())
    (task,) = [each for each in tasks if each["name"] == "Give dnf a repository"]
    copied = task["ansible.builtin.copy"]
    template = jinja2.Environment(keep_trailing_newline=True).from_string(copied["content"])
    text = template.render(base_package_repository=f"baseurl=file://{repository} gpgcheck=0")
    file = tmp_path / "node" / copied["dest"].lstrip("/")
    file.parent.mkdir(parents=True)
    file.write_text(text)
    configuration = tmp_path / "node/etc/dnf/dnf.conf"
    configuration.parent.mkdir()
    settings = {"reposdir": file.parent, "cachedir": tmp_path / "cache", "logdir": tmp_path, "plugins": 0}
    lines = ("[main]", *(f"{name}={value}" for name, value in settings.items()))
    configuration.write_text("".join(f"{line}\n" for line in lines))
    return tmp_path / "node"


def play(root: Path, wanted: list[str]) -> subprocess.CompletedProcess[str]:
    """Run the role, with the Python that has dnf's own modules."""
    variables = {
        "ansible_connection": "local",
        "ansible_python_interpreter": "/usr/bin/python3",
        "packages_wanted": wanted,
        "here": {"packages": packages(Below(root)) if (root / "usr").exists() else []},
        "root": str(root),
    }
    directory = root.parent
    (directory / "inventory.yml").write_text(json.dumps({"all": {"hosts": {"h0": variables}}}))
    (directory / "play.yml").write_text(PLAY)
    environment = {
        **os.environ,
        "ANSIBLE_ROLES_PATH": str(PLAYBOOKS / "roles"),
        "ANSIBLE_STDOUT_CALLBACK": "ansible.builtin.default",
        "ANSIBLE_NOCOLOR": "1",
    }
    program = str(Path(sys.executable).with_name("ansible-playbook"))
    return subprocess.run(
        [program, "-i", "inventory.yml", "play.yml"],
        cwd=directory,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_missing_packages_are_installed_once_without_recommended_ones(root: Path) -> None:
    done = play(root, ["perftest"])
    assert "changed=1 " in done.stdout, done.stdout
    assert packages(Below(root)) == ["iproute", "perftest"]
    assert "changed=0 " in play(root, ["iproute", "perftest"]).stdout


def test_unknown_packages_are_named(root: Path) -> None:
    done = play(root, ["nowhere"])
    assert done.returncode != 0
    assert "packages nowhere: " in done.stdout, done.stdout
    assert "base_package_repository in the inventory" in done.stdout
