"""What each release lets a patch change, by its validators; examples worked by hand from their text."""

import pytest
from helpers.sonic_operations import BUFFER, EVERY, NEW, OTHER, PLAIN, SIZE, TABLE, YELLOW

from rogue.harness.provisioning.switches.platforms.sonic_patch import (
    SYSTEM,
    asics_of,
    is_guarded,
    is_refused,
    release_of,
    system_lines,
)

OLD = [NEW, YELLOW, OTHER, BUFFER, TABLE, PLAIN, SIZE]


@pytest.mark.parametrize(
    ("release", "refused"),
    [
        ("202111", []),
        ("202205", OLD),
        ("202211", []),
        ("202305", OLD),
        ("202311", OLD),
        ("202405", OLD),
        ("202411", OLD),
        ("202505", [NEW, YELLOW, BUFFER, TABLE, PLAIN, SIZE]),
        ("202511", [TABLE, SIZE]),
        ("", []),
    ],
)
def test_what_a_release_refuses(release: str, refused: list[object]) -> None:
    assert [each for each in EVERY if is_refused(release, each)] == refused
    assert is_guarded(release) == (NEW in refused)


@pytest.mark.parametrize(
    ("build", "release"),
    [
        ("202311.567841-3ab4e5f", "202311"),
        ("20231110.05", "202311"),
        ("202205", "202205"),
        ("master.812345-abc", "202511"),
        ("HEAD.0-dirty-20240101", ""),
        ("Enterprise_4.2.0", ""),
        ("20231399", ""),
    ],
)
def test_a_release_is_what_its_build_begins_with(build: str, release: str) -> None:
    text = f"\nSONiC Software Version: SONiC.{build}\nASIC: mellanox\nASIC Count: 6\n"
    found = {SYSTEM: system_lines(text)}
    assert (release_of(found), asics_of(found)) == (release, 6)


def test_a_switch_that_was_not_asked() -> None:
    assert (release_of({}), asics_of({}), system_lines("")) == ("", 1, ("release ", "asics 1"))
