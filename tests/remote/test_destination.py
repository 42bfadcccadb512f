import os
import shlex
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rogue.remote.destination import Destination, without_config
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
