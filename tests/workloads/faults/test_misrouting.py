"""Switches that forward to the wrong neighbour, or in all directions."""

import pytest
from pydantic import ValidationError

from workloads.faults.misrouting import Flooding, Misrouting
from workloads.topologies import TOPOLOGIES

RING = TOPOLOGIES["ring"].model_validate({"rate": "10Gbps"})


@pytest.mark.parametrize(
    ("target", "destination", "is_there"),
    [("s0-s1", "h3", True), ("s0-s4", "h3", True), ("s0-h0", "h0", True), ("s0-s2", "h3", False),
     ("s0-s1", "h5", False), ("s0-h0", "h1", False)],
)  # fmt: skip
def test_a_switch_and_its_neighbour(target: str, destination: str, is_there: bool) -> None:
    fault = Misrouting.model_validate({"kind": "misrouting", "target": target, "destination": destination})
    assert fault.is_there(RING) == is_there
    assert fault.expected_target(RING).startswith("a switch and the neighbour")


@pytest.mark.parametrize(
    ("target", "destination", "is_there"), [("s4", "h3", True), ("s5", "h3", False), ("s0", "h5", False)]
)
def test_a_switch_that_floods(target: str, destination: str, is_there: bool) -> None:
    fault = Flooding.model_validate({"kind": "flooding", "target": target, "destination": destination})
    assert fault.is_there(RING) == is_there
    assert fault.expected_target(RING).startswith("a switch, such as s0")


@pytest.mark.parametrize("keys", [{"target": "h0", "destination": "h1"}, {"target": "s0"}, {}])
def test_impossible_ones_are_refused(keys: dict[str, object]) -> None:
    for fault in (Misrouting, Flooding):
        with pytest.raises(ValidationError):
            fault.model_validate(keys)
