from pathlib import Path

import pytest

from rogue.remote.destination import Destination, without_config


def test_known_keys_are_asked_for_before_the_users_own_configuration_is_read() -> None:
    assert Destination("h0", "lab", known_hosts=Path("/a b/known")).config_text().splitlines() == [
        "Host *",
        "  StrictHostKeyChecking yes",
        "  BatchMode yes",
        '  UserKnownHostsFile "/a b/known"',
        "  GlobalKnownHostsFile none",
        "Include ~/.ssh/config",
        "Include /etc/ssh/ssh_config",
    ]


def test_another_configuration_takes_the_place_of_the_users() -> None:
    lines = Destination("h0", "lab", config="/etc/lab config").config_text().splitlines()
    assert lines[3:] == ['Include "/etc/lab config"']
    assert "Include" not in Destination("h0", "lab", config="none").config_text()


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
