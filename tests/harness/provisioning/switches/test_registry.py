"""Every platform keeps the same promises."""

import re
import sys

import pytest
from helpers.switch_inventory import wanted

from rogue.harness.provisioning.switches.change import wanted_changes
from rogue.harness.provisioning.switches.platform import Platform
from rogue.harness.provisioning.switches.registry import PLATFORMS


@pytest.fixture(params=sorted(PLATFORMS))
def platform(request: pytest.FixtureRequest) -> Platform:
    return PLATFORMS[request.param]


def test_it_cites_its_sources_and_says_that_it_met_no_hardware(platform: Platform) -> None:
    text = sys.modules[type(platform).__module__].__doc__
    assert "Source:" in text
    assert "Units:" in text
    assert re.search(r"has run this\.", text)


def test_once_all_lines_stand_there_nothing_is_left_to_change(platform: Platform) -> None:
    variables = wanted(platform.name)
    lines = platform.lines(variables)
    assert lines
    found: dict[tuple[str, ...], tuple[str, ...]] = {}
    for line in lines:
        found[line.context] = (*found.get(line.context, ()), line.text)
    assert wanted_changes(lines, found) == []
    assert platform.changes(variables, found) == []


def test_a_line_begins_with_its_key(platform: Platform) -> None:
    for line in platform.lines(wanted(platform.name)):
        assert line.text == line.key or line.text.startswith(f"{line.key} ")
        assert "\n" not in line.text
