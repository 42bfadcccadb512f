"""Tests: reject inventories with mistakes, that would run programs here, or that skip host-key checks."""

import os
import subprocess
from ipaddress import IPv6Address
from pathlib import Path
from typing import Any

import paramiko
import pytest
from helpers.nodes import write_inventory
from helpers.sshd import Laboratory, laboratory
from hypothesis import given
from hypothesis import strategies as st

from rogue.harness.errors import ConfigError, Problem, UsageError
from rogue.harness.provisioning import inventory_source
from rogue.harness.provisioning.inventory import interpret, load_inventory
from rogue.harness.provisioning.inventory_problems import grouped, wrong_addresses
from rogue.harness.provisioning.inventory_source import distrusted, forbidden, is_unverified
from rogue.remote.login import Destination

SCRIPT = """#!/bin/sh
touch {mark}
echo '{{"hosts": {{"hosts": []}}}}'
"""


def script(directory: Path) -> tuple[Path, Path]:
    mark, program = directory / "it-ran", directory / "inv"
    program.write_text(SCRIPT.format(mark=mark))
    program.chmod(0o755)
    return program, mark


def test_a_program_is_refused_and_not_run(tmp_path: Path) -> None:
    """The owner does not matter: a user owns all files of an unpacked archive."""
    program, mark = script(tmp_path)
    with pytest.raises(UsageError) as refused:
        load_inventory(program)
    assert str(refused.value) == (
        f"inventory {program}: got a file that may be executed, which Ansible would do, expected plain YAML "
        f"or INI; if it is no program, `chmod -x {program}`; if it is one that you have read and trust, add "
        "--trust-inventory."
    )
    assert not mark.exists()


def test_trusted_program_is_run(tmp_path: Path) -> None:
    program, mark = script(tmp_path)
    with pytest.raises(ConfigError, match="no host in it"):
        load_inventory(program, is_trusted=True)
    assert mark.exists()


FORBIDDEN: dict[str, dict[str, object]] = {
    "ansible_connection: got 'local', expected ssh": {"ansible_connection": "local"},
    "ansible_ssh_executable: got '/tmp/ssh', expected nothing": {"ansible_ssh_executable": "/tmp/ssh"},
    "ansible_sftp_executable: got": {"ansible_sftp_executable": "x"},
    "ansible_paramiko_proxy_command: got": {"ansible_paramiko_proxy_command": "x"},
    "ansible_ssh_args: got '-F cells/config'": {"ansible_ssh_args": "-F cells/config"},
    "ansible_ssh_args: got '-F /tmp/config'": {"ansible_ssh_args": "-F/tmp/config"},
    "ansible_ssh_common_args: got '-o KnownHostsCommand=/tmp/x'": {
        "ansible_ssh_common_args": "-o KnownHostsCommand=/tmp/x"
    },
    "ansible_ssh_extra_args: got '-o LocalCommand id'": {"ansible_ssh_extra_args": "-o 'LocalCommand id'"},
    "ansible_ssh_args: got '-I /tmp/x.so'": {"ansible_ssh_args": "-I /tmp/x.so"},
    "ansible_ssh_args: got '-o PKCS11Provider=/tmp/x.so'": {"ansible_ssh_args": "-oPKCS11Provider=/tmp/x.so"},
    "ansible_ssh_args: got '-o VerifyHostKeyDNS=yes'": {"ansible_ssh_args": "-o VerifyHostKeyDNS=yes"},
    "ansible_ssh_args: got '-o UpdateHostKeys=yes'": {"ansible_ssh_args": "-o UpdateHostKeys=yes"},
    "ansible_ssh_args: got '-o ProxyCommand=nc', expected options that run nothing on this computer; write": {
        "ansible_ssh_args": "-o ProxyCommand=nc"
    },
    "ansible_ssh_host: got '-oProxyCommand=x', expected nothing; write ansible_host": {
        "ansible_ssh_host": "-oProxyCommand=x"
    },
    "ansible_private_key_file: got 'a', expected nothing; write ansible_ssh_pri": {
        "ansible_private_key_file": "a"
    },
    "ansible_ssh_args: got '-S /tmp/x'": {"ansible_ssh_args": "-S /tmp/x"},
    'ansible_ssh_args: got "\'"': {"ansible_ssh_args": "'"},
    "priority: got \"{{ lookup('pipe', 'id') }}\", expected a value": {
        "priority": "{{ lookup('pipe', 'id') }}"
    },
    "deep.0.x: got '{% raw %}'": {"deep": [{"x": "{% raw %}"}]},
    "deep: got '{{ x }}'": {"deep": {"{{ x }}": 1}},
    'roce_mode: got "#jinja2:': {
        "roce_mode": "#jinja2:variable_start_string:'[%'\n[% lookup('pipe', 'id') %]"
    },
    "ansible_become_user: got '{{ hunter2 }}', expected a value": {"ansible_become_user": "{{ hunter2 }}"},
    "ansible_become_password: got a value, expected nothing, or one that": {"ansible_become_password": "x"},
    "ansible_become_pass: got a value, expected nothing, or one that": {"ansible_become_pass": 7},
    "ansible_ssh_pass: got a value, expected nothing; passwords do not belong": {
        "ansible_ssh_pass": "hunter2"
    },
}


@pytest.mark.parametrize("sentence", FORBIDDEN)
def test_variables_that_could_run_programs_are_refused(sentence: str) -> None:
    (problem,) = distrusted(Path("nodes.yaml"), "h0", FORBIDDEN[sentence])
    assert str(problem).startswith(f"nodes.yaml: h0.{sentence}")


@pytest.mark.parametrize("text", ["~\ud800/known_hosts", "a\0b"])
def test_text_that_cannot_be_a_file_name_is_refused(text: str) -> None:
    (problem,) = distrusted(Path("nodes.yaml"), "h0", {"known_hosts_file": text})
    assert str(problem).startswith(f"nodes.yaml: h0.known_hosts_file: got {text!a}, expected text")


HARMLESS: list[dict[str, object]] = [
    {"ansible_ssh_args": "-4 -C -o ControlMaster=auto -oControlPersist=60s -J gate -F none"},
    {"ansible_connection": "ssh", "ansible_python_interpreter": "/usr/bin/python3", "ansible_become": True},
    {"ansible_ssh_common_args": "-F ~/.ssh/config_of_the_lab"},
    {"experiment_address": "10.9.0.1", "note": "braces { } are none"},
]


@pytest.mark.parametrize("variables", HARMLESS)
def test_what_is_harmless_stays_allowed(variables: dict[str, Any]) -> None:
    assert distrusted(Path("nodes.yaml"), "h0", variables) == []


def test_hosts_of_other_groups_are_checked() -> None:
    listed = {"_meta": {"hostvars": {"localhost": {"ansible_connection": "local"}}}, "hosts": {"hosts": []}}
    with pytest.raises(ConfigError, match=r"localhost\.ansible_connection"):
        interpret(Path("nodes.yaml"), listed)


def test_group_variables_beside_the_link_target_are_checked(tmp_path: Path) -> None:
    """The check looks where playbooks look."""
    there = tmp_path / "there"
    (there / "group_vars").mkdir(parents=True)
    file = write_inventory(there)
    (there / "group_vars/all.yml").write_text("ansible_ssh_executable: ./evil\n")
    (tmp_path / "link.yml").symlink_to(file)
    with pytest.raises(ConfigError, match="ansible_ssh_executable"):
        load_inventory(tmp_path / "link.yml")


SSH_ARGUMENTS_HARMLESS = [
    "-4 -C -o ControlMaster=auto -oControlPersist=60s -J alice@gate:2201,ssh://inner,[fe80::1]:22 -F none",
    "-o 'UserKnownHostsFile=\"/a b/known\"' -o GlobalKnownHostsFile=none -o StrictHostKeyChecking=yes",
    "-o 'Ciphers = aes128-ctr,aes256-gcm@openssh.com' -o 'HostKeyAlgorithms -ssh-rsa*' -oIPQoS='af21 cs1'",
    "-i ~/.ssh/id_ed25519 -l DOMAIN\\\\alice -b 10.0.0.1 -p 2222 -o HostKeyAlias=lab-1 -o ProxyJump=none",
]
REFUSED = {
    "-o 'Port=22\nProxyCommand touch x'": "-o Port=22\nProxyCommand touch x",
    "-o 'User={''{ lookup(\"pipe\", \"id\") }}'": '-o User={{ lookup("pipe", "id") }}',
    "-J 'x;id;@gate'": "-J x;id;@gate",
    "-J -oProxyCommand=id": "-J -oProxyCommand=id",
    "-J 'gate,$(id)'": "-J gate,$(id)",
    "-l '`id`'": "-l `id`",
    "-i '${HOME}/x'": "-i ${HOME}/x",
    "-o IdentityFile=~/%h": "-o IdentityFile=~/%h",
    "-o HostName=%n": "-o HostName=%n",
    "-o HostKeyAlias='a b'": "-o HostKeyAlias=a b",
    "-o StrictHostKeyChecking=n''o": "-o StrictHostKeyChecking=no",
    "-o ControlPath=~/.profile": "-o ControlPath=~/.profile",
    "-o UpdateHostKeys=yes": "-o UpdateHostKeys=yes",
    "-o ''": "-o",
    "''": "",
    '-F \'~/.ssh/a"\nMatch exec "id"\'': '-F ~/.ssh/a"\nMatch exec "id"',
    "-F ~/.ssh/../x": "-F ~/.ssh/../x",
    "-F ~/.ssh/*": "-F ~/.ssh/*",
    "-F .ssh/config": "-F .ssh/config",
}


@pytest.mark.parametrize("text", SSH_ARGUMENTS_HARMLESS)
def test_ssh_arguments_what_is_harmless_stays_allowed(text: str) -> None:
    assert list(forbidden(text)) == []


@pytest.mark.parametrize("text", REFUSED)
def test_unsafe_ssh_arguments_are_refused(text: str) -> None:
    assert list(forbidden(text)) == [REFUSED[text]]


@given(st.sampled_from(sorted(inventory_source._OPTIONS)), st.text(max_size=20))
def test_accepted_option_values_have_no_special_characters(option: str, value: str) -> None:
    if not list(forbidden(f"-o '{option}={value}'".replace("''", ""))):
        assert value.isprintable()
        assert not set(value.strip('"')) & set("\"'`$%&;|<>{}#")


@pytest.mark.parametrize(
    "text", ["-o StrictHostKeyChecking=n''o", "-oStrictHostKeyChecking='off", "-o stricthostkeychecking\\ no"]
)
def test_quoting_does_not_hide_unverified_host_keys(text: str) -> None:
    assert is_unverified(text)


@pytest.mark.needs("sshd")
def test_known_host_cannot_add_lines_to_known_hosts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With UpdateHostKeys it can, in any file; our configuration for SSH switches that off."""
    with laboratory(tmp_path, monkeypatch) as there:
        paramiko.RSAKey.generate(2048).write_private_key_file(str(tmp_path / "new"))
        with (tmp_path / "gate/sshd_config").open("a") as config:
            config.write(f"HostKey {tmp_path}/new\n")
        _go(there, tmp_path, "-o", "UpdateHostKeys=yes")
        assert "restrict " in (tmp_path / "mine").read_text(), "this is why it is refused"
        _go(there, tmp_path)
        assert (tmp_path / "mine").read_text() == "mine\n"


def _go(there: Laboratory, directory: Path, *more: str) -> None:
    mine, theirs, config = directory / "mine", directory / "theirs", directory / "written"
    mine.write_text("mine\n")
    theirs.write_text(f"restrict {there.gate.known_hosts_line.partition(' ')[2]}")
    config.write_text(Destination("h0", "lab-node", config="none").config_text())
    command = ["ssh", *more, "-F", str(config), "-o", f"UserKnownHostsFile={mine} {theirs}"]
    command += ["-o", "HostKeyAlias=restrict", "-p", str(there.gate.port), f"{there.user}@127.0.0.1", "true"]
    subprocess.run(command, env=os.environ, check=True, capture_output=True, timeout=60)


NODES = ("h0", "h1", "h2", "h10", "tor")


def wrong(key: str, got: str = "bond0") -> Problem:
    return Problem("nodes.yaml", key, got, "one card", "take it out")


def test_problems_of_a_group_are_joined() -> None:
    found = grouped((wrong(f"{node}.experiment_interface") for node in ("h10", "h0", "h2")), NODES)
    assert [str(each) for each in found] == [
        "nodes.yaml: experiment_interface of h0, h2, h10: got bond0, expected one card; take it out."
    ]


def test_node_names_may_have_dots() -> None:
    """The longer of `h0` and `h0.lab.org` is the node; keys also have dots."""
    nodes = ("h0", "h0.lab.org", "h1.lab.org")
    found = grouped((wrong(f"{node}.ports.0.interface") for node in nodes[1:]), nodes)
    assert [each.key for each in found] == ["ports.0.interface of h0.lab.org, h1.lab.org"]
    both = [wrong("h0.lab"), wrong("h0.lab.org.interface", "team0")]
    assert grouped(both, nodes) == both


FILE = Path("nodes.yaml")
MAPPED = IPv6Address("::ffff:10.9.0.10")


@pytest.mark.parametrize(
    ("addresses", "mtu_bytes", "expected"),
    [
        (["10.9.0.10", "10.9.0.11"], 576, None),
        (["fd00::10", "2001:db8::11"], 1280, None),
        (["10.9", "fd00::10"], 4300, None),  # find_problems names the first
        ([], 4300, None),
        (
            ["fd00::10", "fd00:0:0::10"],
            4300,
            "h1.experiment_address: got fd00::10, which h0 has, expected a dif",
        ),
        (
            ["10.9.0.10", "10.9.0.11", "fd00::12"],
            4300,
            "h2.experiment_address: got an address of IPv6, expected one family for all hosts; h0",
        ),
        (
            ["fe80::10"],
            4300,
            "h0.experiment_address: got fe80::10, expected an address that is valid on the whole node; give",
        ),
        (
            [str(MAPPED)],
            4300,
            f"h0.experiment_address: got {MAPPED}, expected an address of IPv6, or one of IPv4 as "
            "such; write 10.9.0.10.",
        ),
        (["fd00::10"], 1279, "h0.experiment_mtu: got 1279, expected 1280 at least, with an address of IPv6"),
    ],
)
def test_addresses(addresses: list[str], mtu_bytes: int, expected: str | None) -> None:
    variables = {
        f"h{number}": {"experiment_address": each, "experiment_mtu": mtu_bytes}
        for number, each in enumerate(addresses)
    }
    found = [str(each) for each in wrong_addresses(FILE, list(variables), variables)]
    assert len(found) == (expected is not None)
    assert not found or found[0].startswith(f"nodes.yaml: {expected}")
