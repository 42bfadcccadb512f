"""Every platform keeps the same promises."""

import re
import sys

import pytest

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
