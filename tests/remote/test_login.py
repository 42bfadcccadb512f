"""Tests: names of nodes in an inventory, and their resolution by OpenSSH."""

import os
import re
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rogue.remote import login as login_module
from rogue.remote.errors import NodeError
from rogue.remote.login import (
    HOPS,
    HOST,
    KEY_BYTES_MAX,
    NODE,
    PATH,
    PYTHON,
    USER,
    Destination,
    Word,
    at_home,
    resolve,
    without_config,
)

TEXTS = st.text(max_size=20) | st.text("/ab ~\"'\n\r\\$%{}[]*", min_size=1, max_size=8)


def test_host_key_options_precede_the_user_configuration() -> None:
    assert Destination("h0", "lab", known_hosts=Path("/a b/known")).config_text().splitlines() == [
        "Host *",
        "  StrictHostKeyChecking yes",
        "  BatchMode yes",
        "  UpdateHostKeys no",
        '  UserKnownHostsFile "/a b/known"',
        "  GlobalKnownHostsFile none",
        "Include ~/.ssh/config",
        "Include /etc/ssh/ssh_config",
    ]


def test_named_configuration_replaces_the_users() -> None:
    lines = Destination("h0", "lab", config="/etc/lab config").config_text().splitlines()
    assert lines[4:] == ['Include "/etc/lab config"']
    assert "Include" not in Destination("h0", "lab", config="none").config_text()


@given(TEXTS, TEXTS)
def test_values_stay_on_their_line_or_are_refused(known_hosts: str, config: str) -> None:
    try:
        text = Destination("h0", "lab", known_hosts=Path(known_hosts), config=config).config_text()
    except NodeError:
        return
    keys, included = text.splitlines()[4], text.splitlines()[6:]
    assert len(text.splitlines()) == {"": 8, "none": 6}.get(config, 7)
    assert shlex.split(keys) == ["UserKnownHostsFile", os.path.abspath(known_hosts)]  # noqa: PTH100
    assert not config or config == "none" or len(shlex.split(included[0])) == 2
    assert not set(text.removeprefix("Host *")) & set("%$`\\{*?[")


@pytest.mark.parametrize(
    "values",
    [
        {"known_hosts": Path('/dev/null"\nMatch exec "id"')},
        {"config": '~/.ssh/a"\nMatch exec "id"'},
        {"key_file": Path('a"\nMatch exec "id"')},
        {"name": "-oProxyCommand=id"},
        {"name": "%h"},
        {"user": "{{ lookup('pipe', 'id') }}"},
    ],
)
def test_unsafe_destination_is_an_error(values: dict[str, Any]) -> None:
    with pytest.raises(
        NodeError, match=r"^h0: [a-z ]+: got .*, expected (a path|the name) .*; choose another"
    ):
        Destination("h0", **{"name": "lab", **values})


def test_unsafe_working_directory_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / 'a"').mkdir()
    monkeypatch.chdir(tmp_path / 'a"')
    with pytest.raises(NodeError, match=r"h0: path: got .*, expected a path of letters"):
        Destination("h0", "lab", known_hosts=Path("known")).config_text()


@pytest.mark.parametrize(
    ("arguments", "rest", "config"),
    [
        (["-F", "none", "-C"], ("-C",), "none"),
        (["-C", "-F/etc/lab", "-J", "gate"], ("-C", "-J", "gate"), "/etc/lab"),
        (["-F", "one", "-F", "two"], (), "two"),
        (["-F"], (), ""),
        ([], (), ""),
    ],
)
def test_configuration_is_separated_from_arguments(
    arguments: list[str], rest: tuple[str, ...], config: str
) -> None:
    assert without_config(arguments) == (rest, config)


ALL = [each for each in vars(login_module).values() if isinstance(each, Word)]
NEVER = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\"'`$%&;|<>{}!#*?]|^-|^$")
"""What ends a value, begins an option, is filled in, or is run."""


@pytest.mark.parametrize("word", ALL, ids=lambda word: str(word.meaning))
@given(text=st.text(max_size=30) | st.text("aZ0_./~@:,[]-\\ \"'`$%{}\n\r\0;|&*?", max_size=12))
def test_accepted_words_have_no_special_characters(word: Word, text: str) -> None:
    assert not (word.fits(text) and NEVER.search(text)), text


@pytest.mark.parametrize(
    ("word", "texts"),
    [
        (NODE, ["h0", "fabric", "tor-1.rack"]),
        (HOST, ["lab-1", "10.0.0.1", "node0.example.org", "fe80::1", "::1", "a"]),
        (USER, ["root", "alice", "a.b@corp", "DOMAIN\\alice", "_x-1"]),
        (HOPS, ["none", "gate", "eve@outer:2201,inner", "ssh://gate:22", "[fe80::1]:22"]),
        (PATH, ["/a b/known", "~/.ssh/id", "../x", "/home/zoë/ключ", "/tmp/a(1),b=c@d"]),
        (PYTHON, ["auto_silent", "/usr/bin/python3.11"]),
    ],
)  # fmt: skip
def test_ordinary_words_fit(word: Word, texts: list[str]) -> None:
    assert [text for text in texts if not word.fits(text)] == []


@pytest.mark.parametrize("text", ["gate.example.org:30755", "10.0.0.1:22", "gate:", "lab:b:c", "[::1]:22"])
def test_host_has_no_port(text: str) -> None:
    assert not HOST.fits(text)


@pytest.mark.parametrize("name", ["~\ud800/x", "~\0/x"])
def test_home_of_an_impossible_user(name: str) -> None:
    assert at_home(name) == Path(name)


CONFIG = """\
Include {directory}/more
Match originalhost node-*
  User bob
  IdentityFile {directory}/%r-%h
  IdentityFile {directory}/missing
Host node-1
  HostName 10.0.0.1
  Port 2222
  ProxyJump eve@outer:2201,inner
Host inner
  HostName 192.168.0.2
  ProxyJump none
Host here
  ProxyJump there
Host there
  ProxyJump here
Host self
  ProxyJump self
Host command
  ProxyCommand nc %h %p
Host revoking
  RevokedHostKeys /etc/ssh/revoked
"""


@pytest.fixture
def node(tmp_path: Path) -> Destination:
    (tmp_path / "more").write_text("Host outer\n  HostName 192.168.0.1\n  StrictHostKeyChecking no\n")
    (tmp_path / "bob-10.0.0.1").write_text("a key")
    config = tmp_path / "config"
    config.write_text(CONFIG.format(directory=tmp_path))
    return Destination("h0", "node-1", known_hosts=tmp_path / "known", config=str(config))


def test_alias_is_resolved(node: Destination, tmp_path: Path) -> None:
    login = resolve(node)
    assert (login.node, login.address, login.port, login.user) == ("h0", "10.0.0.1", 2222, "bob")
    assert login.key_files == (tmp_path / "bob-10.0.0.1",)
    inner = login.gateway
    assert inner is not None
    assert (inner.node, inner.address, inner.port) == ("h0: jump host inner", "192.168.0.2", 22)
    outer = inner.gateway
    assert outer is not None
    assert (outer.node, outer.address, outer.port, outer.user) == (
        "h0: jump host eve@outer:2201", "192.168.0.1", 2201, "eve",
    )  # fmt: skip
    assert outer.gateway is None
    assert {each.known_hosts for each in (login, inner, outer)} == {(tmp_path / "known",)}


def test_inventory_precedes_the_configuration(node: Destination, tmp_path: Path) -> None:
    key = tmp_path / "own key"
    key.write_text("another key")
    login = resolve(replace(node, port=4001, user="alice", key_file=key, arguments=("-J", "none")))
    assert (login.port, login.user, login.gateway) == (4001, "alice", None)
    assert login.key_files == (key,)


@pytest.mark.parametrize("kind", ["pipe", "large", "endless"])
def test_files_that_cannot_be_keys_are_left_out(node: Destination, tmp_path: Path, kind: str) -> None:
    key = tmp_path / "key"
    match kind:
        case "pipe":
            os.mkfifo(key)
        case "large":
            key.touch()
            os.truncate(key, KEY_BYTES_MAX + 1)
        case _:
            key.symlink_to("/proc/self/pagemap")  # says that it is a file of 0 bytes
    assert resolve(replace(node, key_file=key, user="alice")).key_files == ()


def test_known_hosts_of_the_configuration(node: Destination) -> None:
    arguments = ("-o", "UserKnownHostsFile=/a /b", "-o", "GlobalKnownHostsFile=none")
    assert resolve(replace(node, known_hosts=None, arguments=arguments)).known_hosts == (
        Path("/a"), Path("/b"),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("command", "h0: got ProxyCommand 'nc %h %p' in the SSH configuration, expected ProxyJump"),
        (
            "revoking",
            "h0: got RevokedHostKeys '/etc/ssh/revoked' in the SSH configuration, which is not read",
        ),
        ("here", "h0: jump host there: got more than 8 hops in the SSH configuration, expected a finite"),
        ("self", "h0: SSH cannot find out where 'self' is: jumphost loop via self"),
    ],
)
def test_unusable_route_is_an_error(node: Destination, name: str, sentence: str) -> None:
    with pytest.raises(NodeError) as refused:
        resolve(replace(node, name=name))
    assert str(refused.value).startswith(sentence)


def test_unreadable_configuration_is_an_error(node: Destination, tmp_path: Path) -> None:
    (tmp_path / "more").write_text("Hosst outer\n")
    with pytest.raises(NodeError, match=r"^h0: SSH cannot find out where 'node-1' is: .*more.*[Hh]osst"):
        resolve(node)


def test_missing_ssh_is_an_error(node: Destination, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(NodeError, match="h0: ssh is not installed here; apt-get install openssh-client"):
        resolve(node)


def test_endless_ssh_is_an_error(node: Destination, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ssh").write_text("#!/bin/sh\nexec sleep 60\n")
    (tmp_path / "ssh").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.setattr(login_module, "_TIME_LIMIT_S", 0.1)
    with pytest.raises(NodeError, match=r"^h0: `ssh -G -F \S+ -- node-1` did not end within 0 s"):
        resolve(node)


def test_path_of_a_key_need_not_be_utf_8(node: Destination, tmp_path: Path) -> None:
    key = tmp_path / os.fsdecode(b"key-\xff")
    key.write_text("a key")
    config = tmp_path / "config"
    config.write_bytes(b"IdentityFile " + os.fsencode(key) + b"\n" + config.read_bytes())
    assert key in resolve(node).key_files


def test_agent_is_that_of_the_environment_or_none(node: Destination, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSH_AUTH_SOCK", "/run/agent")
    assert resolve(node).uses_agent
    assert resolve(replace(node, arguments=("-o", "IdentityAgent=/run/agent"))).uses_agent
    assert not resolve(replace(node, arguments=("-o", "IdentityAgent=none"))).uses_agent
    with pytest.raises(
        NodeError, match=r"got IdentityAgent /run/other in the SSH .* SSH_AUTH_SOCK=/run/other"
    ):
        resolve(replace(node, arguments=("-o", "IdentityAgent=/run/other")))
