from collections.abc import Iterator
from typing import Literal

import pytest
from helpers.plugin_files import registrations_taken_back

from rogue.workloads.flow_sizes import FLOW_SIZES, FlowSizes
from rogue.workloads.plugins import register_flow_sizes, register_topology, register_workload
from rogue.workloads.registration import ADDED
from rogue.workloads.topologies import TOPOLOGIES
from rogue.workloads.topologies.star import Star
from rogue.workloads.traffic.poisson import Poisson


class Sun(Star):
    """A star by another name."""

    kind: Literal["sun"] = "sun"  # type: ignore[assignment]


@pytest.fixture(autouse=True)
def before() -> Iterator[int]:
    """How many entries there were."""
    with registrations_taken_back() as count:
        yield count


def test_a_kind_is_its_name() -> None:
    register_topology(Sun)
    assert TOPOLOGIES["sun"] is Sun


def test_a_distribution_can_be_drawn_from() -> None:
    register_flow_sizes("two", FlowSizes("two sizes", "made up", ((1, 0), (2, 100))))
    poisson = Poisson.model_validate({"kind": "poisson", "load": 0.5, "sizes": "two", "arrive_for": "1ms"})
    assert FLOW_SIZES[poisson.sizes or ""].mean_bytes == 1.5


def test_what_is_no_such_thing_is_refused(before: int) -> None:
    with pytest.raises(ValueError, match="a second topology star"):
        register_topology(Star)
    with pytest.raises(ValueError, match="as a workload, expected a subclass of Workload"):
        register_workload(Sun)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="as flow sizes, expected FlowSizes"):
        register_flow_sizes("x", 3)  # type: ignore[arg-type]
    assert len(ADDED) == before
