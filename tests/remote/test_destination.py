"""Tests: how an inventory names a node, and which words may reach SSH."""

import os
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rogue.remote import destination
from rogue.remote.destination import (
    HOPS,
    HOST,
    NODE,
    PATH,
    PYTHON,
    USER,
    Destination,
    Word,
    at_home,
    without_config,
)
from rogue.remote.errors import NodeError

TEXTS = st.text(max_size=20) | st.text("/ab ~\"'\n\r\\$%{}[]*", min_size=1, max_size=8)


def test_known_keys_are_asked_for_before_the_users_own_configuration_is_read() -> None:
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


def test_another_configuration_takes_the_place_of_the_users() -> None:
    lines = Destination("h0", "lab", config="/etc/lab config").config_text().splitlines()
    assert lines[4:] == ['Include "/etc/lab config"']
    assert "Include" not in Destination("h0", "lab", config="none").config_text()


@given(TEXTS, TEXTS)
def test_a_value_is_one_value_of_its_line_or_is_refused(known_hosts: str, config: str) -> None:
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
def test_what_is_no_plain_word_is_a_sentence(values: dict[str, Any]) -> None:
    with pytest.raises(
        NodeError, match=r"^h0: [a-z ]+: got .*, expected (a path|the name) .*; choose another"
    ):
        Destination("h0", **{"name": "lab", **values})


def test_a_directory_with_such_a_name_gets_into_no_configuration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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
def test_the_configuration_is_told_from_other_arguments(
    arguments: list[str], rest: tuple[str, ...], config: str
) -> None:
    assert without_config(arguments) == (rest, config)


ALL = [each for each in vars(destination).values() if isinstance(each, Word)]
NEVER = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\"'`$%&;|<>{}!#*?]|^-|^$")
"""What ends a value, begins an option, is filled in, or is run."""


@pytest.mark.parametrize("word", ALL, ids=lambda word: str(word.meaning))
@given(text=st.text(max_size=30) | st.text("aZ0_./~@:,[]-\\ \"'`$%{}\n\r\0;|&*?", max_size=12))
def test_no_word_means_anything_but_itself(word: Word, text: str) -> None:
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
def test_a_host_has_no_port(text: str) -> None:
    assert not HOST.fits(text)


def test_the_own_directory_is_written_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    assert at_home("~/.ssh/id") == Path("/home/me/.ssh/id")


def test_a_user_who_is_not_here_is_no_error() -> None:
    assert at_home("~no-such-user/x") == Path("~no-such-user/x")


@pytest.mark.parametrize("name", ["~\ud800/x", "~\0/x"])
def test_a_name_that_no_user_can_have_is_no_error(name: str) -> None:
    assert at_home(name) == Path(name)
