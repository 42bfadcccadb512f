"""What arguments of SSH may say, however they are quoted, and what a real SSH makes of two of them."""

import os
import subprocess
from pathlib import Path

import paramiko
import pytest
from helpers.sshd import Laboratory, laboratory
from hypothesis import given
from hypothesis import strategies as st

from rogue.harness.provisioning import inventory_trust
from rogue.harness.provisioning.inventory_trust import forbidden, is_unverified
from rogue.remote.destination import Destination

HARMLESS = [
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


@pytest.mark.parametrize("text", HARMLESS)
def test_what_is_harmless_stays_allowed(text: str) -> None:
    assert list(forbidden(text)) == []


@pytest.mark.parametrize("text", REFUSED)
def test_what_ends_its_value_or_begins_another_is_refused(text: str) -> None:
    assert list(forbidden(text)) == [REFUSED[text]]


@given(st.sampled_from(sorted(inventory_trust._OPTIONS)), st.text(max_size=20))
def test_no_value_of_an_option_means_anything_to_a_shell_a_template_or_a_configuration(
    option: str, value: str
) -> None:
    if not list(forbidden(f"-o '{option}={value}'".replace("''", ""))):
        assert value.isprintable()
        assert not set(value.strip('"')) & set("\"'`$%&;|<>{}#")


def test_a_configuration_reached_by_a_link_is_nobodys_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who may write the link may let it lead elsewhere once it was looked at."""
    own, other = tmp_path / "own", tmp_path / "other"
    for directory in (own, other):
        directory.mkdir()
        (directory / "config").touch()
    monkeypatch.setattr(inventory_trust, "_CONFIGURATIONS", (str(own),))
    (other / "to-own").symlink_to(own / "config")
    (own / "to-other").symlink_to(other / "config")
    assert list(forbidden(f"-F {own}/config")) == []
    for link in (other / "to-own", own / "to-other"):
        assert list(forbidden(f"-F {link}")) == [f"-F {link}"]


@pytest.mark.parametrize(
    "text", ["-o StrictHostKeyChecking=n''o", "-oStrictHostKeyChecking='off", "-o stricthostkeychecking\\ no"]
)
def test_quotes_hide_no_way_around_host_keys(text: str) -> None:
    assert is_unverified(text)


@pytest.mark.needs("sshd")
def test_a_host_that_is_known_adds_no_line_to_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With UpdateHostKeys it does, whatever file that is; the configuration written for SSH says no."""
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
