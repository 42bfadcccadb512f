"""Faults that strike a host."""

import pytest
from pydantic import ValidationError

from workloads.faults.pause_storm import PauseStorm
from workloads.topologies import TOPOLOGIES

STAR = TOPOLOGIES["star"].model_validate({"hosts": 3, "rate": "10Gbps"})


def storm(target: str) -> PauseStorm:
    return PauseStorm.model_validate({"target": target, "at": "1ms", "duration": "1ms"})


def test_a_host_of_the_topology() -> None:
    assert storm("h2").is_there(STAR)
    assert not storm("h3").is_there(STAR)
    assert storm("h3").expected_target(STAR) == "a host of the topology, such as h2"


@pytest.mark.parametrize("target", ["s0", "h1-s0", ""])
def test_nothing_else(target: str) -> None:
    with pytest.raises(ValidationError):
        storm(target)
