"""Every number among the settings has a range, so that no override can go unchecked."""

from dataclasses import fields

import pytest

from rogue_agent.core.cc import CONGESTION_CONTROLS
from rogue_agent.core.parameters import Parameters
from rogue_agent.core.settings import TransportSettings


@pytest.mark.parametrize("parameters", [TransportSettings, *CONGESTION_CONTROLS.values()])
def test_numbers_have_bounds_and_a_sentence(parameters: type[Parameters]) -> None:
    for each in fields(parameters):
        if each.type in {int, float}:
            assert set(each.metadata) == {"minimum", "maximum"}, each.name
            assert each.name in (parameters.__doc__ or ""), f"{each.name} is not explained"
