"""Whatever an inventory says, OpenSSH runs no program when it is asked where that leads.

Every value that reaches SSH is drawn from ordinary ones and from ones that end a value, begin a line or an
option, or are filled in; each that could run something contains a canary. Twice: of an inventory, which is
refused or taken, and of destinations alone, as if nothing had looked at the inventory before.
"""

import os
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from rogue.harness.errors import ConfigError, UsageError
from rogue.harness.provisioning.inventory import interpret
from rogue.harness.provisioning.playbook import ssh_variables
from rogue.remote.errors import NodeError
from rogue.remote.login import Destination, resolve

COUNT = int(os.environ.get("HOSTILE_INPUTS", "100000")) // 500
"""Each asks OpenSSH four times at most, which takes some 5 ms."""
FEW = 60
LINE = '"\n'
"""Of a value in quotes it makes two lines; every other end is this one."""
ENDS = ['"', "'", "\n", "\r\n", "\\\n", '" ', "\\", "\t", "\0", "\x0b", "\u2028", " ", ",", "=", ""]
PROGRAMS = [
    'Match exec "{canary}"',
    '\nMatch exec "{canary}"\n',
    'Match host * exec "{canary}"\n  Compression "no',
    "ProxyCommand {canary}",
    "-oProxyCommand={canary}",
    'KnownHostsCommand "{canary} %h"',
    "Include {evil}",
    'Include "{evil}"',
    "{evil}",
    "-F{evil}",
    "$({canary})",
    "`{canary}`",
    ";{canary};",
    "|{canary}",
    "${{HOME}}/evil",
    "%d/evil",
    "{{{{ lookup('pipe', '{canary}') }}}}",
]
ORDINARY = {
    "ansible_host": ["127.0.0.1", "lab-1", "fe80::1", "node0.example.org"],
    "ansible_user": ["root", "alice", "DOMAIN\\alice"],
    "ansible_ssh_private_key_file": ["~/.ssh/id", "/a b/key"],
    "known_hosts_file": ["~/.ssh/known_hosts", "/dev/null", "known hosts"],
    "ansible_ssh_args": ["-C -o ControlMaster=auto", "-F none", "-o 'Ciphers=aes128-ctr'"],
    "ansible_ssh_common_args": ["-F ~/.ssh/config", "-J alice@gate:22", "-o UserKnownHostsFile=/dev/null"],
    "ansible_ssh_extra_args": ["-4", "-o HostKeyAlias=lab", "-i ~/.ssh/id"],
}
BEFORE = [
    "",
    "/dev/null",
    "~/.ssh/a",
    "-F ~/.ssh/a",
    "-o ",
    "-o User=a",
    "-o IdentityFile=~/.ssh/a",
    "-J ",
    "-i ",
]
OTHERS: dict[str, object] = {
    "experiment_address": "10.9.0.1",
    "experiment_interface": "eth1",
    "experiment_mtu": 1500,
    "rdma_device_kind": "card",
}


@pytest.fixture
def canary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program that leaves a mark beside itself, and a configuration in a stranger's hands that names it."""
    program = tmp_path / "canary"
    program.write_text(f"#!/bin/sh\ntouch {tmp_path}/mark\n")
    program.chmod(0o755)
    (tmp_path / "evil").write_text(f'Match exec "{program}"\n  Compression no\n')
    (tmp_path / ".ssh").mkdir()
    (tmp_path / ".ssh/config").write_text("Host lab-1\n  HostName 127.0.0.1\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return program


def hostile(random: Random, canary: Path, ordinary: list[str]) -> str:
    program = random.choice(PROGRAMS).format(canary=canary, evil=canary.with_name("evil"))
    ends = [random.choice([*ENDS, *[LINE] * len(ENDS)]) for _ in range(2)]
    pieces = [random.choice([*BEFORE, *ordinary]), ends[0], program, ends[1]]
    text = "".join(pieces[random.randrange(3) :])
    return shlex.quote(text) if random.random() < 0.3 else text


def variables(random: Random, canary: Path) -> dict[str, str]:
    """Of a host: one or two values are hostile, so that the others do not hide them."""
    chosen = {key: random.choice(values) for key, values in ORDINARY.items() if random.random() < 0.6}
    for key in random.sample(sorted(ORDINARY), random.randint(0, 2)):
        chosen[key] = hostile(random, canary, ORDINARY[key])
    return chosen


def of_an_inventory(random: Random, canary: Path) -> Iterator[Destination]:
    own: dict[str, Any] = {**OTHERS, **variables(random, canary)}
    name = hostile(random, canary, ["h0"]) if random.random() < 0.05 else "h0"
    listed = {"hosts": {"hosts": [name]}, "_meta": {"hostvars": {name: own}}}
    try:
        yield from interpret(Path("nodes.yaml"), listed).destinations
    except (ConfigError, UsageError):
        return


def alone(random: Random, canary: Path) -> Iterator[Destination]:
    values = variables(random, canary)
    config = values.get("ansible_ssh_common_args", "").removeprefix("-F ")
    if Path(config) == canary.with_name("evil"):  # whose configuration it is, is not looked at here
        config = "none"
    paths = [values.get(key) for key in ("ansible_ssh_private_key_file", "known_hosts_file")]
    key_file, known_hosts = (Path(text) if text else None for text in paths)
    name, user = values.get("ansible_host", "lab-1"), values.get("ansible_user")
    try:
        yield Destination("h0", name, None, user, key_file, known_hosts, config=config)
    except NodeError:
        return


def ask(destination: Destination, directory: Path) -> None:
    """As doctor and runs do, and with the options that Ansible gets."""
    try:
        resolve(destination)
    except NodeError as refused:
        assert str(refused).isprintable(), refused
    try:
        told: Any = ssh_variables([destination], directory)
    except NodeError:
        return
    words = shlex.split(told["ssh_arguments"]["h0"])
    assert "{{" not in told["ssh_arguments"]["h0"]
    subprocess.run(
        ["ssh", "-G", *destination.first_arguments, *words, destination.name],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
        check=False,
    )


def is_sung(canary: Path) -> bool:
    return canary.with_name("mark").exists()


def listen(numbers: range, canary: Path) -> int:
    """The number of destinations that OpenSSH resolved."""
    asked = 0
    for number in numbers:
        for draw in (of_an_inventory, alone):
            random = Random(number)
            for destination in draw(random, canary):
                asked += 1
                ask(destination, canary.parent)
                assert not is_sung(canary), f"{draw.__name__}: input {number}: {destination!a}"
            assert not is_sung(canary), f"{draw.__name__}: input {number}"
    return asked


def test_the_canary_sings(canary: Path) -> None:
    """With what a configuration was once written from: a quote and a new line were enough."""
    config = canary.with_name("config")
    config.write_text(
        f'Host *\n  UserKnownHostsFile "/dev/null"\nMatch exec "{canary}"\n  Compression "no"\n'
    )
    subprocess.run(["ssh", "-G", "-F", str(config), "lab-1"], capture_output=True, timeout=60, check=True)
    assert is_sung(canary)


def test_a_few_hostile_inventories(canary: Path) -> None:
    assert listen(range(FEW), canary) > FEW / 8


@pytest.mark.long
def test_very_many_hostile_inventories(canary: Path) -> None:
    assert listen(range(COUNT), canary) > COUNT / 8
