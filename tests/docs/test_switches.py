"""What docs/SWITCHES.md and docs/RACKS.md say was checked: each platform, by tests that are there."""

import re
from pathlib import Path

import pytest

from rogue.harness.provisioning.switches.registry import PLATFORMS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/SWITCHES.md").read_text()
RACKS = (ROOT / "docs/RACKS.md").read_text()
TESTS = {path.name for path in (ROOT / "tests").rglob("test_*.py")}


def rows(heading: str) -> list[list[str]]:
    """The rows of the table that begins with these words of its first line."""
    _, found, rest = PAGE.partition(f"{heading}\n")
    assert found, heading
    lines = rest.splitlines()[1:]
    end = next(number for number, line in enumerate(lines) if not line.startswith("|"))
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[:end]]


@pytest.mark.parametrize(
    "heading",
    [
        "| platform | release that was checked | what about others |",
        "| platform | commands | tried against | what stands there is read as | what is marked follows |",
        "| platform | by | thresholds | probability | headroom | changes count |",
    ],
)
def test_every_platform_has_a_line_that_says_what_it_was_checked_against(heading: str) -> None:
    found = [re.match(r"`(\w+)`", row[0]) for row in rows(heading)]
    assert sorted(name[1] for name in found if name) == sorted(PLATFORMS)
    assert all(cell for row in rows(heading) for cell in row)


def test_releases_of_sonic_are_those_whose_validators_were_tried() -> None:
    heading = "| branch, commit | a new profile of marks | values of a standing one | a new buffer profile |"
    releases = [row[0].split(",")[0] for row in rows(heading)]
    assert releases == sorted(releases)
    assert {"202205", "202311", "202505", "202511"} <= set(releases)


@pytest.mark.parametrize("text", [PAGE, RACKS], ids=["SWITCHES", "RACKS"])
def test_tests_that_are_named_are_there(text: str) -> None:
    named = set(re.findall(r"\btest_\w+\.py\b", text))
    assert named
    assert named <= TESTS


def test_each_fact_of_which_we_were_told_otherwise_has_its_place_and_what_holds_it() -> None:
    _, _, rest = RACKS.partition("| fact | where it stands | held by |\n| --- | --- | --- |\n")
    lines = [line for line in rest.split("\n\n")[0].splitlines() if line.startswith("|")]
    assert len(lines) >= 12
    for line in lines:
        fact, place, held = (cell.strip() for cell in line.strip("|").split(" | "))
        assert fact and place and held
