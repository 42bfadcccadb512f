"""Tests: known host keys, and advice for unknown hosts."""

import os
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import paramiko
import pytest
from helpers.fake_command_lines import FakeEos
from helpers.fake_switch import served_switch
from helpers.ssh_server import served_node

from rogue.remote.connection import Connection
from rogue.remote.errors import NodeError
from rogue.remote.known_hosts import BYTES_MAX, KnownKeys, UnknownKeyError, joined_errors, unknown_keys
from rogue.remote.login import Dialect, Login
from rogue.remote.terminal import Secrets, open_terminal

LIMIT_S = 20.0
ALIAS = "n0.lab.example.org"
OTHER, RSA = paramiko.ECDSAKey.generate(), paramiko.RSAKey.generate(2048)
FILES = {
    "plain": ("{n} {key}\n", True),
    "two names and a comment": ("a,{n} {key} rack 7\n", True),
    "capitals": ("N0.LAB.example.org {key}\n", True),
    "pattern": ("*.lab.example.org {key}\n", True),
    "pattern of one character": ("n?.lab.example.org {key}\n", True),
    "excluded by a pattern": ("!n0.*,*.lab.example.org {key}\n", False),
    "tabs": ("{n}\t{tabs}\n", True),
    "blanks before and between": ("  {n}   {key}\n", True),
    "hashed": ("{hashed} {key}\n", True),
    "carriage returns": ("{n} {key}\r\n", True),
    "revoked afterwards": ("{n} {key}\n@revoked {n} {key}\n", False),
    "revoked before, with tabs": ("@revoked\t{n}\t{tabs}\n{n} {key}\n", False),
    "revoked by a pattern": ("{n} {key}\n@revoked * {key}\n", False),
    "revoked for a hashed name": ("{n} {key}\n@revoked {hashed} {key}\n", False),
    "only revoked": ("@revoked {n} {key}\n", False),
    "revoked elsewhere": ("{n} {key}\n@revoked n1.lab.example.org {key}\n", True),
    "another key revoked": ("{n} {key}\n@revoked {n} {other}\n", True),
    "another key of the kind first": ("{n} {other}\n{n} {key}\n", True),
    "another kind first": ("{n} {rsa}\n{n} {key}\n", True),
    "another key": ("{n} {other}\n", False),
    "another kind": ("{n} {rsa}\n", False),
    "key of an authority": ("@cert-authority {n} {key}\n", False),
    "unknown marker": ("@trusted {n} {key}\n", False),
    "comment": ("#{n} {key}\n", False),
    "kind and key differ": ("{n} ssh-rsa {base64}\n", False),
    "lines that are none": (
        "{n} ssh-rsa !!!\n{n} ssh-rsa é\n\ufffd\n{n}\n| | |\n|1|?|? ssh-rsa A\n{n} {key}\n",
        True,
    ),
    "its address and port": ("{place} {key}\n", False),
    "empty": ("", False),
}
"""A file, with the name `n` of the host, and whether it accepts the host's key."""
PLACES = {
    "address and port": ("{place} {key}\n", True),
    "address alone": ("127.0.0.1 {key}\n", True),
    "address alone revoked": ("{place} {key}\n@revoked 127.0.0.1 {key}\n", True),
    "address and port revoked": ("@revoked {place} {key}\n127.0.0.1 {key}\n", False),
    "another key at this port": ("{place} {other}\n127.0.0.1 {key}\n", False),
    "another port": ("[127.0.0.1]:1 {key}\n", False),
}
"""The same for a host without HostKeyAlias."""


@pytest.fixture(scope="module")
def login(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Login]:
    with served_node(tmp_path_factory.mktemp("node")) as login:
        yield login


def written(login: Login, template: str, file: Path) -> Login:
    """Return the login with a file of known hosts; braces in the template name parts of its host's key."""
    _, kind, base64 = login.known_hosts[0].read_text().split()
    keys = {
        name: f"{key.get_name()} {key.get_base64()}" for name, key in {"other": OTHER, "rsa": RSA}.items()
    }
    text = template.format(
        n=ALIAS, place=login.place, key=f"{kind} {base64}", base64=base64, tabs=f"{kind}\t{base64}",
        hashed=paramiko.HostKeys.hash_host(ALIAS), **keys,
    )  # fmt: skip
    file.write_bytes(text.encode())
    return replace(login, known_hosts=(file,))


def ssh_accepts(login: Login) -> bool:
    """True if the `ssh` command logs in."""
    options = [f"UserKnownHostsFile={login.known_hosts[0]}", "GlobalKnownHostsFile=none", "BatchMode=yes"]
    options += ["UpdateHostKeys=no", "StrictHostKeyChecking=yes"]
    options += [f"HostKeyAlias={login.host_key_alias}"] if login.host_key_alias else []
    command = ["ssh", "-F", "none", "-i", str(login.key_files[0]), "-p", str(login.port), "-l", login.user]
    command += [word for option in options for word in ("-o", option)]
    done = subprocess.run(
        [*command, login.address, "true"], capture_output=True, timeout=LIMIT_S, check=False
    )
    return done.returncode == 0


def we_accept(login: Login) -> bool:
    connection = Connection(login, LIMIT_S)
    try:
        connection.open()
    except NodeError:
        return False
    connection.close()
    return True


@pytest.mark.needs("ssh-keygen")
@pytest.mark.parametrize("case", FILES)
def test_host_alias_is_accepted_as_by_ssh(case: str, login: Login, tmp_path: Path) -> None:
    template, is_accepted = FILES[case]
    named = written(replace(login, host_key_alias=ALIAS), template, tmp_path / "known_hosts")
    assert (ssh_accepts(named), we_accept(named)) == (is_accepted, is_accepted)


@pytest.mark.needs("ssh-keygen")
@pytest.mark.parametrize("case", PLACES)
def test_host_at_a_port_is_accepted_as_by_ssh(case: str, login: Login, tmp_path: Path) -> None:
    template, is_accepted = PLACES[case]
    placed = written(login, template, tmp_path / "known_hosts")
    assert (ssh_accepts(placed), we_accept(placed)) == (is_accepted, is_accepted)


@pytest.mark.needs("ssh-keygen")
def test_key_revoked_by_another_file_is_refused(login: Login, tmp_path: Path) -> None:
    revoking = written(login, "@revoked {place} {key}\n", tmp_path / "system")
    with pytest.raises(NodeError, match=r"^h0: SSH failed: got only revoked host keys of"):
        Connection(replace(login, known_hosts=(*login.known_hosts, *revoking.known_hosts)), LIMIT_S).open()


@pytest.mark.needs("ssh-keygen")
def test_revoked_key_beside_a_valid_one_is_refused(login: Login, tmp_path: Path) -> None:
    known = written(login, "{place} {other}\n@revoked {place} {key}\n", tmp_path / "known_hosts")
    with pytest.raises(NodeError, match=r"got host key SHA256:\S+, which a line with @revoked in "):
        Connection(known, LIMIT_S).open()


@pytest.mark.needs("ssh-keygen")
def test_terminals_verify_keys_alike(tmp_path: Path) -> None:
    eos = Dialect("arista_eos", r"[>#]\s*$", r"^% ")
    with served_switch(tmp_path, FakeEos()) as served:
        rotated = written(served.login, "{place} {other}\n{place} {key}\n", tmp_path / "rotated")
        with open_terminal(rotated, eos, Secrets()) as terminal:
            assert "hostname tor" in terminal.run("show running-config")
        revoked = written(
            served.login, "{place} {key}\n{place} {other}\n@revoked * {key}\n", tmp_path / "revoked"
        )
        with (
            pytest.raises(NodeError, match=r"^tor: SSH failed: got host key SHA256:\S+, which a line with"),
            open_terminal(revoked, eos, Secrets()),
        ):
            pass


@pytest.mark.needs("ssh-keygen")
def test_huge_and_endless_files_are_not_read(tmp_path: Path) -> None:
    sparse, pipe = tmp_path / "sparse", tmp_path / "pipe"
    sparse.touch()
    os.truncate(sparse, BYTES_MAX + 1)
    os.mkfifo(pipe)
    login = Login("h0", "192.0.2.1", 22, "root", (), (sparse,))
    with pytest.raises(NodeError, match="got no file of known hosts"):
        KnownKeys(login)
    for path in (pipe, Path("/dev/zero"), Path("/proc/self/pagemap")):
        with pytest.raises(NodeError, match=r"got no host key of 192\.0\.2\.1"):
            KnownKeys(replace(login, known_hosts=(path,)))


FILE = Path("/home/alice/.ssh/known_hosts")
GATE = Login("h0: jump host gate", "10.0.0.1", 22, "alice", (), (FILE,), name="gate")
NODE = Login("h0", "10.1.0.1", 22, "alice", (), (FILE,))
ADVICE = "and compare it with what the host itself shows"


def test_advice_for_a_direct_host() -> None:
    assert str(UnknownKeyError(NODE)) == (
        f"h0: SSH failed: got no host key of 10.1.0.1, expected one in {FILE}; add it with "
        f"`ssh-keyscan 10.1.0.1 >> {FILE}`, {ADVICE}"
    )


def test_advice_behind_jump_hosts() -> None:
    behind = replace(NODE, gateway=GATE)
    assert f"`ssh gate ssh-keyscan 10.1.0.1 >> {FILE}`" in unknown_keys([behind])
    second = replace(GATE, gateway=GATE, name="ssh://bob@inner:2222")
    far = replace(NODE, gateway=second, port=2022)
    assert f"`ssh -J gate ssh://bob@inner:2222 ssh-keyscan -p 2022 10.1.0.1 >> {FILE}`" in unknown_keys([far])
    strange = replace(NODE, gateway=replace(GATE, name=r"ssh://DOM\alice@[fe80::1]:22"))
    assert rf"`ssh 'ssh://DOM\alice@[fe80::1]:22' ssh-keyscan 10.1.0.1 >> {FILE}`" in unknown_keys([strange])


def test_advice_with_host_key_alias() -> None:
    advice = unknown_keys([replace(NODE, host_key_alias="first")])
    assert advice.startswith("got no host key of first, expected one in ")
    assert f"`ssh-keyscan 10.1.0.1 | sed 's|^[^ ]*|first|' >> {FILE}`" in advice


@pytest.mark.parametrize("alias", ["rack/7", "a|b", "a&b", "a\\b", "it's; rm x", "$(touch x)"])
def test_advised_command_quotes_any_alias(tmp_path: Path, alias: str) -> None:
    (tmp_path / "ssh-keyscan").write_text('#!/bin/sh\necho "$1 ssh-rsa AAAA"\n')
    (tmp_path / "ssh-keyscan").chmod(0o755)
    file = tmp_path / "a b"
    advice = unknown_keys([replace(NODE, host_key_alias=alias, known_hosts=(file,))])
    command = advice.partition("`")[2].rpartition("`")[0]
    path = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
    subprocess.run(["sh", "-c", command], check=True, cwd=tmp_path, env=path)
    assert file.read_text() == f"{alias} ssh-rsa AAAA\n"
    assert not (tmp_path / "x").exists()


def test_advice_for_twelve_hosts_is_one_sentence() -> None:
    logins = [replace(NODE, node=f"h{n}", address=f"10.1.0.{n}", gateway=GATE) for n in range(11)]
    logins.append(replace(NODE, node="h11", address="10.1.0.11", port=2222, gateway=GATE))
    alone = replace(NODE, node="h12", address="10.2.0.1")
    said = joined_errors({login.node: UnknownKeyError(login) for login in [*logins, alone]})
    names = " ".join(login.address for login in logins[:11])
    assert {said[login.node] for login in logins} == {
        f"SSH failed: got no host keys of {names.replace(' ', ', ')}, [10.1.0.11]:2222, expected them in "
        f"{FILE}; add them with `ssh gate ssh-keyscan {names} >> {FILE}` and `ssh gate ssh-keyscan -p 2222 "
        f"10.1.0.11 >> {FILE}`, and compare them with what the hosts themselves show"
    }
    assert said["h12"].startswith("SSH failed: got no host key of 10.2.0.1,")


def test_an_unknown_jump_host_is_named_once() -> None:
    said = joined_errors(
        {node: UnknownKeyError(replace(GATE, node=f"{node}: jump host gate")) for node in "ab"}
    )
    assert set(said.values()) == {f"SSH failed: {unknown_keys([GATE])}"}
