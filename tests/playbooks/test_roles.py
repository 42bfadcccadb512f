"""Tests of every role without a machine: its variables, its place, and what it refuses."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import jinja2
import pytest
import yaml

PLAYBOOKS = Path(__file__).parents[2] / "playbooks"
ROLES = sorted(path.name for path in (PLAYBOOKS / "roles").iterdir())
OF_THE_INVENTORY = {"experiment_interface", "experiment_mtu"}
SHARED = {"kernel_modules", "packages"}
"""Roles that other roles and plays call."""
PAGE = (PLAYBOOKS.parent / "docs/reference/provisioning.md").read_text()


def load(role: str, part: str) -> Any:
    return yaml.safe_load((PLAYBOOKS / "roles" / role / part).read_text())


def options(role: str) -> dict[str, dict[str, Any]]:
    specification: dict[str, dict[str, Any]] = load(role, "meta/argument_specs.yml")["argument_specs"]["main"]
    return specification.get("options", {})


@pytest.mark.parametrize("role", ROLES)
def test_role_variables_are_described_and_typed(role: str) -> None:
    for name, option in options(role).items():
        assert name.startswith(f"{role}_") or name in OF_THE_INVENTORY, name
        assert option["description"].endswith("."), name
        assert "type" in option, name


@pytest.mark.parametrize("role", ROLES)
def test_described_defaults_are_the_defaults(role: str) -> None:
    said = {name: option["default"] for name, option in options(role).items() if "default" in option}
    assert said == load(role, "defaults/main.yml")


@pytest.mark.parametrize("role", [role for role in ROLES if role not in SHARED])
def test_role_is_played_and_documented(role: str) -> None:
    plays = [
        play
        for name in ("provision", "switch")
        for play in yaml.safe_load((PLAYBOOKS / f"{name}.yml").read_text())
    ]
    assert role in {each["role"] for play in plays for each in play.get("roles", [])}
    assert f"| `{role}` |" in PAGE


HOSTILE: list[tuple[str, dict[str, Any]]] = [
    ("base", {"base_package_proxy": 'http://p";\nDPkg::Pre-Invoke {"id";};'}),
    ("base", {"base_package_repository": "deb file:/srv ./\ndeb http://elsewhere ./"}),
    ("base", {"base_packages": ["--allow-unauthenticated"]}),
    ("base", {"base_packages": ["sudo-"]}),
    ("base", {"base_packages": ["/tmp/a.deb"]}),
    (
        "base",
        {"system_family": "rhel", "base_package_repository": "baseurl=file:///srv gpgcheck=0 proxy=http://p"},
    ),
    ("base", {"system_family": "rhel", "base_package_proxy": "http://proxy:3142"}),
    ("kernel_modules", {"rdma_kernel_modules": ["--config=/tmp/a"]}),
    ("kernel_modules", {"tcp_congestion_controls": ["dctcp --force"]}),
    ("rdma", {"rdma_locked_memory": "unlimited\nroot hard nproc 0"}),
    ("rdma", {"soft_roce_packages": ["a b"]}),
    ("ofed", {"ofed_version": "2.9", "ofed_url": "ftp://a", "ofed_sha256": "0" * 64}),
    ("dcqcn", {"dcqcn_parameters": {"../../x": 1}}),
    ("dcqcn", {"dcqcn_state": "enabled"}),
]
"""Roles with variables of an inventory that would become another option, line, file or program."""
ONLY_ROLES = """\
- name: Roles
  hosts: all
  gather_facts: false
  vars:
    node:
      facts:
        kernel: 6.1
        distribution: Debian
        family: "{{ system_family | default('debian') }}"
        interfaces: {eth1: {card: {pci: "", driver: mlx5_core, model: MT4119, dcqcn: {
          state: unknown, switches: {}, parameters: {}, reason: the inbox driver has no switch}}}}
    here: {packages: []}
    experiment_interface: eth1
    rdma_device_kind: soft_roce
  tasks:
    - ansible.builtin.include_role: {name: "{{ item }}"}
      loop: "{{ roles_to_try }}"
"""


def test_roles_refuse_unsafe_values(tmp_path: Path) -> None:
    """The first failure is the message of a role, before any task that changes something."""
    (_, play, _) = yaml.safe_load((PLAYBOOKS / "provision.yml").read_text())
    (of_play,) = [each["vars"] for each in play["roles"] if each["role"] == "kernel_modules"]
    common = {
        "ansible_connection": "local",
        "rdma_kernel_modules": [],
        "tcp_congestion_controls": [],
        **of_play,
    }
    hosts = {
        f"h{number}": {**common, "roles_to_try": [role], **variables}
        for number, (role, variables) in enumerate(HOSTILE)
    }
    (tmp_path / "inventory.yml").write_text(json.dumps({"all": {"hosts": hosts}}))
    (tmp_path / "play.yml").write_text(ONLY_ROLES)
    command = [
        str(Path(sys.executable).with_name("ansible-playbook")),
        "-i",
        "inventory.yml",
        "play.yml",
        "--check",
    ]
    environment = {
        **os.environ,
        "ANSIBLE_ROLES_PATH": str(PLAYBOOKS / "roles"),
        "ANSIBLE_COLLECTIONS_PATH": str(PLAYBOOKS / "collections"),
        "ANSIBLE_STDOUT_CALLBACK": "ansible.builtin.default",
        "ANSIBLE_NOCOLOR": "1",
        "ANSIBLE_FORKS": "12",
    }
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    failed = [line for line in done.stdout.splitlines() if line.startswith(("fatal:", "failed:"))]
    assert {line.split("[")[1].split("]")[0] for line in failed} == set(hosts), done.stdout
    sentences = ("got", "cannot be", "has no parameter", "expected")
    assert [line for line in failed if not any(each in line for each in sentences)] == []


@pytest.mark.parametrize(("address", "protocol"), [("10.9.0.10", "ip"), ("fd00::10", "ipv6")])
def test_limiters_match_the_protocol_of_the_address(address: str, protocol: str) -> None:
    template = (PLAYBOOKS / "roles/priorities/templates/limiters.tc.j2").read_text()
    values = {"priorities_limiters": 1, "priorities_line_rate_bps": 1, "priorities_burst_bytes": 1}
    text = jinja2.Environment(trim_blocks=True).from_string(template)
    rendered = text.render(experiment_interface="eth1", experiment_address=address, **values)
    assert f"parent 1: protocol {protocol} prio 1 flower ip_tos 0x20/0xe0" in rendered


def test_a_preflight_needs_no_root() -> None:
    """`rogue run` calls the doctor first, for users who may only start the agent."""
    (play,) = yaml.safe_load((PLAYBOOKS / "preflight.yml").read_text())
    assert play["become"] is False
