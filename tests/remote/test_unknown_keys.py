"""The command that brings unknown host keys, from where the hosts can be asked."""

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from rogue.remote.known_hosts import UnknownKeyError, said_together, unknown_keys
from rogue.remote.login import Login

FILE = Path("/home/alice/.ssh/known_hosts")
GATE = Login("h0: jump host gate", "10.0.0.1", 22, "alice", (), (FILE,), name="gate")
NODE = Login("h0", "10.1.0.1", 22, "alice", (), (FILE,))
ADVICE = "and compare it with what the host itself shows"


def test_a_host_that_is_reached_directly_is_asked_from_here() -> None:
    assert str(UnknownKeyError(NODE)) == (
        f"h0: SSH failed: got no host key of 10.1.0.1, expected one in {FILE}; add it with "
        f"`ssh-keyscan 10.1.0.1 >> {FILE}`, {ADVICE}"
    )


def test_a_host_behind_jump_hosts_is_asked_from_the_last() -> None:
    behind = replace(NODE, gateway=GATE)
    assert f"`ssh gate ssh-keyscan 10.1.0.1 >> {FILE}`" in unknown_keys([behind])
    second = replace(GATE, gateway=GATE, name="ssh://bob@inner:2222")
    far = replace(NODE, gateway=second, port=2022)
    assert f"`ssh -J gate ssh://bob@inner:2222 ssh-keyscan -p 2022 10.1.0.1 >> {FILE}`" in unknown_keys([far])
    strange = replace(NODE, gateway=replace(GATE, name=r"ssh://DOM\alice@[fe80::1]:22"))
    assert rf"`ssh 'ssh://DOM\alice@[fe80::1]:22' ssh-keyscan 10.1.0.1 >> {FILE}`" in unknown_keys([strange])


def test_a_key_that_is_filed_under_another_name_gets_it() -> None:
    told = unknown_keys([replace(NODE, host_key_alias="first")])
    assert told.startswith("got no host key of first, expected one in ")
    assert f"`ssh-keyscan 10.1.0.1 | sed 's|^[^ ]*|first|' >> {FILE}`" in told


@pytest.mark.parametrize("alias", ["rack/7", "a|b", "a&b", "a\\b", "it's; rm x", "$(touch x)"])
def test_a_shell_and_sed_take_any_name_as_it_is(tmp_path: Path, alias: str) -> None:
    (tmp_path / "ssh-keyscan").write_text('#!/bin/sh\necho "$1 ssh-rsa AAAA"\n')
    (tmp_path / "ssh-keyscan").chmod(0o755)
    file = tmp_path / "a b"
    told = unknown_keys([replace(NODE, host_key_alias=alias, known_hosts=(file,))])
    command = told.partition("`")[2].rpartition("`")[0]
    path = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
    subprocess.run(["sh", "-c", command], check=True, cwd=tmp_path, env=path)
    assert file.read_text() == f"{alias} ssh-rsa AAAA\n"
    assert not (tmp_path / "x").exists()


def test_without_a_file_there_is_none_to_name() -> None:
    told = unknown_keys([replace(NODE, known_hosts=())])
    assert "expected one in a file of known hosts; add it with `ssh-keyscan 10.1.0.1`, and compare" in told


def test_a_file_with_a_blank_is_quoted() -> None:
    assert ">> '/a b/known'`" in unknown_keys([replace(NODE, known_hosts=(Path("/a b/known"),))])


def test_twelve_hosts_behind_one_jump_host_are_one_sentence() -> None:
    logins = [replace(NODE, node=f"h{n}", address=f"10.1.0.{n}", gateway=GATE) for n in range(11)]
    logins.append(replace(NODE, node="h11", address="10.1.0.11", port=2222, gateway=GATE))
    alone = replace(NODE, node="h12", address="10.2.0.1")
    said = said_together({login.node: UnknownKeyError(login) for login in [*logins, alone]})
    names = " ".join(login.address for login in logins[:11])
    assert {said[login.node] for login in logins} == {
        f"SSH failed: got no host keys of {names.replace(' ', ', ')}, [10.1.0.11]:2222, expected them in "
        f"{FILE}; add them with `ssh gate ssh-keyscan {names} >> {FILE}` and `ssh gate ssh-keyscan -p 2222 "
        f"10.1.0.11 >> {FILE}`, and compare them with what the hosts themselves show"
    }
    assert said["h12"].startswith("SSH failed: got no host key of 10.2.0.1,")


def test_an_unknown_jump_host_is_named_once() -> None:
    said = said_together(
        {node: UnknownKeyError(replace(GATE, node=f"{node}: jump host gate")) for node in "ab"}
    )
    assert set(said.values()) == {f"SSH failed: {unknown_keys([GATE])}"}
